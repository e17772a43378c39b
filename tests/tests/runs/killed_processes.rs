//! Killed processes. Their rows last until the last known timestamp, which repairs and cuts
//! preserve. Programs that ran at the same time as such a process belong to its launch.

use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use serde_json::Value;
use tests::lang::c::{CCompiler, build};
use tests::programs::{output, succeed, tumit};

const GNU99: CCompiler = CCompiler { command: "gcc", flags: &["-std=gnu99"] };

const SPEC: &str = "trace t;\nlevel L { span work { thread: u32 } }\n";

/// A thread works for 25 ms and ends. The first thread works until the process is killed.
const PROGRAM: &str = r#"
#include "t_trace.h"
#include <unistd.h>
static void *works(void *unused) {
    t_work_begin(1);
    usleep(25000);
    return unused;
}
int main(int count, char **arguments) {
    pthread_t thread;
    (void)arguments;
    if (pthread_create(&thread, NULL, works, NULL) != 0) { return 1; }
    pthread_join(thread, NULL);
    t_work_begin(0);
    if (count > 1) { for (;;) { pause(); } }
    t_work_end();
    return 0;
}
"#;

/// Durations of the states of the first thread and of the other thread, in milliseconds.
fn durations(run: &Path) -> (f64, f64) {
    let table = output(tumit().args(["stats", "--by", "container", "--json"]).arg(run)).stdout;
    let table = String::from_utf8(table).expect("the table is text");
    let of = |name: &str| {
        let mut rows = table.lines().map(|line| serde_json::from_str::<Value>(line).expect("each line is JSON"));
        let row = rows.find(|row| row["container"].as_str().expect("a name").ends_with(name));
        row.unwrap_or_else(|| panic!("{name}: {table}"))["time"].as_f64().expect("a number") * 1e3
    };
    (of("/main"), of("/worker 1"))
}

/// A running program. It is killed when the test ends or fails.
struct KillOnDrop(Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn launches(run: &Path) -> usize {
    // `info` fails, because a process has no orderly end.
    let info = output(tumit().args(["info", "--json"]).arg(run)).stdout;
    let info: Value = serde_json::from_slice(&info).expect("it is JSON");
    info["launches"].as_array().expect("a list").len()
}

#[test]
fn rows_of_killed_processes_last_until_their_last_clock_reading() {
    let folder = tempfile::tempdir().unwrap();
    let program =
        build(folder.path(), GNU99, SPEC, PROGRAM, &["-D_GNU_SOURCE"]).unwrap_or_else(|error| panic!("{error}"));
    let run = folder.path().join("run.tmt");
    let start = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).env_remove("TUMIT_LAUNCH_ID").env("TUMIT_TRACE", &run);
        KillOnDrop(command.spawn().unwrap())
    };
    let began = Instant::now();
    let server = start(&["serve"]);
    std::thread::sleep(Duration::from_millis(400));
    assert!(start(&[]).0.wait().unwrap().success());
    assert_eq!(launches(&run), 1, "the server still runs");
    // In the first second, only the live file has a clock reading after the start of the client.
    std::thread::sleep(Duration::from_millis(400));
    drop(server);
    let most = began.elapsed().as_secs_f64() * 1e3;
    assert_eq!(launches(&run), 1, "the server was killed after the start of the client");
    // A reader with all files open does not count as the killed server.
    let files = std::fs::read_dir(&run).unwrap().map(|entry| std::fs::File::open(entry.unwrap().path()).unwrap());
    let open: Vec<std::fs::File> = files.collect();
    assert!(start(&[]).0.wait().unwrap().success());
    assert_eq!(launches(&run), 2, "the server had been killed");
    drop(open);

    // Only the server remains.
    for entry in std::fs::read_dir(&run).unwrap() {
        let path = entry.unwrap().path();
        let is_server = path.with_extension("live").exists();
        if !is_server {
            std::fs::remove_file(path).unwrap();
        }
    }
    let (first, worker) = durations(&run);
    assert!((500.0..=most).contains(&first), "{first} ms of {most} ms");
    assert!((25.0..first).contains(&worker), "{worker} ms");
    let cut = folder.path().join("cut.tmt");
    let _ = output(tumit().arg("cut").arg(&run).args(["--interval", "0..500ms", "-o"]).arg(&cut));
    assert!(durations(&cut).0 <= 500.0, "the cut ends with its time range: {:?}", durations(&cut));
    let _ = succeed(tumit().arg("repair").arg(&run));
    assert!((durations(&run).0 - first).abs() < 0.001, "repaired: {:?}, before: {first} ms", durations(&run));
}
