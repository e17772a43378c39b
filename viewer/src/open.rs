//! Opens traces: as a whole with [`open`](open()), or while they are read with [`background_read`].

pub mod background_read;
mod whole_trace;

pub use whole_trace::{PreparedIndex, make_index, open};
