//! Deliberate defects that test the tests: `TUMIT_FAULT=NAME;NAME` breaks the recorder.
//!
//! Only builds with debug assertions have them. All are in slow paths.

use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// Whether the defect `name` is on.
pub(crate) fn is_injected(name: &str) -> bool {
    cfg!(debug_assertions) && requested_faults().split(';').any(|fault| fault == name)
}

/// The value of `TUMIT_FAULT`.
/// Called in signal handlers and allocators, so it allocates nothing and takes no lock.
fn requested_faults() -> &'static str {
    static TEXT: AtomicPtr<c_char> = AtomicPtr::new(std::ptr::null_mut());
    let mut text = TEXT.load(Ordering::Relaxed);
    if text.is_null() {
        // SAFETY: the name ends with a zero.
        text = unsafe { libc::getenv(c"TUMIT_FAULT".as_ptr()) };
        if text.is_null() {
            text = c"".as_ptr().cast_mut();
        }
        TEXT.store(text, Ordering::Relaxed);
    }
    // SAFETY: a text of the environment, which no test changes while it runs.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("")
}

/// Whether a thread waits for a slot.
pub(crate) static WAITERS: AtomicBool = AtomicBool::new(false);

/// With the fault `writer thread is held`, delays the writer thread until a thread waits for it, or
/// for two seconds.
pub(crate) fn hold_writer_thread() {
    if is_injected("writer thread is held") {
        for _ in 0..2000 {
            if WAITERS.swap(false, Ordering::Relaxed) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
}

/// If set, the next call of `raise_test_signal` raises the signal.
pub static ARMED: AtomicBool = AtomicBool::new(false);

/// With the fault `a dump is held`, a dump waits with its slots in the queue until the program
/// clears this flag, at most for a minute.
pub static HELD: AtomicBool = AtomicBool::new(false);

/// Delays a dump while [`HELD`] is set.
pub(crate) fn hold_dump() {
    if is_injected("a dump is held") {
        HELD.store(true, Ordering::Release);
        for _ in 0..60_000 {
            if !HELD.load(Ordering::Acquire) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
}

/// With the fault `the end is slow`, delays the end of the file.
/// Threads that continue then fill their slots and drop records.
pub(crate) fn hold_end() {
    if is_injected("the end is slow") {
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}

/// With the fault `slot is handed over during the write`: a part of a slot will be written as soon
/// as the slot is full.
pub static ABOUT_TO_WRITE: AtomicBool = AtomicBool::new(false);
