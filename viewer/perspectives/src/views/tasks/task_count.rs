//! G16: the number of units that execute each task.

use crate::chart::{
    AxisUnit, Bar, BarChart, BarPart, ChartAxis, ChartPaint, ChartPanel, ChartTable, LegendItem, TableValue,
    TitledPanel, ViewChart,
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

/// The number of units that execute each task: now and its maximum so far, or the mean during the
/// task.
///
/// The mean is over the part of the time range between the first begin of the task and its last
/// end.
pub(crate) struct TaskCount;

/// The numbers of units that execute a task.
#[derive(Clone, Copy)]
struct ActiveUnits {
    /// The present or mean number.
    units: f64,
    /// The largest number so far, or in the time range.
    maximum: f64,
    /// The time that all units together execute the task.
    unit_nanos: Option<f64>,
}

impl PerspectiveView for TaskCount {
    fn info(&self) -> ViewInfo<'_> {
        ViewInfo {
            name: "task-count",
            number: Some(16),
            title: "Task count",
            group: ViewGroup::Tasks,
            summary: "The number of units that execute each task.",
            required_data: "states of tasks",
            modes: &[TimeMode::At, TimeMode::Range, TimeMode::Moving],
            options: &["sort", "width"],
        }
    }

    fn chart(&self, execution: &Execution, request: &ViewRequest) -> Result<ViewChart, PerspectiveError> {
        let tasks = TaskOrder::new(execution, request.options.sort, request.visible_range())?;
        let counts = active_units(execution, request)?;
        let bundles = tasks.bundles(MAX_BARS);
        let largest = counts.iter().map(|count| count.units.max(count.maximum)).fold(0.0, f64::max);
        let chart = BarChart {
            axis: ChartAxis::new(format!("units ({})", captions::unit_type(execution)), AxisUnit::Count, largest),
            arrangement: "task".to_owned(),
            bars: bundles.iter().map(|bundle| bar(bundle, &counts)).collect(),
            ..BarChart::default()
        };
        let is_present = request.mode == TimeMode::At;
        let meaning = if is_present { "maximum since the start" } else { "mean between first begin and last end" };
        let item = LegendItem {
            paint: ChartPaint::Maximum,
            label: if is_present { "maximum so far" } else { "maximum" }.to_owned(),
        };
        Ok(ViewChart {
            title: self.info().title.to_owned(),
            subtitle: captions::subtitle(&[captions::mode_caption(request), meaning.to_owned(), tasks.caption()]),
            panels: vec![TitledPanel { title: String::new(), panel: ChartPanel::Bars(chart) }],
            legend: vec![item],
            table: request.table(|| table(&tasks, &counts, is_present)),
            notes: tasks.note(MAX_BARS, "Each bar is the largest value").into_iter().collect(),
        })
    }
}

/// The numbers of units that execute each task.
#[expect(clippy::cast_precision_loss, reason = "numbers of units are drawn")]
fn active_units(execution: &Execution, request: &ViewRequest) -> Result<Vec<ActiveUnits>, PerspectiveError> {
    let (tasks, active) = (execution.tasks()?.list(), execution.active_tasks()?);
    if request.mode == TimeMode::At {
        let counts = active.at(request.time.0).into_iter().zip(active.activity_in(request.range_until_time()));
        let units = |(now, past): (i64, TaskActivity)| ActiveUnits {
            units: now as f64,
            maximum: past.maximum.max(now) as f64,
            unit_nanos: None,
        };
        return Ok(counts.map(units).collect());
    }
    let range = request.visible_range();
    let units = |(task, during): (&ExecutionTask, TaskActivity)| {
        let (from, to) = (range.from.max(task.life.from), range.to.min(task.life.to));
        let maximum = during.maximum as f64;
        if from < to {
            let nanos = i128::from(to.0) - i128::from(from.0);
            let unit_time = during.unit_time as f64;
            return ActiveUnits { units: unit_time / nanos as f64, maximum, unit_nanos: Some(unit_time) };
        }
        // In an empty time range, the task counts with its number at this time.
        ActiveUnits { units: maximum, maximum, unit_nanos: Some(0.0) }
    };
    Ok(tasks.iter().zip(active.activity_in(range)).map(units).collect())
}

/// The largest numbers of some tasks.
fn bar(bundle: &TaskBundle<'_>, counts: &[ActiveUnits]) -> Bar {
    let of_bundle = bundle.members.iter().map(|task| counts[*task]);
    let (units, maximum) =
        of_bundle.fold((0.0_f64, 0.0_f64), |largest, count| (largest.0.max(count.units), largest.1.max(count.maximum)));
    Bar {
        label: bundle.label.clone(),
        parts: vec![BarPart { paint: bundle.paint, value: units }],
        maximum: Some(maximum),
        ..Bar::default()
    }
}

fn table(tasks: &TaskOrder<'_>, counts: &[ActiveUnits], is_present: bool) -> ChartTable {
    let mut columns = vec![("task", AxisUnit::Count)];
    columns.extend(if is_present {
        [("units", AxisUnit::Count), ("maximum so far", AxisUnit::Count)]
    } else {
        [("mean units", AxisUnit::Count), ("maximum", AxisUnit::Count)]
    });
    columns.extend((!is_present).then_some(("time of all units", AxisUnit::Nanos)));
    let mut table = ChartTable::new(&columns);
    table.rows.extend(tasks.iter().map(|(number, task)| {
        let count = counts[number];
        let mut row = vec![TableValue::Text(task.name.clone()), count.units.into(), count.maximum.into()];
        row.extend(count.unit_nanos.map(TableValue::Number));
        row
    }));
    table
}
