//! The calls of programs during recording, and its end.

use std::path::{Path, PathBuf};

use super::end::finish_with;
use crate::reentrancy::run_unnested;
use crate::signal::handler_requests;
use crate::state::STATE;
use crate::writer::BLOCK_WRITER;

/// A session that was started by [`start`](crate::start). Dropping it changes nothing: recording
/// ends with the process, or by [`Session::finish`].
#[derive(Debug)]
pub struct Session {
    pub(super) folder: PathBuf,
}

impl Session {
    /// The run folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Ends recording, as [`finish`] does.
    pub fn finish(self) {
        finish();
    }
}

/// Writes all records so far, of all threads.
pub fn flush() {
    if !run_unnested(|| BLOCK_WRITER.lock().flush()) {
        handler_requests::request(handler_requests::FLUSH);
    }
}

/// Writes the records of the levels that overwrite ([`crate::OverflowPolicy::Overwrite`]), of all
/// threads, oldest first. Recording continues with empty buffers.
pub fn dump() {
    if !run_unnested(|| BLOCK_WRITER.lock().dump()) {
        handler_requests::request(handler_requests::DUMP);
    }
}

/// Ends recording: writes all records of all threads and closes the file.
/// Later records are dropped. The end of the process does the same, so this call is optional.
/// Before the first record it does nothing.
pub fn finish() {
    run_unnested(|| finish_with(&mut BLOCK_WRITER.lock()));
}

/// Numbers of records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordCounts {
    /// In the file. A call of [`flush`] before includes the records in the buffers.
    pub written: u64,
    /// Dropped, for any reason.
    pub dropped: u64,
    /// After the end of recording: in the live file, because the file could not take them.
    pub in_live_file: u64,
}

/// The numbers of records that this process has written and dropped so far.
#[must_use]
pub fn counts() -> RecordCounts {
    let mut counts = RecordCounts::default();
    run_unnested(|| {
        counts.written = BLOCK_WRITER.lock().records_written();
        let state = STATE.lock();
        let unwritten = state.unwritten_at_the_end();
        counts.dropped = state.dropped_records();
        if state.keeps_live_file {
            counts.in_live_file = unwritten;
        } else {
            counts.dropped += unwritten;
        }
    });
    counts
}
