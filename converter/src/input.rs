//! Reading a run's files: which blocks are good, and the records in them.

mod adopt;
mod building;
mod levels;
mod live;
mod names;
mod process;
mod read_at;
mod scan;
mod source;
mod spool;
mod streams;
mod thread_identity;
mod unpacked;

pub use levels::{LevelName, levels_of_live};
pub use live::LiveError;
pub use process::{BlockIndex, Damage, Live, LiveFault, Process, Provider, Repaired, Stream};
pub use source::{Record, RecordSource, StreamReader};

pub(crate) use live::Entry;
pub(crate) use names::missing_names;
pub(crate) use process::Lives;
pub(crate) use read_at::{open_shared, read_at};
pub(crate) use scan::{Found, scan};
pub(crate) use source::{BlockPlace, Place, is_gap};
pub(crate) use spool::Spool;
pub(crate) use thread_identity::{Unnamed, first_ticks};
pub(crate) use unpacked::{Memory, waiting_budget};

use std::path::PathBuf;

/// Reading a file failed, which is not the same as finding damage in it.
#[derive(Debug, thiserror::Error)]
#[error("{}: {}{source}", file.display(), at_byte(*offset))]
pub struct ReadError {
    /// The file.
    pub file: PathBuf,
    /// Where.
    pub offset: u64,
    /// What the system said.
    pub source: std::io::Error,
}

/// Where it failed; nothing when it failed at the start, as when the file is not there.
fn at_byte(offset: u64) -> String {
    if offset == 0 { String::new() } else { format!("cannot read at byte {offset}: ") }
}
