//! Levels that overwrite: the newest records are there, and missing ones are reported at their
//! place.

use super::program_folder::{MANY, ProgramFolder, fails, kill_at_random};
use tumit_test_support::raw_run::{RawProcess, RawRunRecord};

/// Checks that the records of each thread are the newest ones, without a gap, up to the last call
/// that returned. All others are counted as dropped.
fn read_newest_records(folder: &ProgramFolder) -> RawProcess {
    let process = folder.left().pop().unwrap();
    let threads = process.ticks();
    let (mut recorded, mut calls, mut uncertain) = (0, 0, 0);
    for (thread, called) in folder.witnessed().into_iter().enumerate() {
        let ticks = &threads[thread];
        let first = ticks.first().copied().unwrap_or(0);
        assert_eq!(*ticks, (first..first + ticks.len() as u64).collect::<Vec<_>>(), "thread {thread}");
        let end = first + ticks.len() as u64;
        if ticks.is_empty() {
            // If a thread was between two slots while the others continued, none of its records is
            // new enough.
            (calls, uncertain) = (calls + called, uncertain + u64::from(called > 0));
            continue;
        }
        assert!((called..=called + 1).contains(&end), "thread {thread}: up to {end}, {called} calls");
        (recorded, calls) = (recorded + ticks.len() as u64, calls + end);
    }
    let dropped = if process.ended { process.end_dropped } else { process.live_dropped.unwrap() };
    assert!(dropped > 0, "four times as many records as the slots can take");
    assert!((calls..=calls + uncertain).contains(&(recorded + dropped)), "{recorded} + {dropped} of {calls}");
    if process.ended {
        assert_eq!(process.reported_losses(), dropped, "each drop is reported in its place");
    }
    process
}

/// Eight slots. The flight recorder may keep four of them.
fn overwriting(fault: &str) -> ProgramFolder {
    let folder = ProgramFolder::new().with("TUMIT_MEMORY", "512K").with("TUMIT_POLICY", "COM=overwrite");
    folder.with("TUMIT_FAULT", fault)
}

fn check_end_of_overwriting(fault: &'static str) {
    let folder = overwriting(fault);
    assert!(folder.output("long").status.success());
    let process = read_newest_records(&folder);
    assert!(process.ended && process.blocks.len() <= 6, "{} blocks", process.blocks.len());
}

fn check_kills_while_overwriting(fault: &'static str) {
    let settings = [("TUMIT_MEMORY", "512K"), ("TUMIT_POLICY", "all=overwrite"), ("TUMIT_FAULT", fault)];
    kill_at_random("flood for ever", 6, &settings, MANY, |folder| drop(read_newest_records(folder)));
}

#[test]
fn overwriting_keeps_the_newest_records() {
    check_end_of_overwriting("");
    check_kills_while_overwriting("");
    if cfg!(debug_assertions) {
        assert!(fails(|| check_end_of_overwriting("overwritten records are not counted")));
        assert!(fails(|| check_kills_while_overwriting("overwritten records are not counted")));
    }
}

#[test]
fn kept_records_are_written_on_request() {
    for (program, buffers) in [("dump", "mapped"), ("caught panic", "private"), ("caught panic", "mapped")] {
        let folder = overwriting("").with("TUMIT_BUFFERS", buffers).with("TUMIT_LEVELS", "APP=on");
        folder.output(program);
        let process = folder.left().pop().unwrap();
        let ticks = process.ticks().swap_remove(0);
        let end = if buffers == "mapped" { 200_100 } else { 200_000 };
        assert_eq!(*ticks, (ticks[0]..end).collect::<Vec<_>>(), "{program}");
        assert!(!process.ended && ticks.len() > 8_000, "{program}: {}", ticks.len());
        let details = process.records().iter().filter(|record| **record == RawRunRecord::Detail(1)).count();
        // The dump does not include the other stream. Its record is in the live file, or, with
        // private buffers, only in the file if the writer thread has written it.
        assert!(details == 1 || buffers == "private" && details == 0, "{program}: {details}");
        assert_eq!(process.reported_losses(), ticks[0], "{program}");
    }
}

/// Checks that the records and the reports of drops of a stream follow each other and add up to
/// all records of its thread.
fn each_drop_is_reported_in_place(process: &RawProcess, calls: u64) {
    let mut next = 0;
    for record in process.records_and_losses() {
        match record {
            RawRunRecord::Tick { n, .. } => {
                assert_eq!(n, next, "drops are reported before the next record");
                next += 1;
            }
            RawRunRecord::Dropped(count, _) => next += count,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(next, calls);
}

fn check_overwriting_during_dump(buffers: &str, fault: &str) {
    let folder = overwriting("").with("TUMIT_BUFFERS", buffers).with("TUMIT_FAULT", format!("a dump is held;{fault}"));
    let output = folder.output("dump meanwhile");
    assert!(output.status.success(), "{output:?}");
    let process = folder.left().pop().unwrap();
    assert!(process.ended && process.loss_reports() >= 2, "reports before and after the dumped records");
    each_drop_is_reported_in_place(&process, 400_000);
}

#[test]
fn drops_are_reported_after_waiting_blocks() {
    if !cfg!(debug_assertions) {
        return; // a dump cannot be held in release builds
    }
    for buffers in ["mapped", "private"] {
        check_overwriting_during_dump(buffers, "");
        assert!(fails(|| check_overwriting_during_dump(buffers, "drops are reported early")));
    }
}

/// Threads run one after another, and each makes one record.
/// The flight recorder keeps one megabyte, sixteen slots. The first threads get one slot each. When
/// a quarter of the memory is in use, each further thread gets a fifteenth of a slot.
fn check_exited_threads(kill: bool, buffers: &str, fault: &str) {
    const THREADS: u64 = 1_500;
    let folder = ProgramFolder::new().with("TUMIT_MEMORY", "2M").with("TUMIT_POLICY", "all=overwrite");
    let folder = folder.with("TUMIT_BUFFERS", buffers).with("TUMIT_FAULT", fault);
    let folder = if kill { folder.with("TUMIT_KILL", "1") } else { folder };
    let output = folder.output("threads one by one");
    assert_eq!(output.status.success(), !kill, "{output:?}");
    let process = folder.left().pop().unwrap();
    let recorded = process.records().len() as u64;
    let dropped = if process.ended { process.end_dropped } else { process.live_dropped.unwrap() };
    assert_eq!((process.ended, recorded + dropped), (!kill, THREADS));
    assert!((200..=260).contains(&recorded), "{recorded} kept");
    assert_eq!(process.reported_losses(), dropped, "each drop is reported in its place");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let streams = printed.lines().find_map(|line| line.split_once("streams ")).unwrap().1;
    assert_eq!(streams, recorded.to_string(), "one stream for each thread with records");
}

#[test]
fn streams_of_threads_without_records_are_removed() {
    for (kill, buffers) in [(false, "mapped"), (true, "mapped"), (false, "private")] {
        check_exited_threads(kill, buffers, "");
    }
    if cfg!(debug_assertions) {
        for fault in
            ["exited threads are not removed", "exited threads are not reported", "exited threads are not counted"]
        {
            assert!(fails(|| check_exited_threads(false, "mapped", fault)), "{fault}");
        }
    }
}
