//! The result of the slow path: space for a record, and the action that follows it.

use crate::self_trace;
use crate::slots::SlotHeader;

/// Space for a record, and the record's timestamp.
#[derive(Clone, Copy)]
pub(crate) struct RecordSpace {
    pub(crate) slot: *const SlotHeader,
    pub(crate) now: u64,
    pub(crate) follow_up: FollowUp,
    /// Maximum size in bytes of a record that is too long, with its mark. `None` for other records.
    pub(crate) limit: Option<usize>,
}

/// The action that follows the record.
#[derive(Clone, Copy)]
pub(crate) enum FollowUp {
    Nothing,
    /// Release the thread's stream for signal handlers, which contains the record.
    Handler,
    /// Record that the thread waited until this timestamp.
    Waited(self_trace::Cause, u64),
}
