//! [`Recorder`]: the recorders that the library contains.

use std::collections::BTreeSet;

/// A recorder of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Recorder {
    /// Calls of MPI.
    Mpi,
    /// Regions, tasks and waits of OpenMP.
    OpenMp,
    /// Begins, ends and waits of threads.
    Threads,
    /// Files that are read and written.
    Io,
    /// Calls of functions.
    Functions,
    /// Counters of the processor and of the system.
    Counters,
}

/// The functions that programs call at the begin and the end of each function, if they are compiled
/// with `-finstrument-functions`.
pub const ENTER_HOOK: &str = "__cyg_profile_func_enter";
const EXIT_HOOK: &str = "__cyg_profile_func_exit";

/// The exported function that states that the recorder of counters is chosen. It replaces none.
const COUNTERS_SYMBOL: &str = "tumit_record_counters";

/// The functions that replace the program of a process, or end the process without destructors. All
/// recorders need them, because the file of the process ends there.
const END_FUNCTIONS: [&str; 11] =
    ["execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle", "fexecve", "execveat", "_exit", "_Exit"];

/// The functions that the recorder of files replaces.
const IO_FUNCTIONS: [&str; 29] = [
    "open",
    "open64",
    "openat",
    "openat64",
    "creat",
    "creat64",
    "close",
    "dup2",
    "dup3",
    "read",
    "write",
    "pread",
    "pread64",
    "pwrite",
    "pwrite64",
    "readv",
    "writev",
    "preadv",
    "preadv64",
    "pwritev",
    "pwritev64",
    "fsync",
    "fdatasync",
    "fopen",
    "fopen64",
    "fclose",
    "fflush",
    "fread",
    "fwrite",
];
/// Their variants in programs that check the sizes of buffers.
const IO_FUNCTIONS_WITH_CHECKS: [&str; 8] = [
    "__open_2",
    "__open64_2",
    "__openat_2",
    "__openat64_2",
    "__read_chk",
    "__pread_chk",
    "__pread64_chk",
    "__fread_chk",
];

/// A set of recorders.
pub type RecorderSet = BTreeSet<Recorder>;

impl Recorder {
    /// All recorders.
    pub const ALL: [Self; 6] = [Self::Mpi, Self::OpenMp, Self::Threads, Self::Io, Self::Functions, Self::Counters];

    /// The name on the command line.
    ///
    /// ```
    /// assert_eq!(tumit_preload::recorders::Recorder::OpenMp.name(), "openmp");
    /// ```
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mpi => "mpi",
            Self::OpenMp => "openmp",
            Self::Threads => "threads",
            Self::Io => "io",
            Self::Functions => "functions",
            Self::Counters => "counters",
        }
    }

    /// The recorder that needs an exported symbol of the library.
    #[must_use]
    pub fn of_symbol(symbol: &str) -> Option<Self> {
        let procedure = symbol.strip_prefix('P').unwrap_or(symbol);
        match symbol {
            "ompt_start_tool" => Some(Self::OpenMp),
            ENTER_HOOK | EXIT_HOOK => Some(Self::Functions),
            COUNTERS_SYMBOL => Some(Self::Counters),
            _ if symbol.starts_with("pthread_") || symbol.starts_with("sem_") => Some(Self::Threads),
            _ if IO_FUNCTIONS.contains(&symbol) || IO_FUNCTIONS_WITH_CHECKS.contains(&symbol) => Some(Self::Io),
            _ => procedure.starts_with("MPI_").then_some(Self::Mpi),
        }
    }
}

/// Whether a symbol of the library serves all recorders.
#[must_use]
pub fn serves_all_recorders(symbol: &str) -> bool {
    END_FUNCTIONS.contains(&symbol)
}

/// The names of some recorders, such as `mpi, openmp`.
#[must_use]
pub fn names(recorders: &RecorderSet) -> String {
    let names: Vec<&str> = recorders.iter().map(|recorder| recorder.name()).collect();
    names.join(", ")
}
