//! [`TraceFollower`]: a trace that is being written, and the source that shows it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::input::current_trace::CurrentTrace;
use crate::input::open_options::OpenOptions;

pub(crate) struct TraceFollower {
    pub(crate) path: PathBuf,
    pub(crate) options: OpenOptions,
    pub(crate) current_trace: CurrentTrace,
    pub(crate) cancel: Arc<AtomicBool>,
}

/// Milliseconds between two checks for more data.
pub(crate) const LOOK_EVERY: u64 = 100;

impl TraceFollower {
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Waits for a number of milliseconds, or until it is cancelled.
    pub(crate) fn pause(&self, milliseconds: u64) {
        let mut remaining_time = milliseconds;
        while remaining_time > 0 && !self.is_cancelled() {
            let step = remaining_time.min(LOOK_EVERY);
            std::thread::sleep(std::time::Duration::from_millis(step));
            remaining_time -= step;
        }
    }
}
