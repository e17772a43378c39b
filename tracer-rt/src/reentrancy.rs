//! Prevents reentrant calls of the recorder.
//!
//! A signal handler or an allocator may call the recorder during the recorder's own work. A child
//! created without fork handlers may call it with a copy of its parent's memory.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::cursor::{CURSOR, work_state};

/// Runs work that takes locks. Records of signal handlers during the work go to the signal stream.
///
/// Returns false, without running the work, if the caller has interrupted the recorder: it then
/// defers its request. In a child created without fork handlers, the work is omitted, and the
/// result is true, so that no request is deferred.
pub(crate) fn run_unnested(work: impl FnOnce()) -> bool {
    CURSOR.with(|cursor| {
        let before = cursor.begin_work();
        if before == work_state::IDLE && is_own_process() {
            work();
        }
        cursor.end_work(before);
        before == work_state::IDLE
    })
}

/// Runs `work`, unless the recorder was interrupted by the caller (a signal handler).
/// In that case the lock may be the thread's own, and the record of the caller is dropped anyway.
pub(crate) fn unless_nested<T>(work: impl FnOnce() -> T) -> Option<T> {
    CURSOR.with(|cursor| {
        let before = cursor.begin_work();
        let result = (before == work_state::IDLE).then(work);
        cursor.end_work(before);
        result
    })
}

/// Id of the process that records. 0 before recording starts.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Marks this process as the one that records.
pub(crate) fn own_process() {
    PROCESS.store(std::process::id(), Ordering::Relaxed);
}

/// In a forked child: no process records yet.
pub(crate) fn disown_process() {
    PROCESS.store(0, Ordering::Relaxed);
}

/// Whether this process is not a child created without fork handlers (`_Fork`, a raw `clone`).
/// Such a child sees the trace of its parent.
pub(crate) fn is_own_process() -> bool {
    let process = PROCESS.load(Ordering::Relaxed);
    process == 0 || process == std::process::id()
}
