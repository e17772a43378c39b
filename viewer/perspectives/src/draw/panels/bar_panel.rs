//! Bars, one per unit, task or number: vertical, or horizontal if their names are long.

mod bar_names;
mod bar_rows;
mod bar_values;

use tumit_viewer::scene::{OutlineRect, TextAnchor};

use crate::chart::{AxisUnit, Bar, BarChart, ChartPaint};
use crate::draw::axis_numbers::value_text;
use crate::draw::chart_canvas::{ChartCanvas, baseline_shift};
use crate::draw::chart_region::RegionShape;
use crate::draw::plot_area::{PlotArea, PlotMargins, label_step, separate};
use bar_names::BarNames;
pub(in crate::draw) use bar_values::bar_text;
use bar_values::{end, has_negative, parts, subject};

/// Maximum width of a bar in scene units. Few bars would otherwise fill the panel.
const MAX_WIDTH: f32 = 64.0;

pub(in crate::draw) fn draw(canvas: &mut ChartCanvas, frame: OutlineRect, chart: &BarChart) {
    if let [bar] = chart.bars.as_slice() {
        return draw_meter(canvas, frame, chart, bar);
    }
    let names = BarNames::new(chart);
    if names.need_rows(canvas, frame) {
        return bar_rows::draw(canvas, frame, chart, &names);
    }
    let has_heading = !names.heading.is_empty() && frame.height >= canvas.sizes.label * 11.0;
    let margins = PlotMargins { right: 0.0, lines_below: if has_heading { 2 } else { 1 } };
    let area = PlotArea::new(canvas, frame, &chart.axis, has_negative(chart), margins);
    let slot = area.frame.width / chart.bars.len().max(1) as f32;
    let gap = if slot >= 4.0 { (slot * 0.22).min(12.0) } else { 0.0 };
    let width = (slot - gap).min(MAX_WIDTH);
    let shape = RegionShape::Grid { frame: area.frame, columns: chart.bars.len(), marks: chart.bars.len() };
    canvas.add_region(shape, subject(chart));
    canvas.group("bars", None, |canvas| {
        for (index, bar) in chart.bars.iter().enumerate() {
            let center = area.frame.x + (index as f32 + 0.5) * slot;
            draw_bar(canvas, &area, bar, center, width, chart.axis.axis_unit);
        }
    });
    let zero = area.y(0.0);
    let faint = canvas.theme.faint_color;
    canvas.grid_line((area.frame.x, zero), (area.frame.right(), zero), faint);
    draw_names(canvas, &area, &names, slot, has_heading);
}

/// One vertical bar with its parts, above the largest value so far.
fn draw_bar(canvas: &mut ChartCanvas, area: &PlotArea, bar: &Bar, center: f32, width: f32, axis_unit: AxisUnit) {
    let left = center - width / 2.0;
    let between = |from: f64, to: f64| {
        let (top, bottom) = (area.y(from.max(to)), area.y(from.min(to)));
        OutlineRect::new(left, top, width, bottom - top)
    };
    let title = bar_text(&canvas.legend, bar, axis_unit);
    let now = end(bar);
    if let Some(maximum) = bar.maximum.filter(|maximum| *maximum > now) {
        canvas.fill(between(now, maximum), ChartPaint::Maximum, 0.0, Some(title.clone()));
    }
    for (from, to, paint) in parts(bar) {
        canvas.fill(between(from, to), paint, 0.0, Some(title.clone()));
    }
}

/// The names below the bars, and the quantity by which they are arranged.
fn draw_names(canvas: &mut ChartCanvas, area: &PlotArea, names: &BarNames<'_>, slot: f32, has_heading: bool) {
    let style = canvas.label_style(TextAnchor::Middle);
    let baseline = area.baseline_below(canvas);
    let step = label_step(names.short_names.widest(style) + 8.0, slot);
    // The end of the names so far. The first name may be moved towards the next one.
    let mut end = f32::NEG_INFINITY;
    for (index, name) in names.short_names.names.iter().enumerate().step_by(step) {
        let half = ChartCanvas::width(name, style) / 2.0;
        let center = (area.frame.x + (index as f32 + 0.5) * slot).max(area.frame.x - 10.0 + half);
        // A label at the right edge is left out rather than cut.
        if center + half <= area.frame.right() + 10.0 && center - half >= end {
            canvas.text((center, baseline), *name, style);
            end = center + half + 6.0;
        }
    }
    let style = canvas.label_style(TextAnchor::Middle);
    let center = area.frame.x + area.frame.width / 2.0;
    if has_heading {
        canvas.text_within((center, baseline + style.size * 1.5), &names.heading, area.frame.width, style);
    }
}

/// A single bar, with its values beside it.
fn draw_meter(canvas: &mut ChartCanvas, frame: OutlineRect, chart: &BarChart, bar: &Bar) {
    let mut style = canvas.label_style(TextAnchor::Start);
    style.size = canvas.sizes.subtitle;
    style.color = canvas.theme.ink;
    let axis_unit = chart.axis.axis_unit;
    // The value of a single part is worth a label even if it is 0.
    let zero = bar.parts.first().filter(|part| bar.parts.len() == 1 && part.value == 0.0);
    let zero = zero.map(|part| (bar.base, bar.base, part.paint));
    let mut labels: Vec<(f64, String)> = parts(bar)
        .chain(zero)
        .map(|(from, to, paint)| {
            let name = canvas.name_of(paint).map(|name| format!(" {name}")).unwrap_or_default();
            ((from + to) / 2.0, format!("{}{name}", value_text(to - from, axis_unit)))
        })
        .collect();
    let now = end(bar);
    labels.extend(
        bar.maximum
            .filter(|maximum| *maximum > now)
            .map(|maximum| (maximum, format!("{} maximum", value_text(maximum, axis_unit)))),
    );
    let widest = labels.iter().map(|label| ChartCanvas::width(&label.1, style)).fold(0.0, f32::max);
    let right = (widest + 14.0).min(frame.width * 0.5);
    // The bar stays near the middle of wide panels.
    let width = (frame.width - right).min(frame.height * 0.32).clamp(40.0, 170.0);
    let used = (width + right + 40.0).min(frame.width);
    let frame = OutlineRect::new(frame.x + (frame.width - used) / 2.0, frame.y, used, frame.height);
    let margins = PlotMargins { right, lines_below: u8::from(!bar.label.is_empty()) };
    let area = PlotArea::new(canvas, frame, &chart.axis, has_negative(chart), margins);
    canvas.fill(area.frame, ChartPaint::Absent, 0.0, None);
    canvas.add_region(RegionShape::Grid { frame: area.frame, columns: 1, marks: 1 }, subject(chart));
    draw_bar(canvas, &area, bar, area.frame.x + area.frame.width / 2.0, area.frame.width, axis_unit);
    let wanted: Vec<f32> = labels.iter().map(|label| area.y(label.0)).collect();
    let places = separate(&wanted, style.size * 1.4, area.frame.y, area.frame.bottom());
    for ((_, text), y) in labels.iter().zip(places) {
        canvas.text_within((area.frame.right() + 12.0, y + baseline_shift(style.size)), text, right - 12.0, style);
    }
    let name = canvas.label_style(TextAnchor::Middle);
    let below = (area.frame.x + area.frame.width / 2.0, area.baseline_below(canvas));
    canvas.text_within(below, &bar.label, area.frame.width + 2.0 * right.min(40.0), name);
}
