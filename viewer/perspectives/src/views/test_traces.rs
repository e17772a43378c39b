//! Small traces for the tests of views.

use std::fmt::Write as _;
use std::sync::Arc;

use proptest::prelude::*;
use tumit_viewer::query::{GlobalNanos, TimeRange};
use tumit_viewer::store::TraceStore;

use crate::chart::{ChartTable, TableValue, ViewChart};
use crate::execution::{Execution, ExecutionSettings};
use crate::gallery;
use crate::options::ParsedOptions;
use crate::view::{TimeMode, ViewRequest};

/// A trace of units `rank 0`, `rank 1` and so on, which exist from 0 to `end` ns.
#[derive(Clone, Debug, Default)]
pub(crate) struct TestTrace {
    pub(crate) units: u32,
    pub(crate) end: i64,
    pub(crate) has_sizes: bool,
    /// The unit, the time range, and the value: `work`, `send` or `wait`.
    pub(crate) states: Vec<(u32, i64, i64, &'static str)>,
    pub(crate) messages: Vec<TestMessage>,
    /// Messages that are never received, and whether their receivers are known.
    pub(crate) unreceived_messages: Vec<(TestMessage, bool)>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TestMessage {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) send_time: i64,
    pub(crate) receive_time: i64,
    pub(crate) bytes: i64,
}

impl TestMessage {
    pub(crate) fn is_pending(&self, time: i64) -> bool {
        self.send_time <= time && time < self.receive_time
    }
}

pub(crate) fn message(from: u32, to: u32, send_time: i64, receive_time: i64, bytes: i64) -> TestMessage {
    TestMessage { from, to, send_time, receive_time, bytes }
}

pub(crate) fn range(from: i64, to: i64) -> TimeRange {
    TimeRange { from: GlobalNanos(from), to: GlobalNanos(to) }
}

impl TestTrace {
    fn text(&self) -> String {
        const HEADER: &str = include_str!("../../../tests/header.paje");
        const SIZED_LINK: &str = "%EventDef PajeStartLink 20\n% Time date\n% Container string\n% Type string\n\
            % StartContainer string\n% Value string\n% Key string\n% Bytes int\n%EndEventDef\n";
        let addressed_link = |id, size| {
            SIZED_LINK
                .replace(" 20\n", id)
                .replace("% Bytes int\n", size)
                .replace("%End", "% SentToContainer string\n%End")
        };
        let addressed = addressed_link(" 21\n", "") + &addressed_link(" 22\n", "% Bytes int\n");
        let mut text = format!("{HEADER}{SIZED_LINK}{addressed}0 T 0 Rank\n2 S T Activity\n4 L 0 T T Message\n");
        for (alias, ty, name) in [("w", "S", "work"), ("s", "S", "send"), ("i", "S", "wait"), ("d", "L", "data")] {
            let _ = writeln!(text, "5 {alias} {ty} {name} \"0 1 0\"");
        }
        let mut lines: Vec<(i64, u8, String)> = Vec::new();
        let seconds = |nanos: i64| format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000);
        for unit in 0..self.units {
            lines.push((0, 0, format!("6 {} r{unit} 0 T \"rank {unit}\"", seconds(0))));
            lines.push((self.end, 9, format!("7 {} T r{unit}", seconds(self.end))));
        }
        for (unit, from, to, value) in &self.states {
            let alias = if *value == "wait" { "i" } else { &value[..1] };
            lines.push((*from, 3, format!("12 {} r{unit} S {alias}", seconds(*from))));
            lines.push((*to, 2, format!("13 {} r{unit} S", seconds(*to))));
        }
        for (key, TestMessage { from, to, send_time, receive_time, bytes }) in self.messages.iter().enumerate() {
            let (event, size) = if self.has_sizes { (20, format!(" {bytes}")) } else { (15, String::new()) };
            lines.push((*send_time, 4, format!("{event} {} 0 L r{from} d k{key}{size}", seconds(*send_time))));
            lines.push((*receive_time, 5, format!("16 {} 0 L r{to} d k{key}", seconds(*receive_time))));
        }
        for (key, (TestMessage { from, to, send_time, bytes, .. }, is_addressed)) in
            self.unreceived_messages.iter().enumerate()
        {
            let size = if self.has_sizes { format!(" {bytes}") } else { String::new() };
            let receiver = if *is_addressed { format!(" r{to}") } else { String::new() };
            let event = match (self.has_sizes, is_addressed) {
                (false, false) => 15,
                (true, false) => 20,
                (false, true) => 21,
                (true, true) => 22,
            };
            lines.push((
                *send_time,
                4,
                format!("{event} {} 0 L r{from} d u{key}{size}{receiver}", seconds(*send_time)),
            ));
        }
        lines.sort_by_key(|line| (line.0, line.1));
        lines.iter().for_each(|line| _ = writeln!(text, "{}", line.2));
        text
    }

    /// The execution. The units are the ranks.
    pub(crate) fn execution(&self) -> Execution {
        self.execution_with(ExecutionSettings::default())
    }

    /// The execution with other settings than the level.
    pub(crate) fn execution_with(&self, mut settings: ExecutionSettings) -> Execution {
        let store = TraceStore::from_paje("test", self.text().as_bytes()).expect("a valid trace");
        settings.units.level = Some("Rank".to_owned());
        Execution::new(Arc::new(store), settings).expect("a trace with units")
    }

    /// The messages between different units.
    pub(crate) fn between_units(&self) -> impl Iterator<Item = &TestMessage> {
        self.messages.iter().filter(|message| message.from != message.to)
    }
}

/// As [`traces`], with messages that are never received.
pub(crate) fn traces_with_unreceived(units: u32) -> impl Strategy<Value = TestTrace> {
    let unreceived = prop::collection::vec((0..units, 0..units, 0..=100_i64, 0..1000_i64, any::<bool>()), 0..20);
    (traces(units), unreceived).prop_map(|(mut trace, unreceived)| {
        let units = trace.units;
        let message = |(from, to, sent, bytes, is_addressed): (u32, u32, i64, i64, bool)| {
            (message(from % units, to % units, sent, i64::MAX, bytes), is_addressed)
        };
        trace.unreceived_messages = unreceived.into_iter().map(message).collect();
        trace
    })
}

/// A request of the whole time range from 0 to `end`.
pub(crate) fn request(mode: TimeMode, time: i64, end: i64, options: &[(&str, &str)]) -> ViewRequest {
    const ALL: [&str; 10] =
        ["order", "measure", "topology", "unit", "direction", "width", "count", "layout", "quantity", "category"];
    let options: Vec<(String, String)> =
        options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let options = ParsedOptions::parse("test", &ALL, &options).expect("valid options").view;
    ViewRequest { mode, range: range(0, end), time: GlobalNanos(time), columns: 10, options, needs_table: true }
}

pub(crate) fn chart(execution: &Execution, name: &str, request: &ViewRequest) -> ViewChart {
    let view = gallery::view(name).expect("a view");
    assert!(view.info().modes.contains(&request.mode), "{name} has the time mode");
    let chart = view.chart(execution, request).unwrap_or_else(|error| panic!("{name}: {error}"));
    let columns = chart.table.columns.len();
    assert!(chart.table.rows.iter().all(|row| row.len() == columns), "{name}: a table has a cell per column");
    assert!(!chart.subtitle.is_empty() && !chart.title.is_empty() && !chart.panels.is_empty());
    chart
}

/// A column of a table as numbers. Other cells are `None`.
pub(crate) fn numbers(table: &ChartTable, heading: &str) -> Vec<Option<f64>> {
    let index = table.columns.iter().position(|column| column.heading == heading).expect("a column of the table");
    let number = |value: &TableValue| if let TableValue::Number(number) = value { Some(*number) } else { None };
    table.rows.iter().map(|row| number(&row[index])).collect()
}

/// A column of a table as texts.
pub(crate) fn texts(table: &ChartTable, heading: &str) -> Vec<String> {
    let index = table.columns.iter().position(|column| column.heading == heading).expect("a column of the table");
    let text = |value: &TableValue| if let TableValue::Text(text) = value { text.clone() } else { String::new() };
    table.rows.iter().map(|row| text(&row[index])).collect()
}

/// Random traces with at most `units` units. Some messages are received before they are sent, at
/// the end of the trace, or by the sender.
pub(crate) fn traces(units: u32) -> impl Strategy<Value = TestTrace> {
    let messages = prop::collection::vec((0..units, 0..units, 0..=100_i64, -10..60_i64, 0..1000_i64), 0..60);
    let states = prop::collection::vec((0..units, 0..100_i64, 1..30_i64, 0..3_usize), 0..20);
    (1..=units, messages, states, any::<bool>()).prop_map(|(units, messages, states, has_sizes)| {
        let message = |(from, to, sent, length, bytes): (u32, u32, i64, i64, i64)| {
            message(from % units, to % units, sent, (sent + length).clamp(0, 100), bytes)
        };
        let mut trace = TestTrace { units, end: 100, has_sizes, ..TestTrace::default() };
        trace.messages = messages.into_iter().map(message).collect();
        for (unit, from, length, value) in states {
            let state = (unit % units, from, (from + length).min(100), ["work", "send", "wait"][value]);
            let overlaps =
                |earlier: &(u32, i64, i64, &str)| earlier.0 == state.0 && earlier.1 < state.2 && earlier.2 > state.1;
            if !trace.states.iter().any(overlaps) {
                trace.states.push(state);
            }
        }
        trace
    })
}
