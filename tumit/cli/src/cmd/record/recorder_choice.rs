//! The recorders of `tumit record`, and their levels.

use anyhow::bail;
use clap::ValueEnum as _;
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
    /// Calls of functions, of programs compiled with -finstrument-functions
    Functions,
    /// Counters of the processor and the system (not available yet)
    Counters,
    /// Files that are read and written
    Io,
}

impl RecorderName {
    /// The recorder. `None` if it is not available.
    fn recorder(self) -> Option<Recorder> {
        match self {
            Self::Mpi => Some(Recorder::Mpi),
            Self::Openmp => Some(Recorder::OpenMp),
            Self::Threads => Some(Recorder::Threads),
            Self::Io => Some(Recorder::Io),
            Self::Functions => Some(Recorder::Functions),
            Self::Counters => None,
        }
    }
}

/// The recorders that the user names. `None` without names.
///
/// # Errors
/// If one is not available.
pub(crate) fn chosen_recorders(named: &[RecorderName]) -> anyhow::Result<Option<RecorderSet>> {
    if named.is_empty() {
        return Ok(None);
    }
    let text =
        |name: &RecorderName| name.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
    let missing: Vec<String> = named.iter().filter(|name| name.recorder().is_none()).map(text).collect();
    if !missing.is_empty() {
        bail!(
            "`--with {}` is not available yet: the recorders of this version are mpi, openmp, threads, functions and io",
            missing.join(",")
        );
    }
    Ok(Some(named.iter().filter_map(|name| name.recorder()).collect()))
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
    fn unknown_recorders_and_levels_are_rejected() {
        assert_eq!(chosen_recorders(&[]).unwrap(), None);
        let openmp = chosen_recorders(&[RecorderName::Openmp]).unwrap();
        assert_eq!(openmp, Some(RecorderSet::from([Recorder::OpenMp])));
        let named = [RecorderName::Io, RecorderName::Functions, RecorderName::Counters];
        assert_eq!(
            chosen_recorders(&named[..2]).unwrap(),
            Some(RecorderSet::from([Recorder::Io, Recorder::Functions]))
        );
        let error = chosen_recorders(&named).unwrap_err().to_string();
        assert!(error.starts_with("`--with counters` is not available yet"), "{error}");
        assert!(level_list("MPI_COLL=off,all=on").is_ok());
        for wrong in ["", "MPI_COLL", "MPI_COLL=maybe", "=on", "A=on,"] {
            assert!(level_list(wrong).is_err(), "{wrong}");
        }
    }
}
