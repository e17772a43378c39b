//! G19: the time from the first begin to the last end of each task.

use tumit_viewer::query::TimeRange;

use crate::chart::{
    AxisUnit, Bar, BarChart, BarPart, ChartAxis, ChartPanel, ChartTable, TableValue, TitledPanel, ViewChart,
};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::active_tasks::TaskActivity;
use crate::execution::tasks::ExecutionTask;
use crate::view::{PerspectiveView, TimeMode, ViewGroup, ViewInfo, ViewRequest};
use crate::views::captions;

use super::task_bundles::{TaskBundle, TaskOrder};

/// Maximum number of bars. More bars would be thinner than about three pixels on usual screens.
const MAX_BARS: usize = 256;

/// A floating bar per task, from its first begin to its last end, in percent of the time range.
pub(crate) struct TaskSummary;

impl PerspectiveView for TaskSummary {
    fn info(&self) -> ViewInfo<'_> {
        ViewInfo {
            name: "task-summary",
            number: Some(19),
            title: "Task summary",
            group: ViewGroup::Tasks,
            summary: "The time from the first begin to the last end of each task.",
            required_data: "states of tasks",
            modes: &[TimeMode::Range, TimeMode::Moving],
            options: &["sort", "width"],
        }
    }

    fn chart(&self, execution: &Execution, request: &ViewRequest) -> Result<ViewChart, PerspectiveError> {
        let (tasks, range) = (execution.tasks()?.list(), request.visible_range());
        let activity = execution.active_tasks()?.activity_in(range);
        let order = TaskOrder::new(execution, request.options.sort, range)?;
        let bundles = order.bundles(MAX_BARS);
        let chart = BarChart {
            axis: ChartAxis::new("time range", AxisUnit::Percent, 100.0),
            arrangement: "task".to_owned(),
            bars: bundles.iter().map(|bundle| bar(bundle, tasks, range)).collect(),
            ..BarChart::default()
        };
        let outside_tasks = tasks.iter().filter(|task| shown_percent(task.life, range).is_none()).count();
        let outside_tasks = match outside_tasks {
            0 => None,
            1 => Some("1 task is outside of the time range.".to_owned()),
            count => Some(format!("{count} tasks are outside of the time range.")),
        };
        let grouped = order.note(MAX_BARS, "Each bar reaches from the first begin to the last end");
        Ok(ViewChart {
            title: self.info().title.to_owned(),
            subtitle: captions::subtitle(&[captions::range_caption(request), order.caption()]),
            panels: vec![TitledPanel { title: String::new(), panel: ChartPanel::Bars(chart) }],
            legend: Vec::new(),
            table: request.table(|| table(&order, &activity, range)),
            notes: [grouped, outside_tasks].into_iter().flatten().collect(),
        })
    }
}

/// The part of the time range that a lifetime covers, in percent of the time range.
#[expect(clippy::cast_precision_loss, reason = "percentages are rounded")]
fn shown_percent(life: TimeRange, range: TimeRange) -> Option<(f64, f64)> {
    let (from, to) = (life.from.max(range.from), life.to.min(range.to));
    let percent = |time: i64| {
        let (elapsed, nanos) = (time.saturating_sub(range.from.0), range.to.0.saturating_sub(range.from.0));
        100.0 * elapsed as f64 / nanos as f64
    };
    (from < to).then(|| (percent(from.0), percent(to.0)))
}

/// From the first begin to the last end of some tasks. A bar without parts is outside of the range.
fn bar(bundle: &TaskBundle<'_>, tasks: &[ExecutionTask], range: TimeRange) -> Bar {
    let lives = bundle.members.iter().map(|task| tasks[*task].life);
    let life = lives.reduce(|all, life| TimeRange { from: all.from.min(life.from), to: all.to.max(life.to) });
    let shown = life.and_then(|life| shown_percent(life, range));
    let part = |(from, to): (f64, f64)| BarPart { paint: bundle.paint, value: to - from };
    Bar {
        label: bundle.label.clone(),
        base: shown.map_or(0.0, |(from, _)| from),
        parts: shown.map(part).into_iter().collect(),
        ..Bar::default()
    }
}

#[expect(clippy::cast_precision_loss, reason = "CSV has times as decimal numbers")]
fn table(tasks: &TaskOrder<'_>, activity: &[TaskActivity], range: TimeRange) -> ChartTable {
    let mut table = ChartTable::new(&[
        ("task", AxisUnit::Count),
        ("first begin", AxisUnit::Nanos),
        ("last end", AxisUnit::Nanos),
        ("from, %", AxisUnit::Percent),
        ("to, %", AxisUnit::Percent),
        ("time of all units", AxisUnit::Nanos),
    ]);
    table.rows.extend(tasks.iter().map(|(number, task)| {
        let shown = shown_percent(task.life, range);
        vec![
            TableValue::Text(task.name.clone()),
            TableValue::Number(task.life.from.0 as f64),
            TableValue::Number(task.life.to.0 as f64),
            shown.map(|(from, _)| from).into(),
            shown.map(|(_, to)| to).into(),
            TableValue::Number(activity[number].unit_time as f64),
        ]
    }));
    table
}
