//! A curve in a plane of two quantities.

use tumit_viewer::scene::{OutlineRect, TextAnchor};
use tumit_viewer::style::theme::ColorWithOpacity;

use crate::chart::{PortraitChart, PortraitPoint};
use crate::draw::chart_canvas::{ChartCanvas, ScenePoint};
use crate::draw::chart_region::{RegionShape, RegionSubject};
use crate::draw::plot_area::{PlotArea, PlotMargins};
use crate::draw::value_axis::ValueAxis;

/// Opacity of the oldest points, which is still visible on all backgrounds.
const OLDEST: f32 = 0.22;

pub(in crate::draw) fn draw(canvas: &mut ChartCanvas, frame: OutlineRect, chart: &PortraitChart) {
    // The plane is not much wider than high.
    let width = frame.width.min(frame.height * 1.5);
    let frame = OutlineRect::new(frame.x + (frame.width - width) / 2.0, frame.y, width, frame.height);
    let margins = PlotMargins { right: 14.0, lines_below: 2 };
    let area = PlotArea::new(canvas, frame, &chart.vertical_axis, false, margins);
    let style = canvas.label_style(TextAnchor::Middle);
    let horizontal = ValueAxis::new(&chart.horizontal_axis, false, area.frame.width, style.size * 5.0);
    let x = |value: f64| area.frame.x + horizontal.fraction(value) * area.frame.width;
    let baseline = area.baseline_below(canvas);
    for tick in &horizontal.ticks {
        let grid = if tick.value == 0.0 { canvas.theme.faint_color } else { canvas.theme.grid };
        canvas.grid_line((x(tick.value), area.frame.y), (x(tick.value), area.frame.bottom()), grid);
        canvas.text((x(tick.value), baseline), tick.text.clone(), style);
    }
    let below = (area.frame.x + area.frame.width / 2.0, baseline + style.size * 1.5);
    canvas.text_within(below, &horizontal.heading, area.frame.width, style);
    let place = |point: &PortraitPoint| (x(point.x), area.y(point.y));
    let centers = chart.points.iter().map(place).collect();
    canvas.add_region(RegionShape::Points { radius: 4.0, centers, square: None }, RegionSubject::Values);
    canvas.group("curve", None, |canvas| draw_curve(canvas, chart, place));
    if let Some(point) = chart.cursor.and_then(|cursor| chart.points.get(cursor)) {
        let (paper, ink, color) = (canvas.theme.paper, canvas.theme.ink, canvas.palette.line_color(point.paint));
        canvas.disc(place(point), 7.0, paper, None);
        canvas.disc(place(point), 5.5, ink, None);
        canvas.disc(place(point), 3.8, color, None);
    }
}

/// The curve. Old points are faint, and points after the present one are very faint.
fn draw_curve(canvas: &mut ChartCanvas, chart: &PortraitChart, place: impl Fn(&PortraitPoint) -> ScenePoint) {
    let last = chart.points.len().saturating_sub(1);
    let now = chart.cursor.unwrap_or(last).min(last);
    // A line has one colour and opacity, so the curve is drawn in pieces.
    let shade = |index: usize| if index >= now && chart.cursor.is_some() { 0 } else { 1 + 8 * index / now.max(1) };
    let mut from = 0;
    while from < last {
        let mut to = from + 1;
        while to < last && shade(to) == shade(from) && chart.points[to].paint == chart.points[from].paint {
            to += 1;
        }
        let alpha = match shade(from) {
            0 => 0.12,
            shade => OLDEST + (1.0 - OLDEST) * (shade.min(9) - 1) as f32 / 8.0,
        };
        let color = canvas.palette.line_color(chart.points[from].paint);
        let points = chart.points[from..=to].iter().map(&place).collect();
        canvas.faded_curve(points, ColorWithOpacity::with_alpha(color, canvas.line_alpha(alpha)), 1.9);
        from = to;
    }
    if let [single] = chart.points.as_slice() {
        let color = canvas.palette.line_color(single.paint);
        canvas.disc(place(single), 3.5, color, None);
    }
}
