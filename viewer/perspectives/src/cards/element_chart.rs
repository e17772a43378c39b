//! A panel of elements: a mark per element, where the latest event has placed it.

use tumit_viewer::query::GlobalNanos;
use tumit_viewer::text::time_display::timestamp;

use super::card_axis::CardAxis;
use super::card_panel::ElementPanel;
use super::element_history::{ElementHistory, ElementMove, MovingElement};
use super::level_chart::PanelResult;
use crate::chart::{
    AxisUnit, ChartPaint, ChartPanel, ChartTable, ChartTableColumn, LegendItem, MarkAxis, MarkChart, MarkForm,
    PanelMark,
};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::view::{TimeMode, ViewRequest};

/// Maximum number of elements that are drawn. More would be smaller than a pixel on usual screens.
const MAX_ELEMENTS: usize = 100_000;

/// The elements at a time.
struct ElementDrawing<'a> {
    history: &'a ElementHistory,
    panel: &'a ElementPanel,
    /// The factors of the coordinates.
    factors: [f64; 2],
    time: i64,
    /// The precision of times in descriptions, in nanoseconds.
    precision: i64,
}

struct PlacedElement {
    mark: PanelMark,
    start: i64,
    x: f64,
    y: f64,
    is_moving: bool,
}

/// The chart of the elements at the time cursor, or at the end of the time range.
///
/// # Errors
/// The line of the events that cannot be read, and the reason.
pub(super) fn chart(
    execution: &Execution,
    request: &ViewRequest,
    panel: &ElementPanel,
    vertical_axis: &CardAxis,
) -> Result<PanelResult, (usize, PerspectiveError)> {
    let history = ElementHistory::of(execution, &panel.events)?;
    let drawing = ElementDrawing {
        history: &history,
        panel,
        factors: [panel.horizontal_axis.scale().factor, vertical_axis.scale().factor],
        time: if request.mode == TimeMode::Range { request.range.to.0 } else { request.time.0 },
        precision: (request.range.to.0.saturating_sub(request.range.from.0) / 1000).max(1),
    };
    let mut placed: Vec<(&MovingElement, PlacedElement)> =
        history.elements.iter().filter_map(|element| Some((element, drawing.place(element)?))).collect();
    let table = table(panel, vertical_axis, &placed);
    let hidden = history.elements.len() - placed.len();
    let mut notes = Vec::new();
    if hidden > 0 {
        notes.push(format!("{hidden} of {} elements have no place yet.", history.elements.len()));
    }
    if placed.len() > MAX_ELEMENTS {
        notes.push(format!("The first {MAX_ELEMENTS} of {} elements are drawn.", placed.len()));
        placed.truncate(MAX_ELEMENTS);
    }
    // Elements that move cover the others.
    placed.sort_by_key(|(_, element)| element.is_moving);
    let marks = placed.into_iter().map(|(_, element)| element.mark).collect();
    let extents = drawing.extents();
    let label = |axis: &CardAxis, field: Option<&String>| {
        if axis.label.is_empty() { field.cloned().unwrap_or_default() } else { axis.label.clone() }
    };
    let first = panel.events.first();
    let chart = MarkChart {
        form: panel.form,
        horizontal_axis: mark_axis(
            &panel.horizontal_axis,
            &label(&panel.horizontal_axis, first.map(|list| &list.x)),
            extents[0],
            panel.form != MarkForm::Discs,
        ),
        vertical_axis: mark_axis(
            vertical_axis,
            &label(vertical_axis, first.and_then(|list| list.y.as_ref())),
            extents[1],
            panel.form == MarkForm::Cells,
        ),
        marks,
    };
    let legend = legend(execution, &history, panel);
    Ok(PanelResult { panel: ChartPanel::Marks(chart), legend, table, notes })
}

/// The meaning of the colours.
fn legend(execution: &Execution, history: &ElementHistory, panel: &ElementPanel) -> Vec<LegendItem> {
    let mut legend: Vec<LegendItem> = Vec::new();
    for (list, choice) in history.lists.iter().zip(&panel.events) {
        let field = choice.paint.field().unwrap_or(&choice.element);
        legend.extend(list.colors.legend(execution, &list.events, field));
    }
    legend.dedup();
    if let Some(paint) = panel.movement_paint {
        legend.push(LegendItem { paint, label: "moving".to_owned() });
    }
    legend
}

/// An axis of positions has all positions; an axis of values begins at 0.
fn mark_axis(axis: &CardAxis, label: &str, (minimum, maximum): (f64, f64), has_positions: bool) -> MarkAxis {
    let mut chart_axis = axis.chart_axis(label, maximum.max(-minimum));
    if has_positions {
        chart_axis.maximum = if axis.maximum.is_some() { chart_axis.maximum } else { maximum };
    }
    MarkAxis { axis: chart_axis, minimum: if has_positions { minimum } else { minimum.min(0.0) }, names: Vec::new() }
}

impl ElementDrawing<'_> {
    fn x(&self, movement: ElementMove) -> f64 {
        self.history.lists[movement.list].x[movement.index] * self.factors[0]
    }

    fn y(&self, movement: ElementMove) -> f64 {
        self.history.lists[movement.list].y.as_ref().map_or(0.0, |y| y[movement.index] * self.factors[1])
    }

    /// An element at the time cursor. It moves from its earlier place to the new one during the
    /// glide after its event.
    #[expect(clippy::cast_precision_loss, reason = "a position in an image")]
    fn place(&self, element: &MovingElement) -> Option<PlacedElement> {
        let (last, before) = element.moves_at(self.time)?;
        let list = &self.history.lists[last.list];
        let (mut x, mut y) = (self.x(last), self.y(last));
        let nanos = self.time.saturating_sub(last.time);
        let from = before.map(|before| (self.x(before), self.y(before)));
        let from = from.filter(|from| nanos < self.panel.glide && *from != (x, y));
        if let Some((from_x, from_y)) = from {
            let fraction = nanos as f64 / self.panel.glide as f64;
            x = from_x + (x - from_x) * fraction;
            y = from_y + (y - from_y) * fraction;
        }
        let number = tumit_viewer::scene::number;
        let time = timestamp(GlobalNanos(last.time), self.precision);
        let has_y = list.y.is_some();
        let place =
            if has_y { format!("{}, {}", number(self.x(last)), number(self.y(last))) } else { number(self.x(last)) };
        let paint = list.colors.paint(&list.events, last.index);
        let paint: ChartPaint = if from.is_some() { self.panel.movement_paint.unwrap_or(paint) } else { paint };
        let mark = PanelMark {
            x,
            y,
            paint,
            text: list.text(last.index).to_owned(),
            title: format!("{}: {place} since {time}", element.name),
        };
        Some(PlacedElement { mark, start: last.time, x: self.x(last), y: self.y(last), is_moving: from.is_some() })
    }

    /// The smallest and largest coordinates of all moves, so that the axes stay while the time
    /// moves.
    fn extents(&self) -> [(f64, f64); 2] {
        let mut extents = [(f64::INFINITY, f64::NEG_INFINITY); 2];
        for movement in self.history.elements.iter().flat_map(|element| &element.moves) {
            for (extent, number) in extents.iter_mut().zip([self.x(*movement), self.y(*movement)]) {
                *extent = (extent.0.min(number), extent.1.max(number));
            }
        }
        extents.map(|extent| if extent.0 <= extent.1 { extent } else { (0.0, 1.0) })
    }
}

/// A row per element.
fn table(panel: &ElementPanel, vertical_axis: &CardAxis, elements: &[(&MovingElement, PlacedElement)]) -> ChartTable {
    let first = panel.events.first();
    let mut table = ChartTable::new(&[("element", AxisUnit::Count), ("since", AxisUnit::Nanos)]);
    let mut column = |axis: &CardAxis, field: &str| {
        let heading = if axis.label.is_empty() { field } else { &axis.label };
        table.columns.push(ChartTableColumn { heading: heading.to_owned(), axis_unit: axis.scale().axis_unit });
    };
    column(&panel.horizontal_axis, first.map_or("x", |list| &list.x));
    let y = first.and_then(|list| list.y.as_deref());
    if let Some(y) = y {
        column(vertical_axis, y);
    }
    for (element, place) in elements {
        #[expect(clippy::cast_precision_loss, reason = "CSV has times as decimal numbers")]
        let since = place.start as f64;
        let mut row = vec![element.name.as_str().into(), since.into(), place.x.into()];
        row.extend(y.map(|_| place.y.into()));
        table.rows.push(row);
    }
    table
}
