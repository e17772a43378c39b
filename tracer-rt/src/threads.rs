//! Queries about threads that may have exited.
//! They ask the kernel and never read the memory of another thread.
//!
//! A thread may exit without notice if it makes a record in the last round of its key destructors.

use std::io;
use std::sync::atomic::{Ordering, fence};

use crate::cursor::{ThreadCursor, work_state};
use crate::fault_injection;

/// Whether a thread is busy in the recorder, by a system call that never waits.
/// An exited thread is not busy. If its memory has another use now, the result is meaningless but
/// harmless, because the thread writes nothing any more.
pub(crate) fn is_busy(cursor: *const ThreadCursor) -> bool {
    if cursor.is_null() {
        return false;
    }
    if fault_injection::is_injected("memory of exited threads is read") {
        // SAFETY: the fault deliberately skips the safe check.
        return unsafe { &*cursor }.work_state.load(Ordering::Acquire) != work_state::IDLE;
    }
    let word = cursor.wrapping_byte_add(std::mem::offset_of!(ThreadCursor, work_state)).cast::<u32>();
    fence(Ordering::SeqCst);
    // The call compares the word. It wakes and requeues no thread.
    // SAFETY: the system reads the word, or returns an error if nothing is mapped there.
    let result = unsafe { libc::syscall(libc::SYS_futex, word, CMP_REQUEUE, 0, 0usize, word, work_state::IDLE) };
    let nothing_there = result != 0 && io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT);
    fence(Ordering::SeqCst);
    result != 0 && !nothing_there
}

const CMP_REQUEUE: libc::c_int = libc::FUTEX_CMP_REQUEUE | libc::FUTEX_PRIVATE_FLAG;

/// The kernel's id of the calling thread, which is `tid` in rules. A system call.
#[must_use]
pub fn thread_id() -> u64 {
    // SAFETY: the call takes nothing and touches nothing.
    let tid = unsafe { libc::syscall(libc::SYS_gettid) };
    tid.cast_unsigned()
}

/// Whether no thread of this process has this id any more.
pub(crate) fn is_exited(tid: u64) -> bool {
    if fault_injection::is_injected("memory of exited threads is read") {
        return false;
    }
    let process = std::process::id();
    // SAFETY: the call takes numbers, and no signal is sent.
    let result = unsafe { libc::syscall(libc::SYS_tgkill, process, tid, 0) };
    result != 0 && io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cursor::CURSOR;

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no robust locks")]
    fn exited_and_busy_threads_are_distinguished() {
        let own_cursor = || CURSOR.with(std::ptr::from_ref);
        assert!(!is_busy(std::ptr::null()) && !is_busy(own_cursor()));
        CURSOR.with(|cursor| {
            for now in [work_state::RECORDING, work_state::WORKING] {
                cursor.work_state.store(now, Ordering::Relaxed);
                assert!(is_busy(own_cursor()));
            }
            cursor.work_state.store(work_state::IDLE, Ordering::Relaxed);
        });
        // Nothing is ever mapped there.
        assert!(!is_busy(std::ptr::without_provenance(4096)));
        assert!(!is_exited(thread_id()));
        assert!(is_exited(i32::MAX as u64), "more than any system has");
    }
}
