//! Checks that the records of a process are those of its calls.
//! Each case runs in its own process: this test binary, started again for its test `child` with the
//! name of the case in the environment.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "programs and readers of tests, outside test functions")]

mod recording {
    pub(crate) mod cases;
}

use std::path::Path;
use std::process::{Command, Output};

use tracer_format::cause;
use tracer_format::record::DroppedRecords;
use tracer_format::tags::tag;
use tumit_test_support::decoded_run::{DecodedFile, DecodedRecord, DecodedRun, DecodedStream, DecodedValue, read_run};

/// Runs a case. Returns the contents of its folder and its output.
fn run_with(case: &str, settings: &[(&str, &str)]) -> (DecodedRun, Output) {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run.tmt");
    let output = run_child(case, &run, settings);
    assert!(output.status.success(), "{case}: {}", String::from_utf8_lossy(&output.stderr));
    (read_run(&run), output)
}

fn run(case: &str) -> DecodedFile {
    let (mut run, _) = run_with(case, &[]);
    assert_eq!(run.files.len(), 1);
    assert!(run.files[0].ended);
    assert!(run.files[0].streams.values().all(|stream| stream.missing_blocks == 0));
    run.files.remove(0)
}

fn run_child(case: &str, run: &Path, settings: &[(&str, &str)]) -> Output {
    child_of(case, settings).env("TUMIT_TRACE", run).output().unwrap()
}

fn child_of(case: &str, settings: &[(&str, &str)]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--ignored", "--nocapture", "--test-threads=1"]);
    for variable in ["TUMIT_LEVELS", "TUMIT_MEMORY", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"] {
        command.env_remove(variable);
    }
    command.env_remove("PMIX_NAMESPACE").env_remove("TUMIT_LAUNCH_ID").env("TUMIT_CASE", case);
    command.envs(settings.iter().copied());
    command
}

#[test]
#[ignore = "the other tests run it, in a process of its own"]
fn child() {
    if let Ok(case) = std::env::var("TUMIT_CASE") {
        recording::cases::run(&case);
    }
}

#[test]
fn every_type_is_recorded_as_called() {
    let file = run("types");
    let records: Vec<_> = file.records().collect();
    assert_eq!(records.len(), 4);
    assert_eq!(
        records[0].text(),
        "numbers a=1 b=2 c=3 d=4 e=-1 f=-2 g=-3 h=-4 x=Single(0.5) y=Double(0.25) yes=Bool(true)"
    );
    let others = &records[1];
    assert_eq!(others.get("place"), &DecodedValue::Number(0x1234));
    assert_eq!(others.get("text"), &DecodedValue::Text("a text".into()));
    assert_eq!(others.get("name"), &DecodedValue::Text("a name".into()));
    assert_eq!(others.get("raw"), &DecodedValue::Bytes(vec![0, 255]));
    assert_eq!(others.get("shade"), &DecodedValue::Text("dark_blue".into()));
    let (line, source) = others.site.clone().unwrap();
    assert!(source.ends_with("cases.rs") && line > 1, "{source}:{line}");
    // The value of the field `when` was read just before the record.
    let when = others.get("when").number();
    assert!(when <= others.ticks && when >= records[0].ticks);
    assert_eq!(
        records[2].text(),
        "arrays three=[1, -1, 300] many=[Double(1.0), Double(2.0)] shades=[dark_blue, red] pair=[green, red] names=[\"a name\"]"
    );
    assert_eq!(records[3].text(), "arrays three=[0, 0, 0] many=[] shades=[] pair=[red, red] names=[]");
}

#[test]
fn specs_can_be_made_at_run_time() {
    let file = run("dynamic");
    assert_eq!((file.schemas.len(), file.end_dropped), (2_000, Some(0)));
    let records: Vec<_> = file.records().collect();
    assert_eq!(records.len(), 2_002);
    assert_eq!(records[7].text(), "event_7 number=-5 text=hi");
    assert_eq!(records[7].site, Some((42, "made/at/run/time.rs".into())));
    assert_eq!((records[2_001].text().as_str(), &records[2_001].site), ("event_1999 number=-5 text=hi", &None));
}

#[test]
fn the_process_is_described() {
    let (run, _) =
        run_with("types", &[("OMPI_COMM_WORLD_RANK", "3"), ("OMPI_COMM_WORLD_SIZE", "8"), ("PMIX_NAMESPACE", "job7")]);
    let file = &run.files[0];
    assert!(file.name.starts_with("r00003-") && file.name.ends_with(".tmt"), "{}", file.name);
    assert_eq!((file.integer(tag::RANK), file.integer(tag::RANKS)), (Some(3), Some(8)));
    assert_eq!(file.text(tag::JOB).as_deref(), Some("job7"));
    assert_eq!(file.text(tag::LAUNCH).as_deref(), Some("pmix:job7"));
    let last = file.records().map(|record| record.ticks).max();
    assert!(file.process_end >= last, "{:?} is before {last:?}", file.process_end);
    assert_eq!(file.text(tag::WRITER).as_deref(), Some(concat!("rust ", env!("CARGO_PKG_VERSION"))));
    assert_eq!(file.tags[&tag::PROCESS_ID].len(), 16);
    assert!(file.text(tag::COMMAND).unwrap().contains("--exact child"));
    assert!(!file.text(tag::CLOCK_DOMAIN).unwrap().is_empty() && !file.text(tag::HOST).unwrap().is_empty());
    assert!(file.integer(tag::CLOCK_KIND).is_some_and(|kind| kind > 0) && file.integer(tag::CLOCK_HZ).is_some());
    assert!(file.anchors.len() >= 2, "at open and at close");
    assert!(file.anchors.windows(2).all(|pair| pair[0].ticks < pair[1].ticks));
    // The clocks are read while the first record waits for its slot.
    for record in file.records().skip(1) {
        assert!(file.anchors[0].ticks <= record.ticks && record.ticks <= file.anchors.last().unwrap().ticks);
    }
}

#[test]
fn launches_have_ids() {
    let of = |case: &str, settings: &[(&str, &str)]| -> Vec<String> {
        run_with(case, settings).0.files.iter().map(|file| file.text(tag::LAUNCH).unwrap()).collect()
    };
    let first = of("fork", &[]);
    assert!(
        first.len() == 2 && first[0] == first[1] && first[0].len() == 32,
        "a forked child is of the launch: {first:?}"
    );
    assert_ne!(of("types", &[])[0], first[0], "two starts are two launches");
    assert_eq!(of("types", &[("TUMIT_LAUNCH_ID", "a script")]), ["a script"]);
    let long = "ä".repeat(200);
    assert_eq!(of("types", &[("TUMIT_LAUNCH_ID", &long)]), ["ä".repeat(128)]);
    let step = [("SLURM_JOB_ID", "7"), ("SLURM_STEP_ID", "2"), ("SLURM_NTASKS", "2"), ("TUMIT_LAUNCH_ID", "x")];
    assert_eq!(of("types", &step), ["slurm:7.2"]);
    let spawned = |name| [("PMIX_NAMESPACE", name), ("OMPI_COMM_WORLD_RANK", "0")];
    assert_eq!(of("types", &spawned("601686017")), of("types", &spawned("601686018")), "Open MPI 4");
    assert_eq!(of("types", &spawned("prterun-node-17@2")), ["pmix:prterun-node-17"], "Open MPI 5");
    assert!(of("types", &[("PMI_RANK", "0")])[0].starts_with("launcher:"));
}

#[test]
fn programs_of_one_step_share_a_folder_unless_a_shell_is_all_of_it() {
    for (tasks, folders) in [("2", 1), ("1", 2)] {
        let folder = tempfile::tempdir().unwrap();
        for rank in ["0", "1"] {
            let step = [("SLURM_JOB_ID", "7"), ("SLURM_STEP_ID", "0"), ("SLURM_PROCID", rank), ("SLURM_NTASKS", tasks)];
            let mut command = child_of("types", &step);
            let output = command.current_dir(folder.path()).env_remove("TUMIT_TRACE").output().unwrap();
            assert!(output.status.success(), "{output:?}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), folders, "{tasks} tasks");
    }
}

#[test]
fn threads_have_streams_and_names() {
    let file = run("threads");
    for worker in 0..4u64 {
        let stream = file.streams.values().find(|stream| stream.name.as_deref() == Some(&format!("worker {worker}")));
        let stream = stream.unwrap();
        let numbers: Vec<u64> = stream.records.iter().map(|record| record.get("n").number()).collect();
        assert_eq!(numbers, (0..10_000).collect::<Vec<_>>());
        assert!(stream.records.iter().all(|record| record.get("m").number() == worker));
        let last = stream.records.last().map(|record| record.ticks);
        assert!(last <= stream.end && stream.end <= file.process_end, "{last:?}, {:?}", stream.end);
        assert!(stream.records.windows(2).all(|pair| pair[0].ticks <= pair[1].ticks));
        assert!(stream.blocks > 3, "220 KB take several blocks");
        assert!(stream.packed_blocks >= 3, "full slots are compressed");
        assert!(stream.tid > 0);
    }
    assert!(file.streams.values().any(|stream| stream.name.as_deref() == Some("renamed")));
    assert_eq!(file.end_written, Some(file.records().count() as u64));
}

#[test]
fn the_last_moments_are_recorded() {
    let file = run("exits");
    let texts: Vec<String> =
        file.records().filter(|record| record.name == "text").map(|record| record.get("text").to_string()).collect();
    for expected in [
        "destructor of a thread",
        "thread with a key",
        "destructor of a key",
        "destructor of the thread that exits",
        "at exit",
        "before exit",
    ] {
        assert!(texts.iter().any(|text| text == expected), "{expected} is missing of {texts:?}");
    }
    assert_eq!(texts.iter().filter(|text| *text == "destructor of a key").count(), 2);
    assert!(file.streams.values().any(|stream| stream.name.as_deref() == Some("a name longer than the system's")));
    // The detached thread never stopped. All its records are there up to the moment when another
    // thread called `exit`.
    let detached = file.streams.values().find(|stream| stream.name.as_deref() == Some("detached")).unwrap();
    let last_before_exit =
        file.records().find(|record| record.name == "tick" && record.get("m").number() == 99).unwrap();
    assert!(detached.records.len() as u64 >= last_before_exit.get("n").number());
    let numbers: Vec<u64> = detached.records.iter().map(|record| record.get("n").number()).collect();
    assert_eq!(numbers, (0..detached.records.len() as u64).collect::<Vec<_>>());
}

#[test]
fn drops_are_counted_exactly() {
    let (run, output) = run_with("flood", &[("TUMIT_MEMORY", "128K")]);
    let file = &run.files[0];
    let emitted = 4 * 300_000;
    let recorded = file.records().count() as u64;
    let dropped: u64 = file.streams.values().map(|stream| stream.dropped).sum();
    assert!(dropped > 0, "two slots for four threads that do nothing but record");
    assert_eq!(recorded + dropped, emitted);
    assert_eq!((file.end_written, file.end_dropped), (Some(recorded), Some(dropped)));
    for stream in file.streams.values() {
        let reported: u64 = stream.losses.iter().map(|report| report.count).sum();
        assert_eq!(reported, stream.dropped, "each drop is reported in its place");
        // Missing numbers have a `dropped` record at their place.
        let mut next = 0;
        let mut gaps = 0;
        for record in &stream.records {
            gaps += record.get("n").number() - next;
            next = record.get("n").number() + 1;
        }
        assert_eq!(gaps + (300_000 - next), stream.dropped);
        assert!(stream.losses.iter().all(|report| report.cause == 1 && report.bytes == report.count * 22));
    }
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(printed.contains(&format!("dropped {dropped}")), "{printed}");
}

#[test]
fn overlong_records_are_truncated_and_marked() {
    let file = run("oversize");
    let stream = file.streams.values().next().unwrap();
    let max_bytes = most_in(1 << 16);
    let data = |index: usize| stream.records[index].get("data");
    assert_eq!(stream.records.len(), 5);
    assert_eq!(
        (data(1), data(2)),
        (&DecodedValue::Bytes(vec![1; max_bytes]), &DecodedValue::Bytes(vec![1; max_bytes]))
    );
    assert_eq!(data(3), &DecodedValue::Bytes(vec![7; 60_000]));
    assert_eq!(stream.marks, [(1, 65_500 - max_bytes as u64), (2, 100_000 - max_bytes as u64)]);
    assert_eq!((stream.dropped, stream.losses.len(), file.truncated), (0, 0, Some(2)));
}

/// The largest content of a `blob` in a slot of 64 KiB or a part of one.
/// The slot also contains its head, a wide timestamp, a report of losses, a mark, id, delta and
/// count.
const fn most_in(slot: usize) -> usize {
    slot - 64 - 14 - 42 - 42 - 6 - 2
}

#[test]
fn records_are_truncated_whatever_the_policy() {
    for policy in ["COM=drop", "COM=block", "COM=overwrite"] {
        let (run, _) = run_with("truncated", &[("TUMIT_POLICY", policy), ("TUMIT_MEMORY", "1M")]);
        let file = &run.files[0];
        let stream = file.streams.values().next().unwrap();
        let (blobs, ticks): (Vec<_>, Vec<_>) =
            stream.records.iter().enumerate().partition(|(_, record)| record.name == "blob");
        assert!(
            blobs.iter().all(|(_, blob)| blob.get("data") == &DecodedValue::Bytes(vec![3; most_in(1 << 16)])),
            "{policy}"
        );
        let marks: Vec<_> = blobs.iter().map(|(index, _)| (*index, 70_000 - most_in(1 << 16) as u64)).collect();
        assert_eq!(stream.marks, marks, "{policy}");
        assert!(!blobs.is_empty() && ticks.len() + blobs.len() + stream.dropped as usize == 100, "{policy}");
        let is_whole = policy == "COM=block";
        assert!(!is_whole || stream.dropped == 0);
        assert!(file.truncated.is_some_and(|count| count >= blobs.len() as u64), "{policy}: {:?}", file.truncated);
    }
}

#[test]
fn records_are_truncated_to_the_free_part_of_a_slot() {
    let (run, _) = run_with("truncated in parts", &[("TUMIT_MEMORY", "256k")]);
    let file = &run.files[0];
    let short = file.streams.values().find(|stream| stream.records.len() == 2).unwrap();
    assert_eq!(short.records[1].get("data"), &DecodedValue::Bytes(vec![2; most_in(1 << 12)]));
    assert_eq!(short.marks, [(1, 5_000 - most_in(1 << 12) as u64)]);
    assert_eq!((file.end_written, file.end_dropped, file.truncated), (Some(5), Some(0), Some(1)));
}

#[test]
fn records_of_signal_handlers_are_truncated() {
    let file = run("truncated in handlers");
    let blobs = || file.records().filter(|record| record.name == "blob");
    assert!(blobs().all(|blob| blob.get("data") == &DecodedValue::Bytes(vec![3; most_in(1 << 16)])));
    let marks: usize = file.streams.values().map(|stream| stream.marks.len()).sum();
    assert_eq!((marks, file.truncated), (blobs().count(), Some(blobs().count() as u64)));
    assert!(blobs().count() > 0);
}

#[test]
fn only_levels_that_are_on_record() {
    let names = |file: &DecodedFile| file.records().map(DecodedRecord::text).collect::<Vec<_>>().join(", ");
    let case = |levels: &str| names(&run_with("levels", &[("TUMIT_LEVELS", levels)]).0.files[0]);
    let plain = "tick n=1 m=0, detail n=3, step.begin n=4, step.end, tick n=2 m=0";
    assert_eq!(names(&run("levels")), plain, "APP is off until the program switches it on");
    assert_eq!(case("APP=on"), format!("tick n=1 m=0, detail n=1, detail n=3, step.begin n=4, step.end, tick n=2 m=0"));
    assert_eq!(case("COM=off"), "detail n=3, step.begin n=4, step.end");
    assert_eq!(case("all=off,all.COM=on"), plain);
    let (_, output) = run_with("levels", &[("TUMIT_LEVELS", "COM:on")]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("TUMIT_LEVELS: `COM:on` is not valid"));
}

#[test]
fn several_specs_share_a_process() {
    let file = run("two specs");
    let names: Vec<String> = file.records().map(|record| format!("{}.{}", record.trace, record.text())).collect();
    assert_eq!(names, ["all.tick n=1 m=2", "other.tick n=3", "all.tick n=4 m=5"]);
    assert_eq!(file.schemas.len(), 2);
}

#[test]
fn a_forked_child_has_a_file_of_its_own() {
    let (run, _) = run_with("fork", &[]);
    assert_eq!(run.files.len(), 2, "parent and child");
    let child = run.files.iter().find(|file| file.tags.contains_key(&tag::PARENT_ID)).unwrap();
    let parent = run.files.iter().find(|file| !file.tags.contains_key(&tag::PARENT_ID)).unwrap();
    assert_eq!(child.tags[&tag::PARENT_ID], parent.tags[&tag::PROCESS_ID]);
    assert_ne!(child.integer(tag::PID), parent.integer(tag::PID));
    let texts = |file: &DecodedFile| file.records().map(|record| record.get("text").to_string()).collect::<Vec<_>>();
    assert_eq!(texts(parent), ["before", "parent"]);
    assert_eq!(texts(child), ["child", "before"]);
}

#[test]
fn forks_among_recording_threads_are_safe() {
    let (run, output) = run_with("many forks", &[]);
    assert_eq!(run.files.len(), 7);
    assert!(run.files.iter().all(|file| file.ended));
    for file in &run.files {
        let recorded = file.records().count() as u64;
        assert_eq!(file.end_written, Some(recorded));
        let calls = recorded + file.end_dropped.unwrap();
        // The first forks may come before the parent's first record. Such children have no recorded
        // parent.
        if file.streams.len() == 1 {
            assert_eq!(calls, 5_000);
        } else {
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(printed.contains(&format!("calls {calls} ")), "{calls}: {printed}");
        }
    }
}

#[test]
fn spans_end_where_their_guards_do() {
    let file = run("spans");
    let texts: Vec<String> = file.records().map(DecodedRecord::text).collect();
    assert_eq!(
        texts,
        ["work.begin n=1", "tick n=7 m=8", "work.end", "work.begin n=2", "work.end", "work.begin n=3", "work.end"]
    );
    assert!(file.records().all(|record| record.name == "tick" || record.site.is_some()));
}

#[test]
fn rare_timestamps_are_right() {
    let (run, _) = run_with("user clock", &[]);
    let file = &run.files[0];
    assert_eq!((file.integer(tag::CLOCK_KIND), file.integer(tag::CLOCK_HZ)), (Some(5), Some(1_000_000)));
    let ticks: Vec<(u64, u64)> = file.records().map(|record| (record.get("n").number(), record.ticks)).collect();
    // Far ahead, back (which repeats the timestamp), and ahead by the largest and the smallest step
    // on both sides of 32 bits.
    for (asked, recorded) in ticks {
        assert_eq!(recorded, asked.max(10_000_000_000 * u64::from(asked < 10_000_000_000 && asked > 1_000)));
    }
    assert_eq!(file.records().count(), 6);
    assert_eq!(file.repeated_timestamps, Some(1));
}

#[test]
fn quiet_threads_are_flushed_and_continue() {
    let file = run("flush");
    let texts: Vec<u64> = file.records().map(|record| record.get("n").number()).collect();
    assert_eq!(texts, (0..300).collect::<Vec<_>>());
    let stream = file.streams.values().next().unwrap();
    assert!(stream.blocks >= 3);
    assert!(stream.packed_blocks > 0, "so little is packed, too");
    let timestamps: Vec<u64> = file.records().map(|record| record.ticks).collect();
    let clock_values: Vec<u64> = file.records().map(|record| record.get("m").number()).collect();
    // Each record contains the clock as read just before it. The timestamps of all blocks must
    // interleave with these values.
    for (index, timestamp) in timestamps.iter().enumerate() {
        assert!(
            clock_values[index] <= *timestamp && clock_values.get(index + 1).is_none_or(|next| timestamp <= next),
            "record {index}"
        );
    }
}

/// A loop records, and so does a handler that interrupts it at any point.
fn check_handlers(fault: &str) {
    let (run, output) = run_with("signals", &[("TUMIT_FAULT", fault), ("TUMIT_POLICY", "all=block")]);
    let file = &run.files[0];
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let calls = printed.lines().find_map(|line| line.split_once("calls ")).unwrap().1;
    let (in_loop, handlers) = calls.trim().split_once(" and ").unwrap();
    let (in_loop, handlers): (u64, u64) = (in_loop.parse().unwrap(), handlers.parse().unwrap());
    // The loop's own records are all there, in order, independent of the handlers.
    let numbers = |m: u64| file.records().filter(move |record| record.get("m").number() == m);
    assert!(numbers(1).map(|record| record.get("n").number()).eq(1..in_loop), "{in_loop} in the loop");
    // Each record of the handlers is there once, or counted: some handlers interrupt the recorder
    // while it holds its lock.
    let mut of_handlers: Vec<u64> = numbers(2).map(|record| record.get("n").number()).collect();
    of_handlers.sort_unstable();
    of_handlers.dedup();
    assert_eq!(of_handlers.len() as u64 + file.end_dropped.unwrap(), handlers);
    assert!(handlers >= 600 && file.end_dropped.unwrap() * 2 < handlers, "{:?} of {handlers}", file.end_dropped);
    let nested = file.streams.values().find(|stream| stream.signal).unwrap();
    let main = file.streams.values().find(|stream| !stream.signal && stream.records.len() > 100).unwrap();
    assert!(nested.records.len() > 10, "{} of {handlers} interrupted a record", nested.records.len());
    assert_eq!((nested.tid, &nested.name), (main.tid, &main.name));
    let reported: u64 =
        file.streams.values().flat_map(|stream| &stream.losses).map(|report: &DroppedRecords| report.count).sum();
    assert_eq!(reported, file.end_dropped.unwrap());
    let causes = |stream: &DecodedStream| stream.losses.iter().all(|report| report.cause == cause::NESTED);
    assert!(file.streams.values().all(causes));
}

#[test]
fn records_of_signal_handlers_are_kept() {
    check_handlers("");
    if cfg!(debug_assertions) {
        for fault in ["handlers share the slot", "records of handlers are omitted"] {
            assert!(std::panic::catch_unwind(|| check_handlers(fault)).is_err(), "{fault}");
        }
    }
}

#[test]
fn the_first_record_of_all_made_by_a_handler_is_counted() {
    // The handler may have interrupted the allocator, so no spec is registered and no session
    // started there.
    let file = run("first in a handler");
    let numbers: Vec<u64> = file.records().map(|record| record.get("n").number()).collect();
    assert_eq!(numbers, [2]);
    assert_eq!((file.end_written, file.end_dropped), (Some(1), Some(2)));
}

#[test]
fn a_signal_handler_may_end_the_process() {
    // The signal interrupts a record or comes between two. The trace ends in order in both cases.
    for _ in 0..10 {
        let file = run("exit in a handler");
        let numbers: Vec<u64> = file.records().map(|record| record.get("n").number()).collect();
        assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>());
        assert_eq!(file.end_written, Some(numbers.len() as u64));
    }
}

#[test]
fn a_folder_that_cannot_be_created_does_not_stop_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "not a folder").unwrap();
    let output = run_child("unwritable", &file.join("run.tmt"), &[]);
    assert!(output.status.success());
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines: Vec<&str> = errors.lines().filter(|line| line.starts_with("tumit:")).collect();
    assert_eq!(lines.len(), 2, "{errors}");
    assert!(lines[0].contains("cannot record in") && lines[0].contains("run.tmt"), "{errors}");
    assert!(lines[1].contains("100000 records were dropped"), "{errors}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("all of 100000 dropped"), "{output:?}");
}

#[test]
fn a_full_disk_leaves_whole_blocks() {
    // A limit on the file size replaces a full disk: writes beyond it fail. The buffers hold all
    // records, so that the limit is reached even if the writer thread is late.
    let (run, output) = run_with("full disk", &[("TUMIT_MEMORY", "64M")]);
    let file = &run.files[0];
    let recorded = file.records().count() as u64;
    assert!(recorded > 0, "what came before is there");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(printed.contains(&format!("written {recorded} ")), "{printed}, in the file {recorded}");
    assert!(printed.contains("sum 1000000"), "{printed}");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(errors.matches("tumit:").count(), 2, "when it happens, and how much at the end: {errors}");
}

#[test]
fn start_reports_why_it_fails() {
    let (_, output) = run_with("start", &[]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(printed.contains("late: recording has already started"), "{printed}");
    assert!(
        printed.contains("after the end: RecordCounts { written: 1, dropped: 10000, in_live_file: 0 }"),
        "{printed}"
    );
}
