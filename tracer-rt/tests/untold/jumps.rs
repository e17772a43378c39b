//! A signal handler that interrupted a record is left by unwinding, or records itself and returns.

use std::sync::atomic::{AtomicBool, Ordering};

use tracer_rt::private::Fields;

use crate::read::Left;
use crate::{Place, com};

unsafe extern "C-unwind" {
    fn raise(signal: libc::c_int) -> libc::c_int;
}

/// A field in whose storing a signal comes: eight bytes.
struct Interrupted;

impl Fields for Interrupted {
    fn bytes(&self) -> usize {
        8
    }

    unsafe fn store(self, at: *mut u8) {
        // SAFETY: the handler may unwind, and it is said so.
        unsafe { raise(libc::SIGUSR1) };
        // SAFETY: the caller's promise.
        unsafe { at.cast::<[u8; 8]>().write([0; 8]) };
    }
}

/// The handler is to return.
static RETURNS: AtomicBool = AtomicBool::new(false);

extern "C-unwind" fn handle(_: libc::c_int) {
    if RETURNS.load(Ordering::Relaxed) {
        return com::tick(0, 1);
    }
    std::panic::resume_unwind(Box::new(()));
}

const RECORDS: u64 = 20_000;

/// Thread 0 records and is interrupted in the midst of records that come to nothing, in the main part of its slots; then in one by a handler
/// that records as thread 1, and both stay.
pub(crate) fn jump() {
    // SAFETY: all of its fields may be zero.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handle as *const () as usize;
    // The signal may come again in what follows.
    action.sa_flags = libc::SA_NODEFER;
    // SAFETY: pointers are to live locals, or null.
    unsafe { libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()) };
    for n in 0..RECORDS {
        com::tick(n, 0);
        if n % 1_000 == 500 {
            let left = std::panic::catch_unwind(|| tracer_rt::private::record(1, (77u64, Interrupted)));
            assert!(left.is_err());
        }
    }
    RETURNS.store(true, Ordering::Relaxed);
    tracer_rt::private::record(1, (RECORDS, Interrupted));
}

/// Blocks of the thread's stream for handlers.
fn of_handlers(left: &Left) -> usize {
    left.blocks.keys().filter(|(stream, _)| *stream == 1).count()
}

/// Runs the program. Whether the record of the last handler was kept: it is dropped, and counted, where another thread was in the recorder just then.
fn is_kept(buffers: &'static str) -> bool {
    let place = Place::new();
    let output = place.output("jump", &[("TUMIT_BUFFERS", buffers)]);
    assert!(output.status.success(), "{output:?}");
    let left = place.left().pop().unwrap();
    assert_eq!(left.ticks()[0], (0..=RECORDS).collect::<Vec<_>>(), "{buffers}");
    let kept = left.ticks()[1].len() as u64;
    assert!(left.ended && kept + left.end_dropped == 1, "{kept} kept, {} dropped", left.end_dropped);
    assert_eq!(of_handlers(&left) as u64, kept);
    kept == 1
}

#[test]
fn a_handler_that_is_left_does_not_leave_its_thread_deaf() {
    for buffers in ["mapped", "private"] {
        assert!((0..5).any(|_| is_kept(buffers)), "dropped five times: {buffers}");
    }
    if cfg!(debug_assertions) {
        let place = Place::new();
        place.output("jump", &[("TUMIT_FAULT", "jumps are not seen")]);
        let left = place.left().pop().unwrap();
        assert!(of_handlers(&left) > 1, "a test that cannot fail");
    }
}
