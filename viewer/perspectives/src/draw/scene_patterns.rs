//! [`add_patterns`]: the patterns of monochrome images in a diagram.

use tumit_paje::RgbColor;
use tumit_paje::category::ActivityCategory;
use tumit_viewer::scene::{Scene, SceneItem};
use tumit_viewer::style::theme::{ColorTheme, ThemeKind};

use super::chart_palette::{ChartPalette, PaletteKind, TASK_GREYS};
use super::fill_pattern::{self, FillPattern};
use crate::chart::ChartPaint;

/// Adds lines to the rectangles of tasks and categories in a diagram with the monochrome palette.
pub fn add_patterns(scene: &mut Scene, theme: ThemeKind) {
    let (palette, theme) = (ChartPalette::new(ThemeKind::Light, PaletteKind::Monochrome), ColorTheme::new(theme));
    let tasks = (0..).take(TASK_GREYS).map(ChartPaint::Task);
    let paints = tasks.chain([ChartPaint::Category(ActivityCategory::Overhead)]);
    let patterns: Vec<(RgbColor, FillPattern)> =
        paints.map(|paint| (theme.fill(palette.color(paint)), FillPattern::of(paint))).collect();
    scene.items = with_patterns(std::mem::take(&mut scene.items), &patterns);
}

fn with_patterns(items: Vec<SceneItem>, patterns: &[(RgbColor, FillPattern)]) -> Vec<SceneItem> {
    let mut all = Vec::with_capacity(items.len());
    for item in items {
        let lines = match &item {
            SceneItem::Rect(rect) => {
                let found = patterns.iter().find(|(color, _)| *color == rect.fill.color);
                let found = found.filter(|(_, pattern)| pattern.is_visible_in(rect.frame));
                found.map(|(color, pattern)| fill_pattern::group(*pattern, rect.frame, *color))
            }
            _ => None,
        };
        all.push(match item {
            SceneItem::Group(mut group) => {
                group.items = with_patterns(group.items, patterns);
                SceneItem::Group(group)
            }
            other => other,
        });
        all.extend(lines);
    }
    all
}
