//! An allocator records each of its calls, from the first one of the process on.
//! This includes the calls that the recorder makes while it starts, writes and ends.

use std::alloc::{GlobalAlloc, Layout, System};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

tracer_rt::events!("tests/process_exits.tumit");

struct Recording;

/// Number of calls that must be recorded or counted.
static CALLS: AtomicU64 = AtomicU64::new(0);
static OFF: AtomicBool = AtomicBool::new(false);

fn note(size: usize) {
    // SAFETY: the name ends with a zero. `getenv` allocates no memory.
    let is_child = || !unsafe { libc::getenv(c"TUMIT_PROGRAM".as_ptr()) }.is_null();
    if !OFF.load(Ordering::SeqCst) && is_child() {
        let call = CALLS.fetch_add(1, Ordering::SeqCst);
        com::tick(call, size as u64);
    }
}

// SAFETY: the system's allocator does all the work.
unsafe impl GlobalAlloc for Recording {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller guarantees it.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        note(layout.size());
        // SAFETY: the caller guarantees it.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Recording = Recording;

/// A clock that allocates, and therefore causes a record.
/// That record must not call the clock again.
fn clock_of_the_program() -> u64 {
    static TIME: AtomicU64 = AtomicU64::new(1);
    drop(std::hint::black_box(Box::new(TIME.load(Ordering::Relaxed))));
    TIME.fetch_add(1, Ordering::Relaxed)
}

/// Runs before the first record of the process, which is made before `main`.
#[used]
#[unsafe(link_section = ".preinit_array")]
static AT_LOAD: extern "C" fn() = choose_clock;

extern "C" fn choose_clock() {
    // SAFETY: the name ends with a zero.
    if !unsafe { libc::getenv(c"TUMIT_CLOCK".as_ptr()) }.is_null() {
        tracer_rt::set_clock(clock_of_the_program, 1_000_000_000);
    }
}

#[test]
#[ignore = "the other test runs it, in a process of its own"]
fn child() {
    if std::env::var_os("TUMIT_PROGRAM").is_none() {
        return;
    }
    let work = |thread: usize| (0..2_000).map(|n| format!("{thread} {n}").len()).sum::<usize>();
    let threads: Vec<_> = (0..4).map(|thread| std::thread::spawn(move || work(thread))).collect();
    threads.into_iter().for_each(|thread| assert!(thread.join().unwrap() > 0));
    // The work that the writer thread does about once per second, and its allocations.
    tracer_rt::flush();
    std::thread::sleep(Duration::from_millis(150));
    tracer_rt::flush();
    OFF.store(true, Ordering::SeqCst);
    tracer_rt::finish();
    // A call of another thread may still be in progress.
    let give_up = Instant::now() + Duration::from_secs(60);
    loop {
        let (calls, counts) = (CALLS.load(Ordering::SeqCst), tracer_rt::counts());
        if counts.written + counts.dropped + counts.in_live_file == calls {
            println!("written {} of {calls}", counts.written);
            return;
        }
        assert!(Instant::now() < give_up, "{counts:?} of {calls} calls");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn an_allocator_may_record_from_the_first_call_on() {
    for (buffers, clock) in [("mapped", false), ("private", false), ("mapped", true)] {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "child", "--ignored", "--nocapture", "--test-threads=1"]);
        command.env("TUMIT_TRACE", folder.path().join("run.tmt")).env("TUMIT_PROGRAM", "1");
        command.env("TUMIT_BUFFERS", buffers).env_remove("TUMIT_LEVELS").env_remove("TUMIT_FAULT");
        command.env("TUMIT_POLICY", "all=block");
        if clock {
            command.env("TUMIT_CLOCK", "1");
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{buffers}, {clock}: {output:?}");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let written = printed.lines().find_map(|line| line.split_once("written ")).unwrap().1;
        let written: u64 = written.split(' ').next().unwrap().parse().unwrap();
        // Records of the threads' own work are written, even if records caused by the recorder
        // itself are not.
        assert!(written >= 4 * 2_000, "{buffers}, {clock}: {printed}");
    }
}
