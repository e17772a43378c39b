//! Keeps the recorder's work out of itself: a signal handler or an allocator may call it in the midst of its own work, and a child
//! that no fork handler saw may call it in a copy of its parent's memory.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::cursor::{CURSOR, busy};

/// Runs work that takes locks, with records of signal handlers kept out, unless it is itself in such a handler: then it says no.
pub(crate) fn unnested(work: impl FnOnce()) -> bool {
    CURSOR.with(|cursor| {
        let before = cursor.begin_work();
        if before == busy::IDLE && is_own_process() {
            work();
        }
        cursor.end_work(before);
        before == busy::IDLE
    })
}

/// Nested (in a signal handler that interrupted a record) the lock may be the thread's own; the record that asks will
/// be dropped anyway.
pub(crate) fn unless_nested<T>(work: impl FnOnce() -> T) -> Option<T> {
    CURSOR.with(|cursor| {
        let before = cursor.begin_work();
        let result = (before == busy::IDLE).then(work);
        cursor.end_work(before);
        result
    })
}

/// The process that records; 0 before it does.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// This process records from now on.
pub(crate) fn own_process() {
    PROCESS.store(std::process::id(), Ordering::Relaxed);
}

/// In a child: none does.
pub(crate) fn disown_process() {
    PROCESS.store(0, Ordering::Relaxed);
}

/// Whether this is not a child that no fork handler was told of (`_Fork`, a raw `clone`): the trace that it sees is its parent's.
pub(crate) fn is_own_process() -> bool {
    let process = PROCESS.load(Ordering::Relaxed);
    process == 0 || process == std::process::id()
}
