//! Breaks texts into lines.

use tumit_viewer::style::theme::font;

use super::chart_canvas::{ChartCanvas, LabelStyle};

/// Breaks a text into at most `max_lines` lines. The last one is cut if the text is longer.
pub(super) fn wrap(text: &str, style: LabelStyle, width: f32, max_lines: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let longer = lines.last().map(|line| format!("{line} {word}"));
        match longer.filter(|line| ChartCanvas::width(line, style) <= width || lines.len() == max_lines) {
            Some(longer) => {
                lines.pop();
                lines.push(longer);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines.iter().filter_map(|line| font::fit(line, style.size, style.weight, width)).collect()
}
