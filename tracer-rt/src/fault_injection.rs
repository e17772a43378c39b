//! Deliberate defects, for the tests of the tests: `TUMIT_FAULT=NAME;NAME` breaks the recorder in some ways, in builds with debug
//! assertions alone. All are in slow paths.

use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// Whether the recorder is to be broken in this way.
pub(crate) fn injected(name: &str) -> bool {
    cfg!(debug_assertions) && asked_for().split(';').any(|fault| fault == name)
}

/// What the environment asks for. Asked for in signal handlers and in allocators: takes no memory and no lock.
fn asked_for() -> &'static str {
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
    // SAFETY: a text of the environment, which no test changes once it runs.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("")
}

/// A thread waits for a slot.
pub(crate) static WAITERS: AtomicBool = AtomicBool::new(false);

/// With the fault `helper is held` the helper does nothing until a thread waits for it, or a while has passed.
pub(crate) fn hold_helper() {
    if injected("helper is held") {
        for _ in 0..2000 {
            if WAITERS.swap(false, Ordering::Relaxed) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
}

/// The next call of `signal` is to do it.
pub static ARMED: AtomicBool = AtomicBool::new(false);

/// With the fault `a dump is held` a dump waits, with what is kept in the queue, until the program clears this, or for a minute.
pub static HELD: AtomicBool = AtomicBool::new(false);

/// The place where it waits.
pub(crate) fn hold_dump() {
    if injected("a dump is held") {
        HELD.store(true, Ordering::Release);
        for _ in 0..60_000 {
            if !HELD.load(Ordering::Acquire) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
}

/// With the fault `the end is slow` threads that go on recording fill their slots, and lose records, while the file is ended.
pub(crate) fn hold_end() {
    if injected("the end is slow") {
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}

/// With the fault `handed over meanwhile`: a part of a slot is about to be written, once the slot is full.
pub static ABOUT_TO_WRITE: AtomicBool = AtomicBool::new(false);
