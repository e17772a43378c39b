//! [`TrafficView`] (G7): the pending messages or bytes over time.

use std::borrow::Cow;

use crate::chart::{
    AxisUnit, ChartAxis, ChartPaint, ChartPanel, ChartTable, LegendItem, LevelChart, LevelExtremes, LevelSeries,
    TableValue, TitledPanel, ViewChart,
};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::messages::PendingSteps;
use crate::execution::step_function::StepColumn;
use crate::options::MessageDirection;
use crate::view::{PerspectiveView, TimeMode, ViewGroup, ViewInfo, ViewRequest};
use crate::views::captions;
use crate::views::measured_messages::{MeasuredMessages, signed_number};

/// The pending messages or bytes over time, of all units or of a selected one.
pub(crate) struct TrafficView;

impl PerspectiveView for TrafficView {
    fn info(&self) -> ViewInfo<'_> {
        ViewInfo {
            name: "traffic",
            number: Some(7),
            title: "Traffic",
            group: ViewGroup::Communication,
            summary: "Messages or bytes that have been sent and not yet received, over time.",
            required_data: "links between units",
            modes: &[TimeMode::Range, TimeMode::Moving],
            options: &["measure", "unit", "direction", "width"],
        }
    }

    fn chart(&self, execution: &Execution, request: &ViewRequest) -> Result<ViewChart, PerspectiveError> {
        let measured = MeasuredMessages::new(execution, request, true)?;
        let unit = request.options.selected_unit(execution)?;
        let direction = request.options.direction;
        let steps = pending_steps(&measured, unit, direction);
        let (range, component) = (request.visible_range(), measured.component());
        let columns = steps.columns(range, request.columns.max(1));
        let (minimum, maximum) = extent(&columns, component);
        let value = |column: &StepColumn<2>| {
            let extremes = column.extremes;
            let (minimum, maximum) = (signed_number(extremes.min[component]), signed_number(extremes.max[component]));
            LevelExtremes { minimum, maximum }
        };
        let label = format!("pending {}", measured.word());
        let paint = ChartPaint::Series(0);
        let series = LevelSeries {
            label: label.clone(),
            paint,
            means: columns.iter().map(|column| column.mean[component]).collect(),
            extremes: columns.iter().map(value).collect(),
        };
        let cursor = (range.from.0..=range.to.0).contains(&request.time.0).then_some(request.time.0);
        let axis = ChartAxis::new(label.clone(), measured.axis_unit(), signed_number(maximum));
        let levels =
            LevelChart { from: range.from.0, to: range.to.0, cursor, axis, stacked: false, series: vec![series] };
        let mut notes = measured.notes();
        if unit.is_none() && direction != MessageDirection::Both {
            notes.push("The direction has no effect without a selected unit.".to_owned());
        }
        let name = unit.map(|unit| execution.units().list()[unit].name.clone());
        let scope = name.map_or_else(|| "all units".to_owned(), |name| format!("{} {name}", direction_text(direction)));
        let text = |number: i64| measured.text(number.unsigned_abs());
        let span = format!("from {} to {}", text(minimum), text(maximum));
        Ok(ViewChart {
            title: self.info().title.to_owned(),
            subtitle: captions::subtitle(&[captions::mode_caption(request), scope, span]),
            panels: vec![TitledPanel { title: String::new(), panel: ChartPanel::Levels(levels) }],
            legend: vec![LegendItem { paint, label }],
            table: table(&columns, request, &measured),
            notes,
        })
    }
}

fn direction_text(direction: MessageDirection) -> &'static str {
    match direction {
        MessageDirection::Both => "to and from",
        MessageDirection::Incoming => "to",
        MessageDirection::Outgoing => "from",
    }
}

/// The pending messages of all units, or of one.
fn pending_steps<'a>(
    messages: &MeasuredMessages<'a>,
    unit: Option<usize>,
    direction: MessageDirection,
) -> Cow<'a, PendingSteps> {
    let Some(unit) = unit.and_then(|unit| u32::try_from(unit).ok()) else {
        return Cow::Borrowed(messages.messages.pending());
    };
    let fits = |from: u32, to: Option<u32>| match direction {
        MessageDirection::Both => to == Some(unit) || from == unit,
        MessageDirection::Incoming => to == Some(unit),
        MessageDirection::Outgoing => from == unit,
    };
    Cow::Owned(messages.messages.pending_of(fits))
}

/// The smallest and largest values of all columns.
fn extent(columns: &[StepColumn<2>], component: usize) -> (i64, i64) {
    let least = columns.iter().map(|column| column.extremes.min[component]).min();
    let largest = columns.iter().map(|column| column.extremes.max[component]).max();
    (least.unwrap_or(0), largest.unwrap_or(0))
}

fn table(columns: &[StepColumn<2>], request: &ViewRequest, messages: &MeasuredMessages<'_>) -> ChartTable {
    let axis_unit = messages.axis_unit();
    let mut table = ChartTable::new(&[
        ("from, s", AxisUnit::Nanos),
        ("to, s", AxisUnit::Nanos),
        ("mean", axis_unit),
        ("smallest", axis_unit),
        ("largest", axis_unit),
    ]);
    let component = messages.component();
    let column_ranges = request.visible_range().columns(request.columns.max(1));
    table.rows.extend(column_ranges.zip(columns).map(|(column_range, column)| {
        let numbers = [
            signed_number(column_range.from.0),
            signed_number(column_range.to.0),
            column.mean[component],
            signed_number(column.extremes.min[component]),
            signed_number(column.extremes.max[component]),
        ];
        numbers.map(TableValue::Number).to_vec()
    }));
    table
}
