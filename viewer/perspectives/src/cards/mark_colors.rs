//! [`MarkColors`]: the colours of marks, with their legend.

use std::sync::Arc;

use tumit_viewer::query::RgbColor;

use super::card_paint::CardPaint;
use super::event_list::{EventList, KeyColumn};
use crate::chart::{ChartPaint, LegendItem};
use crate::error::PerspectiveError;
use crate::execution::Execution;

/// Maximum number of entries of a legend. More entries need more lines than a legend has.
const MAX_ENTRIES: usize = 12;

/// The colours of the events of a list.
#[derive(Debug)]
pub(super) enum MarkColors {
    Fixed(ChartPaint),
    Value(Vec<RgbColor>),
    Unit(Vec<Option<u32>>),
    Distinct(Arc<KeyColumn>),
    /// The numbers, the smallest one, and the difference to the largest one.
    Gradient(Arc<Vec<f64>>, f64, f64),
}

impl MarkColors {
    /// The colours of events.
    ///
    /// # Errors
    /// If no event has the field that determines the colour.
    pub(super) fn new(execution: &Execution, events: &EventList, paint: &CardPaint) -> Result<Self, PerspectiveError> {
        Ok(match paint {
            CardPaint::Fixed(paint) => Self::Fixed(*paint),
            CardPaint::Value => Self::Value(execution.model().values.iter().map(|value| value.color).collect()),
            CardPaint::Unit => {
                Self::Unit(events.containers.iter().map(|container| execution.units().owner(*container)).collect())
            }
            CardPaint::Distinct(field) => Self::Distinct(events.keys(execution, field)?),
            CardPaint::Gradient(field) => {
                let numbers = events.numbers(execution, field)?;
                let known = || numbers.iter().copied().filter(|number| !number.is_nan());
                let (least, most) = (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
                Self::Gradient(numbers, least, most - least)
            }
        })
    }

    pub(super) fn paint(&self, events: &EventList, index: usize) -> ChartPaint {
        match self {
            Self::Fixed(paint) => *paint,
            Self::Value(colors) => {
                colors.get(events.values[index].index()).map_or(ChartPaint::Faint, |color| ChartPaint::Fixed(*color))
            }
            Self::Unit(units) => units[index].map_or(ChartPaint::Faint, numbered_paint),
            Self::Distinct(column) => column.keys[index].map_or(ChartPaint::Faint, numbered_paint),
            Self::Gradient(numbers, least, range) => {
                let fraction = if *range > 0.0 { (numbers[index] - least) / range } else { 1.0 };
                #[expect(clippy::cast_possible_truncation, reason = "a number from 0 to 1")]
                let fraction = fraction as f32;
                if fraction.is_finite() { ChartPaint::Size(fraction.clamp(0.0, 1.0)) } else { ChartPaint::Absent }
            }
        }
    }

    /// The meaning of the colours. `label` is the name of the events.
    pub(super) fn legend(&self, execution: &Execution, events: &EventList, label: &str) -> Vec<LegendItem> {
        let item = |paint, label: &str| LegendItem { paint, label: label.to_owned() };
        match self {
            Self::Fixed(paint) => vec![item(*paint, label)],
            Self::Value(_) => {
                let mut values = events.values.clone();
                values.sort_unstable();
                values.dedup();
                let of_value = |value: &tumit_viewer::query::ValueId| {
                    let info = execution.model().values.get(value.index())?;
                    Some(item(ChartPaint::Fixed(info.color), &info.name))
                };
                values.iter().take(MAX_ENTRIES).filter_map(of_value).collect()
            }
            Self::Unit(_) => {
                let units = (0..).zip(execution.units().list()).take(MAX_ENTRIES);
                units.map(|(number, unit)| item(numbered_paint(number), &unit.name)).collect()
            }
            Self::Distinct(column) => {
                let names = (0..).zip(&column.names).take(MAX_ENTRIES);
                names.map(|(number, name)| item(numbered_paint(number), name)).collect()
            }
            Self::Gradient(_, least, range) => {
                let text = tumit_viewer::scene::number;
                vec![
                    item(ChartPaint::Size(0.0), &format!("{label} {}", text(*least))),
                    item(ChartPaint::Size(1.0), &format!("{label} {}", text(least + range))),
                ]
            }
        }
    }
}

fn numbered_paint(number: u32) -> ChartPaint {
    ChartPaint::Task(number)
}
