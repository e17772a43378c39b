//! [`LegendLines`]: the legend of a chart, in lines.

use tumit_viewer::scene::{OutlineRect, TextAnchor};

use super::chart_canvas::{ChartCanvas, ScenePoint, baseline_shift};
use crate::chart::ChartPaint;

/// Maximum number of lines, so that the legend leaves most of an image to the panels.
const MAX_LINES: usize = 3;

/// A legend with the places of its entries.
#[derive(Clone, Debug)]
pub(super) struct LegendLines<'a> {
    entries: Vec<LegendPlace<'a>>,
    /// The number of entries without room.
    left_out: usize,
    /// The end of the last line.
    end: f32,
    lines: usize,
}

#[derive(Clone, Debug)]
struct LegendPlace<'a> {
    x: f32,
    line: usize,
    paint: ChartPaint,
    label: &'a str,
}

impl<'a> LegendLines<'a> {
    /// Arranges the entries in lines of a width.
    pub(super) fn new(canvas: &ChartCanvas, items: &'a [(ChartPaint, String)], width: f32) -> Self {
        let style = canvas.label_style(TextAnchor::Start);
        let more = ChartCanvas::width("and 999 more", style);
        let mut legend = Self { entries: Vec::new(), left_out: 0, end: 0.0, lines: usize::from(!items.is_empty()) };
        for (index, (paint, label)) in items.iter().enumerate() {
            let needed = swatch(style.size) + 5.0 + ChartCanvas::width(label, style);
            if legend.end > 0.0 && legend.end + needed > width {
                legend.lines += 1;
                legend.end = 0.0;
            }
            let is_full = legend.lines > MAX_LINES
                || legend.lines == MAX_LINES && index + 1 < items.len() && legend.end + needed + more + 16.0 > width;
            if is_full {
                legend.lines = legend.lines.min(MAX_LINES);
                legend.left_out = items.len() - index;
                break;
            }
            legend.entries.push(LegendPlace { x: legend.end, line: legend.lines - 1, paint: *paint, label });
            legend.end += needed + 16.0;
        }
        legend
    }

    /// Arranges the entries in columns of a height, for a legend beside the panels. `None` if the
    /// height is too small for one line.
    pub(super) fn beside(canvas: &ChartCanvas, items: &'a [(ChartPaint, String)], height: f32) -> Option<Self> {
        let style = canvas.label_style(TextAnchor::Start);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive number of lines")]
        let lines = (height / line_height(style.size)).floor().max(0.0) as usize;
        let mut legend = Self { entries: Vec::new(), left_out: 0, end: 0.0, lines: lines.min(items.len()) };
        let mut x = 0.0;
        for column in items.chunks(lines.max(1)).filter(|_| lines > 0) {
            let mut widest = 0.0_f32;
            for (line, (paint, label)) in column.iter().enumerate() {
                legend.entries.push(LegendPlace { x, line, paint: *paint, label });
                widest = widest.max(swatch(style.size) + 5.0 + ChartCanvas::width(label, style));
            }
            legend.end = x + widest;
            x = legend.end + 16.0;
        }
        (!legend.entries.is_empty()).then_some(legend)
    }

    /// The width of a legend beside the panels.
    pub(super) fn width(&self) -> f32 {
        self.end
    }

    /// The height of the legend.
    pub(super) fn height(&self, canvas: &ChartCanvas) -> f32 {
        line_height(canvas.sizes.label) * self.lines as f32
    }

    /// Draws the legend below a height. Returns its lower end.
    pub(super) fn draw(&self, canvas: &mut ChartCanvas, (x, y): ScenePoint) -> f32 {
        let style = canvas.label_style(TextAnchor::Start);
        let (line_height, side) = (line_height(style.size), swatch(style.size));
        let middle = |line: usize| y + line_height * (line as f32 + 0.5);
        canvas.group("legend", None, |canvas| {
            for LegendPlace { x: offset, line, paint, label } in &self.entries {
                let frame = OutlineRect::new(x + offset, middle(*line) - side / 2.0, side, side);
                canvas.fill(frame, *paint, 2.0, None);
                if canvas.needs_outline(*paint) {
                    let faint = canvas.theme.faint_color;
                    canvas.outline(frame, faint, 1.0);
                }
                let place = (x + offset + side + 5.0, middle(*line) + baseline_shift(style.size));
                canvas.text(place, (*label).to_owned(), style);
            }
            if self.left_out > 0 {
                let place = (x + self.end, middle(self.lines - 1) + baseline_shift(style.size));
                canvas.text(place, format!("and {} more", self.left_out), style);
            }
        });
        y + line_height * self.lines as f32
    }
}

/// The height of a line of text.
fn line_height(size: f32) -> f32 {
    size * 1.55
}

/// The side of a swatch.
fn swatch(size: f32) -> f32 {
    (size * 0.95).round()
}
