//! A folder with programs to record.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;
use tests::programs::{output, succeed, tumit};

/// An MPI library with its compiler and launcher.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MpiInstallation {
    pub(crate) compiler: &'static str,
    pub(crate) launcher: &'static str,
    /// The launcher's options for a command by which it starts processes on other nodes.
    pub(crate) remote_shell_options: &'static [&'static str],
    pub(crate) hosts_option: &'static str,
}

pub(crate) const OPEN_MPI: MpiInstallation = MpiInstallation {
    compiler: "mpicc",
    launcher: "mpirun",
    remote_shell_options: &["--mca", "plm_rsh_agent"],
    hosts_option: "-H",
};
pub(crate) const MPICH: MpiInstallation = MpiInstallation {
    compiler: "mpicc.mpich",
    launcher: "mpirun.mpich",
    remote_shell_options: &["-launcher", "ssh", "-launcher-exec"],
    hosts_option: "-hosts",
};
pub(crate) const BOTH: [MpiInstallation; 2] = [OPEN_MPI, MPICH];

/// A ring of messages. The first argument selects the end: `exit N`, `abort N`, `segv`.
const RING: &str = r#"
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
    int rank, size, i, number = argc > 2 ? atoi(argv[2]) : 0;
    const char *end = argc > 1 ? argv[1] : "";
    if (strcmp(end, "early") == 0) {
        return number;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (i = 0; i < 3; i++) {
        int sent = rank, received;
        MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % size, 7, &received, 1, MPI_INT, (rank + size - 1) % size, 7,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("ring of %d\n", size);
        fprintf(stderr, "end: %s\n", end);
        fflush(stdout);
    }
    /* The launcher forwards the output before a rank fails. */
    if (strcmp(end, "abort") == 0 || strcmp(end, "segv") == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        usleep(300000);
    }
    if (strcmp(end, "abort") == 0) {
        MPI_Abort(MPI_COMM_WORLD, number);
    }
    if (strcmp(end, "segv") == 0) {
        raise(11);
    }
    MPI_Finalize();
    return number;
}
"#;

/// A folder with programs to record.
pub(crate) struct RecordFolder(TempDir);

impl RecordFolder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// The names in the folder, without programs and their sources.
    pub(crate) fn runs(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.retain(|name| name.ends_with(".tmt"));
        names.sort();
        names
    }

    /// Writes an executable file.
    pub(crate) fn script(&self, name: &str, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.file(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// Compiles C to the file `name`.
    pub(crate) fn compile(&self, compiler: &str, name: &str, text: &str, flags: &[&str]) -> PathBuf {
        let source = self.file(&format!("{name}.c"));
        std::fs::write(&source, text).unwrap();
        let program = self.file(name);
        let _ = succeed(self.command(compiler).arg(&source).arg("-o").arg(&program).args(flags));
        program
    }

    /// Compiles the ring.
    pub(crate) fn ring(&self, mpi: MpiInstallation) -> PathBuf {
        self.compile(mpi.compiler, &format!("ring-{}", mpi.launcher), RING, &["-D_GNU_SOURCE"])
    }

    /// A command in this folder. MPI may run as root with more ranks than cores, so waiting ranks
    /// must yield.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.path());
        for name in ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_mpi_yield_when_idle"] {
            command.env(name, "1");
        }
        command.env("OMPI_MCA_rmaps_base_oversubscribe", "1").env("OMPI_MCA_btl_base_warn_component_unused", "0");
        for name in ["LD_PRELOAD", "TUMIT_TRACE", "TUMIT_LAUNCH_ID", "TUMIT_LEVELS", "SLURM_JOB_NUM_NODES"] {
            command.env_remove(name);
        }
        command
    }

    /// `tumit record` with these arguments.
    pub(crate) fn record(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(tumit().get_program());
        command.arg("record").args(arguments);
        command
    }

    /// Runs `tumit record`, and returns its output and its messages.
    pub(crate) fn recorded(&self, arguments: &[&str]) -> (Output, String) {
        let output = output(&mut self.record(arguments));
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        (output, messages)
    }

    /// The number of files of processes in a run.
    pub(crate) fn processes(&self, run: &str) -> usize {
        let entries = std::fs::read_dir(self.file(run)).into_iter().flatten();
        entries.filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|ending| ending == "tmt")).count()
    }

    /// The number of records of an event in a run.
    pub(crate) fn event_count(&self, run: &str, event: &str) -> u64 {
        // The status is 1 if a rank was killed.
        let info = output(tumit().args(["info", "--json"]).arg(self.file(run)));
        let info: serde_json::Value = serde_json::from_slice(&info.stdout).unwrap();
        let events = info["events"].as_array().unwrap();
        let found = events.iter().find(|entry| entry["event"].as_str() == Some(event));
        found.map_or(0, |entry| entry["records"].as_u64().unwrap())
    }
}
