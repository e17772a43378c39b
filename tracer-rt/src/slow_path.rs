//! The slow path of a record: its thread needs a stream or a slot, or its signal handler
//! interrupted the recorder.

pub(crate) mod attach;
pub(crate) mod drop_counts;
mod record_space;
pub(crate) mod signal_stream;

pub(crate) use record_space::{FollowUp, RecordSpace};
