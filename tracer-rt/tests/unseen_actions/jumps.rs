//! A signal handler interrupts a record. It is left by unwinding, or it records and returns.

use std::sync::atomic::{AtomicBool, Ordering};

use tracer_rt::private::Fields;

use crate::{ProgramRunFolder, com};
use tumit_test_support::raw_run::RawProcess;

unsafe extern "C-unwind" {
    fn raise(signal: libc::c_int) -> libc::c_int;
}

/// A field of eight bytes. Storing it raises a signal.
struct SignalField;

impl Fields for SignalField {
    fn bytes(&self) -> usize {
        8
    }

    unsafe fn store(self, target: *mut u8) {
        // SAFETY: the handler may unwind, and the declaration allows it.
        unsafe { raise(libc::SIGUSR1) };
        // SAFETY: the caller guarantees it.
        unsafe { target.cast::<[u8; 8]>().write([0; 8]) };
    }
}

/// If set, the handler returns.
static RETURNS: AtomicBool = AtomicBool::new(false);

extern "C-unwind" fn handle(_: libc::c_int) {
    if RETURNS.load(Ordering::Relaxed) {
        return com::tick(0, 1);
    }
    std::panic::resume_unwind(Box::new(()));
}

const RECORDS: u64 = 20_000;

/// Thread 0 records.
/// Signals interrupt some records, mostly in the middle of slots, and these records are discarded.
/// The handler of the last record records as thread 1, and both records stay.
pub(crate) fn jump() {
    // SAFETY: all fields of the structure may be zero.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handle as *const () as usize;
    // The signal may come again in the code that follows.
    action.sa_flags = libc::SA_NODEFER;
    // SAFETY: pointers are to live locals, or null.
    unsafe { libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()) };
    for n in 0..RECORDS {
        com::tick(n, 0);
        if n % 1_000 == 500 {
            let panic = std::panic::catch_unwind(|| tracer_rt::private::record(1, (77u64, SignalField)));
            assert!(panic.is_err());
        }
    }
    RETURNS.store(true, Ordering::Relaxed);
    tracer_rt::private::record(1, (RECORDS, SignalField));
}

/// Number of blocks of the thread's stream for handlers.
fn of_handlers(process: &RawProcess) -> usize {
    process.blocks.keys().filter(|(stream, _)| *stream == 1).count()
}

/// Runs the program.
/// Returns whether the record of the last handler was kept. It is dropped and counted if another
/// thread was in the recorder at that moment.
fn is_kept(buffers: &'static str) -> bool {
    let folder = ProgramRunFolder::new();
    let output = folder.output("jump", &[("TUMIT_BUFFERS", buffers)]);
    assert!(output.status.success(), "{output:?}");
    let process = folder.left().pop().unwrap();
    assert_eq!(process.ticks()[0], (0..=RECORDS).collect::<Vec<_>>(), "{buffers}");
    let recorded = process.ticks()[1].len() as u64;
    assert!(
        process.ended && recorded + process.end_dropped == 1,
        "{recorded} recorded, {} dropped",
        process.end_dropped
    );
    assert_eq!(of_handlers(&process) as u64, recorded);
    recorded == 1
}

#[test]
fn a_thread_records_again_after_a_handler_was_left_by_a_jump() {
    for buffers in ["mapped", "private"] {
        assert!((0..5).any(|_| is_kept(buffers)), "dropped five times: {buffers}");
    }
    if cfg!(debug_assertions) {
        let folder = ProgramRunFolder::new();
        folder.output("jump", &[("TUMIT_FAULT", "jumps are not detected")]);
        let process = folder.left().pop().unwrap();
        assert!(of_handlers(&process) > 1, "a test that cannot fail");
    }
}
