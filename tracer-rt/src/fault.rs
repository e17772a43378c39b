//! Deliberate defects, for the tests of the tests: `TUMIT_FAULT=NAME;NAME` breaks the recorder in some ways, in builds with debug
//! assertions alone. All are in slow paths.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::buffer::CURSOR;

/// Whether the recorder is to be broken in this way.
pub(crate) fn injected(name: &str) -> bool {
    static FAULT: OnceLock<Option<String>> = OnceLock::new();
    cfg!(debug_assertions)
        && FAULT
            .get_or_init(|| std::env::var("TUMIT_FAULT").ok())
            .as_deref()
            .is_some_and(|faults| faults.split(';').any(|fault| fault == name))
}

/// A signal comes just here, where the thread holds the lock of this, for once: with the fault `signal at NAME`, and when the program
/// has set [`ARMED`].
pub(crate) fn signal(place: &str) {
    // Not in the helper, which takes no signals: that is never busy.
    let busy = CURSOR.with(|cursor| cursor.busy.load(Ordering::Relaxed));
    if cfg!(debug_assertions) && busy && ARMED.load(Ordering::Relaxed) && injected(&format!("signal at {place}")) {
        ARMED.store(false, Ordering::Relaxed);
        // SAFETY: takes a number.
        unsafe { libc::raise(libc::SIGUSR1) };
    }
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

/// With the fault `handed over meanwhile`: a part of a slot is about to be written, once the slot is full.
pub static ABOUT_TO_WRITE: AtomicBool = AtomicBool::new(false);
