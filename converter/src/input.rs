//! Reading a run's files: which blocks are good, and the records in them.

mod process;
mod read_at;
mod scan;
mod source;

pub use process::{Damage, Process, Provider, Stream};
pub use source::{Record, RecordSource, StreamReader};

pub(crate) use read_at::open_shared;
pub(crate) use source::Place;

use std::path::PathBuf;

/// Reading a file failed, which is not the same as finding damage in it.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot read at byte {offset}: {source}", file.display())]
pub struct ReadError {
    /// The file.
    pub file: PathBuf,
    /// Where.
    pub offset: u64,
    /// What the system said.
    pub source: std::io::Error,
}
