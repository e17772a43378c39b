//! A slot becomes full while a part of it is about to be written, and the disk is full, too.
//! When there is space again, the blocks have the sequence numbers that later blocks assume.

#![cfg(debug_assertions)]
#![expect(clippy::unwrap_used, reason = "programs of tests, outside test functions")]

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use tumit_test_support::raw_run::read_processes;

tracer_rt::events!("tests/process_exits.tumit");

fn limit(bytes: libc::rlim_t) {
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the pointer is to a live local.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) }, 0);
}

#[test]
#[ignore = "the other test runs it, in a process of its own"]
fn child() {
    static FLUSHED: AtomicBool = AtomicBool::new(false);
    if std::env::var("TUMIT_PROGRAM").is_err() {
        return;
    }
    com::tick(0, 0);
    limit(1);
    let flushing = std::thread::spawn(|| {
        tracer_rt::flush();
        FLUSHED.store(true, Ordering::Release);
    });
    // Slots become full from the moment when a part of one is about to be written until the write
    // is done.
    while !tracer_rt::private::ABOUT_TO_WRITE.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
    let mut calls = 1;
    while !FLUSHED.load(Ordering::Acquire) {
        com::tick(calls, 0);
        calls += 1;
        if calls % 1000 == 0 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
    flushing.join().unwrap();
    limit(libc::RLIM_INFINITY);
    (calls..calls + 10_000).for_each(|n| com::tick(n, 0));
    std::fs::write(std::env::var("TUMIT_CALLS").unwrap(), (calls + 10_000).to_string()).unwrap();
}

/// Runs the program with a fault.
/// Returns whether all records are in the file: the reader reports gaps in the sequence numbers as
/// missing blocks.
fn run(fault: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let (run, calls_path) = (folder.path().join("run.tmt"), folder.path().join("calls"));
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--ignored", "--nocapture", "--test-threads=1"]);
    command
        .env("TUMIT_TRACE", &run)
        .env("TUMIT_PROGRAM", "1")
        .env("TUMIT_CALLS", &calls_path)
        .env("TUMIT_FAULT", fault);
    command.env("TUMIT_POLICY", "all=block").env_remove("TUMIT_LEVELS").env_remove("TUMIT_BUFFERS");
    assert!(command.output().unwrap().status.success());
    let process = read_processes(&run, &run).pop().unwrap();
    let calls: u64 = std::fs::read_to_string(calls_path).unwrap().parse().unwrap();
    assert!(process.ended && process.end_dropped == 0);
    std::panic::catch_unwind(|| assert!(process.ticks()[0].iter().copied().eq(0..calls))).is_ok()
}

#[test]
fn blocks_have_the_numbers_that_were_planned() {
    assert!(run("slot is handed over during the write"));
    assert!(!run("slot is handed over during the write;pending block is discarded"), "a test that cannot fail");
}
