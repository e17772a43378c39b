//! The latency of async tasks in `tumit stats`, of a real program and of Pajé text.

#![allow(clippy::unwrap_used, reason = "a failure is the test's result")]

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use tests::programs::{requests, succeed, tumit};

fn rows(trace: &Path, options: &[&str]) -> Vec<Value> {
    let text = succeed(tumit().args(["stats", "--json"]).args(options).arg(trace));
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.filter(|row| row["kind"] == "task").collect()
}

/// What a column has, in whole nanoseconds.
fn nanos(row: &Value, column: &str) -> i64 {
    (row[column].as_f64().unwrap() * 1e9).round() as i64
}

#[test]
fn requests_take_from_their_first_poll_to_their_last() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run.tmt");
    succeed(requests().env("TUMIT_TRACE", &run));
    // First begin, last end and time in polls of each task, from the records themselves.
    let mut tasks: BTreeMap<u64, (i64, i64, i64)> = BTreeMap::new();
    for line in succeed(tumit().args(["dump", "--json", "--event", "request"]).arg(&run)).lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let (date, task) = (record["time_ns"].as_i64().unwrap(), record["fields"]["task"].as_u64().unwrap());
        let of = tasks.entry(task).or_insert((date, date, 0));
        of.1 = date;
        of.2 += if record["event"] == "request.begin" { -date } else { date };
    }
    let mut latencies: Vec<i64> = tasks.values().map(|task| task.1 - task.0).collect();
    latencies.sort_unstable();
    assert_eq!(latencies.len(), 12);

    let found = rows(&run, &[]);
    assert_eq!(found.len(), 1, "{found:?}");
    let row = &found[0];
    assert_eq!((&row["value"], &row["count"]), (&"request".into(), &12.into()));
    assert_eq!([nanos(row, "duration_min"), nanos(row, "duration_max")], [latencies[0], latencies[11]]);
    assert_eq!(nanos(row, "duration_median"), latencies[5]);
    assert_eq!(nanos(row, "time"), tasks.values().map(|task| task.2).sum::<i64>());
    // Each task is in the row of the thread of its first poll.
    let by_thread = rows(&run, &["--by", "container"]);
    assert_eq!(by_thread.iter().map(|row| row["count"].as_u64().unwrap()).sum::<u64>(), 12, "{by_thread:?}");
    let text = succeed(tumit().arg("stats").arg(&run));
    assert!(text.contains("Task") && text.contains("Active"), "{text}");
    let csv = succeed(tumit().args(["stats", "--csv"]).arg(&run));
    assert_eq!(csv.lines().filter(|line| line.starts_with("task,")).count(), 1, "{csv}");
}

/// Two threads; `job` is a task of three parts, then one of a single part; messages are no continuations.
const TEXT: &str = "\
%EventDef PajeDefineContainerType 0\n% Alias string\n% Type string\n% Name string\n%EndEventDef
%EventDef PajeDefineStateType 1\n% Alias string\n% Type string\n% Name string\n%EndEventDef
%EventDef PajeDefineLinkType 2\n% Alias string\n% Type string\n% StartContainerType string\n% EndContainerType string\n% Name string\n%EndEventDef
%EventDef PajeCreateContainer 3\n% Time date\n% Alias string\n% Type string\n% Container string\n% Name string\n%EndEventDef
%EventDef PajePushState 4\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef
%EventDef PajePopState 5\n% Time date\n% Type string\n% Container string\n%EndEventDef
%EventDef PajeStartLink 6\n% Time date\n% Type string\n% Container string\n% StartContainer string\n% Value string\n% Key string\n%EndEventDef
%EventDef PajeEndLink 7\n% Time date\n% Type string\n% Container string\n% EndContainer string\n% Value string\n% Key string\n%EndEventDef
0 P 0 Process
0 T P Thread
1 S T State
2 C P T T Continuation
2 M P T T Message
3 0 p P 0 p
3 0 a T p a
3 0 b T p b
4 1 S a job
6 1.5 M p a m 1
5 2 S a
6 2 C p a c 1
7 3 C p b c 1
4 3 S b job
7 3.5 M p b m 1
5 4 S b
6 4 C p b c 2
7 7 C p a c 2
4 7 S a job
5 8 S a
4 9 S b job
5 9.5 S b
4 9.6 S b other
5 9.9 S b
";

#[test]
fn continuations_of_paje_text_make_tasks() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("tasks.paje");
    std::fs::write(&trace, TEXT).unwrap();
    for options in [&[][..], &["--index", "none"], &["--interval", "7.5..20"]] {
        let found = rows(&trace, options);
        assert_eq!(found.len(), 1, "{options:?} {found:?}");
        let row = &found[0];
        assert_eq!((&row["value"], &row["count"]), (&"job".into(), &2.into()), "{options:?}");
        assert_eq!([nanos(row, "duration_min"), nanos(row, "duration_max")], [500_000_000, 7_000_000_000]);
        assert_eq!(nanos(row, "time"), 3_500_000_000);
    }
    let late = rows(&trace, &["--interval", "8.5..20"]);
    assert_eq!((late.len(), &late[0]["count"]), (1, &1.into()), "{late:?}");
    // Without the links there is no task.
    assert!(rows(&trace, &["--filter", "hide type Continuation"]).is_empty());
}
