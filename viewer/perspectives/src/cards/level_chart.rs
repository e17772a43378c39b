//! A panel of levels: numbers over time.

use tumit_viewer::query::TimeRange;

use super::card_axis::CardAxis;
use super::level_values::{SeriesColumns, columns};
use super::series_choice::{CardSeries, SeriesData};
use crate::chart::{
    AxisUnit, ChartPanel, ChartTable, ChartTableColumn, LegendItem, LevelChart, LevelSeries, TableValue,
};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::view::ViewRequest;

/// A panel with its legend, table and notes.
#[derive(Debug)]
pub(super) struct PanelResult {
    pub(super) panel: ChartPanel,
    pub(super) legend: Vec<LegendItem>,
    pub(super) table: ChartTable,
    pub(super) notes: Vec<String>,
}

/// A time range that is not empty, as queries of columns need it.
pub(super) fn nonempty_range(range: TimeRange) -> TimeRange {
    TimeRange { to: range.to.max(tumit_viewer::query::GlobalNanos(range.from.0.saturating_add(1))), ..range }
}

/// The chart of some series.
///
/// # Errors
/// The line of the series that cannot be computed, and the reason.
pub(super) fn chart(
    execution: &Execution,
    request: &ViewRequest,
    axis: &CardAxis,
    (list, is_stacked): (&[CardSeries], bool),
) -> Result<PanelResult, (usize, PerspectiveError)> {
    let range = nonempty_range(request.visible_range());
    let count = request.columns.max(1);
    let mut all: Vec<SeriesColumns> = Vec::new();
    for series in list {
        let computed = columns(execution, series, range, count).map_err(|error| (series.line, error))?;
        let factor = if series.number_scale(false).is_some() { 1.0 } else { axis.scale().factor };
        all.push(computed.multiply(factor));
    }
    let largest =
        if is_stacked { largest_sum(&all) } else { all.iter().map(SeriesColumns::largest).fold(0.0, f64::max) };
    let notes = if is_stacked { negative_notes(list, &all) } else { Vec::new() };
    let label = default_label(list);
    let table = table(axis, list, &all, range);
    let series = list.iter().zip(all).map(|(series, columns)| LevelSeries {
        label: series.label.clone(),
        paint: series.paint,
        means: columns.means,
        extremes: if is_stacked { Vec::new() } else { columns.extremes },
    });
    let chart = LevelChart {
        from: range.from.0,
        to: range.to.0,
        cursor: (range.from.0..=range.to.0).contains(&request.time.0).then_some(request.time.0),
        axis: axis.chart_axis(&label, largest),
        stacked: is_stacked,
        series: series.collect(),
    };
    let legend = list.iter().map(|series| LegendItem { paint: series.paint, label: series.label.clone() });
    Ok(PanelResult { panel: ChartPanel::Levels(chart), legend: legend.collect(), table, notes })
}

/// A note for each series with negative numbers, which a stack does not show.
fn negative_notes(list: &[CardSeries], all: &[SeriesColumns]) -> Vec<String> {
    let has_negative = |columns: &SeriesColumns| columns.means.iter().any(|mean| *mean < 0.0);
    let negative = list.iter().zip(all).filter(|(_, columns)| has_negative(columns));
    let note = |series: &CardSeries| {
        format!("`{}` has negative numbers, which a stack does not show. Remove `stacked`.", series.label)
    };
    negative.map(|(series, _)| note(series)).collect()
}

/// The label of an axis without one.
fn default_label(list: &[CardSeries]) -> String {
    match list.first().map(|series| &series.data) {
        Some(SeriesData::Category(_)) => "units".to_owned(),
        Some(SeriesData::States(_)) => "states".to_owned(),
        Some(SeriesData::Events(_)) => "events per second".to_owned(),
        Some(SeriesData::Pending(_)) => "pending".to_owned(),
        _ => list.first().filter(|_| list.len() == 1).map_or_else(String::new, |series| series.label.clone()),
    }
}

fn largest_sum(all: &[SeriesColumns]) -> f64 {
    let columns = all.first().map_or(0, |series| series.means.len());
    let sum = |column: usize| all.iter().map(|series| series.means[column].max(0.0)).sum::<f64>();
    (0..columns).map(sum).fold(0.0, f64::max)
}

/// A row per column of time.
#[expect(clippy::cast_precision_loss, reason = "CSV has times as decimal numbers")]
fn table(axis: &CardAxis, list: &[CardSeries], all: &[SeriesColumns], range: TimeRange) -> ChartTable {
    let axis_unit = axis.scale().axis_unit;
    let mut table = ChartTable::new(&[("from", AxisUnit::Nanos), ("to", AxisUnit::Nanos)]);
    for (series, columns) in list.iter().zip(all) {
        let mut column = |heading: String| table.columns.push(ChartTableColumn { heading, axis_unit });
        column(series.label.clone());
        if !columns.extremes.is_empty() {
            column(format!("{}, smallest", series.label));
            column(format!("{}, largest", series.label));
        }
    }
    let count = all.first().map_or(0, |columns| columns.means.len());
    for (index, column_range) in range.columns(u32::try_from(count).unwrap_or(u32::MAX)).enumerate() {
        let mut row: Vec<TableValue> = vec![(column_range.from.0 as f64).into(), (column_range.to.0 as f64).into()];
        for columns in all {
            row.push(columns.means[index].into());
            row.extend(
                columns
                    .extremes
                    .get(index)
                    .into_iter()
                    .flat_map(|extremes| [extremes.minimum.into(), extremes.maximum.into()]),
            );
        }
        table.rows.push(row);
    }
    table
}
