//! Commands on runs without an orderly end, or before their end: they show and repair them, and
//! switch their levels.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tests::programs::{child_test, losses, output, succeed, tumit};

use crate::{app, extra};

mod dumps;
mod unknown_losses;

const PROGRAM: &str = "TUMIT_TEST_PROGRAM";

#[test]
#[ignore = "the other tests run it, in a process of its own"]
fn child() {
    if std::env::var_os(PROGRAM).is_none() {
        return;
    }
    if std::env::var_os(LIMIT).is_some() {
        return under_limit();
    }
    let tick = |thread: u64| {
        for n in 0.. {
            app::tick(n, thread);
            extra::more(n);
            if thread == 0 && n % 100 == 0 {
                app::word(if n % 200 == 0 { "even" } else { "odd" });
                println!("ticks {n}");
            }
            if n % 10 == 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    };
    std::thread::spawn(move || tick(1));
    tick(0);
}

const LIMIT: &str = "TUMIT_TEST_LIMIT";

/// Records more than the file size limit allows.
fn under_limit() {
    let mut noise = 1u64;
    for n in 0..400_000 {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        app::tick(noise, noise.rotate_left(20));
        if n % 4000 == 0 {
            tracer_rt::flush();
        }
    }
}

#[test]
fn losses_on_a_full_disk_are_reported_with_time_range_and_cause() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run.tmt");
    // A limit on the size of files has the effect of a full disk: there is room for the live file,
    // and for a part of the file.
    let child = child_test(module_path!());
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -f 4000 && exec \"$@\"", "sh"]).arg(child.get_program()).args(child.get_args());
    command.env(PROGRAM, "1").env(LIMIT, "1").env("TUMIT_TRACE", &run).env("TUMIT_MEMORY", "1M");
    succeed(&mut command);
    let [dropped, reported] = losses(&run);
    assert!(dropped > 0 && dropped == reported, "{reported} of {dropped}");
    output(tumit().arg("repair").arg(&run));
    assert_eq!(losses(&run), [dropped, dropped], "repaired");
}

/// A program that records until it is killed.
struct RecordingProgram {
    folder: tempfile::TempDir,
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl RecordingProgram {
    fn start(settings: &[(&str, &Path)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = child_test(module_path!());
        for variable in ["TUMIT_LEVELS", "TUMIT_MEMORY", "TUMIT_BUFFERS", "TUMIT_LIVE", "TUMIT_POLICY"] {
            command.env_remove(variable);
        }
        command.env(PROGRAM, "1").env("TUMIT_TRACE", folder.path().join("run.tmt"));
        command.envs(settings.iter().copied()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { folder, child, lines }
    }

    fn run(&self) -> PathBuf {
        self.folder.path().join("run.tmt")
    }

    fn pid(&self) -> String {
        self.child.id().to_string()
    }

    /// Waits until the program has printed its progress this many times, and returns the last
    /// number of ticks.
    fn wait(&mut self, times: usize) -> u64 {
        let ticks =
            self.lines.by_ref().map_while(Result::ok).filter_map(|line| line.rsplit_once("ticks ")?.1.parse().ok());
        ticks.take(times).last().expect("it speaks")
    }

    /// Waits until the program has recorded more than `ticks` ticks, and skips earlier output.
    fn wait_beyond(&mut self, ticks: u64) -> u64 {
        loop {
            let printed = self.wait(1);
            if printed > ticks {
                return printed;
            }
        }
    }

    /// Kills the program, and returns the number of ticks that had been recorded at least.
    fn kill(&mut self) -> u64 {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let rest = self.lines.by_ref().map_while(Result::ok);
        rest.filter_map(|line| line.rsplit_once("ticks ")?.1.parse().ok()).last().unwrap_or(0)
    }

    fn files(&self, ending: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.run()).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.extension().is_some_and(|extension| extension == ending)).collect()
    }
}

impl Drop for RecordingProgram {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn run(args: &[&str], path: &Path) -> Output {
    output(tumit().args(&args[..1]).arg(path).args(&args[1..]))
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Checks that the ticks of each thread in `tumit dump --json` have no gaps from 0; returns their
/// numbers.
fn ticks(path: &Path) -> BTreeMap<u64, u64> {
    let mut next: BTreeMap<u64, u64> = BTreeMap::new();
    for line in stdout(&run(&["dump", "--json", "--event", "tick"], path)).lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let of = |name: &str| record["fields"][name].as_u64().unwrap();
        let next = next.entry(of("thread")).or_default();
        assert_eq!(of("n"), *next, "thread {}", of("thread"));
        *next += 1;
    }
    next
}

fn info(path: &Path) -> Value {
    serde_json::from_str(&stdout(&run(&["info", "--json"], path))).unwrap()
}

#[test]
fn the_run_of_a_killed_program_is_read_and_repaired() {
    let mut live_records_found = false;
    for moment in 1..4 {
        let mut program = RecordingProgram::start(&[]);
        let waited = program.wait(moment * 3);
        let printed = program.kill().max(waited);
        let path = program.run();
        assert!(ticks(&path)[&0] > printed, "{:?} of {printed}", ticks(&path));
        let report = info(&path);
        assert_eq!(report["processes"][0]["state"], "unfinished");
        assert_eq!(report["processes"][0]["buffers"], "mapped");
        // There are none if the process was killed just after the writer thread had written.
        let live = report["processes"][0]["live"]["records"].as_u64().unwrap();
        assert_eq!(report["losses"].as_array().map(Vec::len), Some(1), "{report}");

        let before = run(&["dump"], &path);
        assert_eq!(before.status.code(), Some(1));
        let files = || program.files("tmt").iter().map(|file| fs::read(file).unwrap()).collect::<Vec<_>>();
        let untouched = files();
        let plan = succeed(tumit().arg("repair").arg(&path).arg("--dry-run"));
        assert!(plan.contains("gets an end") && plan.contains("from its live file") == (live > 0), "{plan}");
        live_records_found |= live > 0;
        assert_eq!((files(), program.files("live").len()), (untouched, 1));

        let copy = program.folder.path().join("copy.tmt");
        succeed(tumit().arg("repair").arg(&path).arg("-o").arg(&copy));
        assert_eq!(program.files("live").len(), 1);
        succeed(tumit().arg("repair").arg(&path));
        assert_eq!(program.files("live").len(), 0);
        for repaired in [&path, &copy] {
            let after = run(&["dump"], repaired);
            assert_eq!((after.status.code(), &after.stdout), (Some(0), &before.stdout), "{}", stderr(&after));
            assert_eq!(info(repaired)["processes"][0]["state"], "repaired");
            let again = files();
            assert!(succeed(tumit().arg("repair").arg(repaired)).contains("nothing to repair"));
            assert_eq!(files(), again);
            // A file of a process that was killed right after it had created its live file.
            let early = repaired.join("early.live");
            fs::write(&early, [0; 8192]).unwrap();
            assert_eq!(run(&["dump"], repaired).status.code(), Some(0));
            assert!(succeed(tumit().arg("repair").arg(repaired)).contains("early.live: is removed"));
            assert!(!early.exists() && files() == again);
        }
        assert!(fs::read_dir(&copy).unwrap().count() == 1);
        for command in ["convert", "sync", "view"] {
            let target = program.folder.path().join("out.svg");
            let mut call = tumit();
            call.arg(command).arg(&path);
            match command {
                "convert" => call.arg("-o").arg(program.folder.path().join("out.paje")),
                "view" => call.arg("-o").arg(target),
                _ => &mut call,
            };
            succeed(&mut call);
        }
    }
    assert!(live_records_found, "three times nothing in the live file");
}

#[test]
fn a_live_file_in_another_folder_is_collected() {
    let live_folder = tempfile::tempdir().unwrap();
    let mut program = RecordingProgram::start(&[("TUMIT_LIVE", live_folder.path())]);
    let waited = program.wait(3);
    let printed = program.kill().max(waited);
    assert_eq!(program.files("live").len(), 0);
    assert!(ticks(&program.run())[&0] > printed);
    let live: Vec<PathBuf> = fs::read_dir(live_folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(live.len(), 1);
    // The live file is moved away: a repair ends no process with its last records elsewhere.
    let hidden = live_folder.path().join("hidden");
    fs::rename(&live[0], &hidden).unwrap();
    let refused = run(&["repair"], &program.run());
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("its last records are in"), "{}", stderr(&refused));
    fs::rename(&hidden, &live[0]).unwrap();
    succeed(tumit().arg("repair").arg(program.run()));
    assert!(ticks(&program.run())[&0] > printed && !live[0].exists());
}

#[test]
fn the_run_of_a_running_program_is_read_without_disturbing_it() {
    let mut program = RecordingProgram::start(&[]);
    let mut before = 0;
    for round in 0..4 {
        let printed = program.wait_beyond(before);
        let now = ticks(&program.run())[&0];
        assert!(now > printed && now > before, "round {round}: {now} after {before}, {printed} said");
        before = now;
    }
    assert_eq!(info(&program.run())["processes"][0]["state"], "running");
    let refused = run(&["repair"], &program.run());
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        stderr(&refused).contains(&format!("process {} is still recording", program.pid())),
        "{}",
        stderr(&refused)
    );
    let dry_run = run(&["repair", "-n"], &program.run());
    assert_eq!((dry_run.status.code(), stderr(&dry_run)), (Some(2), stderr(&refused)), "what would be done");
    let copy = program.folder.path().join("copy.tmt");
    succeed(tumit().arg("repair").arg(program.run()).arg("-o").arg(&copy));
    assert!(ticks(&copy)[&0] > before);
    assert_eq!(info(&copy)["processes"][0]["state"], "repaired");
    let printed = program.wait_beyond(ticks(&copy)[&0]);
    program.kill();
    assert!(ticks(&program.run())[&0] > printed, "it went on as if nothing had been");
}

#[test]
fn levels_are_switched_from_outside() {
    let mut program = RecordingProgram::start(&[]);
    program.wait(2);
    let (path, pid) = (program.run(), program.pid());
    let more = || stdout(&run(&["dump", "--level", "extra"], &path)).lines().count();
    assert_eq!(more(), 0);
    let now = || ticks(&path)[&0];
    succeed(tumit().args(["level", &pid, "EXTRA", "on", "--timeout", "60"]));
    program.wait_beyond(now());
    assert!(more() > 0);
    succeed(tumit().arg("level").arg(&path).args(["back.extra", "off", "--timeout", "60"]));
    // A record that was being made during the switch still appears.
    program.wait_beyond(now());
    let then = more();
    program.wait_beyond(now());
    assert_eq!(more(), then, "switched off");

    let signal = |name: &str| assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    signal("-STOP");
    let withdrawn = output(tumit().args(["level", &pid, "EXTRA", "on", "--timeout", "0"]));
    assert!(
        withdrawn.status.code() == Some(2) && stderr(&withdrawn).contains("the request is withdrawn"),
        "{}",
        stderr(&withdrawn)
    );
    signal("-CONT");
    program.wait_beyond(now());
    program.wait_beyond(now());
    assert_eq!(more(), then, "not switched on");

    let unknown = output(tumit().args(["level", &pid, "EXTRAS", "on"]));
    assert_eq!(unknown.status.code(), Some(1), "{}", stderr(&unknown));
    assert!(stderr(&unknown).contains("no level `EXTRAS`; did you mean `EXTRA`?"), "{}", stderr(&unknown));
    let wrong = output(tumit().args(["level", &pid, "A=on,B", "on"]));
    assert_eq!(wrong.status.code(), Some(2));
    program.kill();
    for (target, message) in
        [(path.to_str().unwrap(), "no process on this machine is recording"), (&pid, "there is no process")]
    {
        let refused = output(tumit().args(["level", target, "APP", "off"]));
        assert_eq!(refused.status.code(), Some(2));
        assert!(stderr(&refused).contains(message), "{}", stderr(&refused));
    }
    let mut private = RecordingProgram::start(&[("TUMIT_BUFFERS", Path::new("private"))]);
    private.wait(2);
    for target in [private.pid().as_str(), private.run().to_str().unwrap()] {
        let refused = output(tumit().args(["level", target, "APP", "off"]));
        assert_eq!(refused.status.code(), Some(2));
        assert!(stderr(&refused).contains("private"), "{}", stderr(&refused));
    }
}
