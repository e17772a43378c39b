//! Reading a run's files: which blocks are good, and the records in them.

mod adopt;
mod building;
mod error;
mod levels;
mod live;
mod names;
mod open;
mod process;
mod read_at;
mod scan;
mod source;
mod spool;
mod streams;
mod thread_identity;
mod unpacked;

pub use error::ReadError;
pub use levels::{LevelName, levels_of_live};
pub use live::LiveError;
pub use process::{BlockIndex, Damage, Live, LiveFault, Process, Provider, Repaired, Stream};
pub use source::{Record, RecordSource, StreamReader};

pub(crate) use live::Entry;
pub(crate) use names::missing_names;
pub(crate) use process::{Lives, Unnamed};
pub(crate) use read_at::{open_shared, read_at};
pub(crate) use scan::{Found, scan};
pub(crate) use source::{BlockPlace, Place, is_gap};
pub(crate) use spool::Spool;
pub(crate) use thread_identity::first_ticks;
pub(crate) use unpacked::{Memory, waiting_budget};
