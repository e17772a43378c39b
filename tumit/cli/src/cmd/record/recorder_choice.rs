//! The recorders of `tumit record`, and their levels.

use tumit_preload::recorders::{Recorder, RecorderSet};

/// A recorder on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum RecorderName {
    /// Calls, messages and collective operations of MPI
    Mpi,
    /// Regions, tasks, barriers and locks of OpenMP
    Openmp,
    /// Begins, ends and waits of threads: locks, conditions, semaphores, barriers
    Threads,
    /// Calls of functions, of programs compiled with -finstrument-functions or -fxray-instrument
    Functions,
    /// Counters of the processor and the system: processor time, page faults, cycles, memory, load
    Counters,
    /// Files that are read and written
    Io,
}

impl RecorderName {
    fn recorder(self) -> Recorder {
        match self {
            Self::Mpi => Recorder::Mpi,
            Self::Openmp => Recorder::OpenMp,
            Self::Threads => Recorder::Threads,
            Self::Io => Recorder::Io,
            Self::Functions => Recorder::Functions,
            Self::Counters => Recorder::Counters,
        }
    }
}

/// The recorders that the user names. `None` without names.
pub(crate) fn chosen_recorders(names: &[RecorderName]) -> Option<RecorderSet> {
    (!names.is_empty()).then(|| names.iter().map(|name| name.recorder()).collect())
}

/// Checks the form of a list of levels: `NAME=on,NAME=off`.
///
/// # Errors
/// If an entry has another form.
pub(crate) fn level_list(text: &str) -> Result<String, String> {
    for entry in text.split(',') {
        let (name, state) = entry.trim().split_once('=').unwrap_or_default();
        if name.trim().is_empty() || !matches!(state.trim(), "on" | "off") {
            return Err(format!("`{entry}` is not valid: write NAME=on or NAME=off, as in MPI_COLL=off"));
        }
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{RecorderName, chosen_recorders, level_list};
    use tumit_preload::recorders::{Recorder, RecorderSet};

    #[test]
    fn unknown_levels_are_rejected() {
        assert_eq!(chosen_recorders(&[]), None);
        assert_eq!(chosen_recorders(&[RecorderName::Openmp]), Some(RecorderSet::from([Recorder::OpenMp])));
        let named = [RecorderName::Io, RecorderName::Functions, RecorderName::Counters];
        let expected = RecorderSet::from([Recorder::Io, Recorder::Functions, Recorder::Counters]);
        assert_eq!(chosen_recorders(&named), Some(expected));
        assert!(level_list("MPI_COLL=off,all=on").is_ok());
        for wrong in ["", "MPI_COLL", "MPI_COLL=maybe", "=on", "A=on,"] {
            assert!(level_list(wrong).is_err(), "{wrong}");
        }
    }
}
