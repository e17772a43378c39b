//! Programs with actions that the recorder cannot see: threads that end without notice, files that
//! are closed without the recorder, interrupted records that are never completed, processes that
//! are created without `fork`.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "programs of tests, outside test functions")]

mod unseen_actions {
    pub(crate) mod files;
    pub(crate) mod jumps;
    pub(crate) mod process;
    pub(crate) mod threads;
}

use std::path::PathBuf;
use std::process::{Command, Output};

use tumit_test_support::raw_run::{RawProcess, read_processes};

tracer_rt::events!("tests/process_exits.tumit");

#[test]
#[ignore = "the other tests run it, in a process of its own"]
fn child() {
    let Ok(program) = std::env::var("TUMIT_PROGRAM") else { return };
    match program.as_str() {
        "late records" => unseen_actions::threads::late_records(),
        "closed" | "closed and removed" => unseen_actions::files::closed(&program),
        "jump" => unseen_actions::jumps::jump(),
        "bare child" => unseen_actions::process::bare_child(),
        "bound" => unseen_actions::process::bound(),
        "standby" => unseen_actions::process::standby(),
        "little" => unseen_actions::process::little(),
        "ending" => unseen_actions::threads::ending(),
        other => panic!("no program {other}"),
    }
}

pub(crate) struct ProgramRunFolder(tempfile::TempDir);

impl ProgramRunFolder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn run(&self) -> PathBuf {
        self.0.path().join("run.tmt")
    }

    pub(crate) fn output(&self, program: &str, settings: &[(&str, &str)]) -> Output {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "child", "--ignored", "--nocapture", "--test-threads=1"]);
        for variable in ["TUMIT_LEVELS", "TUMIT_MEMORY", "TUMIT_BUFFERS", "TUMIT_LIVE", "TUMIT_FAULT", "TUMIT_START"] {
            command.env_remove(variable);
        }
        command.env("TUMIT_POLICY", "all=block").env("TUMIT_TRACE", self.run()).env("TUMIT_PROGRAM", program);
        command.current_dir(self.0.path()).envs(settings.iter().copied()).output().unwrap()
    }

    /// The files of each process.
    pub(crate) fn left(&self) -> Vec<RawProcess> {
        read_processes(&self.run(), &self.run())
    }
}
