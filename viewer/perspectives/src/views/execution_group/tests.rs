use proptest::prelude::*;

use crate::chart::TableValue;
use crate::view::{TimeMode, ViewRequest};
use crate::views::test_traces::{TestTrace, chart, message, numbers, request, texts, traces};

fn example() -> TestTrace {
    TestTrace {
        units: 2,
        end: 100,
        has_sizes: true,
        states: vec![(0, 0, 50, "work"), (0, 50, 60, "send"), (1, 0, 100, "wait")],
        messages: vec![message(0, 1, 10, 50, 100), message(0, 1, 20, 40, 300), message(1, 0, 90, 100, 8)],
        ..TestTrace::default()
    }
}

#[test]
fn summary_has_times_messages_and_queues() {
    let execution = example().execution();
    let summary = chart(&execution, "statistical-summary", &request(TimeMode::Range, 0, 100, &[])).table;
    let column = |heading: &str| numbers(&summary, heading);
    let some = |list: [i32; 3]| list.map(|number| Some(f64::from(number))).to_vec();
    assert_eq!(texts(&summary, "unit"), ["all", "rank 0", "rank 1"]);
    assert_eq!(column("busy, s"), some([50, 50, 0]));
    assert_eq!(column("busy, %"), some([25, 50, 0]));
    assert_eq!(column("overhead, s"), some([10, 10, 0]));
    assert_eq!(column("idle, s"), some([140, 40, 100]));
    assert_eq!(column("messages sent"), some([3, 2, 1]));
    assert_eq!(column("bytes sent"), some([408, 400, 8]));
    assert_eq!(column("messages received"), some([3, 1, 2]));
    assert_eq!(column("bytes received"), some([408, 8, 400]));
    assert_eq!(column("mean length, bytes"), some([136, 200, 8]));
    assert_eq!(column("smallest length, bytes"), some([8, 100, 8]));
    assert_eq!(column("largest length, bytes"), some([300, 300, 8]));
    assert_eq!(column("hops"), some([3, 2, 1]));
    assert_eq!(column("longest queue, messages"), some([2, 1, 2]));
    assert_eq!(column("longest queue, bytes"), some([400, 8, 400]));
    assert_eq!(column("mean latency, s"), [Some(70.0 / 3.0), Some(10.0), Some(30.0)]);
    // Until 40 ns, one message has been received.
    let part = chart(&execution, "statistical-summary", &request(TimeMode::At, 40, 100, &[])).table;
    assert_eq!(numbers(&part, "messages received"), some([1, 0, 1]));
    assert_eq!(numbers(&part, "busy, s"), some([40, 40, 0]));
}

#[test]
fn summary_works_with_states_or_links_only() {
    let mut trace = example();
    trace.messages.clear();
    let only_states = chart(&trace.execution(), "statistical-summary", &request(TimeMode::Range, 0, 100, &[]));
    assert_eq!((only_states.table.columns.len(), only_states.notes.len()), (7, 1));
    let mut trace = example();
    trace.states.clear();
    let only_links = chart(&trace.execution(), "statistical-summary", &request(TimeMode::Range, 0, 100, &[]));
    assert_eq!((only_links.table.columns.len(), only_links.notes.len()), (14, 1));
}

#[test]
fn records_around_a_time_are_in_order() {
    let execution = example().execution();
    let records = |time: i64, options: &[(&str, &str)]| {
        let table = chart(&execution, "trace-records", &request(TimeMode::At, time, 100, options)).table;
        let columns =
            [texts(&table, "present"), texts(&table, "container"), texts(&table, "record"), texts(&table, "value")];
        let rows = (0..table.rows.len()).map(|row| columns.each_ref().map(|column| column[row].as_str()).join("|"));
        (rows.collect::<Vec<String>>(), numbers(&table, "time, s"))
    };
    let (rows, times) = records(45, &[]);
    assert_eq!(
        rows,
        [
            "|rank 0|begin of Activity|work",
            "|rank 1|begin of Activity|wait",
            "|rank 0|send of Message|data",
            "|rank 0|send of Message|data",
            "→|rank 1|receive of Message|data",
            "|rank 0|end of Activity|work",
            "|rank 1|receive of Message|data",
            "|rank 0|begin of Activity|send",
            "|rank 0|end of Activity|send",
            "|rank 1|send of Message|data",
            "|rank 1|end of Activity|wait",
            "|rank 0|receive of Message|data",
        ]
    );
    assert_eq!(times, [0, 0, 10, 20, 40, 50, 50, 50, 60, 90, 100, 100].map(|time| Some(f64::from(time))));
    let (rows, _) = records(45, &[("unit", "rank 1")]);
    assert_eq!((rows.len(), rows[1].as_str()), (5, "→|rank 1|receive of Message|data"));
    for (time, marked) in [(-5, 0), (0, 2), (100, 2), (500, 2)] {
        let (rows, _) = records(time, &[]);
        assert_eq!(rows.iter().filter(|row| row.starts_with('→')).count(), marked, "at {time}: {rows:?}");
    }
}

/// A request with other ends of the time range.
fn moving(time: i64) -> ViewRequest {
    let mut request = request(TimeMode::Moving, time, 100, &[]);
    request.options.width = Some(15);
    request
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn records_are_the_nearest_of_all(trace in traces(5), time in -5..110_i64) {
        let execution = trace.execution();
        let table = chart(&execution, "trace-records", &request(TimeMode::At, time, 100, &[])).table;
        let mut all: Vec<i64> = trace.states.iter().flat_map(|state| [state.1, state.2]).collect();
        all.extend(trace.messages.iter().flat_map(|message| [message.send_time, message.receive_time]));
        all.sort_unstable();
        let until = all.partition_point(|record| *record <= time);
        let expected = &all[until.saturating_sub(16)..(until + 16).min(all.len())];
        let found: Vec<f64> = numbers(&table, "time, s").into_iter().flatten().collect();
        prop_assert_eq!(found, expected.iter().map(|record| *record as f64).collect::<Vec<f64>>());
    }

    #[test]
    fn summary_of_all_is_the_sum_of_units(trace in traces(6), time in -5..110_i64) {
        let execution = trace.execution();
        let end = execution.extent().to.0;
        for request in [request(TimeMode::Range, 0, end, &[]), request(TimeMode::At, time, 100, &[]), moving(time)] {
            if execution.activity().is_err() && execution.messages().is_err() {
                continue;
            }
            let table = chart(&execution, "statistical-summary", &request).table;
            let headings = ["busy, s", "overhead, s", "idle, s", "messages sent", "messages received", "hops"];
            for heading in headings {
                if !table.columns.iter().any(|column| column.heading == heading) {
                    continue;
                }
                let values: Vec<f64> = numbers(&table, heading).into_iter().flatten().collect();
                prop_assert_eq!(values[0], values[1..].iter().sum::<f64>(), "{}", heading);
            }
            if request.mode == TimeMode::Range && execution.messages().is_ok() {
                let all = trace.between_units().count() as f64;
                prop_assert_eq!(numbers(&table, "messages sent")[0], Some(all));
                prop_assert_eq!(numbers(&table, "messages received")[0], Some(all));
            }
            prop_assert!(table.rows.iter().all(|row| !matches!(row[0], TableValue::Absent)));
        }
    }
}
