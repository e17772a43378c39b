//! [`CardMarks`] and [`CardElements`]: the events of a panel, and their drawing.

use super::card_fault::CardFault;
use super::card_paint::CardPaint;
use super::card_table::CardTable;
use super::event_choice::EntityChoice;
use crate::chart::ChartPaint;

/// The events of a panel of marks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CardMarks {
    /// Their line in the file.
    pub(super) line: usize,
    pub(super) label: String,
    pub(super) events: EntityChoice,
    pub(super) x: MarkPlace,
    pub(super) y: MarkPlace,
    pub(super) paint: CardPaint,
}

/// A coordinate of a mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MarkPlace {
    /// The timestamp of the event.
    Time,
    /// A field of the event.
    Field(String),
    /// The name of its container.
    Container,
    /// The name of the unit that contains it.
    Unit,
    /// The name of its value.
    Value,
}

impl MarkPlace {
    fn read<'t>(table: &CardTable<'t>, key: &'t str, words: &[(&str, PlaceWord)]) -> Result<Option<Self>, CardFault> {
        let (text, rule) = table.text_or_table(key)?;
        if let Some(text) = text {
            let word = table.choose(key, &text, words).map_err(|mut fault| {
                fault.problem.push_str(&format!("; a field is `{key} = {{ field = \"NAME\" }}`"));
                fault
            })?;
            return Ok(Some(match word {
                PlaceWord::Time => Self::Time,
                PlaceWord::Container => Self::Container,
                PlaceWord::Unit => Self::Unit,
                PlaceWord::Value => Self::Value,
            }));
        }
        let Some(rule) = rule else { return Ok(None) };
        rule.expect_keys(&["field"])?;
        Ok(Some(Self::Field(rule.required_name("field", "field = \"bytes\"")?)))
    }

    /// The name of the quantity.
    pub(super) fn label(&self) -> &str {
        match self {
            Self::Time => "time",
            Self::Field(field) => field,
            Self::Container => "container",
            Self::Unit => "unit",
            Self::Value => "value",
        }
    }

    /// Whether its values are names.
    pub(super) fn has_names(&self) -> bool {
        matches!(self, Self::Container | Self::Unit | Self::Value)
    }
}

/// A word for a coordinate.
#[derive(Clone, Copy, Debug)]
enum PlaceWord {
    Time,
    Container,
    Unit,
    Value,
}

impl CardMarks {
    pub(super) fn read(table: &CardTable<'_>, number: u8) -> Result<Self, CardFault> {
        table.expect_keys(&["type", "value", "container", "label", "x", "y", "color"])?;
        let events = EntityChoice::read(table)?;
        let names = [("container", PlaceWord::Container), ("unit", PlaceWord::Unit), ("value", PlaceWord::Value)];
        let label = table.text_or_empty("label")?;
        let pattern = events.value.as_ref().or(events.ty.as_ref()).map_or("events", |pattern| pattern.as_str());
        Ok(Self {
            line: table.line(),
            label: if label.is_empty() { pattern.to_owned() } else { label },
            x: MarkPlace::read(table, "x", &[("time", PlaceWord::Time)])?.unwrap_or(MarkPlace::Time),
            y: MarkPlace::read(table, "y", &names)?.unwrap_or(MarkPlace::Container),
            paint: CardPaint::read(table, "color")?.unwrap_or(CardPaint::Fixed(ChartPaint::Series(number))),
            events,
        })
    }
}

/// The events that place elements: each event places one element.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CardElements {
    /// Their line in the file.
    pub(super) line: usize,
    pub(super) events: EntityChoice,
    /// The field that identifies the element.
    pub(super) element: String,
    /// The fields with its position and value.
    pub(super) x: String,
    pub(super) y: Option<String>,
    pub(super) paint: CardPaint,
    /// The field with the text inside the mark.
    pub(super) text: Option<String>,
}

impl CardElements {
    pub(super) fn read(table: &CardTable<'_>) -> Result<Self, CardFault> {
        table.expect_keys(&["type", "value", "container", "element", "x", "y", "color", "text"])?;
        let optional = |key: &str| Ok(table.text(key)?.map(|text| text.value));
        Ok(Self {
            line: table.line(),
            events: EntityChoice::read(table)?,
            element: table.required_name("element", "element = \"id\"")?,
            x: table.required_name("x", "x = \"position\"")?,
            y: optional("y")?,
            paint: CardPaint::read(table, "color")?.unwrap_or(CardPaint::Fixed(ChartPaint::Now)),
            text: optional("text")?,
        })
    }
}
