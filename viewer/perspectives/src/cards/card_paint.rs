//! [`CardPaint`]: the colours of a card file.

use tumit_paje::category::ActivityCategory;
use tumit_viewer::query::RgbColor;

use super::card_fault::CardFault;
use super::card_table::{CardTable, CardValue};
use crate::chart::ChartPaint;

/// The colour of marks and elements.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CardPaint {
    /// One colour for all.
    Fixed(ChartPaint),
    /// The colour of the event's value in the trace.
    Value,
    /// A colour per unit.
    Unit,
    /// A colour per value of a field.
    Distinct(String),
    /// A scale of colours from the smallest to the largest number of a field.
    Gradient(String),
}

/// Colours with a meaning. The theme determines the colours themselves.
const NAMES: [(&str, ChartPaint); 15] = [
    ("busy", ChartPaint::Category(ActivityCategory::Busy)),
    ("overhead", ChartPaint::Category(ActivityCategory::Overhead)),
    ("idle", ChartPaint::Category(ActivityCategory::Idle)),
    ("now", ChartPaint::Now),
    ("maximum", ChartPaint::Maximum),
    ("emphasis", ChartPaint::Emphasis),
    ("faint", ChartPaint::Faint),
    ("1", ChartPaint::Series(0)),
    ("2", ChartPaint::Series(1)),
    ("3", ChartPaint::Series(2)),
    ("4", ChartPaint::Series(3)),
    ("5", ChartPaint::Series(4)),
    ("6", ChartPaint::Series(5)),
    ("small", ChartPaint::Size(0.0)),
    ("large", ChartPaint::Size(1.0)),
];

/// A colour of the form `#rrggbb`.
fn hex_color(text: &str) -> Option<RgbColor> {
    let digits = text.strip_prefix('#')?;
    let code = u32::from_str_radix(digits, 16).ok().filter(|_| digits.len() == 6 && digits.is_ascii())?;
    let [_, red, green, blue] = code.to_be_bytes();
    Some(RgbColor { red, green, blue })
}

/// Reads one colour.
fn of_text(table: &CardTable<'_>, key: &str, text: &CardValue<String>) -> Result<ChartPaint, CardFault> {
    if let Some(color) = hex_color(&text.value) {
        return Ok(ChartPaint::Fixed(color));
    }
    table.choose(key, text, &NAMES).map_err(|mut fault| {
        fault.problem.push_str("; `#1f5f9f` is a colour by its red, green and blue");
        fault
    })
}

/// One colour for all, such as `color = "busy"`.
pub(super) fn single_color(table: &CardTable<'_>, key: &str) -> Result<Option<ChartPaint>, CardFault> {
    table.text(key)?.map(|text| of_text(table, key, &text)).transpose()
}

impl CardPaint {
    /// Reads a colour, or a rule for colours such as `color = { field = "owner" }`.
    pub(super) fn read<'t>(table: &CardTable<'t>, key: &'t str) -> Result<Option<Self>, CardFault> {
        let (text, rule) = table.text_or_table(key)?;
        if let Some(text) = text {
            return Ok(Some(Self::Fixed(of_text(table, key, &text)?)));
        }
        let Some(rule) = rule else { return Ok(None) };
        rule.expect_keys(&["by", "field", "scale"])?;
        let by_value = rule.word("by", &[("value", true), ("unit", false)])?;
        let is_gradient = rule.word("scale", &[("distinct", false), ("gradient", true)])?;
        match (by_value, rule.text("field")?) {
            (Some(_), Some(field)) => {
                Err(rule.fault(&field.place, "a colour has one of the keys `by` and `field`, not both"))
            }
            (Some(_), None) if is_gradient.is_some() => {
                Err(rule
                    .fault(&rule.place(), "`scale` needs a field: write `{ field = \"NAME\", scale = \"gradient\" }`"))
            }
            (Some(by_value), None) => Ok(Some(if by_value { Self::Value } else { Self::Unit })),
            (None, Some(field)) if is_gradient == Some(true) => Ok(Some(Self::Gradient(field.value))),
            (None, Some(field)) => Ok(Some(Self::Distinct(field.value))),
            (None, None) => Err(rule.missing_key("field", "field = \"owner\"")),
        }
    }

    /// The field that determines the colour.
    pub(super) fn field(&self) -> Option<&str> {
        match self {
            Self::Distinct(field) | Self::Gradient(field) => Some(field),
            Self::Fixed(_) | Self::Value | Self::Unit => None,
        }
    }
}
