//! [`ColorScale`]: colours of values by their size, linear or logarithmic, with its drawing.

use tumit_viewer::scene::{OutlineRect, TextAnchor};

use super::axis_numbers::value_text;
use super::chart_canvas::{ChartCanvas, baseline_shift};
use super::value_axis::ValueAxis;
use crate::chart::{AxisUnit, ChartAxis, ChartPaint};

/// If the largest value is this many times the smallest, the scale is logarithmic. A linear scale
/// would show most values in one colour.
const LARGE_RATIO: f64 = 100.0;

/// Width of the bar of colours in scene units, about the height of a label.
const BAR_WIDTH: f32 = 12.0;

/// A map from values to sizes from 0 to 1.
#[derive(Clone, Debug)]
pub(super) struct ColorScale {
    axis: ChartAxis,
    /// The smallest value, if the scale is logarithmic.
    minimum: Option<f64>,
}

impl ColorScale {
    /// A scale for values greater than 0.
    pub(super) fn new(values: impl Iterator<Item = f64>, axis: &ChartAxis) -> Self {
        let least = values.filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
        let is_wide = least.is_finite() && axis.maximum >= LARGE_RATIO * least;
        Self { axis: axis.clone(), minimum: is_wide.then_some(least) }
    }

    /// The size of a value.
    pub(super) fn fraction(&self, value: f64) -> f32 {
        let fraction = match self.minimum {
            Some(least) => (value / least).ln() / (self.axis.maximum / least).ln(),
            None => value / self.axis.maximum,
        };
        if fraction.is_finite() { fraction.clamp(0.0, 1.0) as f32 } else { 0.0 }
    }

    /// The values with labels.
    fn labels(&self, height: f32, spacing: f32) -> Vec<f64> {
        let Some(least) = self.minimum else {
            let axis = ValueAxis::new(&self.axis, false, height, spacing);
            return axis.ticks.iter().map(|tick| tick.value).collect();
        };
        let base: f64 = if self.axis.axis_unit == AxisUnit::Bytes { 2.0 } else { 10.0 };
        let (first, last) = (least.log(base).ceil() as i32, self.axis.maximum.log(base).floor() as i32);
        let max_labels = (height / spacing).max(1.0) as i32;
        let step = (last - first).div_euclid(max_labels).max(0) + 1;
        (first..=last).step_by(step.unsigned_abs() as usize).map(|power| base.powi(power)).collect()
    }

    pub(super) fn width(&self, canvas: &ChartCanvas) -> f32 {
        let style = canvas.label_style(TextAnchor::Start);
        let labels = self.labels(400.0, style.size * 2.2);
        let texts = labels.iter().map(|value| value_text(*value, self.axis.axis_unit));
        let widest = texts.map(|text| ChartCanvas::width(&text, style)).fold(0.0, f32::max);
        BAR_WIDTH + 8.0 + widest.max(ChartCanvas::width(&self.axis.label, style) - BAR_WIDTH).ceil()
    }

    /// Draws the colours from the largest value at the top, with labels at the right.
    pub(super) fn draw(&self, canvas: &mut ChartCanvas, bar: OutlineRect) {
        let room = self.width(canvas) - BAR_WIDTH;
        let bar = OutlineRect { width: BAR_WIDTH, ..bar };
        let style = canvas.label_style(TextAnchor::Start);
        // The number of coloured rectangles. With more, adjacent ones look alike.
        const STEPS: u8 = 48;
        let step = bar.height / f32::from(STEPS);
        for step_index in 0..STEPS {
            let fraction = 1.0 - (f32::from(step_index) + 0.5) / f32::from(STEPS);
            // Rectangles overlap the next one, so that no gaps are visible.
            let overlap = if step_index + 1 < STEPS { 0.6 } else { 0.0 };
            let frame = OutlineRect::new(bar.x, bar.y + f32::from(step_index) * step, bar.width, step + overlap);
            canvas.rect(frame, canvas.palette.color(ChartPaint::Size(fraction)));
        }
        for value in self.labels(bar.height, style.size * 2.2) {
            let y = bar.bottom() - self.fraction(value) * bar.height;
            let (faint, text) = (canvas.theme.faint_color, value_text(value, self.axis.axis_unit));
            canvas.grid_line((bar.right(), y.min(bar.bottom() - 0.6)), (bar.right() + 4.0, y), faint);
            canvas.text_within((bar.right() + 7.0, y + baseline_shift(style.size)), &text, room, style);
        }
        // The heading is on the line of the headings of rows and columns.
        let baseline = bar.y - 6.0 - style.size * 1.4;
        let heading = if self.axis.label.is_empty() { String::new() } else { self.axis.label.clone() };
        canvas.text_within((bar.x, baseline), &heading, bar.width + room, style);
    }
}

#[cfg(test)]
mod tests {
    use super::ColorScale;
    use crate::chart::{AxisUnit, ChartAxis};

    #[test]
    fn wide_ranges_are_logarithmic() {
        let axis = ChartAxis { label: String::new(), axis_unit: AxisUnit::Bytes, maximum: 65536.0 };
        let scale = ColorScale::new([16.0, 65536.0].into_iter(), &axis);
        assert_eq!([16.0, 1024.0, 65536.0].map(|value| scale.fraction(value)), [0.0, 0.5, 1.0]);
        assert_eq!(scale.labels(100.0, 20.0), [16.0, 128.0, 1024.0, 8192.0, 65536.0]);
        let linear = ColorScale::new([1000.0, 65536.0].into_iter(), &axis);
        assert_eq!(linear.fraction(32768.0), 0.5);
    }
}
