//! [`MessageQueuesView`] (G9): the messages or bytes that wait for each unit.

use tumit_viewer::parallel_map::{SEARCHES_PER_THREAD, map_indexes};
use tumit_viewer::query::TimeRange;

use crate::chart::{
    AxisUnit, Bar, BarChart, BarPart, ChartAxis, ChartPaint, ChartPanel, ChartTable, LegendItem, TitledPanel, ViewChart,
};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::messages::{MESSAGES, PendingByUnit, PendingSteps, UnitMessages};
use crate::view::{PerspectiveView, TimeMode, ViewGroup, ViewInfo, ViewRequest};
use crate::views::captions;
use crate::views::measured_messages::{MeasuredMessages, signed_number};
use crate::views::unit_bundles::UnitBundles;

/// Maximum number of bars. More bars would be thinner than about three pixels on usual screens.
const MAX_BARS: usize = 256;

/// The name of the queue of messages that are never received, if their receivers are unknown.
const UNKNOWN_RECEIVER: &str = "unknown receiver";

/// The messages or bytes that were sent to each unit and not yet received: now, and the maximum so
/// far.
pub(crate) struct MessageQueuesView;

struct UnitQueue {
    /// The present value, or the mean over the time range.
    now: f64,
    /// The largest value so far, or in the time range.
    maximum: i64,
}

impl PerspectiveView for MessageQueuesView {
    fn info(&self) -> ViewInfo<'_> {
        ViewInfo {
            name: "message-queues",
            number: Some(9),
            title: "Message queues",
            group: ViewGroup::Communication,
            summary: "Messages or bytes that were sent to each unit and not yet received.",
            required_data: "links between units",
            modes: &[TimeMode::At, TimeMode::Range, TimeMode::Moving],
            options: &["measure", "order", "width"],
        }
    }

    fn chart(&self, execution: &Execution, request: &ViewRequest) -> Result<ViewChart, PerspectiveError> {
        let measured = MeasuredMessages::new(execution, request, false)?;
        let component = measured.component();
        let bundles = UnitBundles::new(execution, request, MAX_BARS)?;
        let PendingByUnit { incoming_steps, unaddressed_steps, .. } = measured.messages.by_unit();
        let has_unaddressed = !measured.messages.unaddressed_messages().is_empty();
        let queues = map_indexes(incoming_steps.len(), SEARCHES_PER_THREAD, |unit| {
            queue(&incoming_steps[unit], request, component)
        });
        let mut bars: Vec<Bar> = (0..bundles.count()).map(|bundle| bar(execution, &bundles, bundle, &queues)).collect();
        let mut unit_lists = bundles.lists();
        if has_unaddressed {
            bars.push(unaddressed_bar(&queue(unaddressed_steps, request, component)));
            unit_lists.push([]);
        }
        // The axis does not change while the time moves.
        let range = if request.mode == TimeMode::At { request.range } else { request.visible_range() };
        let drawn = || incoming_steps.iter().chain(has_unaddressed.then_some(unaddressed_steps));
        let maxima = || drawn().map(|steps| steps.maximum(range)[component]);
        let key = format!("{} {range:?} {component}", self.info().name);
        let largest = *execution.derived(&key, || Ok(maxima().max().unwrap_or(0)))?;
        let largest = [largest].into_iter().chain(queues.iter().map(|queue| queue.maximum)).max().unwrap_or(0);
        let axis = ChartAxis::new(format!("waiting {}", measured.word()), measured.axis_unit(), signed_number(largest));
        let level = execution.model().types[execution.units().ty.index()].name.clone();
        let mut notes = measured.notes();
        if has_unaddressed {
            notes.push("The last bar has the messages with unknown receivers.".to_owned());
        }
        notes.extend(bundles.note(execution, "Each bar is the mean, and its maximum the largest one, of up to"));
        let (now, maximum) = words(request.mode);
        Ok(ViewChart {
            title: self.info().title.to_owned(),
            subtitle: captions::subtitle(&[
                captions::mode_caption(request),
                maximum.to_owned(),
                captions::order_caption(request),
            ]),
            panels: vec![TitledPanel {
                title: String::new(),
                panel: ChartPanel::Bars(BarChart { axis, arrangement: level, bars, unit_lists, counts: None }),
            }],
            legend: vec![
                LegendItem { paint: ChartPaint::Now, label: now.to_owned() },
                LegendItem { paint: ChartPaint::Maximum, label: maximum.to_owned() },
            ],
            table: request.table(|| table(execution, request, measured.messages, bundles.order())),
            notes,
        })
    }
}

/// The meanings of the value and of the maximum.
fn words(mode: TimeMode) -> (&'static str, &'static str) {
    match mode {
        TimeMode::At => ("now", "maximum since the start"),
        TimeMode::Range | TimeMode::Moving => ("mean over the time range", "maximum in the time range"),
    }
}

fn queue(steps: &PendingSteps, request: &ViewRequest, component: usize) -> UnitQueue {
    if request.mode == TimeMode::At {
        let now = steps.at(request.time.0)[component];
        UnitQueue { now: signed_number(now), maximum: steps.maximum(request.range_until_time())[component].max(now) }
    } else {
        let range: TimeRange = request.visible_range();
        UnitQueue { now: steps.mean(range)[component], maximum: steps.maximum(range)[component] }
    }
}

fn bar(execution: &Execution, bundles: &UnitBundles, bundle: usize, queues: &[UnitQueue]) -> Bar {
    let units = bundles.units(bundle);
    let sum: f64 = units.iter().map(|unit| queues[*unit].now).sum();
    let maximum = units.iter().map(|unit| queues[*unit].maximum).max();
    let count = signed_number(i64::try_from(units.len()).unwrap_or(i64::MAX));
    Bar {
        label: bundles.label(execution, bundle),
        unit: bundles.only_unit(bundle),
        base: 0.0,
        parts: vec![BarPart { paint: ChartPaint::Now, value: sum / count }],
        maximum: maximum.map(signed_number),
    }
}

/// The bar of the messages that are never received, with unknown receivers.
fn unaddressed_bar(queue: &UnitQueue) -> Bar {
    Bar {
        label: UNKNOWN_RECEIVER.to_owned(),
        unit: None,
        base: 0.0,
        parts: vec![BarPart { paint: ChartPaint::Now, value: queue.now }],
        maximum: Some(signed_number(queue.maximum)),
    }
}

/// A row per unit, with messages and, if there are sizes, bytes. The last row has the messages with
/// unknown receivers, if there are some.
fn table(execution: &Execution, request: &ViewRequest, messages: &UnitMessages, order: &[usize]) -> ChartTable {
    let has_sizes = messages.has_sizes();
    let by_unit = messages.by_unit();
    let mut columns =
        vec![("unit", AxisUnit::Count), ("messages", AxisUnit::Count), ("maximum messages", AxisUnit::Count)];
    if has_sizes {
        columns.extend([("bytes", AxisUnit::Bytes), ("maximum bytes", AxisUnit::Bytes)]);
    }
    let mut table = ChartTable::new(&columns);
    let mut add_row = |name: &str, steps: &PendingSteps| {
        let mut row = vec![name.into()];
        for component in MESSAGES..=usize::from(has_sizes) {
            let queue = queue(steps, request, component);
            row.extend([queue.now.into(), signed_number(queue.maximum).into()]);
        }
        table.rows.push(row);
    };
    for unit in order {
        add_row(&execution.units().list()[*unit].name, &by_unit.incoming_steps[*unit]);
    }
    if !messages.unaddressed_messages().is_empty() {
        add_row(UNKNOWN_RECEIVER, &by_unit.unaddressed_steps);
    }
    table
}
