//! A panel of bars, one per unit.

use tumit_viewer::query::{GlobalNanos, TimeRange};

use super::bar_series::{BarTime, numbers};
use super::card_axis::CardAxis;
use super::level_chart::{PanelResult, nonempty_range};
use super::series_choice::{CardSeries, ShownNumber};
use crate::chart::{
    AxisUnit, Bar, BarChart, BarPart, ChartPanel, ChartTable, ChartTableColumn, LegendItem, TableValue,
};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::view::{TimeMode, ViewRequest};
use crate::views::captions;
use crate::views::measured_messages::message_range;
use crate::views::unit_bundles::UnitBundles;

/// Maximum number of bars. More bars would be thinner than about three pixels on usual screens.
const MAX_BARS: usize = 256;

/// The time of the bars. A time range that ends with the trace contains the last timestamp.
fn bar_time(execution: &Execution, request: &ViewRequest) -> BarTime {
    if request.mode == TimeMode::At {
        let past = request.range_until_time();
        let span = TimeRange { from: request.range.from, to: GlobalNanos(past.to.0.saturating_sub(1)) };
        return BarTime { span: nonempty_range(span), range: nonempty_range(past), last: request.time.0 };
    }
    let span = nonempty_range(request.visible_range());
    let range = message_range(execution, span);
    BarTime { span, range: nonempty_range(range), last: range.to.0.saturating_sub(1) }
}

/// The chart of some series.
///
/// # Errors
/// The line of the series that cannot be computed, and the reason; 0 if the units are the reason.
pub(super) fn chart(
    execution: &Execution,
    request: &ViewRequest,
    axis: &CardAxis,
    list: &[CardSeries],
) -> Result<PanelResult, (usize, PerspectiveError)> {
    let time = bar_time(execution, request);
    let bundles = UnitBundles::new(execution, request, MAX_BARS).map_err(|error| (0, error))?;
    let (mut all, mut largest) = (Vec::new(), vec![0.0; execution.units().count()]);
    for series in list {
        let factor = if series.number_scale(true).is_some() { 1.0 } else { axis.scale().factor };
        let at_line = |error| (series.line, error);
        let mut values = numbers(execution, series, time).map_err(at_line)?;
        values.iter_mut().for_each(|number| *number *= factor);
        let limits = if request.mode == TimeMode::At {
            limits(execution, request, series).map_err(at_line)?
        } else {
            Vec::new()
        };
        for (index, largest) in largest.iter_mut().enumerate() {
            let limit = limits.get(index).map_or(0.0, |limit| limit * factor);
            *largest += values.get(index).copied().unwrap_or(0.0).abs().max(limit.abs());
        }
        all.push(values);
    }
    let largest = largest.into_iter().fold(0.0, f64::max);
    let label = if let [series] = list { series.label.clone() } else { String::new() };
    let bars = (0..bundles.count()).map(|bundle| bar(execution, &bundles, bundle, (list, &all))).collect();
    let chart = BarChart {
        axis: axis.chart_axis(&label, largest),
        arrangement: captions::unit_type(execution).to_owned(),
        bars,
        unit_lists: bundles.lists(),
        counts: None,
    };
    let notes = bundles.note(execution, "Each bar is the mean of up to").into_iter().collect();
    let table = table(execution, axis, bundles.order(), (list, &all));
    let legend = list.iter().map(|series| LegendItem { paint: series.paint, label: series.label.clone() });
    Ok(PanelResult { panel: ChartPanel::Bars(chart), legend: legend.collect(), table, notes })
}

/// The largest numbers of the whole time range, so that the axis stays while the time moves.
fn limits(execution: &Execution, request: &ViewRequest, series: &CardSeries) -> Result<Vec<f64>, PerspectiveError> {
    let shown_number = match series.shown_number {
        ShownNumber::Last | ShownNumber::Mean | ShownNumber::Smallest => ShownNumber::Largest,
        other => other,
    };
    let whole = ViewRequest { mode: TimeMode::Range, ..request.clone() };
    numbers(execution, &CardSeries { shown_number, ..series.clone() }, bar_time(execution, &whole))
}

fn bar(
    execution: &Execution,
    bundles: &UnitBundles,
    bundle: usize,
    (list, values): (&[CardSeries], &[Vec<f64>]),
) -> Bar {
    let units = bundles.units(bundle);
    #[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
    let mean = |numbers: &Vec<f64>| {
        let sum: f64 = units.iter().filter_map(|unit| numbers.get(*unit)).sum();
        sum / units.len().max(1) as f64
    };
    let parts = list.iter().zip(values).map(|(series, numbers)| BarPart { paint: series.paint, value: mean(numbers) });
    Bar {
        label: bundles.label(execution, bundle),
        unit: bundles.only_unit(bundle),
        parts: parts.collect(),
        ..Bar::default()
    }
}

/// A row per unit.
fn table(
    execution: &Execution,
    axis: &CardAxis,
    order: &[usize],
    (list, values): (&[CardSeries], &[Vec<f64>]),
) -> ChartTable {
    let mut table = ChartTable::new(&[("unit", AxisUnit::Count)]);
    let axis_unit = axis.scale().axis_unit;
    table.columns.extend(list.iter().map(|series| ChartTableColumn { heading: series.label.clone(), axis_unit }));
    for unit in order {
        let name: TableValue = execution.units().list()[*unit].name.as_str().into();
        let numbers = values.iter().map(|numbers| numbers.get(*unit).copied().into());
        table.rows.push([name].into_iter().chain(numbers).collect());
    }
    table
}
