//! [`BarNames`]: the names of bars, and the quantity by which the bars are arranged.

use tumit_viewer::scene::{OutlineRect, TextAnchor};

use crate::chart::BarChart;
use crate::draw::chart_canvas::ChartCanvas;
use crate::draw::short_names::ShortNames;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct BarNames<'a> {
    /// The quantity by which the bars are arranged, such as `rank`.
    pub(super) heading: String,
    /// The names without their common start.
    pub(super) short_names: ShortNames<'a>,
}

impl<'a> BarNames<'a> {
    pub(super) fn new(chart: &'a BarChart) -> Self {
        let short_names = ShortNames::new(chart.bars.iter().map(|bar| bar.label.as_str()));
        let heading =
            if chart.arrangement.is_empty() { short_names.word.to_owned() } else { chart.arrangement.clone() };
        Self { heading, short_names }
    }

    /// Whether each bar should be a row, because the names do not fit below vertical bars but have
    /// room at the left.
    pub(super) fn need_rows(&self, canvas: &ChartCanvas, frame: OutlineRect) -> bool {
        let style = canvas.label_style(TextAnchor::Start);
        let count = self.short_names.names.len().max(1) as f32;
        let fits_below = self.short_names.widest(style) + 8.0 <= (frame.width - 40.0) / count;
        let fits_rows = (frame.height - 40.0) / count >= style.size * 1.15;
        !self.short_names.are_numbers() && !fits_below && fits_rows
    }
}
