//! Whether a signal handler runs. What it interrupted may be the allocator, or whatever else that can be entered once: the start of a
//! session, or of a thread's stream, is then not to be had. Asked for at such starts alone.

use std::ffi::{c_int, c_void};

use crate::fault;

unsafe extern "C" {
    fn _Unwind_Backtrace(each: extern "C" fn(*mut c_void, *mut c_void) -> c_int, found: *mut c_void) -> c_int;
    fn _Unwind_GetIPInfo(frame: *mut c_void, interrupted: *mut c_int) -> usize;
}

/// Whether the calling thread stands in a signal handler: among the frames of its stack is one that the system made, which interrupted
/// another. Takes a microsecond or a few; no memory, no lock of the program's.
pub(crate) fn runs() -> bool {
    let mut found = false;
    if !fault::injected("handlers are not seen") {
        // SAFETY: as the unwinder of all languages declares it; the pointer is to a live local of the type that `each` takes.
        unsafe { _Unwind_Backtrace(each, (&raw mut found).cast()) };
    }
    found
}

extern "C" fn each(frame: *mut c_void, found: *mut c_void) -> c_int {
    const GO_ON: c_int = 0;
    const STOP: c_int = 4;
    let mut interrupted = 0;
    // SAFETY: the unwinder passes a frame; the pointer is to a live local.
    unsafe { _Unwind_GetIPInfo(frame, &raw mut interrupted) };
    if interrupted == 0 {
        return GO_ON;
    }
    // SAFETY: what `runs` passed.
    unsafe { found.cast::<bool>().write(true) };
    STOP
}
