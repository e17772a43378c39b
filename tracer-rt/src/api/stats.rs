//! What the recorder says of itself.

use crate::reentrancy::unnested;
use crate::session::{self, Counts};
use crate::slots::pool;
use crate::state::STATE;
use crate::writer::SINK;

/// The recorder at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Numbers of records.
    pub counts: Counts,
    /// Size of the process's file, in bytes.
    pub file_bytes: u64,
    /// Slots in all, of 64 KiB each.
    pub slots: usize,
    /// Slots that a thread could get at once.
    pub free_slots: usize,
    /// Full slots that are not yet written.
    pub full_slots: usize,
    /// Streams of threads that live, or have something to be written.
    pub streams: usize,
    /// The slots lie in a live file.
    pub mapped: bool,
}

/// How the recorder is doing. Takes locks for a moment; not for hot paths.
#[must_use]
pub fn stats() -> Stats {
    let mut stats = Stats { counts: session::counts(), ..Stats::default() };
    unnested(|| {
        stats.file_bytes = SINK.lock().file_bytes();
        let state = STATE.lock();
        stats.slots = state.pool.slots();
        stats.free_slots = pool::available();
        stats.full_slots = state.full.len();
        stats.streams = state.entries.len();
        stats.mapped = state.live.is_some();
    });
    stats
}
