//! [`CardPanel`]: a panel of a card file.

use super::card_axis::CardAxis;
use super::card_fault::CardFault;
use super::card_paint;
use super::card_table::CardTable;
use super::mark_choice::{CardElements, CardMarks, MarkPlace};
use super::series_choice::CardSeries;
use crate::chart::{AxisUnit, ChartPaint, MarkForm};

/// Maximum number of series, or of choices of events, in a panel. A mistake in a generated file
/// then does not start long computations.
const MAX_SERIES: usize = 24;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct CardPanel {
    pub(super) title: String,
    /// The vertical axis, or the axis of the values.
    pub(super) axis: CardAxis,
    pub(super) contents: PanelContents,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum PanelContents {
    /// Numbers over time.
    Levels { series: Vec<CardSeries>, is_stacked: bool },
    /// Bars, one per unit.
    Bars { series: Vec<CardSeries> },
    /// A mark per event.
    Marks { events: Vec<CardMarks>, horizontal_axis: CardAxis },
    /// A mark per element, where the latest event has placed it.
    Elements(ElementPanel),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct ElementPanel {
    pub(super) events: Vec<CardElements>,
    pub(super) form: MarkForm,
    pub(super) horizontal_axis: CardAxis,
    /// The duration of a move in nanoseconds.
    pub(super) glide: i64,
    pub(super) movement_paint: Option<ChartPaint>,
}

#[derive(Clone, Copy, Debug)]
enum PanelKind {
    Levels,
    Bars,
    Marks,
    Elements,
}

const KINDS: [(&str, PanelKind); 4] = [
    ("levels", PanelKind::Levels),
    ("bars", PanelKind::Bars),
    ("marks", PanelKind::Marks),
    ("elements", PanelKind::Elements),
];

impl CardPanel {
    pub(super) fn read(table: &CardTable<'_>) -> Result<Self, CardFault> {
        let kind = table.word("kind", &KINDS)?.ok_or_else(|| table.missing_key("kind", "kind = \"levels\""))?;
        let (axis, contents) = match kind {
            PanelKind::Levels => {
                table.expect_keys(&["kind", "title", "axis", "stacked", "series"])?;
                let (axis, series) = read_series(table, false)?;
                (axis, PanelContents::Levels { series, is_stacked: table.flag("stacked")? })
            }
            PanelKind::Bars => {
                table.expect_keys(&["kind", "title", "axis", "series"])?;
                let (axis, series) = read_series(table, true)?;
                (axis, PanelContents::Bars { series })
            }
            PanelKind::Marks => {
                table.expect_keys(&["kind", "title", "horizontal", "vertical", "events"])?;
                (CardAxis::read(table, "vertical")?, read_marks(table)?)
            }
            PanelKind::Elements => {
                let keys = ["kind", "title", "shape", "glide", "moving", "horizontal", "vertical", "events"];
                table.expect_keys(&keys)?;
                (CardAxis::read(table, "vertical")?, PanelContents::Elements(ElementPanel::read(table)?))
            }
        };
        Ok(Self { title: table.text_or_empty("title")?, axis, contents })
    }
}

/// The name of a unit in messages.
fn unit_word(axis_unit: AxisUnit) -> &'static str {
    match axis_unit {
        AxisUnit::Count => "numbers",
        AxisUnit::Bytes => "bytes",
        AxisUnit::Nanos => "times",
        AxisUnit::Percent => "percentages",
    }
}

/// The number of a colour of a series.
fn color_number(index: usize) -> u8 {
    u8::try_from(index % 6).unwrap_or(0)
}

/// The series of a panel, with their common axis.
fn read_series(table: &CardTable<'_>, is_bar: bool) -> Result<(CardAxis, Vec<CardSeries>), CardFault> {
    let mut axis = CardAxis::read(table, "axis")?;
    let mut series = Vec::new();
    for (index, item) in table.tables("series", "panel.series", MAX_SERIES)?.iter().enumerate() {
        let read = CardSeries::read(item, is_bar, color_number(index))?;
        if let Some(scale) = read.number_scale(is_bar) {
            // The data determines the unit of measurement of these series.
            let common = axis.scale.get_or_insert(scale);
            if common.axis_unit != scale.axis_unit {
                let problem = format!(
                    "the series `{}` shows {}, but the axis shows {}; use a panel for each unit of measurement",
                    read.label,
                    unit_word(scale.axis_unit),
                    unit_word(common.axis_unit)
                );
                return Err(item.fault(&item.place(), problem));
            }
        }
        series.push(read);
    }
    Ok((axis, series))
}

fn read_marks(table: &CardTable<'_>) -> Result<PanelContents, CardFault> {
    let mut events: Vec<CardMarks> = Vec::new();
    for (index, item) in table.tables("events", "panel.events", MAX_SERIES)?.iter().enumerate() {
        let read = CardMarks::read(item, color_number(index))?;
        if let Some(first) = events.first() {
            let differs = |a: &MarkPlace, b: &MarkPlace| {
                (a == &MarkPlace::Time) != (b == &MarkPlace::Time) || (a.has_names() || b.has_names()) && a != b
            };
            if differs(&first.x, &read.x) || differs(&first.y, &read.y) {
                let problem = format!(
                    "all events of a panel have the same axes; `{}` and `{}` differ from `{}` and `{}`",
                    read.x.label(),
                    read.y.label(),
                    first.x.label(),
                    first.y.label()
                );
                return Err(item.fault(&item.place(), problem));
            }
        }
        events.push(read);
    }
    Ok(PanelContents::Marks { events, horizontal_axis: CardAxis::read(table, "horizontal")? })
}

impl ElementPanel {
    fn read(table: &CardTable<'_>) -> Result<Self, CardFault> {
        let forms = [("bars", MarkForm::Bars), ("cells", MarkForm::Cells), ("discs", MarkForm::Discs)];
        let form = table.word("shape", &forms)?.unwrap_or(MarkForm::Bars);
        let tables = table.tables("events", "panel.events", MAX_SERIES)?;
        let events = tables.iter().map(CardElements::read).collect::<Result<Vec<_>, _>>()?;
        for (list, list_table) in events.iter().zip(&tables) {
            if list.y.is_none() && form != MarkForm::Cells {
                return Err(list_table.missing_key("y", "y = \"value\""));
            }
        }
        Ok(Self {
            events,
            form,
            horizontal_axis: CardAxis::read(table, "horizontal")?,
            glide: table.duration("glide")?.unwrap_or(0),
            movement_paint: card_paint::single_color(table, "moving")?,
        })
    }
}
