//! G20: utilization against communication, as a curve over time.

use tumit_viewer::query::TimeRange;
use tumit_viewer::text::time_display::duration;

use crate::chart::{
    AxisUnit, ChartAxis, ChartPaint, ChartPanel, ChartTable, LegendItem, PortraitChart, PortraitPoint, TableValue,
    TitledPanel, ViewChart,
};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::active_tasks::TaskPoint;
use crate::execution::messages::{BYTES, MESSAGES, UnitMessages};
use crate::execution::tasks::ExecutionTask;
use crate::options::MessageMeasure;
use crate::view::{PerspectiveView, TimeMode, ViewGroup, ViewInfo, ViewRequest};
use crate::views::captions;
use crate::views::moving_window::SmoothingWindow;

/// Maximum number of tasks in the legend.
const MAX_TASKS: usize = 12;

/// Utilization against communication, as a curve over time.
///
/// A point has the mean percentage of busy units, and the mean number of pending bytes or messages
/// as a percentage of its maximum in the time range. Both are means over the `width` before the
/// time of the point. The colour of a point is the task that most units execute at the end of this
/// window; of several, the one that began last. With the option `unit`, it is the task of this
/// unit.
pub(crate) struct PhasePortrait;

/// The points of the curve with their tasks.
struct PortraitCurve {
    points: Vec<PortraitPoint>,
    common_tasks: Vec<Option<u32>>,
}

impl PerspectiveView for PhasePortrait {
    fn info(&self) -> ViewInfo<'_> {
        ViewInfo {
            name: "phase-portrait",
            number: Some(20),
            title: "Phase portrait",
            group: ViewGroup::Execution,
            summary: "The percentage of busy units against the volume of communication, as a curve over time.",
            required_data: "states and links; tasks for the colours",
            modes: &[TimeMode::Range, TimeMode::Moving],
            options: &["width", "measure", "count", "unit"],
        }
    }

    fn chart(&self, execution: &Execution, request: &ViewRequest) -> Result<ViewChart, PerspectiveError> {
        let messages = match request.options.measure {
            Some(MessageMeasure::Bytes) => execution.sized_messages()?,
            _ => execution.messages()?,
        };
        let counts_bytes = match request.options.measure {
            Some(measure) => measure == MessageMeasure::Bytes,
            None => messages.has_sizes(),
        };
        // The tasks may share the states that the activity reads.
        execution.activity()?;
        let times = times(request);
        let range = request.visible_range();
        // In a moving time range, the width is that of the range.
        let smoothing = request.options.width.filter(|_| request.mode == TimeMode::Range);
        let window = SmoothingWindow::new(request.range, smoothing);
        let selected = request.options.selected_unit(execution)?;
        let (tasks, no_tasks) = match execution.tasks() {
            Ok(tasks) => (tasks.list(), None),
            Err(PerspectiveError::NoData { .. }) => {
                (&[][..], Some("The curve has one colour, because the trace has no tasks.".to_owned()))
            }
            Err(error) => return Err(error),
        };
        // Only the mark of the time cursor depends on it.
        let settings = (request.range, range, request.columns, window.width, counts_bytes);
        let choices = (request.options.counts_overhead, selected);
        let curve = execution.derived(&format!("{} {settings:?} {choices:?}", self.info().name), || {
            let common_tasks = if tasks.is_empty() {
                vec![None; times.len()]
            } else {
                shown_tasks(execution, selected, request.range, &times)?
            };
            let points = points(execution, request, (messages, counts_bytes), window, &times, &common_tasks)?;
            Ok(PortraitCurve { points, common_tasks })
        })?;
        let PortraitCurve { points, common_tasks } = curve.as_ref();
        let quantity = if counts_bytes { "pending bytes" } else { "pending messages" };
        let counted = if request.options.counts_overhead { "busy and overhead units" } else { "busy units" };
        let cursor = (range.from.0..=range.to.0).contains(&request.time.0);
        // The plane is the same for all executions, so that their portraits can be compared.
        let chart = PortraitChart {
            horizontal_axis: ChartAxis::up_to(format!("{quantity}, % of the maximum"), AxisUnit::Percent, 100.0),
            vertical_axis: ChartAxis::up_to(counted, AxisUnit::Percent, 100.0),
            cursor: times.partition_point(|time| *time <= request.time.0).checked_sub(1).filter(|_| cursor),
            points: points.clone(),
        };
        let colored = request.options.unit.as_ref().map_or_else(String::new, |unit| format!("tasks of {unit}"));
        let smoothing = format!("mean over the last {}", duration(window.width));
        Ok(ViewChart {
            title: self.info().title.to_owned(),
            subtitle: captions::subtitle(&[captions::range_caption(request), smoothing, colored]),
            table: request.table(|| table(&chart, tasks, common_tasks)),
            panels: vec![TitledPanel { title: String::new(), panel: ChartPanel::Portrait(chart) }],
            legend: legend(tasks, common_tasks),
            notes: no_tasks.into_iter().collect(),
        })
    }
}

/// The times of the points: the start of the range, and the end of each column.
fn times(request: &ViewRequest) -> Vec<i64> {
    let range = request.visible_range();
    let ends = range.columns(request.columns.max(1)).map(|column| column.to.0.min(range.to.0));
    let mut times: Vec<i64> = [range.from.0].into_iter().chain(ends).collect();
    times.dedup();
    times
}

#[expect(clippy::cast_precision_loss, reason = "percentages are rounded")]
fn points(
    execution: &Execution,
    request: &ViewRequest,
    (messages, counts_bytes): (&UnitMessages, bool),
    window: SmoothingWindow,
    times: &[i64],
    tasks: &[Option<u32>],
) -> Result<Vec<PortraitPoint>, PerspectiveError> {
    let activity = execution.activity()?;
    let pending = messages.pending();
    let component = if counts_bytes { BYTES } else { MESSAGES };
    let largest = pending.maximum(request.range)[component].max(1) as f64;
    let all_units = activity.units().max(1) as f64;
    let ranges: Vec<TimeRange> = times.iter().map(|time| window.at(*time)).collect();
    let means = activity.mean_counts_in(&ranges);
    let all = execution.tasks().ok();
    let paint = |task: u32| all.map_or(ChartPaint::Now, |all| all.paint(task));
    let point = |at: usize| {
        let counted = means[at][0] + if request.options.counts_overhead { means[at][1] } else { 0.0 };
        PortraitPoint {
            time: times[at],
            x: 100.0 * pending.mean(ranges[at])[component] / largest,
            y: 100.0 * counted / all_units,
            paint: tasks.get(at).copied().flatten().map_or(ChartPaint::Now, paint),
        }
    };
    Ok((0..times.len()).map(point).collect())
}

/// The tasks that the selected unit executes at the ends of the windows of some times. Without a
/// selected unit, those that most units execute.
fn shown_tasks(
    execution: &Execution,
    selected_task: Option<usize>,
    range: TimeRange,
    times: &[i64],
) -> Result<Vec<Option<u32>>, PerspectiveError> {
    let last_of_window = times.iter().map(|time| time.saturating_sub(1).max(range.from.0));
    if let Some(unit) = selected_task {
        let tasks = execution.tasks()?;
        return Ok(last_of_window.map(|time| tasks.at(unit, time)).collect());
    }
    let active = execution.active_tasks()?;
    let last_of_window: Vec<i64> = last_of_window.collect();
    let mut common = Vec::with_capacity(times.len());
    active.visit_times(&last_of_window, |_, tasks| common.push(most_common_task(tasks)));
    Ok(common)
}

/// The task with the largest number of units. Of several, the one that began last.
fn most_common_task(tasks: &[TaskPoint]) -> Option<u32> {
    let active = tasks.iter().map(|task| task.units).zip(0..).filter(|(units, _)| *units > 0);
    active.max_by_key(|(units, task)| (*units, *task)).map(|(_, task)| task)
}

/// The tasks that occur, by number. At most [`MAX_TASKS`].
fn legend(tasks: &[ExecutionTask], common_tasks: &[Option<u32>]) -> Vec<LegendItem> {
    let mut shown: Vec<u32> = common_tasks.iter().copied().flatten().collect();
    shown.sort_unstable();
    shown.dedup();
    let mut shown: Vec<&ExecutionTask> = shown.into_iter().filter_map(|task| tasks.get(task as usize)).collect();
    shown.sort_by_key(|task| task.number);
    let item = |task: &ExecutionTask| LegendItem { paint: task.paint(), label: task.name.clone() };
    shown.into_iter().take(MAX_TASKS).map(item).collect()
}

#[expect(clippy::cast_precision_loss, reason = "CSV has times as decimal numbers")]
fn table(chart: &PortraitChart, tasks: &[ExecutionTask], common_tasks: &[Option<u32>]) -> ChartTable {
    let mut table = ChartTable::new(&[
        ("time", AxisUnit::Nanos),
        (&chart.horizontal_axis.label, AxisUnit::Percent),
        (&format!("{}, %", chart.vertical_axis.label), AxisUnit::Percent),
        ("task", AxisUnit::Count),
    ]);
    table.rows.extend(chart.points.iter().zip(common_tasks).map(|(point, task)| {
        let task = task.and_then(|task| tasks.get(task as usize));
        let name = task.map_or(TableValue::Absent, |task| TableValue::Text(task.name.clone()));
        vec![TableValue::Number(point.time as f64), TableValue::Number(point.x), TableValue::Number(point.y), name]
    }));
    table
}
