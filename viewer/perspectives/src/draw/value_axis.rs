//! [`ValueAxis`]: the round values of an axis.

use super::axis_numbers::{NumberUnit, decimal};
use crate::chart::{AxisUnit, ChartAxis};

/// The labelled values of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ValueAxis {
    /// The name of the quantity, with its unit.
    pub(super) heading: String,
    pub(super) minimum: f64,
    pub(super) maximum: f64,
    /// The ticks, ascending.
    pub(super) ticks: Vec<ValueTick>,
}

/// A labelled value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ValueTick {
    pub(super) value: f64,
    /// Its text, without the unit.
    pub(super) text: String,
}

impl ValueAxis {
    /// Round values for an axis of `length` units, at least `spacing` apart. The axis is symmetric
    /// if the data has negative values.
    pub(super) fn new(axis: &ChartAxis, has_negative: bool, length: f32, spacing: f32) -> Self {
        let maximum = if axis.maximum.is_finite() && axis.maximum > 0.0 { axis.maximum } else { 1.0 };
        let number_unit = NumberUnit::new(axis.axis_unit, maximum);
        let sides = if has_negative { 2.0 } else { 1.0 };
        let steps = (f64::from(length / spacing.max(1.0)) / sides).floor().clamp(1.0, 6.0);
        let is_whole = axis.axis_unit == AxisUnit::Count && maximum.fract() == 0.0;
        let step = step(maximum / number_unit.size, steps, number_unit, axis.axis_unit, is_whole);
        let decimals = decimals(step);
        let mut values: Vec<f64> = (0..=16).map(|count| f64::from(count) * step * number_unit.size).collect();
        values.retain(|&value| value <= maximum * (1.0 + 1e-9));
        // The number of units or messages is worth a label of its own.
        if let Some(last) = values.last_mut().filter(|last| is_whole && **last < maximum) {
            let is_near = (maximum - *last) / maximum * f64::from(length) < f64::from(spacing) * 0.6 * sides;
            if is_near && *last > 0.0 {
                *last = maximum;
            } else {
                values.push(maximum);
            }
        }
        if has_negative {
            let negative: Vec<f64> = values.iter().skip(1).rev().map(|value| -value).collect();
            values.splice(0..0, negative);
        }
        let ticks =
            values.into_iter().map(|value| ValueTick { value, text: decimal(value / number_unit.size, decimals) });
        let minimum = if has_negative { -maximum } else { 0.0 };
        Self { heading: number_unit.heading(&axis.label), minimum, maximum, ticks: ticks.collect() }
    }

    /// The position of a value from 0 (smallest) to 1.
    pub(super) fn fraction(&self, value: f64) -> f32 {
        let fraction = (value - self.minimum) / (self.maximum - self.minimum);
        #[expect(clippy::cast_possible_truncation, reason = "a position in an image")]
        let fraction = fraction as f32;
        if fraction.is_finite() { fraction.clamp(-0.02, 1.02) } else { 0.0 }
    }
}

/// The smallest round step that reaches `maximum` in at most `steps` steps.
fn step(maximum: f64, steps: f64, number_unit: NumberUnit, axis_unit: AxisUnit, is_whole: bool) -> f64 {
    let min_step = maximum / steps;
    if axis_unit == AxisUnit::Percent && (50.0..=100.0).contains(&maximum) {
        let last = if maximum < 100.0 { 50.0 } else { 100.0 };
        return [10.0, 20.0, 25.0, 50.0].into_iter().find(|&step| step >= min_step).unwrap_or(last);
    }
    if number_unit.is_binary {
        let step = 2.0_f64.powf(min_step.log2().ceil()).max(if number_unit.name == "B" { 1.0 } else { 0.0 });
        return if step > maximum { step / 2.0 } else { step };
    }
    let power = 10.0_f64.powf(min_step.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|step| *step >= min_step * 0.999_999);
    let step = step.unwrap_or(10.0 * power);
    // At least one value besides 0 has a label.
    let step = if step > maximum {
        [5.0, 2.0, 1.0].map(|factor| factor * power)
            [usize::from(maximum < 5.0 * power) + usize::from(maximum < 2.0 * power)]
    } else {
        step
    };
    if is_whole { step.max(1.0) } else { step }
}

/// The decimals that multiples of a step have.
fn decimals(step: f64) -> usize {
    let is_multiple = |digits: &usize| {
        let scaled = step * 10_f64.powi(i32::try_from(*digits).unwrap_or(0));
        (scaled - scaled.round()).abs() < 1e-6 && scaled >= 0.5
    };
    (0..=6).find(is_multiple).unwrap_or(6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(maximum: f64, axis_unit: AxisUnit, length: f32) -> Vec<String> {
        let axis = ChartAxis { label: "x".to_owned(), axis_unit, maximum };
        ValueAxis::new(&axis, false, length, 40.0).ticks.into_iter().map(|tick| tick.text).collect()
    }

    #[test]
    fn values_are_round_in_the_unit() {
        assert_eq!(texts(100.0, AxisUnit::Percent, 200.0), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(texts(9.0, AxisUnit::Percent, 50.0), ["0", "5"]);
        assert_eq!(texts(1.9, AxisUnit::Percent, 50.0), ["0", "1"]);
        assert_eq!(texts(93.718_544, AxisUnit::Percent, 50.0), ["0", "50"]);
        assert_eq!(texts(100.0, AxisUnit::Percent, 50.0), ["0", "100"]);
        assert_eq!(texts(100.0, AxisUnit::Percent, 170.0), ["0", "25", "50", "75", "100"]);
        assert_eq!(texts(3.0 * 1024.0 * 1024.0, AxisUnit::Bytes, 160.0), ["0", "1", "2", "3"]);
        assert_eq!(texts(2.4e6, AxisUnit::Nanos, 240.0), ["0.0", "0.5", "1.0", "1.5", "2.0"]);
        assert_eq!(texts(0.3, AxisUnit::Count, 160.0), ["0.0", "0.1", "0.2", "0.3"]);
    }

    #[test]
    fn the_number_of_units_is_the_last_label() {
        assert_eq!(texts(48.0, AxisUnit::Count, 240.0), ["0", "10", "20", "30", "40", "48"]);
        assert_eq!(texts(64.0, AxisUnit::Count, 200.0), ["0", "20", "40", "64"]);
        assert_eq!(texts(1.0, AxisUnit::Count, 400.0), ["0", "1"]);
        assert_eq!(texts(3.0, AxisUnit::Count, 400.0), ["0", "1", "2", "3"]);
    }

    #[test]
    fn axes_with_negative_values_are_symmetric() {
        let axis = ChartAxis { label: "streak".to_owned(), axis_unit: AxisUnit::Nanos, maximum: 2e9 };
        let axis = ValueAxis::new(&axis, true, 200.0, 40.0);
        let texts: Vec<&str> = axis.ticks.iter().map(|tick| tick.text.as_str()).collect();
        assert_eq!(texts, ["−2", "−1", "0", "1", "2"]);
        assert_eq!((axis.heading.as_str(), axis.fraction(0.0)), ("streak, s", 0.5));
    }
}
