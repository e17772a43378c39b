//! Numbers over time: stacked areas, or lines with the range of their values.

use tumit_viewer::scene::{OutlineRect, TextAnchor};
use tumit_viewer::style::theme::ColorWithOpacity;

use crate::chart::{LevelChart, LevelSeries};
use crate::draw::chart_canvas::{ChartCanvas, ScenePoint, baseline_shift};
use crate::draw::chart_region::{RegionShape, RegionSubject};
use crate::draw::plot_area::{PlotArea, PlotMargins, separate};

/// Maximum number of lines with labels at their ends. Labels of more lines would be far from their
/// lines.
const MAX_LABELED: usize = 5;

/// Draws the panel.
pub(in crate::draw) fn draw(canvas: &mut ChartCanvas, frame: OutlineRect, chart: &LevelChart) {
    let has_negative = chart.series.iter().any(|series| {
        series.means.iter().any(|&mean| mean < 0.0) || series.extremes.iter().any(|extremes| extremes.minimum < 0.0)
    });
    let right = if chart.stacked { 0.0 } else { labels_width(canvas, frame, chart) };
    let lines_below = PlotArea::time_lines(canvas, frame.width * 0.9, chart.from, chart.to);
    let margins = PlotMargins { right, lines_below };
    let area = PlotArea::new(canvas, frame, &chart.axis, has_negative && !chart.stacked, margins);
    let scale = area.time_scale(chart.from, chart.to);
    area.draw_times(canvas, &scale);
    let columns = chart.series.iter().map(|series| series.means.len()).max().unwrap_or(0);
    let shape = RegionShape::Times { frame: area.frame, columns, from: chart.from, to: chart.to };
    canvas.add_region(shape, RegionSubject::Values);
    canvas.group("data", None, |canvas| {
        if chart.stacked {
            draw_stack(canvas, &area, &chart.series);
        } else {
            draw_lines(canvas, &area, &chart.series);
        }
    });
    if right > 0.0 {
        label_lines(canvas, &area, &chart.series);
    }
    area.draw_cursor(canvas, &scale, chart.cursor);
}

/// The width of the labels at the ends of the lines. 0 if they have no room.
fn labels_width(canvas: &ChartCanvas, frame: OutlineRect, chart: &LevelChart) -> f32 {
    let style = canvas.label_style(TextAnchor::Start);
    let widest = chart.series.iter().map(|series| ChartCanvas::width(&series.label, style)).fold(0.0, f32::max);
    let fits = chart.series.len() > 1 && chart.series.len() <= MAX_LABELED && widest < frame.width * 0.22;
    if fits { widest + 10.0 } else { 0.0 }
}

/// The left edge of a column.
fn edge(frame: OutlineRect, column: usize, columns: usize) -> f32 {
    frame.x + frame.width * column as f32 / columns.max(1) as f32
}

/// Stacked areas. Each is drawn down to the floor, the uppermost first, so that no gaps are visible
/// between them.
fn draw_stack(canvas: &mut ChartCanvas, area: &PlotArea, series: &[LevelSeries]) {
    let columns = series.iter().map(|series| series.means.len()).max().unwrap_or(0);
    let mut sums = vec![0.0; columns];
    let mut tops: Vec<Vec<f64>> = Vec::new();
    for series in series {
        for (sum, mean) in sums.iter_mut().zip(&series.means) {
            *sum += mean.max(0.0);
        }
        tops.push(sums.clone());
    }
    for (series, top) in series.iter().zip(&tops).rev() {
        let color = canvas.palette.color(series.paint);
        if let Some(run) = visible_columns(series, top) {
            let points = steps(area, top, run, columns);
            canvas.area(points, Some(area.frame.bottom()), color, 1.0);
        }
    }
    // Grid lines are visible through the areas.
    let (ink, frame) = (canvas.theme.paper, area.frame);
    for tick in area.axis.ticks.iter().filter(|tick| tick.value > 0.0) {
        let y = area.y(tick.value).floor() + 0.5;
        let points = vec![(frame.x, y), (frame.right(), y)];
        canvas.faded_curve(points, ColorWithOpacity::with_alpha(ink, 0.28), 1.0);
    }
}

/// The columns in which a series has values, with all columns between them. The areas of other
/// series hide zeros.
fn visible_columns(series: &LevelSeries, top: &[f64]) -> Option<std::ops::Range<usize>> {
    let has_value = |column: &usize| series.means.get(*column).is_some_and(|mean| *mean > 0.0) && top[*column] > 0.0;
    let first = (0..top.len()).find(has_value)?;
    let last = (0..top.len()).rev().find(has_value)?;
    Some(first..last + 1)
}

/// The upper edge of columns of constant height. Adjacent columns of equal height are one step.
fn steps(area: &PlotArea, heights: &[f64], run: std::ops::Range<usize>, columns: usize) -> Vec<ScenePoint> {
    let mut points: Vec<ScenePoint> = Vec::new();
    for column in run {
        let (y, right) = (area.y(heights[column]), edge(area.frame, column + 1, columns));
        match points.last_mut() {
            Some(last) if (last.1 - y).abs() < 0.01 => last.0 = right,
            _ => points.extend([(edge(area.frame, column, columns), y), (right, y)]),
        }
    }
    points
}

/// Lines of means. Bands show the smallest and largest value in each column.
fn draw_lines(canvas: &mut ChartCanvas, area: &PlotArea, lines: &[LevelSeries]) {
    for line in lines {
        let color = canvas.palette.color(line.paint);
        let columns = line.means.len();
        if line.extremes.len() == columns && columns > 0 {
            let high: Vec<f64> = line.extremes.iter().map(|extremes| extremes.maximum).collect();
            let low: Vec<f64> = line.extremes.iter().map(|extremes| extremes.minimum).collect();
            let mut points = steps(area, &high, 0..columns, columns);
            points.extend(steps(area, &low, 0..columns, columns).into_iter().rev());
            canvas.area(points, None, color, if lines.len() == 1 { 0.3 } else { 0.2 });
        }
        let points = steps(area, &line.means, 0..columns, columns);
        if lines.len() == 1 {
            canvas.area(points.clone(), Some(area.y(0.0)), color, 0.16);
        }
        canvas.curve(points, color, 1.6);
    }
}

/// Names at the ends of the lines.
fn label_lines(canvas: &mut ChartCanvas, area: &PlotArea, lines: &[LevelSeries]) {
    let mut style = canvas.label_style(TextAnchor::Start);
    let wanted: Vec<f32> = lines.iter().map(|series| area.y(series.means.last().copied().unwrap_or(0.0))).collect();
    let places = separate(&wanted, style.size * 1.25, area.frame.y, area.frame.bottom());
    for (series, y) in lines.iter().zip(places) {
        style.color = canvas.theme.with_contrast(canvas.palette.color(series.paint));
        canvas.text((area.frame.right() + 8.0, y + baseline_shift(style.size)), series.label.clone(), style);
    }
}
