//! The reasons why recording did not start.

use std::path::PathBuf;

/// The reason why [`start`](crate::start) did not start recording.
/// The program can continue without a trace: its records are dropped.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// Recording has started already (`TUMIT_START=1` starts it, too), has ended, or failed to
    /// start.
    Late,
    /// The file in the run folder could not be created.
    Folder {
        /// The run folder.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// There is no memory for the buffers.
    Memory,
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Late => f.write_str(
                "recording has already started, or its start failed; call `start` once, before the first record",
            ),
            Self::Folder { path, source } => write!(
                f,
                "cannot record in `{}`: {source}; set TUMIT_TRACE to a folder that the program may create and write",
                path.display()
            ),
            Self::Memory => f.write_str("no memory for the buffers of records; set TUMIT_MEMORY to a smaller size"),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Folder { source, .. } => Some(source),
            Self::Late | Self::Memory => None,
        }
    }
}
