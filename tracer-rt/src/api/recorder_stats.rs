//! Statistics of the recorder.

use crate::reentrancy::run_unnested;
use crate::session::{self, RecordCounts};
use crate::slots::pool;
use crate::state::STATE;
use crate::writer::BLOCK_WRITER;

/// The state of the recorder at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecorderStats {
    /// Numbers of records.
    pub counts: RecordCounts,
    /// Size of the process's file, in bytes.
    pub file_bytes: u64,
    /// Number of slots, of 64 KiB each.
    pub slots: usize,
    /// Number of slots that are free.
    pub free_slots: usize,
    /// Number of full slots that are not written yet.
    pub full_slots: usize,
    /// Number of streams of running threads and of streams that are not completely written.
    pub streams: usize,
    /// Whether the slots are in a live file.
    pub mapped: bool,
}

/// Returns the statistics. Takes locks for a short time, so it is not for hot paths.
#[must_use]
pub fn stats() -> RecorderStats {
    let mut stats = RecorderStats { counts: session::counts(), ..RecorderStats::default() };
    run_unnested(|| {
        stats.file_bytes = BLOCK_WRITER.lock().file_bytes();
        let state = STATE.lock();
        stats.slots = state.pool.slots();
        stats.free_slots = pool::available();
        stats.full_slots = state.full_slots.len();
        stats.streams = state.entries.len();
        stats.mapped = state.live.is_some();
    });
    stats
}
