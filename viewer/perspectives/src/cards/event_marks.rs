//! A panel of marks: a mark per event, by time or in a plane of two fields.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use tumit_viewer::query::{ContainerId, TimeRange, ValueId};

use super::card_axis::{CardAxis, NumberScale};
use super::event_list::EventList;
use super::level_chart::PanelResult;
use super::mark_choice::{CardMarks, MarkPlace};
use super::mark_colors::MarkColors;
use crate::chart::{
    AxisUnit, ChartPanel, ChartTable, ChartTableColumn, MarkAxis, MarkChart, MarkForm, PanelMark, ScatterChart,
    ScatterPoint, TableValue,
};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::view::{TimeMode, ViewRequest};

/// Maximum number of marks of a panel. More marks cover each other, and make the image large.
const MAX_MARKS: usize = 200_000;

/// The coordinates of all events of a list.
enum PlaceColumn {
    Time,
    Numbers(Arc<Vec<f64>>, f64),
    /// Indexes of names, `u32::MAX` for none.
    Names(Vec<u32>),
}

/// Names in the order in which they are first needed.
#[derive(Default)]
struct AxisNames {
    names: Vec<String>,
    numbers: FxHashMap<u64, u32>,
}

impl AxisNames {
    fn number(&mut self, key: u64, name: impl FnOnce() -> String) -> u32 {
        let next = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        *self.numbers.entry(key).or_insert_with(|| {
            self.names.push(name());
            next
        })
    }
}

/// The events of one choice.
struct PlacedEventList {
    events: Arc<EventList>,
    colors: MarkColors,
    x: PlaceColumn,
    y: PlaceColumn,
    label: String,
}

impl PlaceColumn {
    #[expect(clippy::cast_precision_loss, reason = "a position in an image")]
    fn number(&self, events: &EventList, index: usize) -> Option<f64> {
        let number = match self {
            Self::Time => events.times[index] as f64,
            Self::Numbers(numbers, factor) => numbers[index] * factor,
            Self::Names(names) => return (names[index] != u32::MAX).then(|| f64::from(names[index])),
        };
        number.is_finite().then_some(number)
    }
}

fn place_column(
    execution: &Execution,
    events: &EventList,
    place: &MarkPlace,
    scale: NumberScale,
    names: &mut AxisNames,
) -> Result<PlaceColumn, PerspectiveError> {
    let model = execution.model();
    Ok(match place {
        MarkPlace::Time => PlaceColumn::Time,
        MarkPlace::Field(field) => PlaceColumn::Numbers(events.numbers(execution, field)?, scale.factor),
        MarkPlace::Container => {
            let containers = execution.source().containers();
            let by_id: FxHashMap<_, _> = containers.iter().map(|info| (info.id, info.name.as_str())).collect();
            // The names are in the order of the trace.
            let mut used: Vec<_> = events.containers.clone();
            used.sort_unstable();
            used.dedup();
            let used: FxHashSet<_> = used.into_iter().collect();
            for info in containers.iter().filter(|info| used.contains(&info.id)) {
                names.number(u64::from(info.id.0), || info.name.clone());
            }
            let name = |id: &ContainerId| by_id.get(id).map_or_else(String::new, |name| (*name).to_owned());
            PlaceColumn::Names(events.containers.iter().map(|id| names.number(u64::from(id.0), || name(id))).collect())
        }
        MarkPlace::Unit => {
            for (unit, info) in (0..).zip(execution.units().list()) {
                names.number(unit, || info.name.clone());
            }
            let owner = |id: &ContainerId| execution.units().owner(*id).unwrap_or(u32::MAX);
            PlaceColumn::Names(events.containers.iter().map(owner).collect())
        }
        MarkPlace::Value => {
            let name = |value: &ValueId| {
                names.number(u64::from(value.0), || {
                    model.values.get(value.index()).map_or_else(String::new, |info| info.name.clone())
                })
            };
            PlaceColumn::Names(events.values.iter().map(name).collect())
        }
    })
}

/// The events that a request shows: those of the time range, or those up to the time cursor.
fn visible_events(
    execution: &Execution,
    request: &ViewRequest,
    events: &EventList,
    is_timed: bool,
) -> std::ops::Range<usize> {
    let range: TimeRange = request.visible_range();
    // A time range that ends with the trace contains the last timestamp.
    let mut end = if range.to >= execution.extent().to { range.to.0 } else { range.to.0.saturating_sub(1) };
    if request.mode == TimeMode::At && !is_timed {
        end = end.min(request.time.0);
    }
    let first = events.times.partition_point(|time| *time < range.from.0);
    first..events.count_until(end).max(first)
}

/// The chart of some choices of events.
///
/// # Errors
/// The line of the choice that cannot be drawn, and the reason.
pub(super) fn chart(
    execution: &Execution,
    request: &ViewRequest,
    choices: &[CardMarks],
    (horizontal_axis, vertical): (&CardAxis, &CardAxis),
) -> Result<PanelResult, (usize, PerspectiveError)> {
    let (mut lists, mut names) = (Vec::new(), AxisNames::default());
    for choice in choices {
        let mut read = || -> Result<PlacedEventList, PerspectiveError> {
            let events = EventList::of(execution, &choice.events)?;
            let colors = MarkColors::new(execution, &events, &choice.paint)?;
            let x = place_column(execution, &events, &choice.x, horizontal_axis.scale(), &mut AxisNames::default())?;
            let y = place_column(execution, &events, &choice.y, vertical.scale(), &mut names)?;
            Ok(PlacedEventList { events, colors, x, y, label: choice.label.clone() })
        };
        lists.push(read().map_err(|error| (choice.line, error))?);
    }
    let is_timed = choices.first().is_none_or(|choice| choice.x == MarkPlace::Time);
    let marks = marks(execution, request, &lists, is_timed);
    let legend = lists.iter().flat_map(|list| list.colors.legend(execution, &list.events, &list.label)).collect();
    let table = table(choices, &lists, &marks, (horizontal_axis, vertical), &names.names);
    let total: usize = lists.iter().map(|list| visible_events(execution, request, &list.events, is_timed).len()).sum();
    let mut notes = Vec::new();
    if total > marks.len() {
        notes.push(format!(
            "{} of {total} events are drawn: the others lack a field, or are too many. Choose a shorter time range.",
            marks.len()
        ));
    }
    let label = |place: Option<&MarkPlace>| place.map_or("", MarkPlace::label).to_owned();
    let y_label = label(choices.first().map(|choice| &choice.y));
    let x_label = label(choices.first().map(|choice| &choice.x));
    let largest = |column: fn(&PlacedEventList) -> &PlaceColumn| extent(&lists, column);
    let (_, top) = largest(|list| &list.y);
    let vertical_axis = vertical.chart_axis(&y_label, top);
    let panel = if is_timed {
        scatter(request, &lists, &marks, vertical_axis, names.names)
    } else {
        let (left, right) = largest(|list| &list.x);
        let (bottom, _) = largest(|list| &list.y);
        let horizontal_axis = MarkAxis {
            axis: horizontal_axis.chart_axis(&x_label, right.max(-left)),
            minimum: left.min(0.0),
            names: Vec::new(),
        };
        let is_named = !names.names.is_empty();
        #[expect(clippy::cast_precision_loss, reason = "a number of names")]
        let last = names.names.len().saturating_sub(1) as f64;
        let mut vertical =
            MarkAxis { axis: vertical_axis, minimum: if is_named { 0.0 } else { bottom.min(0.0) }, names: names.names };
        if is_named {
            vertical.axis.maximum = last;
        } else {
            vertical.axis.maximum = vertical.axis.maximum.max(-bottom);
        }
        ChartPanel::Marks(MarkChart {
            form: MarkForm::Discs,
            horizontal_axis,
            vertical_axis: vertical,
            marks: plane_marks(&lists, &marks),
        })
    };
    Ok(PanelResult { panel, legend, table, notes })
}

/// An event of a list, with its coordinates.
struct PlacedEvent {
    list: usize,
    index: usize,
    x: f64,
    y: f64,
}

fn marks(execution: &Execution, request: &ViewRequest, lists: &[PlacedEventList], is_timed: bool) -> Vec<PlacedEvent> {
    let mut marks = Vec::new();
    for (number, list) in lists.iter().enumerate() {
        for index in visible_events(execution, request, &list.events, is_timed) {
            let (Some(x), Some(y)) = (list.x.number(&list.events, index), list.y.number(&list.events, index)) else {
                continue;
            };
            if marks.len() < MAX_MARKS {
                marks.push(PlacedEvent { list: number, index, x, y });
            }
        }
    }
    marks
}

/// The smallest and largest coordinate of all events of the trace, so that the axis stays while the
/// time moves.
fn extent(lists: &[PlacedEventList], column: fn(&PlacedEventList) -> &PlaceColumn) -> (f64, f64) {
    let mut extent = (0.0_f64, 0.0_f64);
    for list in lists {
        if let PlaceColumn::Numbers(numbers, factor) = column(list) {
            for number in numbers.iter().map(|number| number * factor).filter(|number| number.is_finite()) {
                extent = (extent.0.min(number), extent.1.max(number));
            }
        }
    }
    extent
}

fn scatter(
    request: &ViewRequest,
    lists: &[PlacedEventList],
    marks: &[PlacedEvent],
    axis: crate::chart::ChartAxis,
    categories: Vec<String>,
) -> ChartPanel {
    let range = request.visible_range();
    let point = |mark: &PlacedEvent| {
        let list = &lists[mark.list];
        ScatterPoint {
            time: list.events.times[mark.index],
            value: mark.y,
            paint: list.colors.paint(&list.events, mark.index),
            entity: Some(list.events.entity(mark.index)),
        }
    };
    ChartPanel::Scatter(ScatterChart {
        from: range.from.0,
        to: range.to.0.max(range.from.0.saturating_add(1)),
        cursor: (range.from.0..=range.to.0).contains(&request.time.0).then_some(request.time.0),
        axis,
        categories,
        points: marks.iter().map(point).collect(),
    })
}

fn plane_marks(lists: &[PlacedEventList], marks: &[PlacedEvent]) -> Vec<PanelMark> {
    let number = tumit_viewer::scene::number;
    let mark = |mark: &PlacedEvent| {
        let list = &lists[mark.list];
        PanelMark {
            x: mark.x,
            y: mark.y,
            paint: list.colors.paint(&list.events, mark.index),
            text: String::new(),
            title: format!("{}: {}, {}", list.label, number(mark.x), number(mark.y)),
        }
    };
    marks.iter().map(mark).collect()
}

/// A row per mark.
fn table(
    choices: &[CardMarks],
    lists: &[PlacedEventList],
    marks: &[PlacedEvent],
    (horizontal_axis, vertical_axis): (&CardAxis, &CardAxis),
    names: &[String],
) -> ChartTable {
    let mut table = ChartTable::new(&[("events", AxisUnit::Count), ("time", AxisUnit::Nanos)]);
    let Some(first) = choices.first() else { return table };
    let heading = |axis: &CardAxis, place: &MarkPlace| {
        if axis.label.is_empty() { place.label().to_owned() } else { axis.label.clone() }
    };
    if first.x != MarkPlace::Time {
        table.columns.push(ChartTableColumn {
            heading: heading(horizontal_axis, &first.x),
            axis_unit: horizontal_axis.scale().axis_unit,
        });
    }
    let axis_unit = if first.y.has_names() { AxisUnit::Count } else { vertical_axis.scale().axis_unit };
    table.columns.push(ChartTableColumn { heading: heading(vertical_axis, &first.y), axis_unit });
    for mark in marks {
        let list = &lists[mark.list];
        #[expect(clippy::cast_precision_loss, reason = "CSV has times as decimal numbers")]
        let time = list.events.times[mark.index] as f64;
        let mut row: Vec<TableValue> = vec![list.label.as_str().into(), time.into()];
        if first.x != MarkPlace::Time {
            row.push(mark.x.into());
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index of a name")]
        let name = || names.get(mark.y as usize);
        row.push(match first.y.has_names() {
            true => name().map_or(TableValue::Absent, |name| name.as_str().into()),
            false => mark.y.into(),
        });
        table.rows.push(row);
    }
    table
}
