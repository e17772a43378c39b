//! The programs that end in different ways, and the witness of their calls.

use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

tracer_rt::events!("tests/process_exits.tumit");

/// Counters outside the process, in a mapped file, indexed by thread number.
pub(crate) struct Witness(&'static [AtomicU64; 64]);

impl Witness {
    fn open() -> Self {
        use std::os::fd::AsRawFd;
        let path = std::env::var("TUMIT_WITNESS").unwrap();
        let file = std::fs::File::options().read(true).write(true).open(path).unwrap();
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping of a file that is 512 bytes long.
        let page = unsafe { libc::mmap(std::ptr::null_mut(), 512, protection, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        assert_ne!(page, libc::MAP_FAILED);
        // SAFETY: the mapping has room for the counters and is never unmapped.
        Self(unsafe { &*page.cast() })
    }

    /// Stores that `calls` calls of this thread have returned.
    fn returned(&self, thread: u64, calls: u64) {
        self.0[thread as usize].store(calls, Ordering::Release);
    }

    fn of(&self, thread: u64) -> u64 {
        self.0[thread as usize].load(Ordering::Acquire)
    }
}

/// Records for ever. Sleeps from time to time, so that the writer thread can keep up.
fn record_for_ever(thread: u64, sleep_every: u64) -> ! {
    let witness = Witness::open();
    for n in 0.. {
        com::tick(n, thread);
        witness.returned(thread, n + 1);
        if n % sleep_every == sleep_every - 1 {
            std::thread::sleep(Duration::from_micros(300));
        }
    }
    unreachable!()
}

fn record(thread: u64, from: u64, to: u64) {
    let witness = Witness::open();
    for n in from..to {
        com::tick(n, thread);
        witness.returned(thread, n + 1);
    }
}

/// Starts threads that do not stop. Returns when each has made 5,000 calls.
fn start_threads(threads: std::ops::Range<u64>, sleep_every: u64) {
    let witness = Witness::open();
    for thread in threads.clone() {
        std::thread::Builder::new()
            .name(format!("thread {thread}"))
            .spawn(move || record_for_ever(thread, sleep_every))
            .unwrap();
    }
    for thread in threads {
        while witness.of(thread) < 5_000 {
            std::thread::yield_now();
        }
    }
}

pub(crate) fn run(program: &str) {
    match program {
        "for ever" => record_until_killed(1_000),
        "flood for ever" => record_until_killed(u64::MAX),
        "flush for ever" => flush_until_killed(1_000),
        // Slots are nearly empty when they are flushed.
        "flush slowly for ever" => flush_until_killed(20),
        "return" => record(0, 0, 10_000),
        "idle" => idle(),
        "names" => names(),
        "fork" => fork(),
        "folder" => remove_folder(),
        "on a small disk" => small_disk(),
        "limited" => limited(),
        "flood" => flood(),
        "long" | "dump" | "caught panic" => overwrite(program),
        "dump meanwhile" => overwrite_during_dump(),
        "short-lived threads" | "many threads" | "threads one by one" | "stats" => many_threads_or_stats(program),
        "paused" => pause_and_resume(),
        "full" => fill_disk(),
        other => end(other),
    }
}

fn record_until_killed(sleep_every: u64) -> ! {
    start_threads(1..3, sleep_every);
    record_for_ever(0, sleep_every)
}

fn flush_until_killed(sleep_every: u64) -> ! {
    start_threads(1..3, sleep_every);
    loop {
        tracer_rt::flush();
    }
}

/// Removes the run folder while the program runs.
fn remove_folder() {
    record(0, 0, 5_000);
    tracer_rt::flush();
    std::fs::remove_dir_all(std::env::var_os("TUMIT_TRACE").unwrap()).unwrap();
    record(0, 5_000, 10_000);
}

fn pause_and_resume() {
    record(0, 0, 10);
    tracer_rt::pause();
    com::tick(1_000, 0);
    tracer_rt::set_level("APP", true);
    app::detail(1);
    tracer_rt::resume();
    app::detail(2);
    record(0, 10, 20);
}

/// Records more than the disk or the limit for files can take, and prints the counts.
fn fill_disk() {
    let witness = Witness::open();
    for n in 0..100_000 {
        net::noise(n, tumit_test_support::raw_run::noise(n));
        witness.returned(0, n + 1);
    }
    tracer_rt::finish();
    let counts = tracer_rt::counts();
    println!("written {} dropped {} kept {}", counts.written, counts.dropped, counts.in_live_file);
    // A delayed writer thread continues after the end.
    while std::env::var("TUMIT_FAULT").is_ok_and(|fault| fault.contains("writer thread is held")) && has_writer_thread()
    {
        std::thread::yield_now();
    }
}

fn has_writer_thread() -> bool {
    let names = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    names
        .filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok())
        .any(|name| name.starts_with("tumit-writer"))
}

/// Records with three threads as fast as possible.
fn flood() {
    std::thread::scope(|scope| {
        for thread in 0..3 {
            scope.spawn(move || {
                for n in 0..100_000 {
                    com::tick(n, thread);
                    // Two records, so that slots do not always end before a tick.
                    app::detail(n as u32);
                    app::detail(n as u32);
                }
                Witness::open().returned(thread, 100_000);
            });
        }
    });
}

/// Records ten events. Then it calls events of a level that is off until it is switched on from
/// outside. Counter 1 of the witness has the number of these calls.
fn idle() {
    let witness = Witness::open();
    record(0, 0, 10);
    for calls in 1.. {
        app::detail(1);
        witness.returned(1, calls);
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Runs the program "full" with a limit of `TUMIT_LIMIT` bytes for files.
fn limited() {
    let bytes = std::env::var("TUMIT_LIMIT").map_or(300_000, |text| text.parse().unwrap());
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
    // SAFETY: the pointer is to a live local.
    unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) };
    run("full");
}

/// Records more than the levels that overwrite may keep, and causes a dump in one way or another.
fn overwrite(program: &str) {
    record(0, 0, 200_000);
    app::detail(1);
    match program {
        "long" => return,
        "dump" => tracer_rt::dump(),
        _ => assert!(std::panic::catch_unwind(|| panic!("on purpose")).is_err()),
    }
    record(0, 200_000, 200_100);
    // SAFETY: ends the process.
    unsafe { libc::_exit(0) }
}

/// While a dump of one thread waits to be written, another thread overwrites as much again.
fn overwrite_during_dump() {
    record(0, 0, 200_000);
    let dumping = std::thread::spawn(tracer_rt::dump);
    while !tracer_rt::private::HELD.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
    record(0, 200_000, 390_000);
    tracer_rt::private::HELD.store(false, Ordering::Release);
    dumping.join().unwrap();
    record(0, 390_000, 400_000);
}

fn many_threads_or_stats(program: &str) {
    match program {
        "short-lived threads" => short_lived(),
        "many threads" => many_threads(),
        "threads one by one" => one_by_one(),
        _ => stats(),
    }
}

/// Ends the process at once, while two threads continue to record.
fn end(how: &str) {
    start_threads(1..3, 1_000);
    record(0, 0, 10_000);
    match how {
        "exit" => std::process::exit(0),
        // SAFETY: ends the process.
        "_exit" => unsafe { libc::_exit(0) },
        "quick_exit" => {
            unsafe extern "C" {
                fn quick_exit(status: libc::c_int) -> !;
            }
            // SAFETY: as the C library declares it.
            unsafe { quick_exit(0) }
        }
        "panic" => panic!("on purpose"),
        "abort" => std::process::abort(),
        "SIGSEGV" => raise(libc::SIGSEGV),
        "SIGTERM" => raise(libc::SIGTERM),
        "SIGKILL" => raise(libc::SIGKILL),
        "exec" => {
            let error = Command::new("/bin/true").exec();
            panic!("{error}");
        }
        other => panic!("no program {other}"),
    }
}

fn raise(signal: libc::c_int) {
    // SAFETY: a test harness may have installed its own handler for faults.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
    let process = std::process::id() as libc::pid_t;
    // SAFETY: ends the process.
    unsafe { libc::kill(process, signal) };
    loop {
        std::hint::spin_loop();
    }
}

/// Runs the program "full" on its own disk with the size `TUMIT_DISK`, and copies its files.
fn small_disk() {
    let run = std::env::var("TUMIT_TRACE").unwrap();
    let disk = std::path::Path::new(&run).with_file_name("disk");
    std::fs::create_dir(&disk).unwrap();
    let name = std::ffi::CString::new(disk.to_str().unwrap()).unwrap();
    let size = std::ffi::CString::new(std::env::var("TUMIT_DISK").unwrap()).unwrap();
    // SAFETY: the call takes a number. A user without the right to a new mount namespace has it in
    // a new user namespace.
    if unsafe { libc::unshare(libc::CLONE_NEWNS) } != 0 {
        // SAFETY: as above.
        assert_eq!(unsafe { libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS) }, 0, "no mount table of its own");
    }
    let (private, none) = (libc::MS_REC | libc::MS_PRIVATE, std::ptr::null());
    // SAFETY: texts end with a zero.
    let failed = unsafe { libc::mount(none, c"/".as_ptr(), none, private, none.cast()) };
    assert_eq!(failed, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: texts end with a zero.
    let failed = unsafe { libc::mount(none, name.as_ptr(), c"tmpfs".as_ptr(), 0, size.as_ptr().cast()) };
    assert_eq!(failed, 0, "{}", std::io::Error::last_os_error());
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env("TUMIT_PROGRAM", "full").env("TUMIT_TRACE", disk.join("run.tmt"));
    assert!(command.status().unwrap().success());
    std::fs::create_dir(&run).unwrap();
    for entry in std::fs::read_dir(disk.join("run.tmt")).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, std::path::Path::new(&run).join(path.file_name().unwrap())).unwrap();
    }
}

fn stats() {
    assert_eq!(tracer_rt::stats(), tracer_rt::RecorderStats::default());
    record(0, 0, 10);
    let before = tracer_rt::stats();
    assert!((before.slots, before.streams, before.mapped) == (256, 1, true), "{before:?}");
    assert!((200..256).contains(&before.free_slots), "{before:?}");
    tracer_rt::flush();
    let after = tracer_rt::stats();
    assert!(after.counts.written == 10 && after.file_bytes > 200, "{after:?}");
}

/// Starts thousands of threads, eight at a time.
/// The memory of the process must not grow with their number.
fn short_lived() {
    let eight_hundred = |first: u64| {
        for n in (first..first + 800).step_by(8) {
            std::thread::scope(|scope| (n..n + 8).for_each(|n| drop(scope.spawn(move || com::tick(n, 0)))));
        }
    };
    let resident = || -> u64 {
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
    };
    eight_hundred(0);
    let before = resident();
    (1..5).for_each(|times| eight_hundred(800 * times));
    let grown = resident().saturating_sub(before);
    assert!(grown < 4 << 20, "3,200 threads took {grown} bytes");
    Witness::open().returned(0, 4_000);
}

/// Runs a thousand threads at the same time. After their end, one thread records much.
fn many_threads() {
    const THREADS: u64 = 1_000;
    let (start, end) = (std::sync::Barrier::new(THREADS as usize + 1), std::sync::Barrier::new(THREADS as usize + 1));
    let work = |first: u64| {
        start.wait();
        (first..first + 20).for_each(|n| com::tick(n, 0));
        end.wait();
    };
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let work = &work;
            let small = std::thread::Builder::new().stack_size(64 << 10);
            small.spawn_scoped(scope, move || work(thread * 20)).unwrap();
        }
        start.wait();
        end.wait();
        if std::env::var_os("TUMIT_KILL").is_some() {
            raise(libc::SIGKILL);
        }
    });
    // The threads end a little later than their work.
    while tracer_rt::stats().streams > 10 {
        std::thread::sleep(Duration::from_millis(1));
    }
    record(1, 0, 50_000);
}

/// Creates many names, more than the live file's log can take, and uses each one at once.
fn names() {
    let witness = Witness::open();
    for n in 0..2_000u64 {
        let name = format!("name {n} {}", "x".repeat(100));
        com::text(&name);
        witness.returned(0, n + 1);
    }
    raise(libc::SIGKILL);
}

/// The child records, forks and is killed.
/// The same applies to its child. The parent continues and is killed, too.
fn fork() {
    record(0, 0, 10_000);
    for generation in 1..3 {
        // SAFETY: the child does nothing but record and end.
        let child = unsafe { libc::fork() };
        if child != 0 {
            let mut status = 0;
            // SAFETY: the pointer is to a local of the right type.
            unsafe { libc::waitpid(child, &raw mut status, 0) };
            break;
        }
        record(generation, 0, 10_000);
    }
    let generation = (0..3).rev().find(|thread| Witness::open().of(*thread) == 10_000).unwrap();
    if generation == 2 {
        raise(libc::SIGKILL);
    }
    raise(libc::SIGKILL);
}

/// Runs one thread after another. At the end prints the number of streams that the recorder knows.
fn one_by_one() {
    for n in 0..1_500 {
        std::thread::spawn(move || com::tick(n, 0)).join().unwrap();
    }
    tracer_rt::flush();
    println!("streams {}", tracer_rt::stats().streams);
    if std::env::var_os("TUMIT_KILL").is_some() {
        raise(libc::SIGKILL);
    }
}
