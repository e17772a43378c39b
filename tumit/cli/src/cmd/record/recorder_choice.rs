//! The recorders of `tumit record`, and their levels.

use anyhow::bail;

/// A recorder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Recorder {
    /// Calls, messages and collective operations of MPI
    Mpi,
    /// OpenMP (not available yet)
    Openmp,
    /// Threads and locks (not available yet)
    Threads,
    /// Functions (not available yet)
    Functions,
    /// Counters of the processor and the system (not available yet)
    Counters,
    /// Files (not available yet)
    Io,
}

impl Recorder {
    fn name(self) -> &'static str {
        match self {
            Self::Mpi => "mpi",
            Self::Openmp => "openmp",
            Self::Threads => "threads",
            Self::Functions => "functions",
            Self::Counters => "counters",
            Self::Io => "io",
        }
    }
}

/// Checks that all recorders that the user names are available.
///
/// # Errors
/// If one is not.
pub(crate) fn chosen_recorders(named: &[Recorder]) -> anyhow::Result<()> {
    let missing: Vec<&str> =
        named.iter().filter(|&&recorder| recorder != Recorder::Mpi).map(|recorder| recorder.name()).collect();
    if !missing.is_empty() {
        bail!("`--with {}` is not available yet: `mpi` is the only recorder of this version", missing.join(","));
    }
    Ok(())
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
    use super::{Recorder, chosen_recorders, level_list};

    #[test]
    fn names_are_checked() {
        assert!(chosen_recorders(&[]).is_ok() && chosen_recorders(&[Recorder::Mpi]).is_ok());
        let error = chosen_recorders(&[Recorder::Mpi, Recorder::Openmp, Recorder::Io]).unwrap_err().to_string();
        assert!(error.starts_with("`--with openmp,io` is not available yet"), "{error}");
        assert!(level_list("MPI_COLL=off,all=on").is_ok());
        for wrong in ["", "MPI_COLL", "MPI_COLL=maybe", "=on", "A=on,"] {
            assert!(level_list(wrong).is_err(), "{wrong}");
        }
    }
}
