//! [`CardAxis`]: an axis of a panel, with the unit of its numbers.

use super::card_fault::CardFault;
use super::card_table::CardTable;
use crate::chart::{AxisUnit, ChartAxis};

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct CardAxis {
    pub(super) label: String,
    /// The unit of the numbers in the trace.
    pub(super) unit: Option<NumberScale>,
    /// The largest value of the axis, in units of the trace. By default, the largest one of the
    /// data.
    pub(super) largest: Option<f64>,
}

/// The unit of numbers in the trace, and the factor to the unit of the chart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NumberScale {
    pub(super) unit: AxisUnit,
    pub(super) factor: f64,
}

impl NumberScale {
    /// Numbers in the unit of the chart.
    pub(super) const fn of(unit: AxisUnit) -> Self {
        Self { unit, factor: 1.0 }
    }
}

/// The units with their words.
const UNITS: [(&str, NumberScale); 5] = [
    ("count", NumberScale::of(AxisUnit::Count)),
    ("bytes", NumberScale::of(AxisUnit::Bytes)),
    ("seconds", NumberScale { unit: AxisUnit::Nanos, factor: 1e9 }),
    ("nanoseconds", NumberScale::of(AxisUnit::Nanos)),
    ("percent", NumberScale::of(AxisUnit::Percent)),
];

impl CardAxis {
    /// Reads the axis of a key. Without the key, an axis without a label.
    pub(super) fn read<'t>(table: &CardTable<'t>, key: &'t str) -> Result<Self, CardFault> {
        let Some(axis) = table.table(key)? else { return Ok(Self::default()) };
        axis.expect_keys(&["label", "unit", "largest"])?;
        let largest = axis.number("largest")?;
        if let Some(largest) = largest.as_ref().filter(|largest| largest.value <= 0.0) {
            return Err(axis.fault(&largest.place, "`largest` is not greater than 0"));
        }
        Ok(Self {
            label: axis.text_or_empty("label")?,
            unit: axis.word("unit", &UNITS)?,
            largest: largest.map(|largest| largest.value),
        })
    }

    /// The unit of the numbers. By default, numbers of things.
    pub(super) fn scale(&self) -> NumberScale {
        self.unit.unwrap_or(NumberScale::of(AxisUnit::Count))
    }

    /// The axis for data up to `largest`, which is in the unit of the chart.
    pub(super) fn chart_axis(&self, label: &str, largest: f64) -> ChartAxis {
        let scale = self.scale();
        let label = if self.label.is_empty() { label } else { &self.label };
        let wanted = self.largest.map_or(0.0, |wanted| wanted * scale.factor);
        ChartAxis::up_to(label, scale.unit, largest.max(wanted))
    }
}
