//! The latency of async tasks in `tumit stats`, of a real program and of Pajé text.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use tests::programs::{requests, succeed, tumit};

fn rows(trace: &Path, options: &[&str]) -> Vec<Value> {
    let text = succeed(tumit().args(["stats", "--json"]).args(options).arg(trace));
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.filter(|row| row["kind"] == "task").collect()
}

/// The value of a column, in whole nanoseconds.
fn nanos(row: &Value, column: &str) -> i64 {
    (row[column].as_f64().unwrap() * 1e9).round() as i64
}

#[test]
fn a_request_lasts_from_its_first_poll_to_its_last() {
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

    let task_rows = rows(&run, &[]);
    assert_eq!(task_rows.len(), 1, "{task_rows:?}");
    let row = &task_rows[0];
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

/// Two threads; `job` is a task of three parts, then one of a single part; messages are no
/// continuations.
const TEXT: &str = include_str!("continuations.paje");

#[test]
fn continued_states_in_paje_text_form_tasks() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("tasks.paje");
    std::fs::write(&trace, TEXT).unwrap();
    for options in [&[][..], &["--index", "none"], &["--interval", "7.5..20"]] {
        let task_rows = rows(&trace, options);
        assert_eq!(task_rows.len(), 1, "{options:?} {task_rows:?}");
        let row = &task_rows[0];
        assert_eq!((&row["value"], &row["count"]), (&"job".into(), &2.into()), "{options:?}");
        assert_eq!([nanos(row, "duration_min"), nanos(row, "duration_max")], [500_000_000, 7_000_000_000]);
        assert_eq!(nanos(row, "time"), 3_500_000_000);
    }
    let late = rows(&trace, &["--interval", "8.5..20"]);
    assert_eq!((late.len(), &late[0]["count"]), (1, &1.into()), "{late:?}");
    // Without the links there is no task.
    assert!(rows(&trace, &["--filter", "hide type Continuation"]).is_empty());
}
