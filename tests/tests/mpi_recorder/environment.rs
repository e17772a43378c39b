//! Compiles MPI programs, and runs them with the preloaded library.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use serde_json::Value;
use tests::programs::{mpirun, succeed, tumit};

/// An installation of MPI.
#[derive(Clone, Debug)]
pub(crate) struct MpiLibrary {
    /// Distinguishes the programs of the installations.
    name: &'static str,
    c_compiler: PathBuf,
    /// Some installations have none.
    fortran_compiler: Option<PathBuf>,
    launcher: PathBuf,
    /// Whether `launcher` is that of Open MPI.
    pub(crate) is_open_mpi: bool,
    /// Whether the installation has version 4 of MPI or later, with persistent collective
    /// operations and partitioned messages. Open MPI 5 has some of its procedures, and version 3.1.
    pub(crate) has_mpi_4: bool,
}

impl MpiLibrary {
    /// The libraries in the folders of the variable `TUMIT_TEST_MPI`, and otherwise Debian's Open
    /// MPI 4 and MPICH 4.
    pub(crate) fn all() -> Vec<Self> {
        match env::var_os("TUMIT_TEST_MPI") {
            Some(folders) => {
                env::split_paths(&folders).flat_map(|folder| Self::in_folder(&folder.join("bin"))).collect()
            }
            None => ["openmpi", "mpich"].map(Self::of_debian).into(),
        }
    }

    fn of_debian(name: &'static str) -> Self {
        Self {
            name,
            c_compiler: format!("mpicc.{name}").into(),
            fortran_compiler: Some(format!("mpifort.{name}").into()),
            launcher: format!("mpirun.{name}").into(),
            is_open_mpi: name == "openmpi",
            has_mpi_4: name == "mpich",
        }
    }

    /// The libraries for which a folder has C compilers: one with an interface of its own, and one
    /// with the standard interface.
    fn in_folder(folder: &Path) -> Vec<Self> {
        let is_open_mpi = folder.join("ompi_info").exists();
        let compilers = [(if is_open_mpi { "openmpi5" } else { "mpich5" }, "mpicc"), ("standard", "mpicc_abi")];
        let compilers = compilers.map(|(name, compiler)| (name, folder.join(compiler)));
        assert!(compilers[0].1.exists(), "{}: no compiler of MPI, so correct TUMIT_TEST_MPI", compilers[0].1.display());
        let libraries = compilers.into_iter().filter(|(_, compiler)| compiler.exists());
        let libraries = libraries.map(|(name, c_compiler)| Self {
            name,
            c_compiler,
            fortran_compiler: None,
            launcher: folder.join("mpirun"),
            is_open_mpi,
            has_mpi_4: !is_open_mpi,
        });
        libraries.collect()
    }

    pub(crate) fn has_fortran(&self) -> bool {
        self.fortran_compiler.is_some()
    }

    /// Compiles a program of the folder `programs`, with these options for the compiler.
    pub(crate) fn compile(&self, folder: &Path, source: &str, options: &[&OsStr]) -> PathBuf {
        let fortran_compiler = || self.fortran_compiler.as_ref().expect("the library has a compiler of Fortran");
        let compiler = if source.ends_with(".c") { &self.c_compiler } else { fortran_compiler() };
        let program = folder.join(format!("{source}.{}", self.name));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mpi_recorder/programs").join(source);
        let mut command = Command::new(compiler);
        // Programs in Fortran pass arguments of several types to one procedure.
        command.args(["-O2", "-pthread", "-w"]).arg(source).args(options).arg("-o").arg(&program);
        let _ = succeed(&mut command);
        program
    }

    /// Runs a program with three ranks and the preloaded library. Returns the run folder and the
    /// standard output.
    pub(crate) fn record(&self, folder: &Path, program: &Path, arguments: &[&str]) -> (PathBuf, String) {
        let library = folder.join(tumit_preload::recorder_library::LIBRARY_NAME);
        fs::write(&library, tumit_preload::recorder_library::LIBRARY).expect("the folder is writable");
        let mut run = program.as_os_str().to_owned();
        run.push(".tmt");
        let run = PathBuf::from(run);
        let mut command = Command::new(&self.launcher);
        if self.is_open_mpi {
            let options = mpirun(3);
            command.args(options.get_args());
            command.envs(options.get_envs().filter_map(|(name, value)| Some((name, value?))));
        } else {
            command.args(["-n", "3"]);
        }
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
