//! `tumit record`: records a program without changes of its source code.

mod counter_limits;
mod counter_options;
mod function_options;
mod program_run;
mod recorder_choice;
mod run_folder;
mod run_summary;
mod shell_text;

use std::collections::hash_map::RandomState;
use std::ffi::{OsStr, OsString};
use std::hash::BuildHasher as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use tempfile::TempDir;
use tumit_converter::convert::launches::LaunchSelection;
use tumit_converter::run::{OpenRun, keep_symbols};
use tumit_preload::attachment::{Attachment, AttachmentContext};
use tumit_preload::environment::{PRELOAD, RecordingEnvironment, RecordingSettings, has_several_nodes};
use tumit_preload::library_file::{path_in, special_character, write};
use tumit_preload::library_search::LibraryFolders;
use tumit_preload::program_command::ProgramCommand;
use tumit_preload::program_file::{ProgramFile, StartObstacle, executable};

use super::exit_status::ExitStatus;
use crate::option_values::byte_sizes::ByteSize;
use crate::term;
use counter_options::CounterOptions;
use function_options::FunctionOptions;
use program_run::ProgramEnd;
use recorder_choice::{RecorderName, chosen_recorders, level_list};
use run_folder::RunFolder;
use run_summary::RunSummary;

/// Records a program without changes of its source code: its calls of MPI, its parallel regions of
/// OpenMP, the waits of its threads, its functions, and counters
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tumit record -o run.tmt -- mpirun -n 4 ./app             C, C++ or Fortran, Open MPI or MPICH
  tumit record -- mpirun -n 4 python3 app.py               mpi4py
  tumit record -o run.tmt -- srun -n 64 ./app              Slurm, in a batch script or from a shell
  tumit record -o run.tmt -- ./job.sh                      a script that calls mpirun once
  tumit record -o run.tmt -- ./app                         OpenMP with the runtime of LLVM, or threads
  tumit record --with mpi,io -- mpirun -n 4 ./app          MPI and files
  tumit record --functions 'heat::*;!heat::cell' -- ./app  these functions of a program compiled with -finstrument-functions
  tumit record --with counters -- ./app                    processor time, page faults, cycles, memory, load of the machine
  tumit record --levels MPI_COLL=off -- mpirun -n 4 ./app  without collective operations
  tumit record --dry-run -- mpirun -n 4 ./app              shows the settings, and runs nothing

In a batch script, for commands that must stay as they are:
  eval \"$(tumit record --print-env -o $SLURM_SUBMIT_DIR/run.tmt)\"
  srun ./app

Several nodes: the run folder must be on a file system that all nodes share, because it contains the library that records. srun
and MPICH's mpirun pass the environment on to all nodes. Open MPI's mpirun passes on the variables that OMPI_MCA_mca_base_env_list
names; `tumit record` sets it, or adds `-x` options if the command has some:
  tumit record -o /shared/run.tmt -- mpirun --hostfile hosts -n 128 ./app

The library is loaded by LD_PRELOAD, and serves Open MPI 4 and 5, MPICH 3.1 to 5 with its relatives, and the standard interface of
MPI 5. Levels: MPI_JOB, MPI_P2P, MPI_COLL, MPI_RMA, MPI_IO, MPI_TOPO, MPI_ENV (off);
OMP_REGION, OMP_SYNC, OMP_WORK, OMP_TASK, OMP_LOCK; THREADS, THREAD_WAITS; FUNCTIONS, FUNCTION_LIMITS;
IO_FILES, IO_CHANNELS (off); THREAD_COUNTERS, PROCESS_COUNTERS, MACHINE_COUNTERS, COUNTER_LIMITS.

Exit status: that of the program. If a signal ends the program, `tumit record` ends by the same signal. 126 and 127: the program
cannot be started or found, as in a shell. 2: the recording could not be prepared.")]
pub(crate) struct Args {
    /// The recorders: mpi, openmp, threads, functions, io, counters [default: those that are
    /// detected, without io and counters]
    #[arg(long, value_name = "RECORDERS", value_enum, value_delimiter = ',')]
    with: Vec<RecorderName>,

    /// The run folder to write [default: `TUMIT_TRACE`, then PROGRAM-TIME-PID.tmt]
    #[arg(short, long, value_name = "RUN")]
    output: Option<PathBuf>,

    /// Replaces the run in the folder
    #[arg(long, alias = "force")]
    overwrite: bool,

    /// Switches levels: NAME=on or NAME=off, separated by commas; `all` names all levels
    #[arg(long, value_name = "LEVELS", value_parser = level_list)]
    levels: Option<String>,

    /// Memory of each process for records that are not yet in its file, such as 64M [default: 16M]
    #[arg(long, value_name = "SIZE")]
    memory: Option<ByteSize>,

    #[command(flatten)]
    functions: FunctionOptions,

    #[command(flatten)]
    counters: CounterOptions,

    /// Prints errors only, no other messages
    #[arg(short, long)]
    quiet: bool,

    /// Prints the settings and the command, and runs nothing
    #[arg(long, conflicts_with = "print_env")]
    dry_run: bool,

    /// Prints the settings as commands for a shell, writes the library into the run folder, and
    /// runs nothing
    #[arg(long)]
    print_env: bool,

    /// The command that starts the program, with its arguments
    #[arg(value_name = "COMMAND", trailing_var_arg = true, required_unless_present = "print_env")]
    command: Vec<OsString>,
}

/// The value of a variable of this process.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitStatus> {
    let recorders = chosen_recorders(&args.with);
    args.counters.check(recorders.as_ref())?;
    let search_path = variable("PATH");
    let command = ProgramCommand::new(&args.command, search_path.as_deref());
    let folder = RunFolder::new(args.output.as_deref(), &program_name(args, &command))?;
    let library_path = variable("LD_LIBRARY_PATH").map(|value| value.to_string_lossy().into_owned());
    let folders = LibraryFolders::of_machine(library_path.as_deref());
    let earlier_preload = variable(PRELOAD).unwrap_or_default();
    let context = AttachmentContext {
        recorders: recorders.as_ref(),
        search_path: search_path.as_deref(),
        folders: &folders,
        earlier_preload: &earlier_preload.to_string_lossy(),
    };
    let attachment = Attachment::new(&args.command, &command, &context);
    let launcher = launcher_path(args, &command, search_path.as_deref());
    let library = || attachment.library(launcher.as_deref(), &folders);
    if args.print_env {
        return print_env(args, &folder, &library());
    }
    folder.check(args.overwrite)?;
    if args.dry_run {
        let settings = args.settings(&folder, path_in(folder.path()));
        let environment = environment(args, &settings, &command, &attachment);
        return shell_text::print_dry_run(&environment, &command, &attachment, folder.path());
    }
    if let Err(obstacle) = ProgramFile::find(&args.command[0], search_path.as_deref()) {
        return Ok(cannot_start(&args.command[0], obstacle));
    }
    record(args, &folder, &command, &attachment, &library())
}

/// The path of the launcher in the command. Without one, `mpirun` starts the ranks.
fn launcher_path(args: &Args, command: &ProgramCommand, search_path: Option<&OsStr>) -> Option<PathBuf> {
    let name = command.launcher.as_ref().map_or(OsStr::new("mpirun"), |launcher| &args.command[launcher.position]);
    executable(name, search_path).ok()
}

impl Args {
    fn settings(&self, folder: &RunFolder, library: PathBuf) -> RecordingSettings {
        RecordingSettings {
            folder: folder.path().to_owned(),
            library,
            launch_id: new_launch_id(),
            levels: self.levels.clone(),
            memory_bytes: self.memory.map(|size| size.0),
            functions: self.functions.limits(),
            counters: self.counters.choice(),
        }
    }

    /// Prints a message, unless the user wants none.
    fn note(&self, text: &str) {
        if !self.quiet {
            term::note(&format!("tumit record: {text}"));
        }
    }
}

/// The name of the program that is recorded, for the name of the folder.
fn program_name(args: &Args, command: &ProgramCommand) -> String {
    let position = command.programs.first().copied().unwrap_or(0);
    let name = args.command.get(position).map(|word| Path::new(word).file_stem().unwrap_or_default());
    name.map_or_else(|| "run".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// A text that differs in each call.
fn new_launch_id() -> String {
    let number = || RandomState::new().hash_one(std::process::id());
    format!("record-{:016x}{:016x}", number(), number())
}

fn environment(
    args: &Args,
    settings: &RecordingSettings,
    command: &ProgramCommand,
    attachment: &Attachment,
) -> RecordingEnvironment {
    RecordingEnvironment::new(settings, &args.command, command, attachment.is_preloaded(), &variable)
}

/// Reports that the first program of the command cannot be started, with the exit status of a
/// shell.
fn cannot_start(name: &OsString, obstacle: StartObstacle) -> ExitStatus {
    let name = name.to_string_lossy();
    let (text, status) = match obstacle {
        StartObstacle::Missing => (format!("`{name}` is not found: check its name, or write its path"), 127),
        StartObstacle::NotExecutable => {
            (format!("`{name}` cannot be executed: `chmod +x` makes a file executable"), 126)
        }
    };
    term::note(&format!("tumit record: {text}"));
    ExitStatus::Program(status)
}

/// The folder with the library. A path that the dynamic loader does not accept is replaced by a
/// temporary folder.
struct LibraryPlace {
    library: PathBuf,
    /// The folder, if it is temporary.
    temporary_folder: Option<TempDir>,
}

impl LibraryPlace {
    fn new(args: &Args, folder: &Path, bytes: &[u8]) -> anyhow::Result<Self> {
        let cannot_write = || format!("cannot write the library into `{}`", folder.display());
        let Some(character) = special_character(folder) else {
            return Ok(Self { library: write(folder, bytes).with_context(cannot_write)?, temporary_folder: None });
        };
        let temporary = tempfile::Builder::new().prefix("tumit-record-").tempdir().context("cannot create a folder")?;
        let path = temporary.path();
        ensure!(
            special_character(path).is_none(),
            "the paths of the run folder `{}` and of the temporary folder `{}` contain characters that LD_PRELOAD does not accept, such as `{}`: name another folder by -o",
            folder.display(),
            path.display(),
            character.escape_default()
        );
        let library =
            write(path, bytes).with_context(|| format!("cannot write the library into `{}`", path.display()))?;
        if has_several_nodes(&variable) {
            args.note(&format!(
                "other nodes do not find the library, because the path of the run folder contains `{}`: name another folder by -o",
                character.escape_default()
            ));
        }
        Ok(Self { library, temporary_folder: Some(temporary) })
    }
}

fn print_env(args: &Args, folder: &RunFolder, library: &[u8]) -> anyhow::Result<ExitStatus> {
    folder.check(args.overwrite)?;
    folder.create()?;
    let place = LibraryPlace::new(args, folder.path(), library)?;
    let settings = args.settings(folder, place.library);
    // The shell uses the library after the end of this process.
    place.temporary_folder.map(TempDir::keep);
    shell_text::print_variables(&settings, &variable)
}

/// Runs the program, and reports about the run.
fn record(
    args: &Args,
    folder: &RunFolder,
    command: &ProgramCommand,
    attachment: &Attachment,
    library: &[u8],
) -> anyhow::Result<ExitStatus> {
    folder.create()?;
    let place = LibraryPlace::new(args, folder.path(), library)?;
    let settings = args.settings(folder, place.library);
    let environment = environment(args, &settings, command, attachment);
    for line in shell_text::attachment_lines(command, attachment, folder.shown()) {
        args.note(&line);
    }
    for warning in &environment.warnings {
        args.note(&format!("warning: {warning}"));
    }
    let program = program_run::run(&environment)?;
    if let ProgramEnd::NotStarted(error) = program.end {
        folder.remove_unused();
        term::note(&format!("tumit record: `{}` cannot be executed: {error}", args.command[0].to_string_lossy()));
        return Ok(ExitStatus::Program(126));
    }
    if !command.submits && folder.has_files() {
        keep_names(folder);
    }
    report(args, folder, &program.end, program.wall_time, command, attachment);
    // A submitted job still needs the library.
    if command.submits {
        place.temporary_folder.map(TempDir::keep);
    } else {
        folder.remove_unused();
    }
    Ok(program_run::end_like(&program.end))
}

/// Writes the names of functions into the run folder. A run that cannot be opened is a matter of
/// the summary.
fn keep_names(folder: &RunFolder) {
    let Ok(run) = OpenRun::open_launches(folder.path(), LaunchSelection::All) else { return };
    if let Err(error) = keep_symbols(folder.path(), [run.symbols()]) {
        term::note(&format!("tumit record: the names of functions cannot be stored in the run folder: {error}"));
    }
}

fn report(
    args: &Args,
    folder: &RunFolder,
    end: &ProgramEnd,
    wall_time: Duration,
    command: &ProgramCommand,
    attachment: &Attachment,
) {
    if args.quiet {
        return;
    }
    if command.submits {
        args.note(&format!(
            "the job records into {} when it runs, if the batch system passes on the environment (otherwise see --print-env)",
            folder.shown()
        ));
        return;
    }
    let lines = if folder.has_files() {
        RunSummary::new(folder.path(), wall_time).lines(folder.shown())
    } else {
        vec![run_summary::no_rank_text(end, attachment)]
    };
    lines.iter().for_each(|line| args.note(line));
}
