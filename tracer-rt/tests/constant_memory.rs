//! Recording for a long time takes no more memory than recording for a short time.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests, outside test functions")]
#![cfg(target_os = "linux")]

use std::process::Command;

tracer_rt::events!("tests/process_exits.tumit");

/// Resident memory of the process in bytes, including the live file.
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

#[test]
#[ignore = "the other tests run it, in a process of its own"]
fn child() {
    const PART: u64 = 1_000_000;
    // The growing file is no memory, but slots are. The writer thread determines when all slots of
    // the default 16 MiB have been used.
    const SLOTS: u64 = 16 << 20;
    let Ok(events) = std::env::var("TUMIT_SOAK") else { return };
    let events: u64 = events.parse().unwrap();
    let mut first = 0;
    for part in 0..events / PART {
        for n in part * PART..(part + 1) * PART {
            com::tick(n, n & 0xFF);
        }
        if part == 4 {
            first = resident();
        }
        let grown = resident().saturating_sub(first);
        assert!(part < 4 || grown < SLOTS + (1 << 20), "{grown} bytes more after {part} million events");
    }
    tracer_rt::finish();
    let counts = tracer_rt::counts();
    assert_eq!((counts.written, counts.dropped), (events, 0));
    println!("{:.2} bytes per event", tracer_rt::stats().file_bytes as f64 / events as f64);
}

fn soak(events: u64) {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--ignored", "--nocapture", "--test-threads=1"]);
    for variable in ["TUMIT_LEVELS", "TUMIT_MEMORY", "TUMIT_BUFFERS", "TUMIT_LIVE"] {
        command.env_remove(variable);
    }
    // The thread waits for the writer thread, so that nothing is dropped.
    command.env("TUMIT_TRACE", folder.path().join("run.tmt")).env("TUMIT_POLICY", "all=block");
    let output = command.env("TUMIT_SOAK", events.to_string()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    println!("{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn memory_is_constant() {
    soak(20_000_000);
}

#[test]
#[ignore = "takes minutes; cargo test -p tracer-rt --release --test constant_memory -- --ignored a_billion"]
fn memory_is_constant_for_a_billion_events() {
    soak(1_000_000_000);
}
