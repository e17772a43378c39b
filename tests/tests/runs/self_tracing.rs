//! Self-tracing, level `TUMIT`: the run contains the actions of the writer thread and the waits of
//! other threads like other records, and all commands show them.

use std::path::Path;

use tests::lang::c::folder;
use tests::programs::{child_test, output, succeed, tumit};

use crate::app;

const TICKS: u64 = 60_000;

/// Fills four slots many times. The writer thread does nothing until the recording thread waits for
/// it.
#[test]
#[ignore = "the other tests run it, in a process of its own"]
fn child() {
    if std::env::var_os("TUMIT_OWN").is_some() {
        (0..TICKS).for_each(|n| app::tick(n, 0));
    }
}

fn run(folder: &Path, levels: &str) -> std::path::PathBuf {
    let run = folder.join(format!("{}.tmt", levels.len()));
    let mut command = child_test(module_path!());
    command.env("TUMIT_OWN", "1");
    command.env("TUMIT_TRACE", &run).env("TUMIT_MEMORY", "256K").env("TUMIT_POLICY", "all=block");
    command.env("TUMIT_LEVELS", levels).env("TUMIT_FAULT", "writer thread is held").env_remove("TUMIT_BUFFERS");
    let output = output(&mut command);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    run
}

/// Records one more run. Returns the largest number of blocks that waited when the writer thread
/// began to write, among its recorded writes.
fn most_waiting(folder: &Path, column: u32) -> Option<u32> {
    let folder = folder.join(column.to_string());
    let run = run(&folder, "TUMIT=on");
    let dump = output(tumit().arg("dump").arg(&run)).stdout;
    let blocks =
        |line: &str| line.split_once("write.begin")?.1.split_once("blocks=")?.1.split(' ').next()?.parse().ok();
    String::from_utf8_lossy(&dump).lines().filter_map(blocks).max()
}

#[test]
fn waits_and_writes_are_shown_by_all_commands() {
    let folder = folder();
    let run = run(folder.path(), "TUMIT=on");
    // A record of the writer thread may find no slot, as that thread never waits: then `tumit`
    // exits with a non-zero status.
    let stdout_of =
        |arguments: &[&str]| String::from_utf8(output(tumit().args(arguments).arg(&run)).stdout).expect("UTF-8");
    let dump = stdout_of(&["dump"]);
    let count = |text: &str| dump.lines().filter(|line| line.contains(text)).count();
    assert_eq!(count(" tick "), TICKS as usize, "no record is dropped");
    // The records of 22 bytes fill twenty slots. The thread waits for each slot after the first
    // four.
    assert!(count("wait.begin") >= 3, "{}", dump.lines().take(5).collect::<Vec<_>>().join("\n"));
    assert_eq!(count("wait.begin"), count("wait.end"));
    assert!(count("write.begin") >= 3 && count("write.begin").abs_diff(count("write.end")) <= 2);
    assert!(dump.lines().any(|line| line.contains("wait.begin") && line.contains("room")));
    // Most slots wait after the first writes, and the records of these writes may be missing.
    assert!((0..20).any(|column| most_waiting(folder.path(), column) >= Some(2)), "full slots wait");
    let info = stdout_of(&["info"]);
    assert!(info.contains("wait") && info.contains("write") && info.contains("tracer"), "{info}");
    let image = folder.path().join("image.svg");
    let path = image.to_str().expect("UTF-8");
    stdout_of(&["view", "-o", path]);
    let image = std::fs::read_to_string(image).expect("an image");
    assert!(image.contains("wait") && image.contains("tracer"), "{}", image.len());
}

#[test]
fn the_level_is_off_unless_it_is_named() {
    let folder = folder();
    for levels in ["all=on", "all=on,TUMIT=off"] {
        let run = run(folder.path(), levels);
        let dump = succeed(tumit().arg("dump").arg(&run));
        assert!(!dump.contains("wait.begin") && !dump.contains("write.begin"));
        assert!(!succeed(tumit().arg("info").arg(&run)).contains("tracer"), "nor is its spec in the run");
    }
}
