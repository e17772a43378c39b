//! A service on `axum` and `tokio` that the package `tumit-tracing` records.

use std::collections::HashMap;

use tests::programs::{succeed, tokio_service, tumit};

use crate::record_folder::RecordFolder;

/// The states of tasks, from `tumit stats --by container`.
struct TaskStates {
    /// The number of states, their sum and the longest one in seconds, by source line and value.
    states: HashMap<(String, String), (u64, f64, f64)>,
}

impl TaskStates {
    fn read(csv: &str) -> Self {
        let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let head = lines.next().unwrap();
        let column = |name: &str| head.iter().position(|title| *title == name).unwrap();
        let columns = ["count", "time", "duration_max"].map(column);
        let (container, value) = (column("container"), column("value"));
        let mut states = HashMap::new();
        for line in lines.filter(|line| line[..2] == ["state", "Task"]) {
            let place = line[container].split('/').find(|part| part.contains(".rs:")).unwrap();
            let entry = states.entry((place.to_owned(), line[value].to_owned())).or_insert((0, 0.0, 0.0_f64));
            let [count, time, longest] = columns.map(|column| line[column].parse::<f64>().unwrap());
            *entry = (entry.0 + count as u64, entry.1 + time, entry.2.max(longest));
        }
        Self { states }
    }

    fn get(&self, place: &str, value: &str) -> (u64, f64, f64) {
        *self.states.get(&(place.to_owned(), value.to_owned())).unwrap_or(&(0, 0.0, 0.0))
    }
}

/// The line of the example that contains a text, as the name of a place.
fn place(text: &str) -> String {
    let source = include_str!("../../../examples/tokio-service/src/main.rs");
    let line = source.lines().position(|line| line.contains(text)).unwrap();
    format!("main.rs:{}", line + 1)
}

#[test]
fn tasks_of_a_service_have_polls_waits_and_wakeups() {
    let folder = RecordFolder::new();
    let mut service = tokio_service();
    service.env("TUMIT_TRACE", folder.file("run.tmt")).env_remove("TUMIT_TRACING").env_remove("TUMIT_LEVELS");
    assert_eq!(succeed(&mut service), "20 requests, 18 accepted, 18 in the book\n");
    let info = succeed(tumit().arg("info").arg(folder.file("run.tmt")));
    assert!(info.contains("Nothing is dropped, missing or damaged."), "{info}");

    let stats = |options: &[&str]| succeed(tumit().arg("stats").arg(folder.file("run.tmt")).arg("--csv").args(options));
    let count = |event: &str| folder.event_count("run.tmt", event);
    assert_eq!(count("task_spawn"), count("task_end"));
    assert_eq!((count("poll_begin"), count("task_spawn") > 44), (count("poll_end"), true));
    let tasks = TaskStates::read(&stats(&["--by", "container"]));
    let totals = stats(&[]);
    // Each wake-up that schedules a task has an arrow to the next poll, except at the end.
    let dump = succeed(tumit().arg("dump").arg(folder.file("run.tmt")));
    let wakes = dump.lines().filter(|line| line.contains(" wake ") && line.contains("is_first=true")).count();
    let arrows = totals.lines().find(|line| line.starts_with("link,Wake-up,")).unwrap();
    let arrows: usize = arrows.split(',').nth(5).unwrap().parse().unwrap();
    assert!(arrows > 60 && wakes - arrows < 5, "{arrows} arrows, {wakes} wake-ups");

    // Nothing wakes this task for the time of 18 orders of 4 ms.
    let lost = place("spawn(wait_without_waker())");
    let (_, _, longest) = tasks.get(&lost, "Ended or without waker");
    assert!(longest > 0.06 && tasks.get(&lost, "Idle").0 == 0, "{longest}");
    assert_eq!(tasks.get(&lost, "Polled").0, 2, "a poll, and the drop of the future");
    // A poll of the book is as long as an order or more.
    let (polls, busy, longest) = tasks.get(&place("spawn(write_book("), "Polled");
    assert!(polls >= 2 && busy >= 0.072 && longest >= 0.004, "{polls} {busy} {longest}");
    // Each client waits for five answers.
    let (waits, idle, _) = tasks.get(&place("clients.spawn(send_requests("), "Idle");
    assert!(waits >= 20 && idle > 0.06, "{waits} {idle}");
    assert_eq!(tasks.get(&place("= spawn_blocking("), "Polled").0, 36, "18 prices, each with its drop");
    assert!(tasks.get(&place("spawn(server.into_future())"), "Scheduled").0 >= 1);
    // Requests wait for the stock and for the storehouse.
    for resource in ["Mutex examples/tokio-service/src/main.rs:", "Sleep examples/tokio-service/src/main.rs:"] {
        assert!(dump.contains(resource), "{resource}");
    }
    for row in ["task,Span,,,order,20,", "event,Event,,,ERROR,2,", "event,Event,,,INFO,18,"] {
        assert!(totals.lines().any(|line| line.starts_with(row)), "{row} is not in {totals}");
    }
}
