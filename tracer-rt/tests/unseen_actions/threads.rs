//! Threads that end without notice: they record once more after the last call of their destructors.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::{ProgramRunFolder, com};

const THREADS: u64 = 8;
static NEXT: AtomicU64 = AtomicU64::new(0);
static KEY: AtomicU32 = AtomicU32::new(0);

fn tick() {
    com::tick(NEXT.fetch_add(1, Ordering::Relaxed), 0);
}

/// Records in each round of destructors, up to the last one.
extern "C" fn destroy(value: *mut libc::c_void) {
    tick();
    // SAFETY: the key was made before the thread.
    unsafe { libc::pthread_setspecific(KEY.load(Ordering::Relaxed), value) };
}

extern "C" fn work(value: *mut libc::c_void) -> *mut libc::c_void {
    tick();
    // SAFETY: as above.
    unsafe { libc::pthread_setspecific(KEY.load(Ordering::Relaxed), value) };
    std::ptr::null_mut()
}

/// Starts threads with stacks that the system unmaps as soon as they have ended.
pub(crate) fn late_records() {
    tick();
    let mut key = 0;
    // SAFETY: the pointer is to a live local.
    assert_eq!(unsafe { libc::pthread_key_create(&raw mut key, Some(destroy)) }, 0);
    KEY.store(key, Ordering::Relaxed);
    for _ in 0..THREADS {
        let mut attributes = std::mem::MaybeUninit::<libc::pthread_attr_t>::zeroed();
        let mut thread = 0;
        let attributes_pointer = attributes.as_mut_ptr();
        // SAFETY: the pointer is to a live local of the right type.
        unsafe { libc::pthread_attr_init(attributes_pointer) };
        // SAFETY: the attributes were initialised.
        unsafe { libc::pthread_attr_setstacksize(attributes_pointer, 64 << 20) };
        // SAFETY: a function of the right type, which does not read its argument.
        let result = unsafe { libc::pthread_create(&raw mut thread, attributes_pointer, work, (&raw mut key).cast()) };
        assert_eq!(result, 0);
        // SAFETY: no other code waits for this thread.
        unsafe { libc::pthread_join(thread, std::ptr::null_mut()) };
        tracer_rt::flush();
    }
    // The system knows a thread a little longer than `pthread_join` waits for it.
    let give_up = Instant::now() + Duration::from_secs(60);
    while tracer_rt::stats().streams > 1 {
        assert!(Instant::now() < give_up, "{:?}", tracer_rt::stats());
        std::thread::sleep(Duration::from_millis(1));
        tracer_rt::flush();
    }
}

#[test]
fn threads_that_end_without_notice_are_found() {
    for buffers in ["mapped", "private"] {
        let folder = ProgramRunFolder::new();
        let output = folder.output("late records", &[("TUMIT_BUFFERS", buffers)]);
        assert!(output.status.success(), "{output:?}");
        let process = folder.left().pop().unwrap();
        let mut ticks: Vec<u64> = process.ticks().concat();
        ticks.sort_unstable();
        // Four rounds of destructors.
        assert_eq!(ticks, (0..=5 * THREADS).collect::<Vec<_>>());
        assert!(process.ended && process.end_dropped == 0, "{process:?}");
    }
    if cfg!(debug_assertions) {
        let output =
            ProgramRunFolder::new().output("late records", &[("TUMIT_FAULT", "memory of exited threads is read")]);
        assert!(!output.status.success(), "a test that cannot fail");
    }
}

/// The recorder reads the clock while it writes the end. At that moment another thread records.
pub(crate) fn ending() {
    static ENDING: AtomicBool = AtomicBool::new(false);
    static SEEN: AtomicBool = AtomicBool::new(false);
    static DONE: AtomicBool = AtomicBool::new(false);
    static NOW: AtomicU64 = AtomicU64::new(0);
    fn clock() -> u64 {
        if ENDING.load(Ordering::Acquire) && !SEEN.swap(true, Ordering::AcqRel) {
            while !DONE.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
        }
        NOW.fetch_add(1, Ordering::Relaxed)
    }
    tracer_rt::set_clock(clock, 1_000_000_000);
    let (send, ready) = std::sync::mpsc::channel();
    let second_thread = std::thread::spawn(move || {
        com::tick(0, 0);
        send.send(()).unwrap();
        while !SEEN.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        (0..1_000).for_each(|n| com::tick(n, 0));
        DONE.store(true, Ordering::Release);
    });
    ready.recv().unwrap();
    (0..10).for_each(|n| com::tick(n, 0));
    ENDING.store(true, Ordering::Release);
    tracer_rt::finish();
    second_thread.join().unwrap();
}

#[test]
fn records_made_while_the_end_is_written_are_counted() {
    let folder = ProgramRunFolder::new();
    let output = folder.output("ending", &[]);
    assert!(output.status.success(), "{output:?}");
    let process = folder.left().pop().unwrap();
    assert_eq!((process.ended, process.records().len() as u64 + process.end_dropped), (true, 1 + 10 + 1_000));
}
