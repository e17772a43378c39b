//! The run folders of programs, and the checks that several tests share.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use tumit_test_support::raw_run::{RawProcess, read_processes};
use tumit_test_support::xorshift::XorshiftGenerator;

/// A program's run folder and witness. The folder remains if the test fails.
pub(crate) struct ProgramFolder {
    folder: ManuallyDrop<tempfile::TempDir>,
    settings: Vec<(&'static str, String)>,
}

impl Drop for ProgramFolder {
    #[expect(unsafe_code, reason = "see SAFETY")]
    fn drop(&mut self) {
        if std::thread::panicking() && !IS_EXPECTED.get() {
            eprintln!("the files of the program are in {}", self.folder.path().display());
        } else {
            // SAFETY: the folder is not used after this.
            unsafe { ManuallyDrop::drop(&mut self.folder) };
        }
    }
}

impl ProgramFolder {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("witness"), [0; 512]).unwrap();
        Self { folder: ManuallyDrop::new(folder), settings: Vec::new() }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.settings.push((name, value.into()));
        self
    }

    pub(crate) fn run(&self) -> PathBuf {
        self.folder.path().join("run.tmt")
    }

    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "child", "--ignored", "--nocapture", "--test-threads=1"]);
        for variable in ["TUMIT_LEVELS", "TUMIT_MEMORY", "TUMIT_BUFFERS", "TUMIT_LIVE", "TUMIT_POLICY", "TUMIT_FAULT"] {
            command.env_remove(variable);
        }
        command.env("TUMIT_TRACE", self.run()).env("TUMIT_PROGRAM", program);
        command.env("TUMIT_WITNESS", self.folder.path().join("witness"));
        command.envs(self.settings.iter().map(|(name, value)| (name, value)));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn start(&self, program: &str) -> Child {
        self.command(program).spawn().unwrap()
    }

    pub(crate) fn output(&self, program: &str) -> Output {
        self.command(program).output().unwrap()
    }

    /// Number of calls of each thread that have returned.
    pub(crate) fn witnessed(&self) -> Vec<u64> {
        let bytes = std::fs::read(self.folder.path().join("witness")).unwrap();
        bytes.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect()
    }

    pub(crate) fn left(&self) -> Vec<RawProcess> {
        read_processes(&self.run(), &self.run())
    }

    /// Checks that the only process has the records of each of its threads without a gap, up to the
    /// last call that returned.
    pub(crate) fn read_complete_run(&self) -> RawProcess {
        let process = self.left().pop().unwrap();
        let threads = process.ticks();
        for (thread, calls) in self.witnessed().into_iter().enumerate() {
            let ticks = &threads[thread];
            let gap = ticks.iter().zip(0..).find(|(number, expected)| **number != *expected);
            assert_eq!(gap, None, "thread {thread}, {} ticks", ticks.len());
            let recorded = ticks.len() as u64;
            assert!((calls..=calls + 1).contains(&recorded), "thread {thread}: {recorded} recorded, {calls} calls");
        }
        process
    }
}

/// Random numbers that differ from run to run. Tests print their seed.
pub(crate) fn random_generator() -> XorshiftGenerator {
    let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    XorshiftGenerator(time.as_nanos() as u64 | 1)
}

/// Kills a program repeatedly, each time at a random moment after its threads have made
/// `min_called` calls together.
pub(crate) fn kill_at_random(
    program: &str,
    times: u32,
    settings: &[(&'static str, &str)],
    min_called: u64,
    check: impl Fn(&ProgramFolder),
) {
    let mut random = random_generator();
    for number in 0..times {
        println!("{program}, kill {number}, seed {}", random.0);
        let folder = settings.iter().fold(ProgramFolder::new(), |folder, (name, value)| folder.with(name, *value));
        let mut child = folder.start(program);
        // Before the first record there is no trace to read.
        while !folder.run().is_dir()
            || std::fs::read_dir(folder.run()).unwrap().count() < 2
            || folder.witnessed()[1] == 0
            || folder.witnessed().iter().sum::<u64>() < min_called
        {
            std::thread::sleep(Duration::from_micros(500));
        }
        std::thread::sleep(Duration::from_micros(random.below(150_000)));
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL));
        check(&folder);
    }
}

/// Number of calls that threads which only record make in a moment: far more than a few slots can
/// take.
pub(crate) const MANY: u64 = 500_000;

/// Whether a check fails.
pub(crate) fn fails(check: impl FnOnce() + std::panic::UnwindSafe) -> bool {
    IS_EXPECTED.set(true);
    let failed = std::panic::catch_unwind(check).is_err();
    IS_EXPECTED.set(false);
    failed
}

thread_local! {
    /// Set while a check must fail. The folder of its program is then removed.
    static IS_EXPECTED: Cell<bool> = const { Cell::new(false) };
}
