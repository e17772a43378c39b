//! [`StatisticalSummaryView`] (G25): utilization and communication of each unit, as a table.

use super::peer_statistics::PeerStatistics;
use super::unit_statistics::{MessageStatistics, UnitStatistics};
use crate::chart::{AxisUnit, ChartPanel, ChartTable, TableValue, TitledPanel, ViewChart};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::view::{PerspectiveView, TimeMode, ViewGroup, ViewInfo, ViewRequest};
use crate::views::captions;
use crate::views::measured_messages::{MeasuredMessages, message_range, number, signed_number};

/// Maximum number of rows of the panel, because an image has room for few. The table of the view
/// has all rows.
const MAX_ROWS: usize = 500;

/// The columns of utilization.
const ACTIVITY: [(&str, AxisUnit); 6] = [
    ("busy, s", AxisUnit::Nanos),
    ("busy, %", AxisUnit::Percent),
    ("overhead, s", AxisUnit::Nanos),
    ("overhead, %", AxisUnit::Percent),
    ("idle, s", AxisUnit::Nanos),
    ("idle, %", AxisUnit::Percent),
];

const COMMUNICATION: [(&str, AxisUnit); 13] = [
    ("messages sent", AxisUnit::Count),
    ("bytes sent", AxisUnit::Bytes),
    ("messages received", AxisUnit::Count),
    ("bytes received", AxisUnit::Bytes),
    ("mean length, bytes", AxisUnit::Bytes),
    ("smallest length, bytes", AxisUnit::Bytes),
    ("largest length, bytes", AxisUnit::Bytes),
    ("hops", AxisUnit::Count),
    ("mean hops", AxisUnit::Count),
    ("maximum hops", AxisUnit::Count),
    ("longest queue, messages", AxisUnit::Count),
    ("longest queue, bytes", AxisUnit::Bytes),
    ("mean latency, s", AxisUnit::Nanos),
];

/// Times of the categories, numbers and sizes of messages, distances, queues and latencies.
pub(crate) struct StatisticalSummaryView;

impl PerspectiveView for StatisticalSummaryView {
    fn info(&self) -> ViewInfo<'_> {
        ViewInfo {
            name: "statistical-summary",
            number: Some(25),
            title: "Statistical summary",
            group: ViewGroup::Execution,
            summary: "Utilization and communication of each unit and of all units, as a table.",
            required_data: "states or links between units",
            modes: &[TimeMode::Range, TimeMode::Moving, TimeMode::At],
            options: &["order", "topology", "unit", "width"],
        }
    }

    fn chart(&self, execution: &Execution, request: &ViewRequest) -> Result<ViewChart, PerspectiveError> {
        if let Some(unit) = request.options.selected_unit(execution)? {
            return peers(execution, request, unit);
        }
        let statistics = UnitStatistics::new(execution, request)?;
        let mut columns = vec![("unit", AxisUnit::Count)];
        columns.extend(ACTIVITY.iter().filter(|_| statistics.times.is_some()));
        columns.extend(COMMUNICATION.iter().filter(|_| statistics.messages.is_some()));
        let mut table = ChartTable::new(&columns);
        table.rows.push(row("all", &statistics, None));
        for unit in execution.order(&request.options.order, request.range)? {
            table.rows.push(row(&execution.units().list()[unit].name, &statistics, Some(unit)));
        }
        let time = time_caption(request);
        let mut notes = Vec::new();
        if statistics.times.is_none() {
            notes.push("The trace has no states, so there are no times of categories.".to_owned());
        }
        if statistics.messages.is_some() {
            notes.extend(MeasuredMessages::new(execution, request, true)?.notes());
        } else {
            notes.push("The trace has no links between units, so there are no numbers of messages.".to_owned());
        }
        let mut shown = table.clone();
        if shown.rows.len() > MAX_ROWS {
            shown.rows.truncate(MAX_ROWS);
            notes.push(format!("The panel has the first {MAX_ROWS} rows. The exported table has all rows."));
        }
        Ok(ViewChart {
            title: self.info().title.to_owned(),
            subtitle: captions::subtitle(&[
                time,
                format!("topology of hops: {}", request.options.topology_title()),
                captions::order_caption(request),
            ]),
            panels: vec![TitledPanel { title: String::new(), panel: ChartPanel::Table(shown) }],
            legend: Vec::new(),
            table,
            notes,
        })
    }
}

fn time_caption(request: &ViewRequest) -> String {
    match request.mode {
        TimeMode::At => format!("from the start, {}", captions::time_caption(request)),
        TimeMode::Range | TimeMode::Moving => captions::range_caption(request),
    }
}

/// The peers of a unit: the time for which each of them blocks it, and the messages.
fn peers(execution: &Execution, request: &ViewRequest, unit: usize) -> Result<ViewChart, PerspectiveError> {
    let measured = MeasuredMessages::new(execution, request, true)?;
    let range = message_range(execution, UnitStatistics::range(request));
    let statistics = execution.derived(&format!("peers {unit} {} {}", range.from.0, range.to.0), || {
        PeerStatistics::new(execution, measured.messages, unit, range)
    })?;
    let table = statistics.table(execution, measured.messages.has_sizes());
    let mut shown = table.clone();
    shown.rows.truncate(MAX_ROWS);
    let mut notes = vec!["A unit is blocked from the start of a receive until its message is sent.".to_owned()];
    notes.extend(measured.notes());
    let name = &execution.units().list()[unit].name;
    Ok(ViewChart {
        title: "Statistical summary".to_owned(),
        subtitle: captions::subtitle(&[time_caption(request), format!("peers of {name}")]),
        panels: vec![TitledPanel { title: String::new(), panel: ChartPanel::Table(shown) }],
        legend: Vec::new(),
        table,
        notes,
    })
}

fn row(name: &str, statistics: &UnitStatistics, unit: Option<usize>) -> Vec<TableValue> {
    let mut row = vec![TableValue::from(name)];
    if let Some(times) = &statistics.times {
        let times = unit.map_or(times.totals, |unit| times.by_unit[unit]);
        let sum: f64 = times.iter().sum();
        for time in times {
            row.extend([time.into(), (sum > 0.0).then(|| 100.0 * time / sum).into()]);
        }
    }
    if let Some(messages) = &statistics.messages {
        let statistics = unit.map_or(&messages.totals, |unit| &messages.by_unit[unit]);
        row.extend(communication(statistics, messages.has_sizes));
    }
    row
}

fn communication(statistics: &MessageStatistics, has_sizes: bool) -> [TableValue; 13] {
    let sized = |value: Option<f64>| TableValue::from(value.filter(|_| has_sizes));
    let per = |sum: f64, count: u64| (count > 0).then(|| sum / number(count));
    [
        number(statistics.sent_messages.count).into(),
        sized(Some(number(statistics.sent_messages.bytes))),
        number(statistics.received_messages.count).into(),
        sized(Some(number(statistics.received_messages.bytes))),
        sized(per(number(statistics.sent_messages.bytes), statistics.sized)),
        sized(statistics.min_bytes.map(number)),
        sized(statistics.max_bytes.map(number)),
        number(statistics.hops).into(),
        per(number(statistics.hops), statistics.sent_messages.count).into(),
        f64::from(statistics.most_hops).into(),
        signed_number(statistics.queue[0]).into(),
        sized(Some(signed_number(statistics.queue[1]))),
        per(statistics.latency(), statistics.received_messages.count).into(),
    ]
}
