//! Naming of processes and threads: shown apart and selected by name; and live files in another
//! folder than the run of their process.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tests::programs::{output, tumit};
use tracer_format::tags::{append_tag, tag};
use tracer_format::{BlockKind, Schema};
use tumit_test_support::synthetic_live_file::{SyntheticLiveFile, SyntheticSlot};
use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords, process_id};

fn schema() -> Schema {
    let spec = tumit::compile_text("small.tumit", "trace small; level L { event mark { n: u32 } }").0.unwrap();
    Schema { sources: Vec::new(), ..spec.schema() }
}

fn marks(numbers: std::ops::Range<u32>) -> SyntheticRecords {
    let mut records = SyntheticRecords::default();
    for n in numbers {
        records.record(0, 1000 + u64::from(n) * 10, &n.to_le_bytes());
    }
    records
}

fn call(command: &mut Command) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = output(command);
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

fn run(words: &[&str], path: &Path) -> (Option<i32>, String, String) {
    call(tumit().arg(words[0]).arg(path).args(&words[1..]))
}

fn info(path: &Path) -> Value {
    serde_json::from_str(&run(&["info", "--json"], path).1).unwrap()
}

/// Two processes of rank 0, like after a fork, and one of rank 1. Each has a thread, and as many
/// records as its position.
fn ranks(folder: &Path) {
    for (number, (rank, pid)) in (1u32..).zip([(0, 100), (0, 201), (1, 102)]) {
        let about = SyntheticProcess { rank: Some(rank), ranks: Some(2), hz: 1000, ..SyntheticProcess::new(pid) };
        let mut file = SyntheticFile::new(&about, &schema());
        file.thread(0, pid, if number == 1 { "main" } else { "" });
        file.records(0, 0, &marks(0..number));
        file.end();
        file.save(folder, &format!("p{pid}.tmt"));
    }
}

#[test]
fn processes_of_one_rank_have_distinct_names_and_can_be_selected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.tmt");
    ranks(&path);
    let listed = run(&["dump"], &path).1;
    let count = |name: &str| listed.lines().filter(|line| line.split("  ").any(|cell| cell.trim() == name)).count();
    assert_eq!([count("rank 0/100"), count("rank 0/201"), count("rank 1")], [1, 2, 3], "{listed}");
    let info = run(&["info"], &path).1;
    // In each table, a process has one form of its name.
    for (name, pid) in [("rank 0/100", "100"), ("rank 0/201", "201"), ("rank 1", "102")] {
        let named: Vec<&str> = info.lines().filter(|line| line.starts_with(&format!("{name}  "))).collect();
        assert!(named.len() == 2 && named[1].split("  ").any(|cell| cell.trim() == pid), "{name}: {info}");
    }
    assert!(info.contains(" 1.000 kHz "), "{info}");
    for (selector, records) in [("0", 3), ("1", 3), ("201", 2), ("0/100", 1), ("pid 102", 3), ("0/201", 2)] {
        let (_, lines, error) = run(&["dump", "--process", selector], &path);
        assert_eq!(lines.lines().count(), records, "{selector}: {error}");
        let part = folder.path().join("part.tmt");
        let (_, stdout, error) = call(tumit().arg("cut").arg(&path).args(["--process", selector]).arg("-o").arg(&part));
        assert!(stdout.contains(&format!(": {records} records of ")), "{stdout} {error}");
        fs::remove_dir_all(&part).unwrap();
    }
}

#[test]
fn processes_are_in_order_of_rank_and_columns_are_aligned() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.tmt");
    // The names of the files have another order than the ranks.
    for (number, rank) in (1u32..).zip([Some(10), Some(2), None, Some(0)]) {
        let mut file = SyntheticFile::new(
            &SyntheticProcess { rank, ranks: Some(11), hz: 1000, ..SyntheticProcess::new(100 + u64::from(number)) },
            &schema(),
        );
        for (stream, tid) in (0u32..).zip([100 + u64::from(number), 500]) {
            file.thread(stream, tid, "");
            file.records(stream, 0, &marks(0..1));
        }
        file.end();
        file.save(&path, &format!("p{number}.tmt"));
    }
    let info = run(&["info"], &path).1;
    let first = |line: &str| line.split("  ").next().unwrap().to_owned();
    let table: Vec<String> = info.lines().skip_while(|line| !line.starts_with("process")).map(first).collect();
    assert_eq!(table[..5], ["process", "rank 0", "rank 2", "rank 10", "pid 103"], "{info}");
    let dumped = run(&["dump"], &path).1;
    assert!(dumped.contains("  worker 1  mark "), "{dumped}");
    let columns: Vec<usize> = dumped.lines().filter_map(|line| line.find("  mark ")).collect();
    assert!(columns.len() == 8 && columns.iter().all(|column| *column == columns[0]), "{dumped}");
}

#[test]
fn an_unknown_process_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.tmt");
    ranks(&path);
    for (selector, expected) in [
        (&["--process", "99"][..], "this run has no process `99`; its processes are rank 0/100, rank 0/201, rank 1"),
        (&["--process", "1/100"], "this run has no process `1/100`"),
        (&["--thread", "nobody"], "this run has no thread `nobody`; the threads are main"),
        (&["--thread", "mian"], "did you mean `main`?"),
        (&["--process", "1", "--thread", "io"], "these processes have no thread `io`; the threads are main"),
    ] {
        for command in ["dump", "cut"] {
            let part = folder.path().join("part.tmt");
            let mut words = vec![command];
            words.extend(selector);
            if command == "cut" {
                words.extend(["-o", part.to_str().unwrap()]);
            }
            let (status, lines, error) = run(&words, &path);
            assert!(status == Some(2) && lines.is_empty() && error.contains(expected), "{words:?}: {error}");
            assert!(!part.exists());
        }
    }
    // The main thread of each process has this name, with or without an explicit name.
    assert_eq!(run(&["dump", "--thread", "main"], &path).1.lines().count(), 6);
    assert_eq!(run(&["dump", "--process", "0/100", "--thread", "main"], &path).1.lines().count(), 1);
    assert_eq!(run(&["dump", "--thread", "102"], &path).1.lines().count(), 3);
}

#[test]
fn reused_thread_ids_belong_to_several_threads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.tmt");
    let mut file = SyntheticFile::new(&SyntheticProcess::new(1), &schema());
    // Three threads with one id; one of them has all kinds of streams.
    for stream in 0..3 {
        file.thread(stream, 7, "short");
    }
    file.thread_with(3, 7, "short", &[tag::SIGNAL_STREAM]);
    file.thread_with(4, 7, "short", &[tag::OVERWRITTEN]);
    file.thread(5, 8, "other");
    for stream in 0..6 {
        file.records(stream, 0, &marks(0..stream + 1));
    }
    file.end();
    file.save(&path, "a.tmt");
    let (cut, sorted) = (folder.path().join("cut.tmt"), folder.path().join("sorted.tmt"));
    assert_eq!(call(tumit().arg("cut").arg(&path).args(["--level", "L"]).arg("-o").arg(&cut)).0, Some(0));
    assert_eq!(call(tumit().arg("merge").arg(&path).arg("--sort").arg("-o").arg(&sorted)).0, Some(0));
    for path in [&path, &cut, &sorted] {
        let process = &info(path)["processes"][0];
        assert_eq!(process["thread_count"], 4);
        let streams = process["threads"].as_array().unwrap();
        let records = |kind: &str| -> Vec<u64> {
            let marked = streams.iter().filter(|stream| stream[kind] == true);
            marked.map(|stream| stream["records"].as_u64().unwrap()).collect()
        };
        assert_eq!((streams.len(), records("signal"), records("overwrites")), (6, vec![4], vec![5]));
        let table = run(&["info"], path).1;
        assert!(
            table.lines().any(|line| line.starts_with("pid 1    7#3 ") && line.ends_with(" overwritten")),
            "{table}"
        );
    }
}

#[test]
fn processes_with_the_same_process_id_have_distinct_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.tmt");
    for (number, host) in (1u8..).zip(["a", "b", "b"]) {
        let about = SyntheticProcess { host, ..SyntheticProcess::new(1) };
        let mut file =
            SyntheticFile::with_tags(&about, &schema(), |tags| append_tag(tags, tag::PROCESS_ID, &[number; 16]));
        file.thread(0, 1, "main");
        file.thread(1, 5, "");
        file.records(0, 0, &marks(0..u32::from(number)));
        file.records(1, 0, &marks(0..1));
        file.end();
        file.save(&path, &format!("{number}.tmt"));
    }
    let (dumped, info) = (run(&["dump"], &path).1, run(&["info"], &path).1);
    let converted = call(tumit().arg("convert").arg(&path).args(["-o", "-"])).1;
    for name in ["pid 1@a", "pid 1@b#1", "pid 1@b#2"] {
        assert!(dumped.contains(name) && info.contains(name), "{name}: {dumped} {info}");
        assert!(converted.contains(&format!("\"{name}\"")), "{name}: {converted}");
    }
    assert_eq!(run(&["dump", "--process", "1@b#2"], &path).1.lines().count(), 4);
    assert_eq!(converted.matches("\"worker 1\"").count(), 3, "{converted}");
}

#[test]
fn threads_with_equal_names_are_distinct() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.tmt");
    let rules = "trace small; level L { event mark { n: u32 } }
        paje { container thread[pid: u64, tid: u64] LABEL = stream { state does } }
        rule mark -> set does = \"it\" on thread[pid, tid];";
    let names = ["pool (#1)", "pool (#2)", "pool (#3)"];
    for (label, expected) in
        [("\"{thread_name}\"", names), ("\"T\"", ["T (#2)", "T (#3)", "T (#4)"]), ("\"{tid}\"", ["71", "72", "73"])]
    {
        let (spec, diagnostics) = tumit::compile_text("small.tumit", &rules.replace("LABEL", label));
        let spec = spec.unwrap_or_else(|| panic!("{}", diagnostics.render(false)));
        let mut file = SyntheticFile::new(&SyntheticProcess::new(1), &spec.schema());
        file.thread(0, 1, "");
        (1..4).for_each(|stream| file.thread(stream, 70 + u64::from(stream), "pool"));
        (0..4).for_each(|stream| file.records(stream, 0, &marks(0..stream + 1)));
        file.end();
        file.save(&path, "a.tmt");
        let run_of = |words: &[&str]| run(words, &path).1;
        let (stats, paje) = (run_of(&["stats", "--by", "container", "--csv"]), run_of(&["convert", "-o", "-"]));
        let (info, dumped) = (run_of(&["info"]), run_of(&["dump"]));
        for (records, name) in (2..).zip(expected) {
            assert!(stats.contains(&format!(",{name},")), "{label} {name}: {stats}");
            assert!(paje.contains(&format!("\"{name}\"")), "{label} {name}: {paje}");
            let count = |name: &str| dumped.lines().filter(|line| line.contains(&format!("  {name}  mark"))).count();
            assert_eq!(count(names[records - 2]), records, "{dumped}");
        }
        assert!(names.iter().all(|name| info.contains(name)), "{info}");
        assert_eq!(run_of(&["dump", "--thread", "pool (#2)"]).lines().count(), 3);
        assert_eq!(run_of(&["dump", "--thread", "pool"]).lines().count(), 9);
    }
}

/// A rule that names a thread by the id in its record.
const BY_VALUE: &str = "trace small;
level L { event mark { n: u32 } event from { id: u32 } }
paje { container thread[tid: u64] \"{thread_name}\" = stream { event marked } }
rule from -> mark marked = \"x\" on thread[id];
";

#[test]
fn ambiguous_references_are_reported_with_the_place_of_their_rule() {
    let schema = tumit::compile_text("specs/small.tumit", BY_VALUE).0.unwrap().schema();
    // The hosts and process ids of the two processes that have a thread 8.
    for ((host, pid), advice) in [
        (("a", 3), "add the key `pid` to container `thread`, and write the value in the rule"),
        (("b", 2), "add the key `host` to container `thread`, and write the value in the rule"),
        (("a", 2), "no key distinguishes these processes; convert each launch or program separately"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.tmt");
        for (number, (host, pid, tid)) in (1u8..).zip([("a", 1, 1), ("a", 2, 8), (host, pid, 8)]) {
            let about = SyntheticProcess { host, ..SyntheticProcess::new(pid) };
            let mut file =
                SyntheticFile::with_tags(&about, &schema, |tags| append_tag(tags, tag::PROCESS_ID, &[number; 16]));
            file.thread(0, tid, "main");
            let mut records = SyntheticRecords::default();
            for date in [1000, 1010] {
                records.record(u16::from(number == 1), date, &8u32.to_le_bytes());
            }
            file.records(0, 0, &records);
            file.end();
            file.save(&path, &format!("{number}.tmt"));
        }
        let (status, _, error) = call(tumit().arg("convert").arg(&path).args(["-o", "-"]));
        let expected = "specs/small.tumit:4: `thread[id]` matches several processes (first occurrence: tid 8): 2 actions were omitted";
        assert!(status == Some(1) && error.contains(&format!("{expected}; {advice}")), "{advice}: {error}");
        assert_eq!(error.matches("thread[id]").count(), 1, "{error}");
    }
}

/// The live file of the process with id 1, with marks 6 to 8 of its thread.
fn live_of(id: u64, sequence: u64) -> SyntheticLiveFile {
    let mut live = SyntheticLiveFile::new(process_id(id), 4);
    let mut tags = Vec::new();
    append_tag(&mut tags, tag::PROCESS_ID, &process_id(id));
    live.entry(BlockKind::Process, u32::MAX, &tags);
    live.schema(&schema());
    live.thread(0, 2, "main");
    live.slot(0, &SyntheticSlot { sequence, records: marks(6..9), ..SyntheticSlot::default() });
    live
}

/// A run of a killed process with marks 0 to 5, and its live file in another folder.
fn killed(folder: &Path, has_end: bool) {
    let mut file = SyntheticFile::new(&SyntheticProcess::new(1), &schema());
    file.thread(0, 2, "main");
    file.records(0, 0, &marks(0..6));
    if has_end {
        file.end();
    }
    file.save(&folder.join("run.tmt"), "a.tmt");
    fs::create_dir(folder.join("lv")).unwrap();
    live_of(1, 1).save(&folder.join("lv"), "a.live");
}

#[test]
fn repair_does_not_turn_a_live_file_alone_into_a_run() {
    let folder = tempfile::tempdir().unwrap();
    killed(folder.path(), false);
    let live_folder = folder.path().join("lv");
    let live = live_folder.join("a.live");
    let before = fs::read(&live).unwrap();
    let (status, stdout, error) = run(&["repair"], &live_folder);
    assert_eq!((status, stdout.as_str()), (Some(2), ""), "{error}");
    for part in
        ["a.live: the process's file `a.tmt` is not in the same folder", "`tumit repair` of that run", "`--force`"]
    {
        assert!(error.contains(part), "{error}");
    }
    let (status, _, error) = run(&["repair", "--dry-run"], &live_folder);
    // Its first block is in the other file.
    assert!(status == Some(1) && error.contains("is not in the same folder"), "{error}");
    // A copy removes nothing.
    let copy = folder.path().join("copy.tmt");
    run(&["repair", "-o", copy.to_str().unwrap()], &live_folder);
    assert_eq!(run(&["dump"], &copy).1.lines().count(), 3);
    assert_eq!(fs::read(&live).unwrap(), before);
    let (_, stdout, error) = run(&["repair", "--force"], &live_folder);
    assert!(stdout.contains("3 records from its live file") && !live.exists(), "{stdout} {error}");
    assert_eq!(run(&["dump"], &live_folder).1.lines().count(), 3);
}

#[test]
fn repair_restores_an_empty_file_from_its_live_file() {
    let folder = tempfile::tempdir().unwrap();
    live_of(1, 0).save(folder.path(), "a.live");
    fs::write(folder.path().join("a.tmt"), b"").unwrap();
    let (_, stdout, error) = run(&["repair"], folder.path());
    assert!(stdout.contains("3 records from its live file"), "{stdout} {error}");
    assert!(!folder.path().join("a.live").exists());
}

#[test]
fn merge_joins_a_run_and_its_live_file() {
    let folder = tempfile::tempdir().unwrap();
    killed(folder.path(), false);
    let (path, live_folder) = (folder.path().join("run.tmt"), folder.path().join("lv"));
    assert_eq!(run(&["dump"], &path).1.lines().count(), 6);
    for (number, inputs) in [[&path, &live_folder], [&live_folder, &path]].iter().enumerate() {
        for sort in [false, true] {
            let joined = folder.path().join(format!("joined{number}{sort}.tmt"));
            let mut command = tumit();
            command.arg("merge").args(inputs.iter()).arg("-o").arg(&joined);
            let (_, stdout, error) = call(command.args(sort.then_some("--sort")));
            assert!(stdout.contains("1 processes, 9 records"), "{stdout} {error}");
            assert_eq!(run(&["dump"], &joined).1.lines().count(), 9);
        }
    }
    assert!(live_folder.join("a.live").exists());
    // Two files in one folder are read together: giving one of them again adds nothing.
    fs::copy(live_folder.join("a.live"), path.join("a.live")).unwrap();
    let joined = folder.path().join("joined.tmt");
    let (_, stdout, error) = call(tumit().arg("merge").args([&path, &live_folder]).arg("-o").arg(&joined));
    assert!(stdout.contains("1 processes, 9 records"), "{stdout} {error}");
    // A run of another launch: readers show both.
    let (second_run, joined_run) = (folder.path().join("other.tmt"), folder.path().join("both.tmt"));
    let mut file =
        SyntheticFile::with_tags(&SyntheticProcess::new(2), &schema(), |tags| append_tag(tags, tag::LAUNCH, b"other"));
    file.thread(0, 2, "main");
    file.records(0, 0, &marks(0..1));
    file.end();
    file.save(&second_run, "b.tmt");
    assert_eq!(call(tumit().arg("merge").args([&path, &second_run]).arg("-o").arg(&joined_run)).0, Some(0));
    assert_eq!(run(&["dump"], &joined_run).1.lines().count(), 10);
    assert_eq!(info(&joined_run)["losses"], Value::Array(Vec::new()));
}

#[test]
fn merge_refuses_the_live_file_of_a_complete_process() {
    let folder = tempfile::tempdir().unwrap();
    killed(folder.path(), true);
    let (path, live_folder) = (folder.path().join("run.tmt"), folder.path().join("lv"));
    let joined = folder.path().join("joined.tmt");
    let (status, _, error) = call(tumit().arg("merge").args([&path, &live_folder]).arg("-o").arg(&joined));
    assert!(status == Some(2) && error.contains("is already complete: leave the live file out"), "{error}");
    assert!(!joined.exists());
}

#[test]
fn info_shows_sizes_without_unused_space() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = SyntheticFile::new(&SyntheticProcess::new(1), &schema());
    file.save(folder.path(), "a.tmt");
    live_of(1, 0).save(folder.path(), "a.live");
    let first = |path: &Path| run(&["info"], path).1.lines().next().unwrap().to_owned();
    let (summary, all) = (first(folder.path()), info(folder.path()));
    assert!(summary.contains(" B in files and 30 B in live files, 10.0 bytes per record in memory"), "{summary}");
    assert!(all["bytes_per_record"].is_null() && all["memory_bytes_per_record"] == 10.0, "{all}");
    // If some of the records are in the file, the figure is the size of those.
    file.thread(0, 2, "main");
    file.records(0, 0, &marks(0..6));
    file.save(folder.path(), "a.tmt");
    live_of(1, 1).save(folder.path(), "a.live");
    let block = (64 + 6 * 10_usize).next_multiple_of(8);
    let summary = first(folder.path());
    let expected = format!("and 30 B in live files, {:.1} bytes per record (10.0 in memory)", block as f64 / 6.0);
    assert!(summary.contains(&expected), "{summary}");
}
