//! Marks in a plane of two quantities: discs, bars at positions, or cells of a grid.

use tumit_viewer::scene::{OutlineRect, TextAnchor};
use tumit_viewer::style::theme::{ColorTheme, ColorWithOpacity};

use crate::chart::{MarkAxis, MarkChart, MarkForm, PanelMark};
use crate::draw::chart_canvas::{ChartCanvas, LabelStyle, baseline_shift};
use crate::draw::chart_region::{RegionShape, RegionSubject};
use crate::draw::plot_area::{LABEL_GAP, label_step};
use crate::draw::value_axis::{ValueAxis, ValueTick};

/// Maximum number of marks with tooltips, because each enlarges the SVG file.
const MAX_TITLES: usize = 8192;
/// Maximum number of positions for which each label is considered. No panel has room for the labels
/// of more.
const MAX_POSITIONS: f64 = 1e6;
/// Maximum width of a bar or cell in scene units. Few of them would otherwise fill the panel.
const MAX_STEP: f32 = 84.0;

/// The scale of an axis.
struct MarkScale {
    minimum: f64,
    maximum: f64,
    heading: String,
    /// Empty for positions: their labels depend on the length of the axis.
    ticks: Vec<ValueTick>,
}

/// The area of the marks.
struct MarkArea<'a> {
    chart: &'a MarkChart,
    frame: OutlineRect,
    horizontal_scale: MarkScale,
    vertical_scale: MarkScale,
}

/// Draws the panel.
pub(in crate::draw) fn draw(canvas: &mut ChartCanvas, frame: OutlineRect, chart: &MarkChart) {
    let area = MarkArea::new(canvas, frame, chart);
    area.draw_vertical_axis(canvas, frame);
    area.draw_horizontal_axis(canvas);
    let has_titles = chart.marks.len() <= MAX_TITLES;
    if has_titles {
        canvas.add_region(area.region(), RegionSubject::Values);
    }
    canvas.group("marks", None, |canvas| {
        for mark in &chart.marks {
            let title = has_titles.then(|| mark.title.clone());
            match chart.form {
                MarkForm::Discs => area.draw_disc(canvas, mark, title),
                MarkForm::Bars => area.draw_bar(canvas, mark, title),
                MarkForm::Cells => area.draw_cell(canvas, mark, title),
            }
        }
    });
}

impl MarkScale {
    fn of_values(axis: &MarkAxis, length: f32, spacing: f32) -> Self {
        let ValueAxis { heading, minimum, maximum, ticks } =
            ValueAxis::new(&axis.axis, axis.minimum < 0.0, length, spacing);
        Self { minimum, maximum, heading, ticks }
    }

    /// Each position has a place of width 1 around it.
    fn of_positions(axis: &MarkAxis) -> Self {
        let (minimum, maximum) = (axis.minimum - 0.5, axis.axis.maximum.max(axis.minimum) + 0.5);
        Self { minimum, maximum, heading: axis.axis.label.clone(), ticks: Vec::new() }
    }

    /// The position of a value from 0 (smallest) to 1.
    fn fraction(&self, value: f64) -> f32 {
        let fraction = (value - self.minimum) / (self.maximum - self.minimum);
        #[expect(clippy::cast_possible_truncation, reason = "a position in an image")]
        let fraction = fraction as f32;
        if fraction.is_finite() { fraction.clamp(-0.02, 1.02) } else { 0.0 }
    }

    /// The number of positions.
    fn count(&self) -> f64 {
        self.maximum - self.minimum
    }
}

impl<'a> MarkArea<'a> {
    fn new(canvas: &ChartCanvas, frame: OutlineRect, chart: &'a MarkChart) -> Self {
        let size = canvas.sizes.label;
        let style = canvas.label_style(TextAnchor::End);
        let above = if chart.vertical_axis.axis.label.is_empty() { size * 0.6 } else { size * 2.3 };
        let lines_below = if chart.horizontal_axis.axis.label.is_empty() { 1.0 } else { 2.0 };
        let height = (frame.height - above - lines_below * size * 1.55 - 3.0).max(10.0);
        let vertical_scale = if has_vertical_positions(chart) {
            MarkScale::of_positions(&chart.vertical_axis)
        } else {
            MarkScale::of_values(&chart.vertical_axis, height, size * 2.5)
        };
        let widest = vertical_labels(&chart.vertical_axis, &vertical_scale)
            .map(|text| ChartCanvas::width(&text, style))
            .fold(0.0, f32::max)
            .min(frame.width * 0.25);
        let gutter = widest + LABEL_GAP;
        let mut inner =
            OutlineRect::new(frame.x + gutter, frame.y + above, (frame.width - gutter - 6.0).max(10.0), height);
        let horizontal_scale = match chart.form {
            MarkForm::Discs => MarkScale::of_values(&chart.horizontal_axis, inner.width, size * 5.0),
            MarkForm::Bars | MarkForm::Cells => MarkScale::of_positions(&chart.horizontal_axis),
        };
        if chart.form == MarkForm::Cells {
            let (columns, rows) = (horizontal_scale.count() as f32, vertical_scale.count() as f32);
            let side = (inner.width / columns).min(inner.height / rows).min(MAX_STEP);
            (inner.width, inner.height) = (side * columns, side * rows);
        }
        Self { chart, frame: inner, horizontal_scale, vertical_scale }
    }

    fn x(&self, value: f64) -> f32 {
        self.frame.x + self.horizontal_scale.fraction(value) * self.frame.width
    }

    fn y(&self, value: f64) -> f32 {
        let distance = self.vertical_scale.fraction(value) * self.frame.height;
        if has_vertical_positions(self.chart) { self.frame.y + distance } else { self.frame.bottom() - distance }
    }

    /// The places of the marks. A bar is found near its middle.
    fn region(&self) -> RegionShape {
        let radius = match self.chart.form {
            MarkForm::Discs => 4.0,
            MarkForm::Bars | MarkForm::Cells => {
                (self.frame.width / self.horizontal_scale.count() as f32 / 2.0).max(4.0)
            }
        };
        let middle = |mark: &PanelMark| match self.chart.form {
            MarkForm::Bars => f32::midpoint(self.y(0.0), self.y(mark.y)),
            MarkForm::Discs | MarkForm::Cells => self.y(mark.y),
        };
        let centers = self.chart.marks.iter().map(|mark| (self.x(mark.x), middle(mark))).collect();
        RegionShape::Points { radius, centers, square: None }
    }

    fn draw_vertical_axis(&self, canvas: &mut ChartCanvas, frame: OutlineRect) {
        let style = canvas.label_style(TextAnchor::End);
        let (grid, faint) = (canvas.theme.grid, canvas.theme.faint_color);
        let heading = canvas.label_style(TextAnchor::Start);
        canvas.text_within((frame.x, frame.y + style.size), &self.vertical_scale.heading, frame.width, heading);
        let room = self.frame.x - LABEL_GAP - frame.x + 2.0;
        let label = |canvas: &mut ChartCanvas, value: f64, text: &str| {
            let place = (self.frame.x - LABEL_GAP, self.y(value) + baseline_shift(style.size));
            canvas.text_within(place, text, room, style);
        };
        if has_vertical_positions(self.chart) {
            let step = self.frame.height / self.vertical_scale.count() as f32;
            for position in labeled_positions(&self.vertical_scale, label_step(style.size * 1.35, step)) {
                label(canvas, position, &position_text(&self.chart.vertical_axis, position));
            }
            return;
        }
        let mut free = f32::INFINITY;
        for tick in &self.vertical_scale.ticks {
            let y = self.y(tick.value);
            let color = if tick.value == 0.0 { faint } else { grid };
            canvas.grid_line((self.frame.x, y), (self.frame.right(), y), color);
            if y <= free {
                label(canvas, tick.value, &tick.text);
                free = y - style.size * 1.1;
            }
        }
    }

    fn draw_horizontal_axis(&self, canvas: &mut ChartCanvas) {
        let style = canvas.label_style(TextAnchor::Middle);
        let baseline = self.frame.bottom() + style.size + 6.0;
        let (grid, faint) = (canvas.theme.grid, canvas.theme.faint_color);
        if self.chart.form == MarkForm::Discs {
            for tick in &self.horizontal_scale.ticks {
                let color = if tick.value == 0.0 { faint } else { grid };
                let x = self.x(tick.value);
                canvas.grid_line((x, self.frame.y), (x, self.frame.bottom()), color);
                self.label_below(canvas, x, &tick.text, baseline, style);
            }
        } else {
            let step = self.frame.width / self.horizontal_scale.count() as f32;
            let last = position_text(&self.chart.horizontal_axis, self.horizontal_scale.maximum - 0.5);
            let needed = ChartCanvas::width(&last, style) + 8.0;
            for position in labeled_positions(&self.horizontal_scale, label_step(needed, step)) {
                let text = position_text(&self.chart.horizontal_axis, position);
                self.label_below(canvas, self.x(position), &text, baseline, style);
            }
        }
        let center = (self.frame.x + self.frame.width / 2.0, baseline + style.size * 1.5);
        canvas.text_within(center, &self.horizontal_scale.heading, self.frame.width, style);
    }

    /// A label below the marks, unless it would be cut at the right edge.
    fn label_below(&self, canvas: &mut ChartCanvas, x: f32, text: &str, baseline: f32, style: LabelStyle) {
        if x + ChartCanvas::width(text, style) / 2.0 <= self.frame.right() + 10.0 {
            canvas.text((x, baseline), text, style);
        }
    }

    fn draw_disc(&self, canvas: &mut ChartCanvas, mark: &PanelMark, title: Option<String>) {
        // Many marks are small and translucent, so that their density is visible.
        let density = self.chart.marks.len() as f32 / (self.frame.width * self.frame.height).max(1.0);
        let (radius, alpha) = if density > 0.01 {
            (1.6, 0.45)
        } else if density > 0.002 {
            (2.4, 0.7)
        } else {
            (4.0, 0.9)
        };
        let fill = ColorWithOpacity::with_alpha(canvas.palette.color(mark.paint), alpha);
        canvas.translucent_disc((self.x(mark.x), self.y(mark.y)), radius, fill, title);
    }

    fn draw_bar(&self, canvas: &mut ChartCanvas, mark: &PanelMark, title: Option<String>) {
        let step = self.frame.width / self.horizontal_scale.count() as f32;
        let gap = if step >= 4.0 { (step * 0.18).min(12.0) } else { 0.0 };
        let width = (step - gap).clamp(0.5, MAX_STEP);
        let (zero, end) = (self.y(0.0), self.y(mark.y));
        let frame = OutlineRect::new(self.x(mark.x) - width / 2.0, zero.min(end), width, (zero - end).abs().max(0.8));
        canvas.fill(frame, mark.paint, 0.0, title);
        self.draw_text(canvas, mark, frame, frame.bottom() - 4.0);
    }

    fn draw_cell(&self, canvas: &mut ChartCanvas, mark: &PanelMark, title: Option<String>) {
        let side = self.frame.width / self.horizontal_scale.count() as f32;
        let gap = (side * 0.08).clamp(if side >= 4.0 { 1.0 } else { 0.0 }, 3.0);
        let inner = (side - gap).max(0.5);
        let (x, y) = (self.x(mark.x) - inner / 2.0, self.y(mark.y) - inner / 2.0);
        let frame = OutlineRect::new(x, y, inner, inner);
        canvas.fill(frame, mark.paint, if side >= 16.0 { 2.5 } else { 0.0 }, title);
        if canvas.needs_outline(mark.paint) && side >= 5.0 {
            let faint = canvas.theme.faint_color;
            canvas.outline(frame, faint, 1.0);
        }
        self.draw_text(canvas, mark, frame, y + inner / 2.0 + baseline_shift(canvas.sizes.label));
    }

    /// The text inside a mark, if the mark has room for it.
    fn draw_text(&self, canvas: &mut ChartCanvas, mark: &PanelMark, frame: OutlineRect, baseline: f32) {
        let mut style = canvas.label_style(TextAnchor::Middle);
        let is_wide = ChartCanvas::width(&mark.text, style) + 3.0 <= frame.width;
        if !mark.text.is_empty() && is_wide && frame.height >= style.size * 1.3 {
            style.color = ColorTheme::text_on(canvas.palette.color(mark.paint));
            canvas.text((frame.x + frame.width / 2.0, baseline), mark.text.clone(), style);
        }
    }
}

/// Whether the vertical axis has positions, the first at the top.
fn has_vertical_positions(chart: &MarkChart) -> bool {
    chart.form == MarkForm::Cells || !chart.vertical_axis.names.is_empty()
}

/// The labels of a vertical axis, from which its width results.
fn vertical_labels<'a>(axis: &'a MarkAxis, scale: &'a MarkScale) -> impl Iterator<Item = String> + 'a {
    let ends = [scale.minimum + 0.5, scale.maximum - 0.5].map(|position| position_text(axis, position));
    let ends = ends.into_iter().filter(|_| scale.ticks.is_empty());
    ends.chain(axis.names.iter().cloned()).chain(scale.ticks.iter().map(|tick| tick.text.clone()))
}

/// The text of a position: its name, or its number.
fn position_text(axis: &MarkAxis, position: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
    let name = axis.names.get(position.max(0.0) as usize);
    name.cloned().unwrap_or_else(|| position.to_string())
}

/// Every `step`-th whole position of an axis.
fn labeled_positions(scale: &MarkScale, step: usize) -> impl Iterator<Item = f64> {
    let first = (scale.minimum + 0.5).ceil();
    let count = (scale.maximum - 0.5 - first).floor().clamp(-1.0, MAX_POSITIONS);
    #[expect(clippy::cast_possible_truncation, reason = "a small number")]
    let last = count as i32;
    (0..=last).step_by(step).map(move |position| first + f64::from(position))
}
