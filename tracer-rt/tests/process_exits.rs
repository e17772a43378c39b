//! Checks for each way in which a process can end: its records are in its two files.
//! A mapped file of counters outside the process, the witness, stores how many calls have returned.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "programs and readers of tests, outside test functions")]

mod process_exits {
    mod flight_recorder;
    pub(crate) mod program_folder;
    pub(crate) mod programs;
}

use std::process::Output;
use std::time::Duration;

use process_exits::program_folder::{MANY, ProgramFolder, fails, kill_at_random, random_generator};
use tumit_test_support::raw_run::{RawRunRecord, read_processes};

#[test]
#[ignore = "the other tests run it, in a process of its own"]
fn child() {
    if let Ok(program) = std::env::var("TUMIT_PROGRAM") {
        process_exits::programs::run(&program);
    }
}

/// The program's threads wait for slots, so that no record is dropped even if the writer thread is
/// slow.
const PATIENT: (&str, &str) = ("TUMIT_POLICY", "all=block");

fn all_records_are_complete(folder: &ProgramFolder) {
    let process = folder.read_complete_run();
    assert!(!process.ended && process.buffers == 1 && process.live_dropped == Some(0), "{process:?}");
}

#[test]
fn kills_at_random_moments_lose_nothing() {
    kill_at_random("for ever", 12, &[PATIENT], 0, all_records_are_complete);
    kill_at_random("flush for ever", 12, &[PATIENT], 0, all_records_are_complete);
}

#[test]
#[ignore = "takes minutes; cargo test -p tracer-rt --release --test process_exits -- --ignored a_thousand"]
fn a_thousand_kills_lose_nothing() {
    kill_at_random("for ever", 500, &[PATIENT], 0, all_records_are_complete);
    kill_at_random("flush for ever", 500, &[PATIENT], 0, all_records_are_complete);
}

#[test]
fn kills_among_drops_add_up() {
    check_drops(&[]);
}

fn check_drops(settings: &[(&'static str, &str)]) {
    let settings = [&[("TUMIT_MEMORY", "256K")], settings].concat();
    kill_at_random("flood for ever", 6, &settings, MANY, |folder| {
        let process = folder.left().pop().unwrap();
        let calls: u64 = folder.witnessed().iter().sum();
        let (recorded, dropped) = (process.records().len() as u64, process.live_dropped.unwrap());
        assert!(dropped > 0, "four slots for three threads that do nothing but record");
        assert!((calls..=calls + 3).contains(&(recorded + dropped)), "{recorded} + {dropped} of {calls}");
    });
}

#[test]
fn every_process_exit_keeps_all_records() {
    for how in ["exit", "_exit", "quick_exit", "panic", "abort", "SIGSEGV", "SIGTERM", "SIGKILL", "exec"] {
        let folder = ProgramFolder::new().with(PATIENT.0, PATIENT.1);
        let output = folder.output(how);
        let process = folder.left().pop().unwrap();
        // After the start of `exit` the other threads may continue for a moment. Their records
        // after that are counted, not kept.
        let clean = ["exit", "panic"].contains(&how);
        assert_eq!(process.ended, clean, "{how}: {output:?}");
        let threads = process.ticks();
        for (thread, calls) in folder.witnessed().into_iter().enumerate() {
            let ticks = &threads[thread];
            let gap = ticks.iter().zip(0..).find(|(number, expected)| **number != *expected);
            assert_eq!(gap, None, "{how}, thread {thread}, {} ticks", ticks.len());
            let recorded = ticks.len() as u64;
            let expected = if clean && thread > 0 { 5_000.min(calls)..=calls + 1 } else { calls..=calls + 1 };
            assert!(expected.contains(&recorded), "{how}, thread {thread}: {recorded} recorded, {calls} calls");
        }
        assert!(process.names.values().any(|name| name == "thread 1"));
    }
}

/// Slots that are filled after the last write of the queue count as dropped.
/// The live file need not remain for them.
#[test]
fn threads_that_record_after_the_end_do_not_prevent_a_clean_end() {
    if cfg!(debug_assertions) {
        let folder = ProgramFolder::new().with(PATIENT.0, PATIENT.1).with("TUMIT_FAULT", "the end is slow");
        let output = folder.output("exit");
        let process = folder.left().pop().unwrap();
        assert!(process.ended && process.end_dropped > 0, "{output:?}");
        let calls: u64 = folder.witnessed().iter().sum();
        let recorded = process.blocks_of_records();
        assert!(recorded + process.end_dropped <= calls + 2, "{recorded} + {} of {calls}", process.end_dropped);
        for (thread, ticks) in process.ticks().iter().enumerate() {
            let gap = ticks.iter().zip(0..).find(|(number, expected)| **number != *expected);
            assert_eq!(gap, None, "thread {thread}, {} ticks", ticks.len());
        }
    }
}

#[test]
fn a_clean_end_removes_the_live_file() {
    let folder = ProgramFolder::new();
    assert!(folder.output("return").status.success());
    let process = folder.read_complete_run();
    assert!(process.ended && process.buffers == 1);
    assert_eq!(std::fs::read_dir(folder.run()).unwrap().count(), 1);
}

#[test]
fn names_are_stored_before_their_records() {
    // The log of names has 64 KiB here, and the names need 200 KB.
    let folder = ProgramFolder::new().with("TUMIT_MEMORY", "256K");
    folder.output("names");
    let process = folder.left().pop().unwrap();
    let expected: Vec<_> = (0..2_000).map(|n| RawRunRecord::Text(format!("name {n} {}", "x".repeat(100)))).collect();
    assert_eq!(process.records(), expected);
    assert_eq!(folder.witnessed()[0], 2_000);
    assert!(!process.ended);
}

#[test]
fn forked_processes_have_live_files_of_their_own() {
    let folder = ProgramFolder::new();
    folder.output("fork");
    let all = folder.left();
    assert_eq!(all.len(), 3);
    let mut parent = all.iter().find(|process| process.parent.is_none()).unwrap();
    for generation in 0..3 {
        let numbers: Vec<_> = (0..10_000).map(|n| RawRunRecord::Tick { n, m: generation }).collect();
        assert_eq!(parent.records(), numbers, "generation {generation}");
        assert!(!parent.ended && parent.buffers == 1);
        if generation < 2 {
            parent = all.iter().find(|process| process.parent.as_ref() == Some(&parent.id)).unwrap();
        }
    }
}

#[test]
fn a_removed_folder_is_created_again() {
    let folder = ProgramFolder::new();
    let output = folder.output("folder");
    assert!(output.status.success());
    assert!(folder.read_complete_run().ended);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(errors.contains("tumit: ") && errors.contains("was removed"), "{errors}");
}

#[test]
fn buffers_are_in_the_requested_memory() {
    let folder = ProgramFolder::new().with("TUMIT_BUFFERS", "private");
    assert!(folder.output("return").status.success());
    assert_eq!(folder.read_complete_run().buffers, 0);
    // In another folder: the process block contains its path.
    let live_folder = tempfile::tempdir().unwrap();
    let folder = ProgramFolder::new().with("TUMIT_LIVE", live_folder.path().to_str().unwrap());
    folder.output("SIGKILL");
    let process = read_processes(&folder.run(), live_folder.path()).pop().unwrap();
    assert!(process.ticks()[0].len() as u64 == 10_000 && process.live_blocks > 0);
    assert_eq!(std::fs::read_dir(folder.run()).unwrap().count(), 1);
    // The folder does not exist: recording continues, and the file reports it.
    let folder = ProgramFolder::new().with("TUMIT_LIVE", "/proc/nowhere");
    assert!(folder.output("return").status.success());
    assert_eq!(folder.read_complete_run().buffers, 2);
}

/// The output of the program "full": written, dropped, kept.
fn counts(output: &Output) -> [u64; 3] {
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{output:?}");
    let line = printed.lines().find_map(|line| line.split_once("written ")).unwrap().1;
    let number = |before: &str| line.split(before).nth(1).unwrap().trim().parse().unwrap();
    let written = line.split(' ').next().unwrap().parse().unwrap();
    let dropped = line.split("dropped ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    [written, dropped, number("kept ")]
}

#[test]
fn a_full_disk_loses_nothing_silently() {
    // Space for the live file and for a part of the other file. The remaining records stay in the
    // live file.
    let folder = ProgramFolder::new().with("TUMIT_MEMORY", "4M").with("TUMIT_DISK", "size=4700k");
    let output = folder.output("on a small disk");
    let [written, dropped, kept_records] = counts(&output);
    assert!(
        written > 0 && kept_records > 0 && dropped == 0 && written + kept_records == 100_000,
        "{written} {dropped} {kept_records}"
    );
    let process = folder.read_complete_run();
    assert!(!process.ended && process.buffers == 1 && process.live_blocks > 0);
    // No space for the live file, but enough for the other file.
    let folder = ProgramFolder::new().with("TUMIT_MEMORY", "4M").with("TUMIT_DISK", "size=4m");
    assert_eq!(counts(&folder.output("on a small disk")), [100_000, 0, 0]);
    let process = folder.read_complete_run();
    assert!(process.ended && process.buffers == 2);
    // Nearly no space: all records that do not fit are counted.
    for (program, setting) in [("on a small disk", "size=200k"), ("limited", "")] {
        let folder = ProgramFolder::new().with("TUMIT_MEMORY", "4M").with("TUMIT_DISK", setting);
        let output = folder.output(program);
        let [written, dropped, kept_records] = counts(&output);
        assert!(
            written > 0 && dropped > 0 && kept_records == 0 && written + dropped == 100_000,
            "{written} {dropped} {kept_records}"
        );
        let process = folder.left().pop().unwrap();
        assert_eq!((process.blocks_of_records(), process.buffers), (written, 2));
        // One message when it happens, and one with the number of records at the end.
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(errors.matches("tumit: ").count(), 2, "{errors}");
        assert!(errors.contains(&format!("tumit: {dropped} records were dropped from ")), "{errors}");
    }
}

/// Disks and limits of any size, with any memory: the written, kept and dropped records are all
/// records. All records that count as written or kept are there.
fn full_disks(times: u32, fault: &'static str) {
    let mut random = random_generator();
    for number in 0..times {
        println!("disk {number}, seed {}", random.0);
        let memory = 128 << random.below(6);
        // Less than the live file needs, or enough for it and a part of the other file.
        let live = random.below(2) * (memory + 400);
        let kilobytes = live + 8 + random.below(700);
        let folder = ProgramFolder::new().with("TUMIT_MEMORY", format!("{memory}K")).with("TUMIT_FAULT", fault);
        let folder = folder.with("TUMIT_POLICY", ["all=drop", "all=overwrite"][random.below(2) as usize]);
        let (program, folder) = match random.below(5) {
            0 => ("on a small disk", folder.with("TUMIT_DISK", format!("size={kilobytes}k"))),
            _ => ("limited", folder.with("TUMIT_LIMIT", (kilobytes << 10).to_string())),
        };
        let output = folder.output(program);
        let [written, dropped, kept_records] = counts(&output);
        assert_eq!(written + dropped + kept_records, 100_000, "{output:?}");
        adds_up(&folder, [written, dropped, kept_records], &output);
    }
}

/// Checks that the records in a run and the missing records that it reports are those that the
/// program printed.
fn adds_up(folder: &ProgramFolder, [written, dropped, kept]: [u64; 3], output: &Output) {
    // A disk may be too small for any file.
    let Some(process) = folder.left().pop() else { return assert_eq!(written + kept, 0, "{output:?}") };
    assert_eq!(process.blocks_of_records(), written + kept, "{dropped} dropped: {output:?}");
    let reported = if process.ended { Some(process.end_dropped) } else { process.live_dropped };
    assert_eq!(reported, Some(dropped), "reported in the run: {output:?}");
}

/// Disks that are full when the file ends, and only the file can report losses.
fn full_to_the_last_block(times: u64, fault: &'static str) {
    for number in 0..times {
        let kilobytes = 40 + number * 4 % 256;
        let folder = ProgramFolder::new()
            .with("TUMIT_MEMORY", "128K")
            .with("TUMIT_FAULT", fault)
            .with("TUMIT_BUFFERS", "private");
        let folder = folder.with("TUMIT_DISK", format!("size={kilobytes}k"));
        let output = folder.output("on a small disk");
        let counts = counts(&output);
        // On the smallest disks it is random whether anything is written: a block that is not
        // packed may not fit.
        assert!(counts[1] > 0, "{counts:?}");
        adds_up(&folder, counts, &output);
    }
}

#[test]
fn the_end_of_a_file_has_reserved_space() {
    full_to_the_last_block(16, "");
    if cfg!(debug_assertions) {
        // The first few runs detect it. The number of runs is random.
        assert!(fails(|| full_to_the_last_block(500, "no space is reserved")));
    }
}

#[test]
fn a_writer_thread_after_the_end_takes_no_records() {
    let with = |fault: &str| {
        let folder =
            ProgramFolder::new().with("TUMIT_MEMORY", "2M").with("TUMIT_DISK", "size=2962k").with("TUMIT_FAULT", fault);
        let output = folder.output("on a small disk");
        let counts = counts(&output);
        assert!(counts[2] > 0, "{output:?}");
        adds_up(&folder, counts, &output);
    };
    if cfg!(debug_assertions) {
        with("writer thread is held");
        // The first run detects it, unless the machine is so loaded that the writer thread comes in
        // time.
        assert!(fails(|| (0..20).for_each(|_| with("writer thread is held;slots are taken after the end"))));
    }
}

#[test]
fn counts_of_full_disks_add_up() {
    full_disks(20, "");
    if cfg!(debug_assertions) {
        // The first few runs detect it. The number of runs is random.
        assert!(fails(|| full_disks(500, "write errors are ignored")));
        assert!(fails(|| full_disks(500, "overwritten records are not counted")));
    }
}

#[test]
#[ignore = "takes minutes; cargo test -p tracer-rt --release --test process_exits -- --ignored a_thousand"]
fn a_thousand_full_disks_add_up() {
    full_disks(1_000, "");
}

#[test]
fn injected_faults_are_detected() {
    if !cfg!(debug_assertions) {
        return;
    }
    let with_fault = |fault: &'static str| ProgramFolder::new().with("TUMIT_FAULT", fault);
    let discarded = [PATIENT, ("TUMIT_FAULT", "full slots are discarded")];
    // The first few kills detect it. The number of kills is random.
    assert!(fails(|| kill_at_random("for ever", 500, &discarded, 0, all_records_are_complete)));
    let folder = with_fault("names are not logged");
    folder.output("names");
    assert!(fails(move || drop(folder.left().pop().unwrap().records())));
    assert!(fails(|| check_drops(&[("TUMIT_FAULT", "drops are not counted")])));
    let early = [PATIENT, ("TUMIT_FAULT", "flush is noted before the write")];
    assert!(fails(|| kill_at_random("flush slowly for ever", 500, &early, 0, all_records_are_complete)));
}

/// Two levels record more than two slots can take. One level waits, and one drops.
/// On a loaded machine the writer thread may keep up in one run, but not in five.
fn check_policies(fault: &str) {
    let has_dropped = (0..5).any(|_| check_policies_once(fault) > 0);
    assert!(has_dropped, "records that nobody waits for are dropped");
}

/// Returns how many records were dropped.
fn check_policies_once(fault: &str) -> u64 {
    let folder = ProgramFolder::new().with("TUMIT_MEMORY", "128K").with("TUMIT_LEVELS", "APP=on,XYZ=on");
    let folder = folder.with("TUMIT_POLICY", "all=block,process_exits.APP=drop,COM=sleep").with("TUMIT_FAULT", fault);
    let output = folder.output("flood");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(errors.contains("`COM=sleep` is not valid"), "{errors}");
    assert_eq!(errors.matches("no spec that this program uses has a level `XYZ`").count(), 1, "{errors}");
    let process = folder.read_complete_run();
    assert!(process.ended);
    let details = process.records().iter().filter(|record| matches!(record, RawRunRecord::Detail(_))).count() as u64;
    assert_eq!(details + process.end_dropped, 600_000);
    process.end_dropped
}

#[test]
fn a_level_may_wait_for_a_slot() {
    check_policies("");
    if cfg!(debug_assertions) {
        assert!(fails(|| check_policies("threads do not wait")));
    }
}

#[test]
fn short_lived_threads_take_no_memory() {
    // Two megabytes are 32 slots.
    let folder = ProgramFolder::new().with("TUMIT_MEMORY", "2M").with("TUMIT_POLICY", "all=block");
    let output = folder.output("short-lived threads");
    assert!(output.status.success(), "{output:?}");
    let process = folder.left().pop().unwrap();
    let mut numbers = process.ticks().swap_remove(0);
    numbers.sort_unstable();
    assert_eq!(numbers, (0..4_000).collect::<Vec<_>>());
    assert_eq!((process.ended, process.names.len()), (true, 4_000));
}

#[test]
fn threads_share_slots_when_there_are_many() {
    for kill in [true, false] {
        // 160 slots: half of them for the first 81 threads, and a fifteenth of a slot for each of
        // the other threads.
        let folder = ProgramFolder::new().with("TUMIT_MEMORY", "10M").with(PATIENT.0, PATIENT.1);
        let folder = if kill { folder.with("TUMIT_KILL", "1") } else { folder };
        let output = folder.output("many threads");
        let process = folder.left().pop().unwrap();
        let mut numbers = process.ticks().swap_remove(0);
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..20_000), "kill {kill}: {output:?}");
        let dropped = if kill { process.live_dropped } else { Some(process.end_dropped) };
        assert_eq!((process.ended, dropped), (!kill, Some(0)));
        // The divided slots are whole again.
        assert!(kill || process.largest_block() > 60_000, "{}", process.largest_block());
    }
}

#[test]
fn self_tracing_records_the_work_of_the_recorder() {
    let folder = ProgramFolder::new();
    let output = folder.output("stats");
    assert!(output.status.success(), "{output:?}");
    folder.read_complete_run();
}

#[test]
fn recording_is_paused() {
    let folder = ProgramFolder::new();
    assert!(folder.output("paused").status.success());
    let process = folder.read_complete_run();
    let records = process.records();
    assert_eq!(records.len(), 21);
    assert_eq!(records[10], RawRunRecord::Detail(2));
}

#[test]
fn levels_are_switched_from_outside() {
    use std::os::unix::fs::FileExt;
    let folder = ProgramFolder::new();
    let mut child = folder.start("idle");
    let live = loop {
        let mut files = std::fs::read_dir(folder.run()).into_iter().flatten().map(|entry| entry.unwrap().path());
        match files.find(|path| path.extension().is_some_and(|extension| extension == "live")) {
            Some(path) if folder.witnessed()[0] == 10 => break path,
            _ => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    let file = std::fs::File::options().read(true).write(true).open(live).unwrap();
    let request = |number: u32, text: &str| {
        file.write_all_at(text.as_bytes(), 136).unwrap();
        file.write_all_at(&(text.len() as u32).to_le_bytes(), 132).unwrap();
        file.write_all_at(&number.to_le_bytes(), 128).unwrap();
        let mut answer = [0; 8];
        while answer[..4] != number.to_le_bytes() {
            file.read_exact_at(&mut answer, 1280).unwrap();
            std::thread::sleep(Duration::from_millis(1));
        }
        u32::from_le_bytes(answer[4..].try_into().unwrap())
    };
    assert_eq!(request(1, "NOTHING=on"), 1);
    assert_eq!(request(2, "app is on"), 1);
    assert_eq!(request(3, "process_exits.APP=on, com=off"), 0);
    // Ten more calls that began after the answer.
    let until = folder.witnessed()[1] + 11;
    while folder.witnessed()[1] < until {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let records = folder.left().pop().unwrap().records();
    assert!(records.len() > 10 && records[10..].iter().all(|record| *record == RawRunRecord::Detail(1)), "{records:?}");
}
