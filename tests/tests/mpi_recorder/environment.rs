//! Compiles MPI programs, and runs them with the preloaded library.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tests::programs::{mpirun, succeed, tumit};

/// An installed MPI library.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MpiLibrary {
    OpenMpi,
    Mpich,
}

impl MpiLibrary {
    pub(crate) const ALL: [Self; 2] = [Self::OpenMpi, Self::Mpich];

    /// Debian's suffix of the commands of this library.
    fn suffix(self) -> &'static str {
        match self {
            Self::OpenMpi => "openmpi",
            Self::Mpich => "mpich",
        }
    }

    /// Whether the installed version has the procedures of MPI 4: persistent collective operations
    /// and partitioned messages.
    pub(crate) fn has_mpi_4(self) -> bool {
        matches!(self, Self::Mpich)
    }

    /// Compiles a program of the folder `programs`.
    pub(crate) fn compile(self, folder: &Path, source: &str) -> PathBuf {
        let compiler = if source.ends_with(".c") { "mpicc" } else { "mpifort" };
        let program = folder.join(format!("{source}.{}", self.suffix()));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mpi_recorder/programs").join(source);
        let mut command = Command::new(format!("{compiler}.{}", self.suffix()));
        // Programs in Fortran pass arguments of several types to one procedure.
        command.args(["-O2", "-pthread", "-w"]).arg(source).arg("-o").arg(&program);
        let _ = succeed(&mut command);
        program
    }

    /// Runs a program with three ranks and the preloaded library. Returns the run folder and the
    /// standard output.
    pub(crate) fn record(self, folder: &Path, program: &Path, arguments: &[&str]) -> (PathBuf, String) {
        let library = folder.join(tumit_preload::recorder_library::LIBRARY_NAME);
        fs::write(&library, tumit_preload::recorder_library::LIBRARY).expect("the folder is writable");
        let run = program.with_extension("tmt");
        let mut command = match self {
            Self::OpenMpi => mpirun(3),
            Self::Mpich => {
                let mut command = Command::new("mpirun.mpich");
                command.args(["-n", "3"]);
                command
            }
        };
        command.arg(program).args(arguments).env("LD_PRELOAD", library).env("TUMIT_TRACE", &run);
        let output = succeed(command.env("TUMIT_LAUNCH_ID", "test"));
        (run, output)
    }
}

/// The records of a run, as JSON objects.
pub(crate) fn records(run: &Path) -> Vec<Value> {
    let lines = succeed(tumit().args(["dump", "--json"]).arg(run));
    lines.lines().map(|line| serde_json::from_str(line).expect("each line is an object")).collect()
}
