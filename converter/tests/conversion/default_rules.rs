//! Records without rules become states and marks of their threads, and no two processes or threads
//! share a row.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use tracer_format::schema::{FieldInfo, FieldType, LevelInfo, RecordKind, RecordType, Scalar, Schema};
use tracer_format::tags::{append_tag, tag};
use tumit_converter::convert::{ConvertOptions, convert};
use tumit_converter::report::ConversionReport;
use tumit_converter::run::OpenRun;
use tumit_paje::diagnostic_texts;
use tumit_paje::write::PajeWriter;
use tumit_test_support::pj_dump;
use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords};

fn schema() -> Schema {
    let record =
        |name: &str, kind, fields| RecordType { name: name.into(), level: 0, kind, has_location: false, fields };
    let n = vec![FieldInfo { name: "n".into(), ty: FieldType::One(Scalar::U32) }];
    Schema {
        version: tracer_format::schema::SCHEMA_VERSION,
        name: "plain".into(),
        levels: vec![LevelInfo { name: "APP".into(), is_enabled: true }],
        records: vec![
            record("step.begin", RecordKind::Begin, n.clone()),
            record("step.end", RecordKind::End, vec![]),
            record("tick", RecordKind::Event, n),
        ],
        ..Schema::default()
    }
}

#[test]
fn spans_are_states_and_events_marks() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = SyntheticFile::new(&SyntheticProcess::new(42), &schema());
    file.thread(0, 43, "worker");
    let mut records = SyntheticRecords::default();
    records.record(0, 1_000, &5u32.to_le_bytes());
    records.record(2, 1_500, &6u32.to_le_bytes());
    records.record(1, 2_000, &[]);
    file.records(0, 0, &records);
    file.end();
    file.save(folder.path(), "a.tmt");

    let run = OpenRun::open(folder.path()).unwrap();
    let mut writer = PajeWriter::new(Vec::new());
    let report = convert(&run, &ConvertOptions::default(), &mut writer).unwrap();
    assert!(report.is_clean(), "{:?}", report.all_diagnostics());
    assert_eq!(report.counts.records, 3);
    let rows = pj_dump::rows(&writer.into_inner());
    assert_eq!(
        rows,
        [
            "Container, 0, 0, 0, 1e-06, 1e-06, 0",
            "Container, 0, Process, 0, 1e-06, 1e-06, pid 42",
            "Container, pid 42, Thread, 0, 1e-06, 1e-06, worker",
            "Event, worker, Event, 0.000000500, tick, 6",
            "State, worker, Span, 0.000000000, 0.000001000, 0.000001000, 0.000000000, step, 5",
        ]
    );
}

/// Rules without a container tree, with one that names process and thread, and with one that names
/// the thread alone.
const TREES: [&str; 3] = [
    "",
    "paje { container thread[pid: u64, tid: u64] \"{thread_name}\" = stream { state doing } }",
    "paje { container program { container thread[tid: u64] \"Thread {tid}\" = stream { state doing } } }",
];

fn spec(rules: &str) -> tumit::Spec {
    let text = format!("trace rows; level APP {{ span step {{ n: u32 }} event from {{ id: u64 }} }} {rules}");
    let (spec, diagnostics) = tumit::compile_text("rows.tumit", &text);
    spec.unwrap_or_else(|| panic!("{}", diagnostics.render(false)))
}

/// A process with a distinct process id of the format. Its process id of the system may be that of
/// another process.
fn process(about: &SyntheticProcess, number: u8, schema: &Schema) -> SyntheticFile {
    SyntheticFile::with_tags(about, schema, |tags| append_tag(tags, tag::PROCESS_ID, &[number + 1; 16]))
}

/// A span of a thread from one timestamp to another.
fn step(file: &mut SyntheticFile, stream: u32, tid: u64, name: &str, (from, to): (u64, u64)) {
    file.thread(stream, tid, name);
    let mut records = SyntheticRecords::default();
    records.record(0, from, &5u32.to_le_bytes());
    records.record(1, to, &[]);
    file.records(stream, 0, &records);
}

/// Converts in all ways, checks that the results are equal, and returns the rows of `pj_dump`.
fn convert_to_rows(folder: &Path) -> (Vec<String>, ConversionReport) {
    let run = OpenRun::open(folder).unwrap();
    let text = |change: &dyn Fn(&mut ConvertOptions)| {
        let (mut options, mut writer) = (ConvertOptions::default(), PajeWriter::new(Vec::new()));
        change(&mut options);
        let report = convert(&run, &options, &mut writer).unwrap();
        (writer.into_inner(), report)
    };
    let (full_text, report) = text(&|_| {});
    assert!(text(&|options| options.by_record = true).0 == full_text);
    assert!(text(&|options| options.threads = std::num::NonZeroUsize::new(1)).0 == full_text);
    (pj_dump::rows(&full_text), report)
}

/// The names of the containers of a type.
fn names<'r>(rows: &'r [String], ty: &str) -> Vec<&'r str> {
    let cells = rows.iter().map(|row| row.split(", ").collect::<Vec<_>>());
    let names = cells.filter(|cells| cells[0] == "Container" && cells[2].eq_ignore_ascii_case(ty));
    let mut names: Vec<&str> = names.map(|cells| cells[6]).collect();
    names.sort_unstable();
    names
}

/// Each thread row has one state, which lasts as long as the span of its thread. No row mixes two
/// processes.
fn assert_one_state_each(rows: &[String], threads: usize) {
    let states: Vec<Vec<&str>> =
        rows.iter().filter(|row| row.starts_with("State")).map(|row| row.split(", ").collect()).collect();
    let mut holders: Vec<&str> = states.iter().map(|state| state[1]).collect();
    holders.sort_unstable();
    holders.dedup();
    assert_eq!((states.len(), holders.len()), (threads, threads), "{rows:#?}");
    assert!(states.iter().all(|state| state[6] == "0.000000000"), "no state is nested in another: {states:?}");
}

/// Two processes with something in common.
struct RowCase {
    name: &'static str,
    processes: [SyntheticProcess; 2],
    /// How much later the second process starts, in ticks.
    delay: u64,
    /// The names of the rows by tree.
    rows: [[&'static str; 2]; 3],
}

/// The rows of two processes with equal process ids.
const EQUAL_IDS: [[&str; 2]; 3] =
    [["pid 1#1", "pid 1#2"], ["main (pid 1#1)", "main (pid 1#2)"], ["Thread 1 (pid 1#1)", "Thread 1 (pid 1#2)"]];

fn row_cases() -> [RowCase; 5] {
    let ranked = |rank, pid| SyntheticProcess { rank: Some(rank), ..SyntheticProcess::new(pid) };
    let process_on = |host, pid| SyntheticProcess { host, ..SyntheticProcess::new(pid) };
    [
        RowCase {
            name: "equal process ids at one time",
            processes: [SyntheticProcess::new(1), SyntheticProcess::new(1)],
            delay: 0,
            rows: EQUAL_IDS,
        },
        RowCase {
            name: "equal process ids one after the other",
            processes: [SyntheticProcess::new(1), SyntheticProcess::new(1)],
            delay: 5_000,
            rows: EQUAL_IDS,
        },
        RowCase {
            name: "two hosts",
            processes: [process_on("a", 1), process_on("b", 1)],
            delay: 0,
            rows: [["pid 1@a", "pid 1@b"], ["main (a)", "main (b)"], ["Thread 1 (a)", "Thread 1 (b)"]],
        },
        RowCase {
            name: "equal ranks in two worlds",
            processes: [ranked(0, 10), ranked(0, 11)],
            delay: 0,
            rows: [["rank 0/10", "rank 0/11"], ["main (pid 10)", "main (pid 11)"], ["Thread 10", "Thread 11"]],
        },
        RowCase {
            name: "nothing equal",
            processes: [SyntheticProcess::new(10), SyntheticProcess::new(11)],
            delay: 0,
            rows: [["pid 10", "pid 11"], ["main (pid 10)", "main (pid 11)"], ["Thread 10", "Thread 11"]],
        },
    ]
}

#[test]
fn no_two_processes_share_a_row() {
    for RowCase { name: case, processes, delay, rows: expected } in row_cases() {
        for (tree, expected) in TREES.into_iter().zip(expected) {
            let folder = tempfile::tempdir().unwrap();
            let schema = spec(tree).schema();
            for (number, about) in (0u8..).zip(&processes) {
                let mut file = process(about, number, &schema);
                let from = 1_000 + u64::from(number) * (delay + 100);
                step(&mut file, 0, about.pid, "main", (from, from + 1_000));
                file.end();
                file.save(folder.path(), &format!("{number}.tmt"));
            }
            let (rows, report) = convert_to_rows(folder.path());
            assert_eq!(report.counts.ambiguous, 0, "{case} {tree}");
            let ty = match tree {
                "" => "process",
                _ => "thread",
            };
            assert_eq!(names(&rows, ty), expected, "{case} {tree}");
            if !tree.is_empty() {
                assert_one_state_each(&rows, 2);
            } else {
                assert_eq!(names(&rows, "thread").len(), 2, "{case}: {rows:#?}");
            }
        }
    }
}

#[test]
fn a_thread_id_that_is_used_again_has_a_row_of_its_own() {
    for tree in TREES {
        let folder = tempfile::tempdir().unwrap();
        let mut file = process(&SyntheticProcess::new(1), 0, &spec(tree).schema());
        step(&mut file, 0, 7, "pool", (1_000, 2_000));
        step(&mut file, 1, 7, "pool", (3_000, 4_000));
        step(&mut file, 2, 7, "pool", (5_000, 6_000));
        step(&mut file, 3, 8, "other", (5_000, 6_000));
        file.end();
        file.save(folder.path(), "a.tmt");
        let (rows, _) = convert_to_rows(folder.path());
        let expected = match tree.contains("Thread {tid}") {
            true => ["Thread 7 (#1)", "Thread 7 (#2)", "Thread 7 (#3)", "Thread 8"],
            false => ["other", "pool (#1)", "pool (#2)", "pool (#3)"],
        };
        assert_eq!(names(&rows, "thread"), expected, "{tree}");
        assert_one_state_each(&rows, 4);
    }
}

/// A rule that names a thread by an id in its record.
const BY_VALUE: &str = "paje { container thread[tid: u64] \"{thread_name}\" = stream { event marked } }
    rule step.begin -> ignore; rule step.end -> ignore; rule from -> mark marked = \"x\" on thread[id];";

#[test]
fn a_reference_by_value_means_the_own_process_then_the_only_one() {
    let folder = tempfile::tempdir().unwrap();
    let schema = spec(BY_VALUE).schema();
    // By process: its thread ids. Thread 5 is in the first two, 6 and 7 in one each, 8 in the last
    // two, 9 in none.
    let threads: [&[u64]; 3] = [&[5, 6], &[5, 7, 8], &[8]];
    for (number, tids) in (0u8..).zip(threads) {
        let mut file = process(&SyntheticProcess::new(u64::from(number) + 1), number, &schema);
        for (stream, tid) in (0u32..).zip(tids) {
            file.thread(stream, *tid, &format!("t{tid}"));
            let mut records = SyntheticRecords::default();
            if stream == 0 && number == 0 {
                for (at, tid) in (0u64..).zip([5u64, 6, 7, 8, 9, 8]) {
                    records.record(2, 1_000 + at, &tid.to_le_bytes());
                }
            } else {
                records.record(0, 1_000, &5u32.to_le_bytes());
            }
            file.records(stream, 0, &records);
        }
        file.end();
        file.save(folder.path(), &format!("{number}.tmt"));
    }
    let (rows, report) = convert_to_rows(folder.path());
    assert_eq!(report.counts.ambiguous, 2, "{rows:#?}");
    let errors = diagnostic_texts(&report.errors()).join("\n");
    assert!(
        errors.contains("`thread[id]` matches several processes (first occurrence: tid 8): 2 actions were omitted"),
        "{errors}"
    );
    assert!(errors.contains("add the key `pid` to container `thread`"), "{errors}");
    // No process has thread 9. Its row is named after the thread with the record that refers to it.
    assert_eq!(names(&rows, "thread"), ["t5", "t5 (pid 1)", "t6", "t7"], "{rows:#?}");
    assert_eq!(rows.iter().filter(|row| row.starts_with("Event")).count(), 4);
}

/// Begin and end of the containers with this name, in nanoseconds.
fn lifetimes(rows: &[String], name: &str) -> Vec<(u64, u64)> {
    let cells = rows.iter().map(|row| row.split(", ").collect::<Vec<_>>());
    let named = cells.filter(|cells| cells[0] == "Container" && cells[6] == name);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small positive numbers")]
    let nanos = |cell: &str| (cell.parse::<f64>().unwrap() * 1e9).round() as u64;
    named.map(|cells| (nanos(cells[3]), nanos(cells[4]))).collect()
}

#[test]
fn threads_and_processes_end_when_they_end() {
    for tree in TREES {
        let folder = tempfile::tempdir().unwrap();
        let schema = spec(tree).schema();
        let mut file = process(&SyntheticProcess::new(1), 0, &schema);
        let begin = |ticks: u64| {
            let mut records = SyntheticRecords::default();
            records.record(0, ticks, &5u32.to_le_bytes());
            records
        };
        // A thread that ends in a span, one that lasts until the orderly end, and a process that
        // was killed.
        file.ended_thread(0, 7, "short", 1_250);
        file.records(0, 0, &begin(1_000));
        file.thread(1, 8, "long");
        file.records(1, 0, &begin(1_100));
        file.end_at(3_000);
        file.save(folder.path(), "a.tmt");
        let mut killed = process(&SyntheticProcess::new(2), 1, &schema);
        step(&mut killed, 0, 9, "killed", (1_000, 1_500));
        killed.save(folder.path(), "b.tmt");
        let (rows, _) = convert_to_rows(folder.path());
        let name = |tid: u64, name: &str| match tree {
            "" => name.to_owned(),
            _ if tree.contains("Thread {tid}") => format!("Thread {tid}"),
            _ => name.to_owned(),
        };
        assert_eq!(lifetimes(&rows, &name(7, "short")), [(0, 250)], "{rows:#?}");
        assert_eq!(lifetimes(&rows, &name(8, "long")), [(100, 2_000)], "{rows:#?}");
        assert_eq!(lifetimes(&rows, &name(9, "killed")), [(0, 500)], "{rows:#?}");
        let state = |name: &str, length: &str| {
            rows.iter().any(|row| row.starts_with(&format!("State, {name}, ")) && row.contains(length))
        };
        assert!(state(&name(7, "short"), "0.000000000, 0.000000250, 0.000000250"), "{rows:#?}");
        assert!(state(&name(8, "long"), "0.000000100, 0.000002000, 0.000001900"), "{rows:#?}");
    }
}

#[test]
fn streams_begin_and_end_one_after_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = process(&SyntheticProcess::new(1), 0, &spec("").schema());
    // More threads than are held at one time. Some overlap, some are out of order, and one lasts
    // throughout.
    step(&mut file, 0, 1, "main", (1_000, 900_000));
    for number in 1..1_500u32 {
        let from = 1_000 + u64::from(number * 7 % 1_500) * 500;
        step(&mut file, number, u64::from(number) + 1, "", (from, from + 300 + u64::from(number % 5) * 400));
    }
    file.end();
    file.save(folder.path(), "a.tmt");
    let (rows, report) = convert_to_rows(folder.path());
    assert_eq!((report.counts.records, report.counts.containers), (3_000, 1_501));
    assert_eq!(rows.iter().filter(|row| row.starts_with("State")).count(), 1_500);
    assert!(names(&rows, "thread").contains(&"worker 1499"));
}
