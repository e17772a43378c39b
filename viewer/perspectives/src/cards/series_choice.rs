//! [`CardSeries`]: a series of numbers over time, or of one number per unit.

use tumit_paje::category::ActivityCategory;

use super::card_axis::NumberScale;
use super::card_fault::{CardFault, alternatives, suggestion};
use super::card_paint;
use super::card_table::CardTable;
use super::combined_steps::Combination;
use super::event_choice::{CHOICE_KEYS, EntityChoice};
use crate::chart::{AxisUnit, ChartPaint};
use crate::options::MessageMeasure;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct CardSeries {
    /// Its line in the file.
    pub(super) line: usize,
    pub(super) label: String,
    pub(super) paint: ChartPaint,
    pub(super) data: SeriesData,
    /// How the numbers of several containers become one.
    pub(super) combination: Combination,
    /// The number that a bar shows.
    pub(super) shown_number: ShownNumber,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum SeriesData {
    Category(ActivityCategory),
    /// The messages or bytes that were sent and not yet received.
    Pending(MessageMeasure),
    States(EntityChoice),
    /// The values of variables.
    Variable(EntityChoice),
    Events(EntityChoice),
    /// A field of the latest events.
    Field {
        events: EntityChoice,
        field: String,
    },
}

/// The number that a bar shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShownNumber {
    /// The time in a category or state.
    Time,
    /// This time as a percentage of the time range.
    Percent,
    Last,
    /// The mean over time.
    Mean,
    Smallest,
    Largest,
    /// The sum of the fields of all events.
    Sum,
    Count,
}

const COMBINATIONS: [(&str, Combination); 4] = [
    ("sum", Combination::Sum),
    ("mean", Combination::Mean),
    ("smallest", Combination::Smallest),
    ("largest", Combination::Largest),
];

const TIMES: [(&str, ShownNumber); 2] = [("time", ShownNumber::Time), ("percent", ShownNumber::Percent)];
const VALUES: [(&str, ShownNumber); 5] = [
    ("last", ShownNumber::Last),
    ("mean", ShownNumber::Mean),
    ("smallest", ShownNumber::Smallest),
    ("largest", ShownNumber::Largest),
    ("sum", ShownNumber::Sum),
];
const COUNTS: [(&str, ShownNumber); 1] = [("count", ShownNumber::Count)];

const KINDS: [&str; 6] = ["category", "pending", "states", "variable", "events", "field"];

impl CardSeries {
    /// Reads a series of a panel of levels, or of bars.
    pub(super) fn read(table: &CardTable<'_>, is_bar: bool, number: u8) -> Result<Self, CardFault> {
        let of = table.text("of")?.ok_or_else(|| table.missing_key("of", "of = \"variable\""))?;
        let Some(kind) = KINDS.into_iter().find(|kind| *kind == of.value) else {
            let (known, near) = (alternatives(&KINDS), suggestion(&of.value, &KINDS));
            return Err(table.fault(&of.place, format!("`of` is `{}`; expected {known}{near}", of.value)));
        };
        let (own, shown): (&[&str], &[(&str, ShownNumber)]) = match kind {
            "category" => (&["category"], &TIMES),
            "pending" => (&["measure"], &VALUES[..4]),
            "states" => (&CHOICE_KEYS, &TIMES),
            "variable" => (&["variable", "container", "combine"], &VALUES[..4]),
            "events" => (&CHOICE_KEYS, &COUNTS),
            _ => (&["field", "type", "value", "container", "combine"], &VALUES),
        };
        let mut keys = [&["of"], own, &["label", "color"]].concat();
        if is_bar {
            keys.push("show");
        }
        table.expect_keys(&keys)?;
        let (data, label, paint) = Self::read_data(table, kind, number)?;
        let chosen_label = table.text_or_empty("label")?;
        Ok(Self {
            line: table.line(),
            label: if chosen_label.is_empty() { label } else { chosen_label },
            paint: card_paint::single_color(table, "color")?.unwrap_or(paint),
            data,
            combination: table.word("combine", &COMBINATIONS)?.unwrap_or_default(),
            shown_number: table.word("show", shown)?.unwrap_or(shown[0].1),
        })
    }

    /// The data of a series, with its usual label and paint.
    fn read_data(table: &CardTable<'_>, kind: &str, number: u8) -> Result<(SeriesData, String, ChartPaint), CardFault> {
        let paint = ChartPaint::Series(number);
        let named = |choice: &EntityChoice, kind: &str| {
            let pattern = choice.value.as_ref().or(choice.ty.as_ref());
            pattern.map_or_else(|| kind.to_owned(), |pattern| pattern.as_str().to_owned())
        };
        Ok(match kind {
            "category" => {
                let category = table.word("category", &ActivityCategory::WORDS[..3])?;
                let category = category.ok_or_else(|| table.missing_key("category", "category = \"busy\""))?;
                let label = category.word().to_owned();
                (SeriesData::Category(category), label, ChartPaint::Category(category))
            }
            "pending" => {
                let words = [("messages", MessageMeasure::Messages), ("bytes", MessageMeasure::Bytes)];
                let measure = table.word("measure", &words)?.unwrap_or_default();
                let word = if measure == MessageMeasure::Bytes { "bytes" } else { "messages" };
                (SeriesData::Pending(measure), format!("pending {word}"), paint)
            }
            "states" => {
                let choice = EntityChoice::read(table)?;
                let label = named(&choice, "states");
                (SeriesData::States(choice), label, paint)
            }
            "variable" => {
                let name = table.required_name("variable", "variable = \"Load\"")?;
                let choice = EntityChoice { container: table.pattern("container")?, ..EntityChoice::default() };
                let choice = EntityChoice { ty: Some(tumit_viewer::filter::NamePattern::new(&*name)), ..choice };
                (SeriesData::Variable(choice), name, paint)
            }
            "events" => {
                let choice = EntityChoice::read(table)?;
                let label = named(&choice, "events");
                (SeriesData::Events(choice), label, paint)
            }
            _ => {
                let field = table.required_name("field", "field = \"bytes\"")?;
                (SeriesData::Field { events: EntityChoice::read(table)?, field: field.clone() }, field, paint)
            }
        })
    }

    /// The unit of measurement of the numbers. `None` if the axis determines it.
    pub(super) fn number_scale(&self, is_bar: bool) -> Option<NumberScale> {
        let axis_unit = match (&self.data, self.shown_number) {
            (SeriesData::Variable(_) | SeriesData::Field { .. }, _) => return None,
            (SeriesData::Category(_) | SeriesData::States(_), ShownNumber::Percent) => AxisUnit::Percent,
            (SeriesData::Category(_) | SeriesData::States(_), _) if is_bar => AxisUnit::Nanos,
            (SeriesData::Pending(MessageMeasure::Bytes), _) => AxisUnit::Bytes,
            _ => AxisUnit::Count,
        };
        Some(NumberScale::of(axis_unit))
    }
}
