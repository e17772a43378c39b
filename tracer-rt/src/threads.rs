//! Queries about threads that may have exited: they ask the system and never read the memory of another thread. A thread
//! may end without notice, by a record in the last round of its key destructors.

use std::io;
use std::sync::atomic::{Ordering, fence};

use crate::cursor::{Cursor, busy};
use crate::fault_injection;

/// Whether a thread is busy in the recorder. One that is gone is not; where its memory is another's by now, the answer is of no worth,
/// and of no harm: it writes nothing any more. A system call, which never waits.
pub(crate) fn is_busy(cursor: *const Cursor) -> bool {
    if cursor.is_null() {
        return false;
    }
    if fault_injection::injected("the gone are read") {
        // SAFETY: the fault is that there is no reason.
        return unsafe { &*cursor }.busy.load(Ordering::Acquire) != busy::IDLE;
    }
    let word = cursor.wrapping_byte_add(std::mem::offset_of!(Cursor, busy)).cast::<u32>();
    fence(Ordering::SeqCst);
    // It compares the word and, as told, wakes none and moves none.
    // SAFETY: the system reads the word, or says that nothing is there.
    let found = unsafe { libc::syscall(libc::SYS_futex, word, CMP_REQUEUE, 0, 0usize, word, busy::IDLE) };
    let nothing_there = found != 0 && io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT);
    fence(Ordering::SeqCst);
    found != 0 && !nothing_there
}

const CMP_REQUEUE: libc::c_int = libc::FUTEX_CMP_REQUEUE | libc::FUTEX_PRIVATE_FLAG;

/// The number that the system gives the calling thread.
pub(crate) fn thread_id() -> u64 {
    // SAFETY: takes nothing, touches nothing.
    let tid = unsafe { libc::syscall(libc::SYS_gettid) };
    tid.cast_unsigned()
}

/// Whether no thread of this process has this number any more.
pub(crate) fn is_gone(tid: u64) -> bool {
    if fault_injection::injected("the gone are read") {
        return false;
    }
    let own = std::process::id();
    // SAFETY: takes numbers; no signal is sent.
    let found = unsafe { libc::syscall(libc::SYS_tgkill, own, tid, 0) };
    found != 0 && io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cursor::CURSOR;

    #[test]
    #[cfg_attr(miri, ignore = "robust locks of the system")]
    fn the_gone_and_the_busy_are_told_apart() {
        let own = || CURSOR.with(std::ptr::from_ref);
        assert!(!is_busy(std::ptr::null()) && !is_busy(own()));
        CURSOR.with(|cursor| {
            for now in [busy::RECORDING, busy::WORKING] {
                cursor.busy.store(now, Ordering::Relaxed);
                assert!(is_busy(own()));
            }
            cursor.busy.store(busy::IDLE, Ordering::Relaxed);
        });
        // Nothing is ever mapped there.
        assert!(!is_busy(std::ptr::without_provenance(4096)));
        assert!(!is_gone(thread_id()));
        assert!(is_gone(i32::MAX as u64), "more than any system has");
    }
}
