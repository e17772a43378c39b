//! The programs that end in one way or another, and the witness of what they did.

use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

tracer_rt::events!("tests/ways_out.tumit");

/// Counters outside the process: in a file that is mapped, by number of the thread.
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
        // SAFETY: the mapping has room for the counters and is never taken away.
        Self(unsafe { &*page.cast() })
    }

    /// So many calls of this thread have returned.
    fn returned(&self, thread: u64, calls: u64) {
        self.0[thread as usize].store(calls, Ordering::Release);
    }

    fn of(&self, thread: u64) -> u64 {
        self.0[thread as usize].load(Ordering::Acquire)
    }
}

/// Records for ever, now and then resting, so that the helper can follow.
fn record_for_ever(thread: u64, rest_every: u64) -> ! {
    let witness = Witness::open();
    for n in 0.. {
        com::tick(n, thread);
        witness.returned(thread, n + 1);
        if n % rest_every == rest_every - 1 {
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

/// Threads that do not stop, each well on its way when this returns.
fn detach(threads: std::ops::Range<u64>, rest_every: u64) {
    let witness = Witness::open();
    for thread in threads.clone() {
        std::thread::Builder::new()
            .name(format!("thread {thread}"))
            .spawn(move || record_for_ever(thread, rest_every))
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
        "for ever" => {
            detach(1..3, 1_000);
            record_for_ever(0, 1_000);
        }
        "flood for ever" => {
            detach(1..3, u64::MAX);
            record_for_ever(0, u64::MAX);
        }
        "flush for ever" => {
            detach(1..3, 1_000);
            loop {
                tracer_rt::flush();
            }
        }
        "return" => record(0, 0, 10_000),
        "idle" => {
            record(0, 0, 10);
            loop {
                app::detail(1);
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        "names" => names(),
        "fork" => fork(),
        "folder" => {
            record(0, 0, 5_000);
            tracer_rt::flush();
            std::fs::remove_dir_all(std::env::var_os("TUMIT_TRACE").unwrap()).unwrap();
            record(0, 5_000, 10_000);
        }
        "full" => {
            record(0, 0, 100_000);
            let counts = {
                tracer_rt::finish();
                tracer_rt::counts()
            };
            println!("written {} dropped {} kept {}.", counts.written, counts.dropped, counts.kept);
        }
        other => end(other),
    }
}

/// Ends the process at once, while two threads go on recording.
fn end(how: &str) {
    detach(1..3, 1_000);
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
    // SAFETY: a test harness may have made a handler of its own for faults.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
    let own = std::process::id() as libc::pid_t;
    // SAFETY: ends the process.
    unsafe { libc::kill(own, signal) };
    loop {
        std::hint::spin_loop();
    }
}

/// Many names, more than the live file's log has room for, each used at once.
fn names() {
    let witness = Witness::open();
    for n in 0..2_000u64 {
        let name = format!("name {n} {}", "x".repeat(100));
        com::text(&name);
        witness.returned(0, n + 1);
    }
    raise(libc::SIGKILL);
}

/// The child records, forks and is killed; so does its child; the parent goes on and is killed, too.
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
