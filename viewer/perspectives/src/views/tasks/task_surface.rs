//! G29: the number of units that execute each task over time, as a heat map.

use tumit_viewer::query::TimeRange;
use tumit_viewer::text::time_display::timestamp;

use crate::chart::{
    AxisUnit, ChartAxis, ChartMatrixCell, ChartPanel, ChartTable, MatrixChart, TableValue, TitledPanel, ViewChart,
};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::tasks::ExecutionTask;
use crate::view::{PerspectiveView, TimeMode, ViewGroup, ViewInfo, ViewRequest};
use crate::views::captions;

use super::task_bundles::{TaskBundle, TaskOrder};

/// Maximum number of rows. More rows would be thinner than about three pixels on usual screens.
const MAX_ROWS: usize = 256;
/// Maximum number of columns. With [`MAX_ROWS`], the image has at most 51,200 cells.
const MAX_COLUMNS: u32 = 200;

/// For each task (row) and each column of time, the mean number of units that execute the task in
/// the column.
pub(crate) struct TaskSurface;

impl PerspectiveView for TaskSurface {
    fn info(&self) -> ViewInfo<'_> {
        ViewInfo {
            name: "task-surface",
            number: Some(29),
            title: "Task surface",
            group: ViewGroup::Tasks,
            summary: "For each task and column of time, the mean number of units that execute the task.",
            required_data: "states of tasks",
            modes: &[TimeMode::Range, TimeMode::Moving],
            options: &["sort", "width"],
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "numbers of units and times are drawn")]
    fn chart(&self, execution: &Execution, request: &ViewRequest) -> Result<ViewChart, PerspectiveError> {
        let (tasks, range) = (execution.tasks()?.list(), request.visible_range());
        let columns: Vec<TimeRange> = range.columns(request.columns.clamp(1, MAX_COLUMNS)).collect();
        let means =
            execution.derived(&format!("{} {columns:?}", self.info().name), || mean_units(execution, &columns))?;
        let order = TaskOrder::new(execution, request.options.sort, range)?;
        let bundles = order.bundles(MAX_ROWS);
        let mut table = ChartTable::new(&[
            ("task", AxisUnit::Count),
            ("from", AxisUnit::Nanos),
            ("to", AxisUnit::Nanos),
            ("units", AxisUnit::Count),
        ]);
        let mut cells = Vec::new();
        for (row, bundle) in (0..).zip(&bundles) {
            for (column, value) in row_values(bundle, tasks, &columns, &means) {
                let time = columns[column as usize];
                let times = [time.from.0 as f64, time.to.0 as f64, value].map(TableValue::Number);
                table.rows.push([TableValue::Text(bundle.label.clone())].into_iter().chain(times).collect());
                cells.push(ChartMatrixCell { row, column, value, paint: None });
            }
        }
        let largest = cells.iter().map(|cell| cell.value).fold(0.0, f64::max);
        let precision = columns.first().map_or(1, |column| column.to.0.saturating_sub(column.from.0)).max(1);
        let matrix = MatrixChart {
            row_heading: "task".to_owned(),
            column_heading: "time".to_owned(),
            rows: bundles.iter().map(|bundle| bundle.label.clone()).collect(),
            columns: columns.iter().map(|column| timestamp(column.from, precision)).collect(),
            times: Some(range),
            units_per_cell: 1,
            axis: ChartAxis::new(format!("units ({})", captions::unit_type(execution)), AxisUnit::Count, largest),
            cells,
            ..MatrixChart::default()
        };
        let note = order.note(MAX_ROWS, "Each row has the largest number");
        Ok(ViewChart {
            title: self.info().title.to_owned(),
            subtitle: captions::subtitle(&[captions::range_caption(request), order.caption()]),
            panels: vec![TitledPanel { title: "task over time".to_owned(), panel: ChartPanel::Matrix(matrix) }],
            legend: Vec::new(),
            table,
            notes: note.into_iter().collect(),
        })
    }
}

/// For each column, the mean number of units that execute each task.
fn mean_units(execution: &Execution, columns: &[TimeRange]) -> Result<Vec<Vec<f64>>, PerspectiveError> {
    let active = execution.active_tasks()?;
    // Columns of a time range of a few nanoseconds overlap.
    if columns.windows(2).any(|pair| pair[0].to != pair[1].from) {
        let mean =
            |column: &TimeRange| active.unit_times(*column).into_iter().map(|time| mean(time, *column)).collect();
        return Ok(columns.iter().map(mean).collect());
    }
    let edges = columns.first().map(|column| column.from.0).into_iter();
    let edges: Vec<i64> = edges.chain(columns.iter().map(|column| column.to.0)).collect();
    let (mut means, mut previous_integrals) = (Vec::with_capacity(columns.len()), Vec::new());
    active.visit_times(&edges, |at, tasks| {
        let integrals: Vec<i128> = tasks.iter().map(|task| task.integral(edges[at])).collect();
        if let Some(column) = at.checked_sub(1).map(|at| columns[at]) {
            means.push(
                integrals
                    .iter()
                    .zip(&previous_integrals)
                    .map(|(integrals, low)| mean(integrals - low, column))
                    .collect(),
            );
        }
        previous_integrals = integrals;
    });
    Ok(means)
}

/// The mean number of units in a column, which has at least one nanosecond.
#[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
fn mean(unit_time: i128, column: TimeRange) -> f64 {
    unit_time as f64 / column.to.0.saturating_sub(column.from.0).max(1) as f64
}

/// The columns in which a task of a bundle is active, with the largest mean number of units.
fn row_values(
    bundle: &TaskBundle<'_>,
    tasks: &[ExecutionTask],
    columns: &[TimeRange],
    means: &[Vec<f64>],
) -> Vec<(u32, f64)> {
    let mut largest = vec![0.0_f64; columns.len()];
    for task in bundle.members {
        for column in columns_of(&tasks[*task], columns) {
            largest[column] = largest[column].max(means[column][*task]);
        }
    }
    (0..).zip(largest).filter(|(_, value)| *value > 0.0).collect()
}

/// The columns that overlap the lifetime of a task.
fn columns_of(task: &ExecutionTask, columns: &[TimeRange]) -> std::ops::Range<usize> {
    let first = columns.partition_point(|column| column.to <= task.life.from);
    let end = columns.partition_point(|column| column.from < task.life.to);
    first..end.max(first)
}
