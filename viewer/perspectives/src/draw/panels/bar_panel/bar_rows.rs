//! Horizontal bars with their names at the left.

use tumit_viewer::scene::{OutlineRect, TextAnchor};

use super::bar_names::BarNames;
use super::bar_values::{bar_text, end, has_negative, parts, subject};
use crate::chart::{AxisUnit, BarChart, ChartPaint};
use crate::draw::axis_numbers::{decimal, value_text};
use crate::draw::chart_canvas::{ChartCanvas, baseline_shift};
use crate::draw::chart_region::RegionShape;
use crate::draw::value_axis::ValueAxis;

struct BarRows<'a> {
    chart: &'a BarChart,
    axis: ValueAxis,
    frame: OutlineRect,
    /// Height of a row.
    slot: f32,
}

pub(super) fn draw(canvas: &mut ChartCanvas, frame: OutlineRect, chart: &BarChart, names: &BarNames<'_>) {
    let style = canvas.label_style(TextAnchor::End);
    let widest = names.short_names.widest(style).min(frame.width * 0.36).ceil();
    let above = style.size * 1.9;
    let values = values(chart);
    let values_width = values.iter().map(|text| ChartCanvas::width(text, style) + 8.0).fold(0.0, f32::max);
    let room = OutlineRect::new(
        frame.x + widest + 8.0,
        frame.y,
        (frame.width - widest - 8.0 - values_width).max(20.0),
        (frame.height - above - 2.0).max(10.0),
    );
    let slot = (room.height / chart.bars.len().max(1) as f32).min(style.size * 3.0);
    let inner = OutlineRect { y: frame.y + above, height: slot * chart.bars.len() as f32, ..room };
    let axis = ValueAxis::new(&chart.axis, has_negative(chart), inner.width, style.size * 5.0);
    let rows = BarRows { chart, axis, frame: inner, slot };
    rows.draw_axis(canvas, frame);
    let shape = RegionShape::Grid { frame: inner, columns: 1, marks: chart.bars.len() };
    canvas.add_region(shape, subject(chart));
    canvas.group("bars", None, |canvas| rows.draw_bars(canvas, &values));
    for (index, name) in names.short_names.names.iter().enumerate() {
        let y = rows.middle(index) + baseline_shift(style.size);
        let style = crate::draw::chart_canvas::LabelStyle { color: canvas.theme.ink, ..style };
        canvas.text_within((inner.x - 8.0, y), name, widest + 1.0, style);
    }
}

/// The values at the ends of the bars, with equal decimals. None if the bars have several parts or
/// float.
fn values(chart: &BarChart) -> Vec<String> {
    let is_simple = chart.bars.iter().all(|bar| bar.parts.len() == 1 && bar.base == 0.0 && bar.parts[0].value >= 0.0);
    if !is_simple {
        return Vec::new();
    }
    let has_fractions = chart.axis.maximum >= 1.0 && chart.bars.iter().any(|bar| bar.parts[0].value.fract() != 0.0);
    let text = |value: f64| match chart.axis.axis_unit {
        AxisUnit::Count if has_fractions => decimal(value, 2),
        unit => value_text(value, unit),
    };
    chart.bars.iter().map(|bar| text(bar.parts[0].value)).collect()
}

impl BarRows<'_> {
    fn x(&self, value: f64) -> f32 {
        self.frame.x + self.axis.fraction(value) * self.frame.width
    }

    fn middle(&self, row: usize) -> f32 {
        self.frame.y + (row as f32 + 0.5) * self.slot
    }

    fn draw_axis(&self, canvas: &mut ChartCanvas, frame: OutlineRect) {
        let style = canvas.label_style(TextAnchor::Middle);
        let baseline = self.frame.y - 6.0;
        let left = canvas.label_style(TextAnchor::Start);
        canvas.text_within((frame.x, baseline), &self.axis.heading, self.frame.x - frame.x - 14.0, left);
        for tick in &self.axis.ticks {
            let (x, grid) = (self.x(tick.value), canvas.theme.grid);
            canvas.grid_line((x, self.frame.y), (x, self.frame.bottom()), grid);
            canvas.text((x, baseline), tick.text.clone(), style);
        }
    }

    fn draw_bars(&self, canvas: &mut ChartCanvas, values: &[String]) {
        let height = if self.slot >= 4.0 { self.slot * 0.7 } else { self.slot };
        for (row, bar) in self.chart.bars.iter().enumerate() {
            let top = self.middle(row) - height / 2.0;
            let between = |from: f64, to: f64| {
                let (left, right) = (self.x(from.min(to)), self.x(from.max(to)));
                OutlineRect::new(left, top, right - left, height)
            };
            let title = bar_text(&canvas.legend, bar, self.chart.axis.axis_unit);
            let end = end(bar);
            if let Some(maximum) = bar.maximum.filter(|maximum| *maximum > end) {
                canvas.fill(between(end, maximum), ChartPaint::Maximum, 0.0, Some(title.clone()));
            }
            for (from, to, paint) in parts(bar) {
                canvas.fill(between(from, to), paint, 0.0, Some(title.clone()));
            }
            if let Some(text) = values.get(row) {
                let style = canvas.label_style(TextAnchor::Start);
                let x = self.x(bar.maximum.map_or(end, |maximum| maximum.max(end))) + 6.0;
                canvas.text((x, self.middle(row) + baseline_shift(style.size)), text.clone(), style);
            }
        }
        let (zero, faint) = (self.x(0.0), canvas.theme.faint_color);
        canvas.grid_line((zero, self.frame.y), (zero, self.frame.bottom()), faint);
    }
}
