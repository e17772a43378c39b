//! [`PlotArea`]: the area of a chart with a vertical axis of values, and axes below it.

use tumit_viewer::layout::scale::TimeScale;
use tumit_viewer::query::{GlobalNanos, TimeRange};
use tumit_viewer::scene::{OutlineRect, TextAnchor};
use tumit_viewer::text::time_display::timestamp;

use super::chart_canvas::{ChartCanvas, baseline_shift};
use super::value_axis::ValueAxis;
use crate::chart::ChartAxis;

#[derive(Clone, Debug)]
pub(super) struct PlotArea {
    /// The area of the data.
    pub(super) frame: OutlineRect,
    pub(super) axis: ValueAxis,
}

/// Space around the data, besides that of the vertical axis.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlotMargins {
    /// Space at the right, for direct labels.
    pub(super) right: f32,
    /// Lines of text below the data.
    pub(super) lines_below: u8,
}

/// The distance between labels and the data in scene units, about half the size of a label.
pub(super) const LABEL_GAP: f32 = 7.0;

impl PlotArea {
    /// Draws the vertical axis with its grid, and returns the area of the data.
    pub(super) fn new(
        canvas: &mut ChartCanvas,
        frame: OutlineRect,
        axis: &ChartAxis,
        has_negative: bool,
        margins: PlotMargins,
    ) -> Self {
        let size = canvas.sizes.label;
        let above = if axis.label.is_empty() && axis.axis_unit == crate::chart::AxisUnit::Count {
            size * 0.5
        } else {
            size * 2.3
        };
        let height = (frame.height - above - f32::from(margins.lines_below) * size * 1.55 - 3.0).max(10.0);
        let axis = ValueAxis::new(axis, has_negative, height, size * 2.5);
        let style = canvas.label_style(TextAnchor::End);
        let widest = axis.ticks.iter().map(|tick| ChartCanvas::width(&tick.text, style)).fold(0.0, f32::max);
        let gutter = widest + LABEL_GAP;
        let width = (frame.width - gutter - margins.right).max(10.0);
        let area = Self { frame: OutlineRect::new(frame.x + gutter, frame.y + above, width, height), axis };
        let heading = canvas.label_style(TextAnchor::Start);
        canvas.text_within((frame.x, frame.y + size), &area.axis.heading, frame.width, heading);
        area.draw_grid(canvas, widest);
        area
    }

    fn draw_grid(&self, canvas: &mut ChartCanvas, max_width: f32) {
        let style = canvas.label_style(TextAnchor::End);
        let (grid, faint) = (canvas.theme.grid, canvas.theme.faint_color);
        let mut free = f32::INFINITY;
        for tick in &self.axis.ticks {
            let y = self.y(tick.value);
            let color = if tick.value == 0.0 { faint } else { grid };
            canvas.grid_line((self.frame.x, y), (self.frame.right(), y), color);
            // In very small panels, some labels have no room.
            if y <= free {
                let right = self.frame.x - LABEL_GAP;
                canvas.text_within((right, y + baseline_shift(style.size)), &tick.text, max_width + 1.0, style);
                free = y - style.size * 1.1;
            }
        }
    }

    /// The height of a value in the image.
    pub(super) fn y(&self, value: f64) -> f32 {
        self.frame.bottom() - self.axis.fraction(value) * self.frame.height
    }

    /// The baseline of the first line of labels below the data.
    pub(super) fn baseline_below(&self, canvas: &ChartCanvas) -> f32 {
        self.frame.bottom() + canvas.sizes.label * 1.0 + 6.0
    }

    /// The scale of a time axis below the data.
    pub(super) fn time_scale(&self, from: i64, to: i64) -> TimeScale {
        let time_range = TimeRange { from: GlobalNanos(from), to: GlobalNanos(to) };
        TimeScale { time_range, width: self.frame.width }
    }

    /// The position of a timestamp.
    pub(super) fn x(&self, scale: &TimeScale, time: i64) -> f32 {
        self.frame.x + scale.x(GlobalNanos(time)).clamp(0.0, self.frame.width)
    }

    /// The number of lines that the labels of a time axis need.
    pub(super) fn time_lines(canvas: &ChartCanvas, width: f32, from: i64, to: i64) -> u8 {
        let style = canvas.label_style(TextAnchor::Middle);
        let time_range = TimeRange { from: GlobalNanos(from), to: GlobalNanos(to) };
        let ruler = TimeScale { time_range, width }.ruler(|label| ChartCanvas::width(label, style));
        if ruler.base.is_some() { 2 } else { 1 }
    }

    /// Draws the labels of a time axis below the data.
    pub(super) fn draw_times(&self, canvas: &mut ChartCanvas, scale: &TimeScale) {
        let style = canvas.label_style(TextAnchor::Middle);
        let ruler = scale.ruler(|label| ChartCanvas::width(label, style));
        let (bottom, baseline, faint) = (self.frame.bottom(), self.baseline_below(canvas), canvas.theme.faint_color);
        for tick in &ruler.ticks {
            let x = self.frame.x + tick.x;
            canvas.grid_line((x, bottom), (x, bottom + 4.0), faint);
            if let Some(label) = &tick.label {
                canvas.text((self.frame.x + label.center, baseline), label.text.clone(), style);
            }
        }
        if let Some(base) = ruler.base {
            let style = canvas.label_style(TextAnchor::Start);
            let text = format!("from {base}");
            canvas.text_within((self.frame.x, baseline + style.size * 1.5), &text, self.frame.width, style);
        }
    }

    /// Draws the line of the time cursor, with the time above it.
    pub(super) fn draw_cursor(&self, canvas: &mut ChartCanvas, scale: &TimeScale, time: Option<i64>) {
        let Some(time) = time else { return };
        if time < scale.time_range.from.0 || time > scale.time_range.to.0 {
            return;
        }
        let (x, ink) = (self.x(scale, time), canvas.theme.ink);
        canvas.line((x, self.frame.y - 4.0), (x, self.frame.bottom()), ink, 1.25);
        let text = timestamp(GlobalNanos(time), (scale.nanos() / 2000).max(1));
        let mut style = canvas.label_style(TextAnchor::Middle);
        style.color = ink;
        let half = ChartCanvas::width(&text, style) / 2.0;
        let heading = ChartCanvas::width(&self.axis.heading, style);
        let center = x.min(self.frame.right() - half).max(self.frame.x + half);
        // The heading of the axis is left of it.
        let center = center.max(self.frame.x + heading + half + 4.0);
        if center - half <= x && center + half <= self.frame.right() + 8.0 {
            canvas.text((center, self.frame.y - 4.0 - style.size * 0.35), text, style);
        }
    }
}

/// Moves labels apart that would overlap. `positions` are the heights of their middles, in any
/// order; the result has the same order. All labels stay between `top` and `bottom` if they fit.
pub(super) fn separate(positions: &[f32], height: f32, top: f32, bottom: f32) -> Vec<f32> {
    let mut order: Vec<usize> = (0..positions.len()).collect();
    order.sort_by(|&a, &b| positions[a].total_cmp(&positions[b]));
    let mut placed = positions.to_vec();
    let mut free = top + height / 2.0;
    for &index in &order {
        placed[index] = placed[index].max(free);
        free = placed[index] + height;
    }
    let mut limit = bottom - height / 2.0;
    for &index in order.iter().rev() {
        placed[index] = placed[index].min(limit);
        limit = placed[index] - height;
    }
    placed
}

/// The smallest round number of labels to skip so that each has room for `min_distance` units, if
/// adjacent ones are `distance` apart.
pub(super) fn label_step(min_distance: f32, distance: f32) -> usize {
    let least = f64::from(min_distance / distance.max(1e-6));
    let mut power = 1;
    loop {
        for factor in [1, 2, 5] {
            #[expect(clippy::cast_precision_loss, reason = "a number of labels")]
            if (factor * power) as f64 >= least || power >= 100_000_000 {
                return factor * power;
            }
        }
        power *= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::{label_step, separate};

    #[test]
    fn labels_keep_their_order_and_do_not_overlap() {
        assert_eq!(separate(&[50.0, 52.0, 10.0], 10.0, 0.0, 100.0), [50.0, 60.0, 10.0]);
        assert_eq!(separate(&[98.0, 99.0], 10.0, 0.0, 100.0), [85.0, 95.0]);
        assert_eq!(separate(&[-5.0], 10.0, 0.0, 100.0), [5.0]);
    }

    #[test]
    fn every_nth_label_is_shown() {
        assert_eq!([label_step(20.0, 30.0), label_step(20.0, 15.0), label_step(20.0, 0.8)], [1, 2, 50]);
    }
}
