//! Checks the records of `#[traced]`: one span per call, and one per poll of an async function.
//! Each case runs in its own process: this test binary, started again for its test `child`.

#![expect(clippy::unwrap_used, reason = "programs and readers of tests, outside test functions")]

mod traced_attribute {
    pub(crate) mod cases;
}

use std::process::Command;

use tumit_test_support::decoded_run::{DecodedFile, DecodedRecord, read_run};

fn run(case: &str) -> DecodedFile {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run.tmt");
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env_remove("TUMIT_LEVELS").env("TUMIT_TRACE", &run).env("TUMIT_CASE", case);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{case}: {}", String::from_utf8_lossy(&output.stderr));
    read_run(&run).files.remove(0)
}

#[test]
#[ignore = "the other tests run it, in a process of its own"]
fn child() {
    if let Ok(case) = std::env::var("TUMIT_CASE") {
        traced_attribute::cases::run(&case);
    }
}

/// The records of a case as texts.
fn texts(file: &DecodedFile) -> Vec<String> {
    file.records().map(DecodedRecord::text).collect()
}

fn assert_records(case: &str, expected: &[&str]) -> DecodedFile {
    let file = run(case);
    assert_eq!(texts(&file), expected, "{case}");
    file
}

fn step(n: u32) -> [String; 2] {
    [format!("step.begin n={n}"), "step.end".to_owned()]
}

#[test]
fn functions_of_all_kinds_are_spans() {
    let file = run("functions");
    let mut expected: Vec<String> = [1, 1, 30, 1_000, 3, 6, 14, 3, 200].into_iter().flat_map(step).collect();
    for _ in 0..2 {
        expected.extend(["bare.begin", "bare.end"].map(str::to_owned));
    }
    expected.extend(["fetch.begin task=77 url=by hand", "fetch.end task=77"].map(str::to_owned));
    expected.extend(["fetch.begin task=1 url=a task of its own", "fetch.end task=1"].map(str::to_owned));
    assert_eq!(texts(&file), expected);
}

#[test]
fn a_span_ends_when_its_function_unwinds() {
    assert_records("unwinding", &["step.begin n=7", "step.end"]);
}

#[test]
fn each_poll_is_a_span() {
    assert_records(
        "async functions",
        &[
            "fetch.begin task=1 url=a",
            "tick n=1",
            "fetch.end task=1",
            "fetch.begin task=1 url=a",
            "tick n=0",
            "fetch.end task=1",
            "step.begin n=1",
            "tick n=1",
            "step.end",
            "step.begin n=1",
            "tick n=0",
            "step.end",
            "step.begin n=1",
            "step.end",
            "step.begin n=0",
            "step.end",
            "bare.begin",
            "bare.end",
            "fetch.begin task=2 url=p",
            "tick n=1",
            "fetch.end task=2",
            "fetch.begin task=2 url=p",
            "tick n=0",
            "fetch.end task=2",
            "step.begin n=4",
            "tick n=0",
            "step.end",
            "bare.begin",
            "bare.end",
            "step.begin n=7",
            "tick n=0",
            "step.end",
            "bare.begin",
            "tick n=0",
            "bare.end",
        ],
    );
}

#[test]
fn polls_on_several_threads_share_their_task() {
    let file = run("moved");
    assert_eq!(file.streams.len(), 4, "a thread for each poll");
    let mut ticks: Vec<u64> = Vec::new();
    for stream in file.streams.values() {
        let texts: Vec<String> = stream.records.iter().map(DecodedRecord::text).collect();
        assert_eq!(texts[0], "fetch.begin task=1 url=far");
        assert_eq!(texts[2..], ["fetch.end task=1"]);
        ticks.push(stream.records[1].get("n").number());
    }
    ticks.sort_unstable();
    assert_eq!(ticks, [0, 1, 2, 3]);
}

#[test]
fn a_future_may_be_dropped_in_the_middle() {
    let part = |task: u64, url: &str, n: u64| {
        [format!("fetch.begin task={task} url={url}"), format!("tick n={n}"), format!("fetch.end task={task}")]
    };
    let mut expected = Vec::new();
    for n in [5, 4] {
        expected.extend(part(1, "first", n));
        expected.extend(part(2, "second", n));
    }
    expected.extend(part(2, "second", 3));
    expected.push("tick n=99".into());
    assert_eq!(texts(&run("dropped")), expected);
}

#[test]
fn guards_of_async_spans_record_their_task_twice() {
    let file = assert_records(
        "guards",
        &[
            "fetch.begin task=1 url=a",
            "ask.begin task=2 peer=8",
            "ask.end task=2",
            "fetch.end task=1",
            "fetch.begin task=1 url=a",
            "fetch.end task=1",
            "step.begin n=1",
            "step.end",
        ],
    );
    let sites: Vec<_> =
        file.records().filter(|record| record.name.starts_with("ask")).map(|r| r.site.clone()).collect();
    assert!(sites[0].as_ref().is_some_and(|(line, path)| *line > 1 && path.ends_with("cases.rs")), "{sites:?}");
    assert_eq!(sites[0], sites[1]);
}

#[test]
fn returned_futures_are_spans_when_polled() {
    let file = assert_records(
        "futures",
        &[
            "tick n=50",
            "fetch.begin task=1 url=abc",
            "tick n=1",
            "fetch.end task=1",
            "fetch.begin task=1 url=abc",
            "tick n=0",
            "fetch.end task=1",
            "ask.begin task=2 peer=4",
            "tick n=0",
            "ask.end task=2",
            "step.begin n=1",
            "tick n=1",
            "step.end",
            "step.begin n=1",
            "tick n=0",
            "step.end",
        ],
    );
    let site = file.records().find(|record| record.name == "ask.begin").and_then(|record| record.site.clone()).unwrap();
    let source = include_str!("traced_attribute/cases.rs");
    let line = source.lines().position(|line| line.contains("net::ask(peer)")).unwrap() as u32 + 1;
    assert_eq!((site.0, site.1.ends_with("cases.rs")), (line, true), "the place of the attribute");
}

#[test]
fn a_level_may_be_switched_between_polls() {
    assert_records(
        "switched",
        &[
            "tick n=2",
            "tick n=1",
            "hidden.begin task=1 n=2 name=late",
            "tick n=2",
            "hidden.end task=1",
            "tick n=1",
            "hidden.begin task=1 n=2 name=late",
            "tick n=0",
            "hidden.end task=1",
        ],
    );
}

#[test]
fn arguments_are_kept_as_they_would_be_recorded() {
    let file = run("kept");
    let begins: Vec<&DecodedRecord> = file.records().filter(|record| record.name == "rich.begin").collect();
    assert_eq!(begins.len(), 3, "two polls, and the plain guard");
    let text = begins[0].text();
    assert!(text.contains("name=a name") && text.contains("shades=[red, dark_blue]"), "{text}");
    assert!(begins.iter().all(|record| record.text() == text));
}

#[test]
fn a_level_left_out_records_nothing() {
    assert_records("removed", &["tick n=1", "tick n=0"]);
}
