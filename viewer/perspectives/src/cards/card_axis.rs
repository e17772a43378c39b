//! [`CardAxis`]: an axis of a panel, with the unit of measurement of its numbers.

use super::card_fault::CardFault;
use super::card_table::CardTable;
use crate::chart::{AxisUnit, ChartAxis};

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct CardAxis {
    pub(super) label: String,
    /// The scale of the numbers in the trace. By default, they are counts.
    pub(super) scale: Option<NumberScale>,
    /// The largest value of the axis, in the unit of measurement of the trace. By default, the
    /// largest value of the data.
    pub(super) maximum: Option<f64>,
}

/// How numbers of the trace become numbers of the chart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NumberScale {
    pub(super) axis_unit: AxisUnit,
    /// A number of the chart is a number of the trace times this factor, such as 1e9 for seconds,
    /// because charts count nanoseconds.
    pub(super) factor: f64,
}

impl NumberScale {
    /// The trace has the same unit of measurement as the chart.
    pub(super) const fn of(axis_unit: AxisUnit) -> Self {
        Self { axis_unit, factor: 1.0 }
    }
}

/// The words of units of measurement in card files.
const SCALES: [(&str, NumberScale); 5] = [
    ("count", NumberScale::of(AxisUnit::Count)),
    ("bytes", NumberScale::of(AxisUnit::Bytes)),
    ("seconds", NumberScale { axis_unit: AxisUnit::Nanos, factor: 1e9 }),
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
            scale: axis.word("unit", &SCALES)?,
            maximum: largest.map(|largest| largest.value),
        })
    }

    pub(super) fn scale(&self) -> NumberScale {
        self.scale.unwrap_or(NumberScale::of(AxisUnit::Count))
    }

    /// The axis for data up to `maximum`, in the unit of measurement of the chart.
    pub(super) fn chart_axis(&self, label: &str, maximum: f64) -> ChartAxis {
        let scale = self.scale();
        let label = if self.label.is_empty() { label } else { &self.label };
        let wanted = self.maximum.map_or(0.0, |wanted| wanted * scale.factor);
        ChartAxis::up_to(label, scale.axis_unit, maximum.max(wanted))
    }
}
