//! Whether a signal handler runs. What it interrupted may be the allocator, or whatever else that can be entered once: the start of a
//! session, or of a thread's stream, is then not to be had. Asked for at such starts, and where a record seems to
//! stand in the midst of another.

use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering;

use crate::cursor::{Cursor, busy};
use crate::{fault_injection, locks};

unsafe extern "C" {
    fn _Unwind_Backtrace(each: extern "C" fn(*mut c_void, *mut c_void) -> c_int, found: *mut c_void) -> c_int;
    fn _Unwind_GetIPInfo(frame: *mut c_void, interrupted: *mut c_int) -> usize;
}

/// What a walk up the stack of the calling thread found.
struct Walk {
    /// Among the frames is one that the system made, which interrupted another.
    interrupted: bool,
    /// Where the last frame met goes on: nowhere, at the known end of a stack; elsewhere where the unwinder knew no further.
    last: usize,
}

/// Takes a microsecond or a few; no memory, no lock of the program's.
fn walk() -> Walk {
    let mut walk = Walk { interrupted: false, last: usize::MAX };
    // SAFETY: as the unwinder of all languages declares it; the pointer is to a live local of the type that `each` takes.
    unsafe { _Unwind_Backtrace(each, (&raw mut walk).cast()) };
    walk
}

/// Whether the calling thread stands in a signal handler.
pub(crate) fn runs() -> bool {
    !fault_injection::injected("handlers are not seen") && walk().interrupted
}

/// Whether the record that this thread writes, as its cursor says, is gone: a signal handler had interrupted it and was left by a jump or
/// by unwinding. Only where that is sure: nothing else calls the recorder from within a record, and no handler stands on the stack, all of
/// which is known. Not while the thread is in a slow path: what that had in hand cannot be given back.
pub(crate) fn left_a_record(cursor: &Cursor) -> bool {
    let recording = cursor.busy.load(Ordering::Relaxed) == busy::RECORDING;
    if !recording || locks::held() != 0 || cursor.asking.get() || fault_injection::injected("jumps are not seen") {
        return false;
    }
    let walk = walk();
    !walk.interrupted && walk.last == 0
}

extern "C" fn each(frame: *mut c_void, walk: *mut c_void) -> c_int {
    const GO_ON: c_int = 0;
    const STOP: c_int = 4;
    let mut interrupted = 0;
    // SAFETY: the unwinder passes a frame; the pointer is to a live local.
    let last = unsafe { _Unwind_GetIPInfo(frame, &raw mut interrupted) };
    // SAFETY: what `walk` passed.
    unsafe { walk.cast::<Walk>().write(Walk { interrupted: interrupted != 0, last }) };
    if interrupted == 0 { GO_ON } else { STOP }
}
