//! One point per message over time.

use tumit_viewer::query::GlobalNanos;
use tumit_viewer::scene::{OutlineRect, TextAnchor};
use tumit_viewer::style::theme::ColorWithOpacity;
use tumit_viewer::text::time_display::timestamp;

use crate::chart::{ScatterChart, ScatterPoint};
use crate::draw::axis_numbers::exact_text;
use crate::draw::chart_canvas::{ChartCanvas, baseline_shift};
use crate::draw::chart_region::{RegionShape, RegionSubject};
use crate::draw::plot_area::{LABEL_GAP, PlotArea, PlotMargins, label_step};
use crate::draw::value_axis::ValueAxis;

/// Maximum number of points with tooltips, because each enlarges the SVG file.
const MAX_TITLES: usize = 4096;

pub(in crate::draw) fn draw(canvas: &mut ChartCanvas, frame: OutlineRect, chart: &ScatterChart) {
    let area = if chart.categories.is_empty() {
        let has_negative = chart.points.iter().any(|point| point.value < 0.0);
        let lines_below = PlotArea::time_lines(canvas, frame.width * 0.9, chart.from, chart.to);
        PlotArea::new(canvas, frame, &chart.axis, has_negative, PlotMargins { right: 6.0, lines_below })
    } else {
        named_rows(canvas, frame, chart)
    };
    let scale = area.time_scale(chart.from, chart.to);
    area.draw_times(canvas, &scale);
    // Many points are small and translucent, so that their density is visible.
    let density = chart.points.len() as f32 / (area.frame.width * area.frame.height).max(1.0);
    let (radius, alpha) = if density > 0.01 {
        (1.6, 0.45)
    } else if density > 0.002 {
        (2.2, 0.65)
    } else {
        (3.0, 0.85)
    };
    let center = |point: &ScatterPoint| (area.x(&scale, point.time), row_or_value(&area, chart, point.value));
    if chart.points.len() <= MAX_TITLES {
        let shape =
            RegionShape::Points { radius: 4.0, centers: chart.points.iter().map(center).collect(), square: None };
        let links = chart.points.iter().map(|point| point.entity).collect();
        canvas.add_region(shape, RegionSubject::Messages(links));
    }
    let times = RegionShape::Times { frame: area.frame, columns: 0, from: chart.from, to: chart.to };
    canvas.add_region(times, RegionSubject::Values);
    let has_titles = chart.points.len() <= MAX_TITLES;
    canvas.group("points", None, |canvas| {
        for point in &chart.points {
            let center = center(point);
            let title = has_titles.then(|| point_text(chart, point));
            let color = canvas.palette.line_color(point.paint);
            canvas.translucent_disc(center, radius, ColorWithOpacity::with_alpha(color, alpha), title);
        }
    });
    area.draw_cursor(canvas, &scale, chart.cursor);
}

/// The time and the value of a point.
pub(in crate::draw) fn point_text(chart: &ScatterChart, point: &ScatterPoint) -> String {
    let value = match chart.categories.get(point.value as usize) {
        Some(name) => name.clone(),
        None => exact_text(point.value, chart.axis.axis_unit),
    };
    let precision = (chart.to.saturating_sub(chart.from) / 100_000).max(1);
    format!("{}: {value}", timestamp(GlobalNanos(point.time), precision))
}

/// The height of a value. Names have rows of their own, the first at the top.
fn row_or_value(area: &PlotArea, chart: &ScatterChart, value: f64) -> f32 {
    if chart.categories.is_empty() {
        return area.y(value);
    }
    area.frame.y + (value as f32 + 0.5) * area.frame.height / chart.categories.len() as f32
}

/// The area with one row per name.
fn named_rows(canvas: &mut ChartCanvas, frame: OutlineRect, chart: &ScatterChart) -> PlotArea {
    let style = canvas.label_style(TextAnchor::End);
    let widest = chart.categories.iter().map(|name| ChartCanvas::width(name, style)).fold(0.0, f32::max);
    let gutter = widest.min(frame.width * 0.25) + LABEL_GAP;
    let above = style.size * 1.9;
    let lines = f32::from(PlotArea::time_lines(canvas, frame.width * 0.9, chart.from, chart.to));
    let height = (frame.height - above - lines * style.size * 1.55 - 3.0).max(10.0);
    let inner = OutlineRect::new(frame.x + gutter, frame.y + above, (frame.width - gutter - 6.0).max(10.0), height);
    let axis = ValueAxis::new(&chart.axis, false, height, style.size * 3.0);
    let area = PlotArea { frame: inner, axis };
    let heading = canvas.label_style(TextAnchor::Start);
    canvas.text_within((frame.x, frame.y + style.size), &chart.axis.label, frame.width, heading);
    let row = height / chart.categories.len() as f32;
    let step = label_step(style.size * 1.35, row);
    for (index, name) in chart.categories.iter().enumerate().step_by(step) {
        let (y, grid) = (row_or_value(&area, chart, index as f64), canvas.theme.grid);
        canvas.grid_line((inner.x, y), (inner.right(), y), grid);
        canvas.text_within((inner.x - LABEL_GAP, y + baseline_shift(style.size)), name, gutter, style);
    }
    let (bottom, faint) = (inner.bottom(), canvas.theme.faint_color);
    canvas.grid_line((inner.x, bottom), (inner.right(), bottom), faint);
    area
}
