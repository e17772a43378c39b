//! The slow path of a record: its thread needs a stream or a slot, or its signal handler interrupted the recorder.

pub(crate) mod attach;
pub(crate) mod drops;
pub(crate) mod signal_stream;

use crate::self_trace;
use crate::slots::Slot;

/// Space for a record, and the record's timestamp.
#[derive(Clone, Copy)]
pub(crate) struct Room {
    pub(crate) slot: *const Slot,
    pub(crate) now: u64,
    pub(crate) after: After,
    /// For a record that is too long: the size to which it is truncated, with its mark.
    pub(crate) limit: Option<usize>,
}

/// The action that follows the record.
#[derive(Clone, Copy)]
pub(crate) enum After {
    Nothing,
    /// Release the thread's stream for signal handlers, which contains the record.
    Handler,
    /// Record that the thread waited until this timestamp.
    Waited(self_trace::Cause, u64),
}
