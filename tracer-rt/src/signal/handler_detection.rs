//! Detects whether the calling thread runs a signal handler.
//!
//! The handler may have interrupted the allocator or other code that is not reentrant. A session,
//! or a stream of the thread, cannot start then. The check runs at these starts, and if a record
//! seems to begin inside another.

use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering;

use crate::cursor::{ThreadCursor, work_state};
use crate::{fault_injection, locks};

unsafe extern "C" {
    fn _Unwind_Backtrace(each: extern "C" fn(*mut c_void, *mut c_void) -> c_int, found: *mut c_void) -> c_int;
    fn _Unwind_GetIPInfo(frame: *mut c_void, interrupted: *mut c_int) -> usize;
}

/// The result of a walk up the stack of the calling thread.
struct StackWalk {
    /// One of the frames was interrupted by a signal.
    interrupted: bool,
    /// Return address of the last frame: 0 at a known end of the stack, another value if the
    /// unwinder could not continue.
    last: usize,
}

/// Walks the stack. Takes a few microseconds, no memory, and no lock of the program.
fn walk() -> StackWalk {
    let mut walk = StackWalk { interrupted: false, last: usize::MAX };
    // SAFETY: the declaration is that of the unwinder. The pointer is to a live local of the type
    // that `each` takes.
    unsafe { _Unwind_Backtrace(visit_frame, (&raw mut walk).cast()) };
    walk
}

/// Whether the calling thread runs a signal handler.
pub(crate) fn runs() -> bool {
    !fault_injection::is_injected("handlers are not detected") && walk().interrupted
}

/// Whether the record in progress is gone, because a signal handler interrupted it and was left by
/// a jump or by unwinding.
/// True only if that is certain: the stack is known completely and contains no handler, and no
/// other code calls the recorder inside a record. Not while the thread is in a slow path, because
/// its resources cannot be given back.
pub(crate) fn left_a_record(cursor: &ThreadCursor) -> bool {
    let recording = cursor.work_state.load(Ordering::Relaxed) == work_state::RECORDING;
    if !recording
        || locks::held_locks() != 0
        || cursor.asking.get()
        || fault_injection::is_injected("jumps are not detected")
    {
        return false;
    }
    let walk = walk();
    !walk.interrupted && walk.last == 0
}

extern "C" fn visit_frame(frame: *mut c_void, walk: *mut c_void) -> c_int {
    const GO_ON: c_int = 0;
    const STOP: c_int = 4;
    let mut interrupted = 0;
    // SAFETY: the unwinder passes a frame. The pointer is to a live local.
    let last = unsafe { _Unwind_GetIPInfo(frame, &raw mut interrupted) };
    // SAFETY: `walk` passes this pointer.
    unsafe { walk.cast::<StackWalk>().write(StackWalk { interrupted: interrupted != 0, last }) };
    if interrupted == 0 { GO_ON } else { STOP }
}
