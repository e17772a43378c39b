//! [`BarNames`]: the names of bars without what they have in common.

use tumit_viewer::scene::{OutlineRect, TextAnchor};

use super::super::chart_canvas::{ChartCanvas, LabelStyle};
use crate::chart::BarChart;

/// The names of bars.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BarNames<'a> {
    /// The quantity by which the bars are arranged, such as `rank`.
    pub(super) heading: String,
    /// The names without their common start, if numbers remain.
    pub(super) short: Vec<&'a str>,
}

impl<'a> BarNames<'a> {
    /// The names of the bars of a chart.
    pub(super) fn new(chart: &'a BarChart) -> Self {
        let names: Vec<&str> = chart.bars.iter().map(|bar| bar.label.as_str()).collect();
        let common = common_start(&names);
        let word = common.trim_end_matches(|letter: char| !letter.is_alphanumeric());
        let heading = if chart.arrangement.is_empty() { word.to_owned() } else { chart.arrangement.clone() };
        Self { heading, short: names.iter().map(|name| &name[common.len()..]).collect() }
    }

    /// The width of the widest name.
    pub(super) fn widest(&self, style: LabelStyle) -> f32 {
        self.short.iter().map(|name| ChartCanvas::width(name, style)).fold(0.0, f32::max)
    }

    /// Whether each bar should be a row, because the names do not fit below vertical bars but have
    /// room at the left.
    pub(super) fn need_rows(&self, canvas: &ChartCanvas, frame: OutlineRect) -> bool {
        let style = canvas.label_style(TextAnchor::Start);
        let count = self.short.len().max(1) as f32;
        let is_number = self.short.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
        let fits_below = self.widest(style) + 8.0 <= (frame.width - 40.0) / count;
        let fits_rows = (frame.height - 40.0) / count >= style.size * 1.15;
        !is_number && !fits_below && fits_rows
    }
}

/// The common start of all names, up to the first digit of numbers. Empty if other texts than
/// numbers remain.
fn common_start<'a>(names: &[&'a str]) -> &'a str {
    let [first, ..] = names else { return "" };
    let digits = first.bytes().rev().take_while(u8::is_ascii_digit).count();
    let start = &first[..first.len() - digits];
    let is_numbered = |name: &&str| {
        name.strip_prefix(start).is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    if names.len() > 1 && names.iter().all(|name| is_numbered(name)) { start } else { "" }
}

#[cfg(test)]
mod tests {
    use super::common_start;

    #[test]
    fn only_numbers_remain_of_names() {
        assert_eq!(common_start(&["rank 8", "rank 10"]), "rank ");
        assert_eq!(common_start(&["rank 8", "rank x"]), "");
        assert_eq!(common_start(&["compute", "communicate"]), "");
        assert_eq!(common_start(&["0", "1"]), "");
        assert_eq!(common_start(&["rank 1"]), "");
    }
}
