//! Properties of the whole process: children without fork handlers, the processors of the writer
//! thread, a start before there is anything to record.

use crate::{ProgramRunFolder, com};

const RECORDS: u64 = 20_000;

fn affinity(tid: libc::pid_t) -> Option<libc::cpu_set_t> {
    // SAFETY: the structure consists of plain numbers.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live local of that size.
    (unsafe { libc::sched_getaffinity(tid, size_of::<libc::cpu_set_t>(), &raw mut set) } == 0).then_some(set)
}

/// Its child leaves by `exit`, as if the trace were its own.
pub(crate) fn bare_child() {
    (0..100).for_each(|n| com::tick(n, 0));
    // SAFETY: the child does nothing but exit.
    let child = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
    assert!(child >= 0);
    if child == 0 {
        // SAFETY: ends the process with all its exit handlers.
        unsafe { libc::exit(0) };
    }
    let (mut status, child) = (0, libc::pid_t::try_from(child).unwrap());
    // SAFETY: the pointer is to a live local.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
    (100..RECORDS).for_each(|n| com::tick(n, 0));
}

/// A thread that is bound to one processor makes the first record.
/// The writer thread runs on the processors of the process at its start.
pub(crate) fn bound() {
    let begun_on = affinity(0).unwrap();
    // SAFETY: the structure consists of plain numbers.
    let mut one: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: within the set.
    let first = (0..1024).find(|cpu| unsafe { libc::CPU_ISSET(*cpu, &begun_on) }).unwrap();
    // SAFETY: within the set.
    unsafe { libc::CPU_SET(first, &mut one) };
    // SAFETY: the pointer is to a live local of that size.
    unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const one) };
    com::tick(0, 0);
    let helper = || {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
        let named = |path: &std::path::Path| {
            std::fs::read_to_string(path.join("comm")).is_ok_and(|name| name == "tumit-writer\n")
        };
        let found = tasks.map(|task| task.path()).find(|path| named(path))?;
        found.file_name()?.to_str()?.parse().ok()
    };
    // The writer thread sets its processors when it begins.
    // SAFETY: both are complete sets.
    while !helper().and_then(affinity).is_some_and(|set| unsafe { libc::CPU_EQUAL(&set, &begun_on) }) {
        std::thread::yield_now();
    }
}

/// Starts with all levels off.
pub(crate) fn standby() {
    com::tick(0, 0);
    let folder = std::env::var("TUMIT_TRACE").unwrap();
    let live = std::fs::read_dir(folder)
        .unwrap()
        .flatten()
        .any(|entry| entry.path().extension().is_some_and(|end| end == "live"));
    assert!(live, "`tumit level` finds it by this");
    tracer_rt::set_level("all", true);
    (0..7).for_each(|n| com::tick(n, 0));
}

/// Limits the memory to that of the program and less than the recorder would use.
pub(crate) fn little() {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split(' ').next().unwrap().parse().unwrap();
    let room: u64 = std::env::var("TUMIT_ROOM").map_or(14 << 10, |room| room.parse().unwrap());
    let bytes = pages * 4096 + (room << 10);
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
    // SAFETY: the pointer is to a live local.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
    (0..10).for_each(|n| com::tick(n, 0));
}

#[test]
fn slots_leave_room_for_the_rest() {
    for room in (16_500..20_500).step_by(100) {
        let folder = ProgramRunFolder::new();
        // One heap only: each further one would reserve memory.
        let output = folder.output("little", &[("TUMIT_ROOM", &room.to_string()), ("MALLOC_ARENA_MAX", "1")]);
        assert!(output.status.success(), "{room} KiB: {output:?}");
        assert_eq!(folder.left()[0].ticks()[0], (0..10).collect::<Vec<_>>(), "{room} KiB");
    }
}

#[test]
fn scarce_memory_gives_smaller_buffers() {
    let folder = ProgramRunFolder::new();
    let output = folder.output("little", &[]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.contains("the program continues with 4194304"), "{output:?}");
    assert_eq!(folder.left()[0].ticks()[0], (0..10).collect::<Vec<_>>());
}

#[test]
fn children_without_fork_handlers_do_not_change_the_trace() {
    for buffers in ["mapped", "private"] {
        let folder = ProgramRunFolder::new();
        let output = folder.output("bare child", &[("TUMIT_BUFFERS", buffers)]);
        assert!(output.status.success(), "{output:?}");
        let processes = folder.left();
        assert_eq!(processes.len(), 1, "{buffers}");
        assert!(processes[0].ended && processes[0].end_dropped == 0);
        assert_eq!(processes[0].ticks()[0], (0..RECORDS).collect::<Vec<_>>(), "{buffers}");
    }
}

#[test]
fn the_writer_thread_does_not_inherit_the_affinity_of_its_starter() {
    let output = ProgramRunFolder::new().output("bound", &[]);
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_program_begins_before_there_is_anything_to_record() {
    let folder = ProgramRunFolder::new();
    let output = folder.output("standby", &[("TUMIT_START", "1"), ("TUMIT_LEVELS", "all=off")]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(folder.left()[0].ticks()[0], (0..7).collect::<Vec<_>>());
}
