//! Signal handlers record or fork while they interrupt code that is not reentrant: the allocator,
//! and the recorder's own work.
//!
//! Each program would hang for ever if the recorder waited there.

#![expect(clippy::unwrap_used, reason = "programs of tests, outside test functions")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tumit_test_support::raw_run::{RawProcess, read_processes};

tracer_rt::events!("tests/process_exits.tumit");

/// An allocator with a part that is not reentrant, as in allocators with locks.
struct NonReentrantAllocator;

/// If set, a signal interrupts the next call.
static ARMED: AtomicBool = AtomicBool::new(false);
static INSIDE: AtomicBool = AtomicBool::new(false);

// SAFETY: the system's allocator does all the work.
unsafe impl GlobalAlloc for NonReentrantAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        while INSIDE.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        if ARMED.swap(false, Ordering::AcqRel) {
            INSIDE.store(true, Ordering::Release);
            // SAFETY: takes a number.
            unsafe { libc::raise(libc::SIGUSR1) };
            INSIDE.store(false, Ordering::Release);
        }
        // SAFETY: the caller guarantees it.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller guarantees it.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: NonReentrantAllocator = NonReentrantAllocator;

/// The number of the next record of a handler.
static NEXT: AtomicU64 = AtomicU64::new(0);
static CHILD: AtomicI32 = AtomicI32::new(-1);

extern "C" fn record_in_handler(_: libc::c_int) {
    com::tick(NEXT.fetch_add(1, Ordering::Relaxed), 1);
}

extern "C" fn fork_in_handler(_: libc::c_int) {
    // SAFETY: the test checks that this is allowed.
    CHILD.store(unsafe { libc::fork() }, Ordering::Relaxed);
}

fn on_signal(handler: extern "C" fn(libc::c_int)) {
    // SAFETY: a function of the right type.
    unsafe { libc::signal(libc::SIGUSR1, handler as *const () as libc::sighandler_t) };
}

#[test]
#[ignore = "the other tests run it, in a process of its own"]
fn child() {
    let Ok(program) = std::env::var("TUMIT_PROGRAM") else { return };
    match program.as_str() {
        "first of all" => {
            on_signal(record_in_handler);
            interrupted_allocation();
            (1..10).for_each(|n| com::tick(n, 0));
        }
        "first of a thread" => {
            on_signal(record_in_handler);
            (0..10).for_each(|n| com::tick(n, 0));
            std::thread::spawn(interrupted_allocation).join().unwrap();
        }
        _ => fork(),
    }
}

fn interrupted_allocation() {
    ARMED.store(true, Ordering::Release);
    drop(std::hint::black_box(Box::new(7)));
    assert!(!ARMED.load(Ordering::Acquire));
}

/// Records, and forks in a handler that interrupts the recorder at the place in `TUMIT_FAULT`.
/// Parent and child continue.
#[cfg(debug_assertions)]
fn fork() {
    on_signal(fork_in_handler);
    com::tick(0, 0);
    tracer_rt::private::ARMED.store(true, Ordering::Relaxed);
    com::text("a new name");
    // Enough records for several slots.
    (1..20_000).for_each(|n| com::tick(n, 0));
    tracer_rt::flush();
    assert!(!tracer_rt::private::ARMED.load(Ordering::Relaxed), "the place was not met");
    let child = CHILD.load(Ordering::Relaxed);
    if child == 0 {
        (0..20_000).for_each(|n| com::tick(n, 2));
        com::text("a name of the child");
        tracer_rt::finish();
        // SAFETY: ends the process.
        unsafe { libc::_exit(0) }
    }
    let mut status = 0;
    // SAFETY: the pointer is to a local of the right type.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0, "the child");
}

#[cfg(not(debug_assertions))]
fn fork() {}

struct SignalRun {
    folder: tempfile::TempDir,
    child: Child,
}

impl SignalRun {
    fn start(program: &str, fault: &str, buffers: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "child", "--ignored", "--nocapture", "--test-threads=1"]);
        command.env("TUMIT_TRACE", folder.path().join("run.tmt")).env("TUMIT_PROGRAM", program);
        command.env("TUMIT_FAULT", fault).env("TUMIT_BUFFERS", buffers).env_remove("TUMIT_LEVELS");
        command.env("TUMIT_POLICY", "all=block").stdout(Stdio::null());
        // A process group of its own, so that its children can be killed with it.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        Self { folder, child: command.spawn().unwrap() }
    }

    /// Returns the exit status, or `None` if the program runs longer than `patience`.
    fn ended_within(&mut self, patience: Duration) -> Option<ExitStatus> {
        let give_up = Instant::now() + patience;
        loop {
            let status = self.child.try_wait().unwrap();
            if status.is_some() || Instant::now() >= give_up {
                // SAFETY: kills the rest of the process group of this program.
                unsafe { libc::kill(-(self.child.id() as libc::pid_t), libc::SIGKILL) };
                self.child.wait().unwrap();
                return status;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn left(mut self) -> Vec<RawProcess> {
        let status = self.ended_within(Duration::from_secs(60)).expect("it hangs");
        assert!(status.success());
        let run = self.folder.path().join("run.tmt");
        read_processes(&run, &run)
    }
}

#[test]
fn the_first_record_may_be_in_a_handler_that_interrupted_the_allocator() {
    for buffers in ["mapped", "private"] {
        // A session cannot start there, so the record is only counted.
        let process = SignalRun::start("first of all", "", buffers).left().pop().unwrap();
        assert_eq!(process.ticks()[0], (1..10).collect::<Vec<_>>());
        assert!(process.ended && process.end_dropped == 1 && process.ticks()[1].is_empty());
        // A thread's first record goes to its stream for handlers.
        let process = SignalRun::start("first of a thread", "", buffers).left().pop().unwrap();
        assert_eq!((process.ticks()[0].len(), process.ticks()[1].as_slice()), (10, &[0][..]));
        assert!(process.ended && process.end_dropped == 0);
    }
    if cfg!(debug_assertions) {
        for program in ["first of all", "first of a thread"] {
            let mut run = SignalRun::start(program, "handlers are not detected", "mapped");
            assert_eq!(run.ended_within(Duration::from_secs(5)), None, "{program}: a test that cannot fail");
        }
    }
}

#[test]
fn a_handler_may_fork_during_the_recorders_work() {
    if !cfg!(debug_assertions) {
        return;
    }
    for place in ["a slot", "the file", "a name"] {
        for buffers in ["mapped", "private"] {
            let processes = SignalRun::start("fork", &format!("signal at {place}"), buffers).left();
            assert_eq!(processes.len(), 2, "{place}");
            let parent = processes.iter().find(|process| process.parent.is_none()).unwrap();
            let child = processes.iter().find(|process| process.parent.as_ref() == Some(&parent.id)).unwrap();
            assert_eq!(parent.ticks()[0], (0..20_000).collect::<Vec<_>>(), "{place}: the parent's");
            assert!(parent.ended && parent.end_dropped == 0 && parent.ticks()[2].is_empty());
            assert_eq!(child.ticks()[2], (0..20_000).collect::<Vec<_>>(), "{place}: the child's");
            assert!(child.ended, "{place}");
        }
        let mut run = SignalRun::start("fork", &format!("signal at {place};forks wait"), "mapped");
        assert_eq!(run.ended_within(Duration::from_secs(5)), None, "{place}: a test that cannot fail");
    }
}
