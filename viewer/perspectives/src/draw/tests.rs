//! Texts of images do not overlap and are within the image, at each size and in each theme.

use tumit_viewer::scene::{OutlineRect, Scene, SceneItem, SceneText, TextAnchor};
use tumit_viewer::style::theme::ThemeKind;
use tumit_viewer::style::theme::font;

use super::{DrawOptions, PaletteKind, draw};

mod sample_charts;

const SIZES: [(f32, f32); 4] = [(640.0, 400.0), (960.0, 600.0), (1600.0, 900.0), (320.0, 240.0)];

fn texts<'a>(items: &'a [SceneItem], list: &mut Vec<&'a SceneText>) {
    for item in items {
        match item {
            SceneItem::Group(group) => texts(&group.items, list),
            SceneItem::Text(text) => list.push(text),
            _ => {}
        }
    }
}

/// The area of the letters of a text.
fn extent(text: &SceneText) -> OutlineRect {
    let width = font::width(&text.text, text.size, text.weight);
    let left = match text.anchor {
        TextAnchor::Start => text.position.0,
        TextAnchor::Middle => text.position.0 - width / 2.0,
        TextAnchor::End => text.position.0 - width,
    };
    OutlineRect::new(left, text.position.1 - text.size * 0.74, width, text.size * 0.74)
}

fn overlap(a: &OutlineRect, b: &OutlineRect) -> bool {
    a.x + 0.5 < b.right() && b.x + 0.5 < a.right() && a.y + 0.5 < b.bottom() && b.y + 0.5 < a.bottom()
}

fn problems(scene: &Scene) -> Vec<String> {
    let mut list = Vec::new();
    texts(&scene.items, &mut list);
    let areas: Vec<OutlineRect> = list.iter().map(|text| extent(text)).collect();
    let mut problems = Vec::new();
    for (index, (text, area)) in list.iter().zip(&areas).enumerate() {
        if area.x < 0.0 || area.right() > scene.width || area.y < 0.0 || area.bottom() > scene.height {
            problems.push(format!("`{}` is outside", text.text));
        }
        for (later_text, later_area) in list[index + 1..].iter().zip(&areas[index + 1..]) {
            if overlap(area, later_area) {
                problems.push(format!("`{}` overlaps `{}`", text.text, later_text.text));
            }
        }
    }
    problems
}

#[test]
fn labels_do_not_overlap_and_are_within_the_image() {
    let mut all = Vec::new();
    for (name, chart) in sample_charts::all() {
        for (width, height) in SIZES {
            let scene = draw(&chart, DrawOptions { width, height, ..DrawOptions::default() });
            all.extend(problems(&scene).into_iter().map(|problem| format!("{name} {width}×{height}: {problem}")));
        }
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn the_layout_is_the_same_in_all_themes() {
    for (_, chart) in sample_charts::all() {
        let scene = |theme: ThemeKind| draw(&chart, DrawOptions { theme, ..DrawOptions::default() });
        let words = |scene: &Scene| {
            let mut list = Vec::new();
            texts(&scene.items, &mut list);
            list.iter().map(|text| (text.text.clone(), text.position)).collect::<Vec<_>>()
        };
        let light = words(&scene(ThemeKind::Light));
        assert!(!light.is_empty());
        assert_eq!(light, words(&scene(ThemeKind::Dark)));
        assert_eq!(light, words(&scene(ThemeKind::Contrast)));
    }
}

#[test]
fn charts_without_data_are_drawn() {
    for (name, chart) in sample_charts::empty() {
        let scene = draw(&chart, DrawOptions::default());
        assert!(!scene.items.is_empty(), "{name}");
        assert!(problems(&scene).is_empty(), "{name}: {:?}", problems(&scene));
    }
}

/// Writes the images for inspection into the folder that `CHART_IMAGES` names.
#[test]
#[ignore = "writes images; it checks nothing"]
fn images_of_sample_charts_are_written() {
    let folder = std::path::PathBuf::from(std::env::var("CHART_IMAGES").unwrap());
    let chosen = std::env::var("CHART").unwrap_or_default();
    for (name, chart) in sample_charts::all().into_iter().filter(|(name, _)| name.contains(&chosen)) {
        for theme in [ThemeKind::Light, ThemeKind::Dark, ThemeKind::Contrast] {
            for (width, height) in [(640.0, 400.0), (1600.0, 900.0)] {
                for palette in PaletteKind::WORDS.map(|(_, palette)| palette) {
                    let scene = draw(&chart, DrawOptions { width, height, theme, palette });
                    let mono = if palette == PaletteKind::Standard { "" } else { "-mono" };
                    let path = folder.join(format!("{name}-{theme:?}-{width}{mono}.png"));
                    if palette == PaletteKind::Monochrome && (theme != ThemeKind::Light || width > 640.0) {
                        continue;
                    }
                    let format = tumit_viewer::export::ImageFormat::Png;
                    tumit_viewer::export::save(&scene, format, 1.0, &path).unwrap();
                }
            }
        }
    }
}
