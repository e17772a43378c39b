//! The session: how recording begins and ends, and the calls of programs in between.

mod end;
mod fork;
mod start;
mod thread_end;

use std::path::{Path, PathBuf};

use crate::reentrancy::unnested;
use crate::signal::deferred;
use crate::state::STATE;
use crate::writer::SINK;
use end::finish_with;

pub use start::start;
pub(crate) use start::{begin, start_if_asked};

/// Why [`start`] could not record. The program can go on: its records are dropped.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// Recording has begun already (`TUMIT_START=1` begins it, too), has ended, or could not begin before.
    Late,
    /// The file in the run folder could not be made.
    Folder {
        /// The run folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// There is no memory for the buffers.
    Memory,
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Late => {
                f.write_str("recording has begun already, or could not: call `start` once, before the first record")
            }
            Self::Folder { path, source } => write!(
                f,
                "cannot record in `{}`: {source}; set TUMIT_TRACE to a folder that can be made and written",
                path.display()
            ),
            Self::Memory => f.write_str("no memory for the buffers of records: set TUMIT_MEMORY to less"),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Folder { source, .. } => Some(source),
            Self::Late | Self::Memory => None,
        }
    }
}

/// A session that was started by [`start`]. Dropping it changes nothing: recording ends with the process, or by
/// [`Session::finish`].
#[derive(Debug)]
pub struct Session {
    folder: PathBuf,
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

/// Writes out what was recorded so far, of all threads.
pub fn flush() {
    if !unnested(|| SINK.lock().flush()) {
        deferred::ask(deferred::FLUSH);
    }
}

/// Writes out what the levels that overwrite ([`crate::Policy::Overwrite`]) hold, of all threads, oldest first. They go on
/// recording, into what is then empty.
pub fn dump() {
    if !unnested(|| SINK.lock().dump()) {
        deferred::ask(deferred::DUMP);
    }
}

/// Ends recording: writes out everything, of all threads, and closes the file. Later records are dropped. Not needed at
/// the end of a process, which does the same. Before anything is recorded it does nothing.
pub fn finish() {
    unnested(|| finish_with(&mut SINK.lock()));
}

/// Numbers of records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// In the file. Call [`flush`] before, to count those in the buffers.
    pub written: u64,
    /// Dropped, for whatever reason.
    pub dropped: u64,
    /// After the end: in the live file, because the file could not take them.
    pub kept: u64,
}

/// How many records were written and dropped so far by this process.
#[must_use]
pub fn counts() -> Counts {
    let mut counts = Counts::default();
    unnested(|| {
        counts.written = SINK.lock().records_written();
        let state = STATE.lock();
        let unwritten = state.unwritten_at_the_end();
        let (kept, late) = if state.kept { (unwritten, 0) } else { (0, unwritten) };
        (counts.dropped, counts.kept) = (state.dropped() + late, kept);
    });
    counts
}
