//! However a process ends, what it had recorded is in its two files. A witness outside the process, a mapped file of counters,
//! knows which calls had returned.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "programs and readers of tests, outside test functions")]

mod ways_out {
    pub(crate) mod programs;
    pub(crate) mod read;
}

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use ways_out::read::{Left, Record, read};

/// A program's run folder and witness.
struct Place {
    folder: tempfile::TempDir,
    settings: Vec<(&'static str, String)>,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("witness"), [0; 512]).unwrap();
        Self { folder, settings: Vec::new() }
    }

    fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.settings.push((name, value.into()));
        self
    }

    fn run(&self) -> PathBuf {
        self.folder.path().join("run.tmt")
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "child", "--ignored", "--nocapture", "--test-threads=1"]);
        for variable in ["TUMIT_LEVELS", "TUMIT_MEMORY", "TUMIT_BUFFERS", "TUMIT_LIVE", "TUMIT_POLICY"] {
            command.env_remove(variable);
        }
        command.env("TUMIT_TRACE", self.run()).env("TUMIT_PROGRAM", program);
        command.env("TUMIT_WITNESS", self.folder.path().join("witness"));
        command.envs(self.settings.iter().map(|(name, value)| (name, value)));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn start(&self, program: &str) -> Child {
        self.command(program).spawn().unwrap()
    }

    fn output(&self, program: &str) -> Output {
        self.command(program).output().unwrap()
    }

    /// Calls of each thread that had returned.
    fn witnessed(&self) -> Vec<u64> {
        let bytes = std::fs::read(self.folder.path().join("witness")).unwrap();
        bytes.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect()
    }

    fn left(&self) -> Vec<Left> {
        read(&self.run(), &self.run())
    }

    /// The only process; each of its threads' records are there without a gap, up to the last call that returned.
    fn all_is_there(&self) -> Left {
        let left = self.left().pop().unwrap();
        let threads = left.ticks();
        for (thread, calls) in self.witnessed().into_iter().enumerate() {
            let ticks = &threads[thread];
            assert_eq!(*ticks, (0..ticks.len() as u64).collect::<Vec<_>>(), "thread {thread}");
            let recorded = ticks.len() as u64;
            assert!((calls..=calls + 1).contains(&recorded), "thread {thread}: {recorded} recorded, {calls} calls");
        }
        left
    }
}

#[test]
#[ignore = "the other tests run it, in a process of its own"]
fn child() {
    if let Ok(program) = std::env::var("TUMIT_PROGRAM") {
        ways_out::programs::run(&program);
    }
}

/// xorshift: the moments differ from run to run, and the seed is printed.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

fn kill_at_random(program: &str, times: u32, settings: &[(&'static str, &str)], check: impl Fn(&Place)) {
    let mut seed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as u64 | 1;
    for at in 0..times {
        println!("{program}, kill {at}, seed {seed}");
        let place = settings.iter().fold(Place::new(), |place, (name, value)| place.with(name, *value));
        let mut child = place.start(program);
        // Before anything was recorded there is no trace to read.
        while !place.run().is_dir() || std::fs::read_dir(place.run()).unwrap().count() < 2 || place.witnessed()[1] == 0
        {
            std::thread::sleep(Duration::from_micros(500));
        }
        std::thread::sleep(Duration::from_micros(random(&mut seed) % 150_000));
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL));
        check(&place);
    }
}

fn nothing_lost_nothing_torn(place: &Place) {
    let left = place.all_is_there();
    assert!(!left.ended && left.buffers == 1 && left.live_dropped == Some(0), "{left:?}");
}

#[test]
fn kills_at_random_moments_lose_nothing() {
    kill_at_random("for ever", 12, &[], nothing_lost_nothing_torn);
    kill_at_random("flush for ever", 12, &[], nothing_lost_nothing_torn);
}

#[test]
#[ignore = "takes minutes; cargo test -p tracer-rt --release --test ways_out -- --ignored a_thousand"]
fn a_thousand_kills_lose_nothing() {
    kill_at_random("for ever", 500, &[], nothing_lost_nothing_torn);
    kill_at_random("flush for ever", 500, &[], nothing_lost_nothing_torn);
}

#[test]
fn kills_among_losses_add_up() {
    kill_at_random("flood for ever", 6, &[("TUMIT_MEMORY", "256K")], |place| {
        let left = place.left().pop().unwrap();
        let calls: u64 = place.witnessed().iter().sum();
        let (recorded, lost) = (left.records().len() as u64, left.live_dropped.unwrap());
        assert!(lost > 0, "four slots for three threads that do nothing but record");
        assert!((calls..=calls + 3).contains(&(recorded + lost)), "{recorded} + {lost} of {calls}");
    });
}

#[test]
fn every_way_out_leaves_all() {
    for how in ["exit", "_exit", "quick_exit", "panic", "abort", "SIGSEGV", "SIGTERM", "SIGKILL", "exec"] {
        let place = Place::new();
        let output = place.output(how);
        let left = place.left().pop().unwrap();
        // After the end of `exit` the other threads may go on for a moment: what they record then is counted, not kept.
        let clean = ["exit", "panic"].contains(&how);
        assert_eq!(left.ended, clean, "{how}: {output:?}");
        let threads = left.ticks();
        for (thread, calls) in place.witnessed().into_iter().enumerate() {
            let ticks = &threads[thread];
            assert_eq!(*ticks, (0..ticks.len() as u64).collect::<Vec<_>>(), "{how}, thread {thread}");
            let recorded = ticks.len() as u64;
            let expected = if clean && thread > 0 { 5_000.min(calls)..=calls + 1 } else { calls..=calls + 1 };
            assert!(expected.contains(&recorded), "{how}, thread {thread}: {recorded} recorded, {calls} calls");
        }
        assert!(left.names.values().any(|name| name == "thread 1"));
    }
}

#[test]
fn a_clean_end_removes_the_live_file() {
    let place = Place::new();
    assert!(place.output("return").status.success());
    let left = place.all_is_there();
    assert!(left.ended && left.buffers == 1);
    assert_eq!(std::fs::read_dir(place.run()).unwrap().count(), 1);
}

#[test]
fn names_are_there_before_their_records() {
    // The log of names has 64 KiB here, the names take 200 KB.
    let place = Place::new().with("TUMIT_MEMORY", "256K");
    place.output("names");
    let left = place.left().pop().unwrap();
    let expected: Vec<_> = (0..2_000).map(|n| Record::Text(format!("name {n} {}", "x".repeat(100)))).collect();
    assert_eq!(left.records(), expected);
    assert_eq!(place.witnessed()[0], 2_000);
    assert!(!left.ended);
}

#[test]
fn forked_processes_have_live_files_of_their_own() {
    let place = Place::new();
    place.output("fork");
    let all = place.left();
    assert_eq!(all.len(), 3);
    let mut parent = all.iter().find(|left| left.parent.is_none()).unwrap();
    for generation in 0..3 {
        let numbers: Vec<_> = (0..10_000).map(|n| Record::Tick { n, m: generation }).collect();
        assert_eq!(parent.records(), numbers, "generation {generation}");
        assert!(!parent.ended && parent.buffers == 1);
        if generation < 2 {
            parent = all.iter().find(|left| left.parent.as_ref() == Some(&parent.id)).unwrap();
        }
    }
}

#[test]
fn a_removed_folder_comes_back() {
    let place = Place::new();
    let output = place.output("folder");
    assert!(output.status.success());
    assert!(place.all_is_there().ended);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(errors.contains("tumit: ") && errors.contains("was removed"), "{errors}");
}

#[test]
fn buffers_lie_where_they_are_asked_for() {
    let place = Place::new().with("TUMIT_BUFFERS", "private");
    assert!(place.output("return").status.success());
    assert_eq!(place.all_is_there().buffers, 0);
    // Elsewhere: the process block tells where.
    let elsewhere = tempfile::tempdir().unwrap();
    let place = Place::new().with("TUMIT_LIVE", elsewhere.path().to_str().unwrap());
    place.output("SIGKILL");
    let left = read(&place.run(), elsewhere.path()).pop().unwrap();
    assert!(left.ticks()[0].len() as u64 == 10_000 && left.live_blocks > 0);
    assert_eq!(std::fs::read_dir(place.run()).unwrap().count(), 1);
    // No such place: recording goes on, and the file says so.
    let place = Place::new().with("TUMIT_LIVE", "/proc/nowhere");
    assert!(place.output("return").status.success());
    assert_eq!(place.all_is_there().buffers, 2);
}
