//! G18: whether each task has begun, is in progress, or is completed.

use crate::chart::{
    AxisUnit, ChartPaint, ChartPanel, ChartTable, LegendItem, StatusCell, StatusGrid, TableValue, TitledPanel,
    ViewChart,
};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::tasks::ExecutionTask;
use crate::view::{PerspectiveView, TimeMode, ViewGroup, ViewInfo, ViewRequest};
use crate::views::captions;

use super::task_bundles::{TaskBundle, TaskOrder};

/// Maximum number of cells: 32 rows of 32, which are large enough to be pointed at.
const MAX_CELLS: usize = 1024;

/// The progress of each task.
///
/// A task is in progress while a unit executes it. It is completed if it has begun and no unit
/// executes it, so a later begin sets it in progress again.
pub(crate) struct TaskStatus;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TaskProgress {
    NotBegun,
    InProgress,
    Completed,
}

impl TaskProgress {
    const ALL: [Self; 3] = [Self::NotBegun, Self::InProgress, Self::Completed];

    /// The progress of a task that a number of units executes at a time.
    fn at(task: &ExecutionTask, units: i64, time: i64) -> Self {
        match units {
            1.. => Self::InProgress,
            _ if task.life.from.0 <= time => Self::Completed,
            _ => Self::NotBegun,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::NotBegun => "not begun",
            Self::InProgress => "in progress",
            Self::Completed => "completed",
        }
    }

    /// Light in progress, dark when completed, as in `ParaGraph`.
    fn paint(self) -> ChartPaint {
        match self {
            Self::NotBegun => ChartPaint::Pending,
            Self::InProgress => ChartPaint::Maximum,
            Self::Completed => ChartPaint::Now,
        }
    }
}

impl PerspectiveView for TaskStatus {
    fn info(&self) -> ViewInfo<'_> {
        ViewInfo {
            name: "task-status",
            number: Some(18),
            title: "Task status",
            group: ViewGroup::Tasks,
            summary: "Whether each task has begun, is in progress, or is completed.",
            required_data: "states of tasks",
            modes: &[TimeMode::At],
            options: &["sort"],
        }
    }

    fn chart(&self, execution: &Execution, request: &ViewRequest) -> Result<ViewChart, PerspectiveError> {
        let tasks = execution.tasks()?.list();
        let units = execution.active_tasks()?.at(request.time.0);
        let progress = |(task, units): (&ExecutionTask, &i64)| TaskProgress::at(task, *units, request.time.0);
        let progress: Vec<(TaskProgress, i64)> =
            tasks.iter().zip(&units).map(progress).zip(units.iter().copied()).collect();
        let order = TaskOrder::new(execution, request.options.sort, request.range)?;
        let bundles = order.bundles(MAX_CELLS);
        let cells: Vec<StatusCell> = bundles.iter().map(|bundle| cell(bundle, &progress)).collect();
        let side = cells.len().isqrt();
        let columns = if side * side < cells.len() { side + 1 } else { side.max(1) };
        let item = |progress: TaskProgress| LegendItem { paint: progress.paint(), label: progress.word().to_owned() };
        Ok(ViewChart {
            title: self.info().title.to_owned(),
            subtitle: captions::subtitle(&[captions::time_caption(request), order.caption()]),
            panels: vec![TitledPanel {
                title: String::new(),
                panel: ChartPanel::Grid(StatusGrid { columns, cells, ..StatusGrid::default() }),
            }],
            legend: TaskProgress::ALL.into_iter().map(item).collect(),
            table: request.table(|| table(&order, &progress)),
            notes: order.note(MAX_CELLS, "Each cell is the progress").into_iter().collect(),
        })
    }
}

/// The common progress of some tasks: in progress if they differ.
fn cell(bundle: &TaskBundle<'_>, progress: &[(TaskProgress, i64)]) -> StatusCell {
    let members: Vec<(TaskProgress, i64)> = bundle.members.iter().map(|task| progress[*task]).collect();
    let number = |progress| members.iter().filter(|member| member.0 == progress).count();
    let counts = TaskProgress::ALL.map(|progress| (progress, number(progress)));
    let common = counts.iter().find(|(_, count)| *count == members.len());
    let common = common.map_or(TaskProgress::InProgress, |(common, _)| *common);
    let status = match members[..] {
        [(progress, units)] => status(progress, units),
        _ => {
            let parts = counts.iter().filter(|(_, count)| *count > 0);
            parts.map(|(progress, count)| format!("{count} {}", progress.word())).collect::<Vec<_>>().join(", ")
        }
    };
    StatusCell { label: bundle.label.clone(), unit: None, paint: common.paint(), status }
}

fn status(progress: TaskProgress, units: i64) -> String {
    match (progress, units) {
        (TaskProgress::InProgress, 1) => "in progress in 1 unit".to_owned(),
        (TaskProgress::InProgress, units) => format!("in progress in {units} units"),
        (progress, _) => progress.word().to_owned(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "CSV has decimal numbers")]
fn table(tasks: &TaskOrder<'_>, progress: &[(TaskProgress, i64)]) -> ChartTable {
    let mut table = ChartTable::new(&[
        ("task", AxisUnit::Count),
        ("status", AxisUnit::Count),
        ("units", AxisUnit::Count),
        ("first begin", AxisUnit::Nanos),
        ("last end", AxisUnit::Nanos),
    ]);
    table.rows.extend(tasks.iter().map(|(number, task)| {
        let (progress, units) = progress[number];
        let numbers = [units, task.life.from.0, task.life.to.0];
        let mut row = vec![TableValue::Text(task.name.clone()), progress.word().into()];
        row.extend(numbers.map(|number| TableValue::Number(number as f64)));
        row
    }));
    table
}
