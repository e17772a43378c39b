//! In the steady state the recording thread makes no system call and has no page fault.
//! Another process traces it and counts the calls, and the system counts the faults.
//!
//! Other programs may delay the writer thread or stop it in its short critical section. The
//! recording thread then makes system calls, too. The test therefore records window by window, each
//! of several slots, until one window is undisturbed. This window shows the behaviour of the thread
//! itself.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests, outside test functions")]
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

tracer_rt::events!("tests/process_exits.tumit");

#[test]
#[ignore = "the other test runs it, in a process of its own"]
fn child() {
    let Ok(folder) = std::env::var("TUMIT_STEADY") else { return };
    let rate: u64 = std::env::var("TUMIT_RATE").unwrap().parse().unwrap();
    // Several slots, so that the writer thread knows how many to keep warm. All are in the file
    // before the measurement.
    record_at(rate, rate / 2);
    tracer_rt::flush();
    // SAFETY: takes nothing.
    let tid = unsafe { libc::syscall(libc::SYS_gettid) };
    std::fs::write(Path::new(&folder).join("tid.new"), tid.to_string()).unwrap();
    std::fs::rename(Path::new(&folder).join("tid.new"), Path::new(&folder).join("tid")).unwrap();
    wait_for(&Path::new(&folder).join("go"));
    // Until the process is killed.
    loop {
        let before = faults();
        mark(0);
        record_at(rate, WINDOW);
        mark(0);
        mark(faults() - before);
    }
}

/// Records in a window: eight slots.
const WINDOW: u64 = 25_000;
/// Maximum number of windows.
const WINDOWS: usize = 3_000;
/// Maximum duration of the test.
const PATIENCE: Duration = Duration::from_secs(180);

/// Records `events` events at the rate `per_second`, and waits without system calls.
fn record_at(per_second: u64, events: u64) {
    let (start, mut calls) = (Instant::now(), 0);
    while calls < events {
        let due_calls = (start.elapsed().as_nanos() as u64) * per_second / 1_000_000_000;
        while calls < due_calls.min(events) {
            com::tick(calls, 0);
            calls += 1;
        }
    }
}

fn wait_for(path: &Path) {
    let give_up = Instant::now() + Duration::from_secs(60);
    while !path.exists() {
        assert!(Instant::now() < give_up, "{} does not come", path.display());
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Makes a system call that is used only here.
/// The call ignores its argument, which is for the tracing process.
fn mark(faults: i64) {
    // SAFETY: the call ignores its argument.
    unsafe { libc::syscall(libc::SYS_getppid, faults) };
}

fn faults() -> i64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a local of the right type.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
    // SAFETY: all fields of the structure may be zero.
    let usage = unsafe { usage.assume_init() };
    usage.ru_minflt + usage.ru_majflt
}

fn ptrace(request: libc::c_uint, tid: libc::pid_t, address: usize, data: usize) -> i64 {
    // SAFETY: the requests made here take numbers, or a buffer of the given length.
    let result = unsafe { libc::ptrace(request, tid, address, data) };
    assert!(result >= 0, "ptrace {request}: {}", std::io::Error::last_os_error());
    result
}

fn wait(tid: libc::pid_t) -> libc::c_int {
    let mut status = 0;
    // SAFETY: the pointer is to a local of the right type.
    let waited = unsafe { libc::waitpid(tid, &raw mut status, libc::__WALL) };
    assert_eq!(waited, tid, "{}", std::io::Error::last_os_error());
    status
}

/// Runs the child at a rate until it has recorded a window without system calls and page faults.
/// Returns whether it ever did.
fn is_quiet_at(rate: u64) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--ignored", "--nocapture", "--test-threads=1"]);
    for variable in ["TUMIT_LEVELS", "TUMIT_MEMORY", "TUMIT_BUFFERS", "TUMIT_LIVE", "TUMIT_POLICY"] {
        command.env_remove(variable);
    }
    command.env("TUMIT_TRACE", folder.path().join("run.tmt")).env("TUMIT_STEADY", folder.path());
    command.env("TUMIT_RATE", rate.to_string()).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    wait_for(&folder.path().join("tid"));
    let tid: libc::pid_t = std::fs::read_to_string(folder.path().join("tid")).unwrap().parse().unwrap();
    ptrace(libc::PTRACE_SEIZE, tid, 0, libc::PTRACE_O_TRACESYSGOOD as usize);
    ptrace(libc::PTRACE_INTERRUPT, tid, 0, 0);
    wait(tid);
    std::fs::write(folder.path().join("go"), "").unwrap();
    let give_up = Instant::now() + PATIENCE;
    let quiet = (0..WINDOWS).take_while(|_| Instant::now() < give_up).any(|_| {
        let (calls, faults) = window(tid);
        if !calls.is_empty() || faults > 0 {
            println!("{rate} events a second: calls {calls:?}, {faults} page faults");
        }
        calls.is_empty() && faults == 0
    });
    child.kill().unwrap();
    // A process ends only after its tracer has received the end of all its traced threads.
    while libc::WIFSTOPPED(wait(tid)) {}
    child.wait().unwrap();
    quiet
}

/// The system calls of a thread between two marks, and its page faults, which it passes with a
/// third mark.
fn window(tid: libc::pid_t) -> (Vec<u64>, u64) {
    let (mut marks, mut calls) = (0, Vec::new());
    loop {
        ptrace(libc::PTRACE_SYSCALL, tid, 0, 0);
        let status = wait(tid);
        assert!(libc::WIFSTOPPED(status), "the child ended early");
        if libc::WSTOPSIG(status) != libc::SIGTRAP | 0x80 {
            continue;
        }
        // Kind of the stop at byte 0, number of the call at byte 24, its arguments after that.
        let mut about = [0u8; 88];
        ptrace(libc::PTRACE_GET_SYSCALL_INFO, tid, about.len(), about.as_mut_ptr().expose_provenance());
        let word = |offset: usize| u64::from_le_bytes(about[offset..offset + 8].try_into().unwrap());
        if about[0] != 1 {
            continue;
        }
        if word(24) == libc::SYS_getppid.cast_unsigned() {
            marks += 1;
        } else if marks == 1 {
            calls.push(word(24));
        }
        if marks == 3 {
            return (calls, word(32));
        }
    }
}

#[test]
fn the_recording_thread_makes_no_system_calls_and_has_no_page_faults() {
    for rate in [100_000, 1_000_000] {
        assert!(is_quiet_at(rate), "{rate} events a second are not recorded without calls and page faults");
    }
}
