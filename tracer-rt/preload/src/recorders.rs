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
}

/// Some recorders.
pub type RecorderSet = BTreeSet<Recorder>;

impl Recorder {
    /// All recorders.
    pub const ALL: [Self; 3] = [Self::Mpi, Self::OpenMp, Self::Threads];

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
        }
    }

    /// The recorder that needs an exported symbol of the library.
    #[must_use]
    pub fn of_symbol(symbol: &str) -> Option<Self> {
        let procedure = symbol.strip_prefix('P').unwrap_or(symbol);
        match symbol {
            "ompt_start_tool" => Some(Self::OpenMp),
            _ if symbol.starts_with("pthread_") || symbol.starts_with("sem_") => Some(Self::Threads),
            _ => procedure.starts_with("MPI_").then_some(Self::Mpi),
        }
    }
}

/// The names of some recorders, such as `mpi, openmp`.
#[must_use]
pub fn names(recorders: &RecorderSet) -> String {
    let names: Vec<&str> = recorders.iter().map(|recorder| recorder.name()).collect();
    names.join(", ")
}
