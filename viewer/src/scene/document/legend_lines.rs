//! The legend of a document in lines. Each state type has a bar of shares and the names of its
//! values; other types have samples.

use std::collections::BTreeSet;

use crate::query::ValueId;
use crate::scene::{
    FilledRect, LegendEntry, LegendGroup, OutlineRect, SceneArrow, SceneCurve, SceneItem, SceneMark, SceneStroke,
    SceneText,
};
use crate::style::theme::font::{self, FontWeight};
use crate::style::theme::{ColorTheme, ColorWithOpacity, rgb};
use crate::text::time_display::group_digits;

/// Height of a line in scene units.
const LEGEND_LINE: f32 = 24.0;
/// Height of a bar of shares in scene units.
const BAR: f32 = 8.0;
/// Width of a sample with its number in a line.
const SAMPLE: f32 = 120.0;
/// Maximum number of named values of a state type.
const MAX_VALUES: usize = 20;

/// The legend, laid out in lines.
pub(crate) struct DocumentLegend {
    pub(crate) items: Vec<SceneItem>,
    pub(crate) height: f32,
}

impl DocumentLegend {
    /// Creates a legend. `dimmed_values` are the values that are grey in the image.
    pub(crate) fn new(
        groups: &[LegendGroup],
        dimmed_values: &BTreeSet<ValueId>,
        width: f32,
        theme: ColorTheme,
    ) -> Self {
        let mut groups = groups.to_vec();
        let is_dimmed = |entry: &LegendEntry| entry.value.is_some_and(|value| dimmed_values.contains(&ValueId(value)));
        for entry in groups.iter_mut().flat_map(|group| &mut group.entries).filter(|entry| is_dimmed(entry)) {
            entry.color = Some(theme.grid.to_string());
        }
        let mut legend = Self { items: Vec::new(), height: 0.0 };
        for group in groups.iter().filter(|group| group.kind == "state") {
            legend.states(group, width, theme);
        }
        let mut x = 0.0;
        let mut y = legend.height + 12.0;
        // Types with several values have lines of their own. The others share the last lines.
        let mut others: Vec<_> = groups.iter().filter(|group| group.kind != "state").collect();
        others.sort_by_key(|group| group.entries.len() < 2);
        for group in others {
            let several = group.entries.len() > 1;
            if several {
                if x > 0.0 {
                    (x, y) = (0.0, y + LEGEND_LINE);
                }
                let name = cut(&group.name, width / 3.0);
                let name_width = font::width(&name, 12.0, FontWeight::SemiBold);
                legend.items.push(SceneItem::Text(SceneText::new((x, y), name, 12.0, theme.ink).semi_bold()));
                x += name_width + 24.0;
            }
            for entry in &group.entries {
                let count = entry.count.map(group_digits).unwrap_or_default();
                let text_width = |text: &str| font::width(text, 12.0, FontWeight::Regular);
                let name = cut(&entry.name, width - SAMPLE);
                if x > 0.0 && x + 22.0 + text_width(&name) + number_gap(&name) + text_width(&count) > width {
                    (x, y) = (0.0, y + LEGEND_LINE);
                }
                let color = entry.color.as_deref().and_then(parse).unwrap_or(theme.link);
                legend.items.push(swatch(group.kind, (x, y - 4.0), entry, color));
                x = legend.text(x + 22.0, y, &name, theme.ink);
                x = legend.text(x + number_gap(&name), y, &count, theme.muted) + 24.0;
            }
            if several {
                (x, y) = (0.0, y + LEGEND_LINE);
            }
            legend.height = if x > 0.0 { y + 8.0 } else { y - LEGEND_LINE + 8.0 };
        }
        legend
    }

    fn text(&mut self, x: f32, y: f32, text: &str, color: tumit_paje::RgbColor) -> f32 {
        self.items.push(SceneItem::Text(SceneText::new((x, y), text, 12.0, color)));
        x + font::width(text, 12.0, FontWeight::Regular)
    }

    /// Draws a bar of shares above the names of the values.
    fn states(&mut self, group: &LegendGroup, width: f32, theme: ColorTheme) {
        let entries = largest_entries(group, theme);
        let sum: f64 = entries.iter().filter_map(|entry| entry.share).sum();
        let (mut x, y) = (0.0, self.height);
        self.items.push(SceneItem::Rect(FilledRect::decoration(
            OutlineRect::new(0.0, y, width, BAR),
            theme.track,
            0.0,
        )));
        for entry in &entries {
            #[expect(clippy::cast_possible_truncation, reason = "a share")]
            let part = (entry.share.unwrap_or(0.0) / sum.max(1.0)) as f32 * width;
            let color = entry.color.as_deref().and_then(parse).unwrap_or(theme.faint_color);
            self.items.push(SceneItem::Rect(FilledRect::decoration(OutlineRect::new(x, y, part, BAR), color, 0.0)));
            x += part;
        }
        let mut line = y + BAR + 20.0;
        let name = cut(&group.name, width / 3.0);
        x = font::width(&name, 12.0, FontWeight::SemiBold) + 24.0;
        self.items.push(SceneItem::Text(SceneText::new((0.0, line), name, 12.0, theme.ink).semi_bold()));
        for entry in &entries {
            let share = percent(entry.share.unwrap_or(0.0));
            let name = cut(&entry.name, width - SAMPLE);
            let min_width = 18.0
                + font::width(&name, 12.0, FontWeight::Regular)
                + number_gap(&name)
                + font::width(&share, 12.0, FontWeight::Regular);
            if x + min_width > width && x > 0.0 {
                (x, line) = (0.0, line + LEGEND_LINE);
            }
            let color = entry.color.as_deref().and_then(parse).unwrap_or(theme.faint_color);
            self.items.push(swatch("state", (x, line - 4.0), entry, color));
            x = self.text(x + 18.0, line, &name, theme.ink);
            x = self.text(x + number_gap(&name), line, &share, theme.muted) + 24.0;
        }
        if sum > 1.0005 {
            let note = format!("nested states count at each depth: {} in all", percent(sum));
            if x + font::width(&note, 12.0, FontWeight::Regular) > width && x > 0.0 {
                (x, line) = (0.0, line + LEGEND_LINE);
            }
            self.text(x, line, &note, theme.faint_color);
        }
        self.height = line + 20.0;
    }
}

/// The space between a name and its number. Other programs may show the image in a typeface that is
/// up to an eighth wider.
fn number_gap(name: &str) -> f32 {
    6.0 + font::width(name, 12.0, FontWeight::Regular) / 8.0
}

/// The part of a name that fits, with the space between it and its number.
fn cut(name: &str, room: f32) -> String {
    font::fit(name, 12.0, FontWeight::SemiBold, (room * 8.0 / 9.0).max(0.0)).unwrap_or_default()
}

/// The values that occur, in order of declaration. If there are too many, the largest by share and
/// one entry for the others.
fn largest_entries(group: &LegendGroup, theme: ColorTheme) -> Vec<LegendEntry> {
    let share = |entry: &LegendEntry| entry.share.unwrap_or(0.0);
    let mut entries: Vec<LegendEntry> = group.entries.iter().filter(|entry| share(entry) > 0.0).cloned().collect();
    // One value more does not justify an entry for the others.
    if entries.len() > MAX_VALUES + 1 {
        entries.sort_by(|a, b| share(b).total_cmp(&share(a)));
        let unlisted_entries = entries.split_off(MAX_VALUES);
        entries.push(LegendEntry {
            value: None,
            shape: None,
            size: 1.0,
            name: format!("{} others", group_digits(unlisted_entries.len() as u64)),
            color: Some(theme.grid.to_string()),
            share: Some(unlisted_entries.iter().map(share).sum()),
            nanos: None,
            self_share: Some(unlisted_entries.iter().filter_map(|entry| entry.self_share).sum()),
            count: None,
        });
    }
    entries
}

/// A sample of how something is drawn, centred on `y`.
fn swatch(kind: &str, (x, y): (f32, f32), entry: &LegendEntry, color: tumit_paje::RgbColor) -> SceneItem {
    let paint = ColorWithOpacity::from_opaque(color);
    match kind {
        "link" => SceneItem::Arrow(SceneArrow {
            from: (x, y + 4.0),
            to: (x + 16.0, y - 4.0),
            width: 1.4 * entry.size.min(2.0),
            head: 7.0 * entry.size.min(2.0).sqrt(),
            paint,
            halo: None,
            id: None,
            title: None,
        }),
        "event" => {
            // Lines of the legend are lower than strips of events may be.
            let (shape, size) = (entry.mark(), 9.0 * entry.size.clamp(0.4, 1.5));
            SceneItem::Mark(SceneMark {
                position: (x + 8.0, y + size / 2.0),
                shape,
                size,
                fill: paint,
                id: None,
                title: None,
            })
        }
        "variable" => SceneItem::Curve(SceneCurve {
            points: vec![
                (x, y + 4.0),
                (x + 5.0, y + 4.0),
                (x + 5.0, y - 4.0),
                (x + 11.0, y - 4.0),
                (x + 11.0, y),
                (x + 16.0, y),
            ],
            floor: None,
            fill: None,
            stroke: Some(SceneStroke { paint, width: 1.8 * entry.size.min(2.0) }),
        }),
        _ => SceneItem::Rect(FilledRect {
            frame: OutlineRect::new(x, y + 6.0 - 12.0 * entry.size, 12.0, 12.0 * entry.size),
            fill: paint,
            radius: 2.5_f32.min(6.0 * entry.size),
            id: None,
            title: None,
        }),
    }
}

/// A share as readable text.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.1 { "< 0.1 %".to_owned() } else { format!("{percent:.1} %") }
}

fn parse(text: &str) -> Option<tumit_paje::RgbColor> {
    u32::from_str_radix(text.strip_prefix('#')?, 16).ok().map(rgb)
}

#[cfg(test)]
mod tests {
    use super::number_gap;
    use crate::style::theme::font::{self, FontWeight};

    /// `DejaVu` Sans, which many systems use if the image names an absent typeface, is wider than
    /// the typeface of images.
    #[test]
    fn a_wider_typeface_has_room_before_the_number() {
        let name = "32 KiB and more";
        let width = font::width(name, 12.0, FontWeight::Regular);
        assert!(number_gap(name) >= width * 0.12 + 3.0, "{width}");
    }
}
