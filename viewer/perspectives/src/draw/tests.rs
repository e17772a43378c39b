//! Texts of images do not overlap and are within the image, at each size and in each theme.

use tumit_viewer::scene::{OutlineRect, Scene, SceneItem, SceneText, TextAnchor};
use tumit_viewer::style::theme::font;
use tumit_viewer::style::theme::{ColorTheme, ThemeKind, contrast};

use super::chart_region::RegionShape;
use super::{DrawOptions, PaletteKind, draw, draw_with_regions};
use crate::chart::{ChartMatrixCell, ChartPaint, ChartPanel, LegendItem, ViewChart};

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

/// The frames of the filled rectangles of the group `cells`.
fn cell_frames(items: &[SceneItem], frames: &mut Vec<OutlineRect>) {
    for item in items {
        match item {
            SceneItem::Group(group) if group.name == "cells" => {
                let rects = group.items.iter().filter_map(|item| match item {
                    SceneItem::Rect(rect) => Some(rect.frame),
                    _ => None,
                });
                frames.extend(rects);
            }
            SceneItem::Group(group) => cell_frames(&group.items, frames),
            _ => {}
        }
    }
}

/// Otherwise, the background is visible between cells of the same colour.
#[test]
fn cells_of_adjacent_times_touch_on_whole_pixels() {
    let (_, mut surface) = sample_charts::all().into_iter().find(|(name, _)| *name == "surface").expect("a surface");
    if let ChartPanel::Matrix(panel) = &mut surface.panels[0].panel {
        let cell = |index: u32| ChartMatrixCell { row: index / 40, column: index % 40, value: 1.0, paint: None };
        panel.cells = (0..160).map(cell).collect();
    }
    for (width, height) in SIZES {
        let mut frames = Vec::new();
        cell_frames(&draw(&surface, DrawOptions { width, height, ..DrawOptions::default() }).items, &mut frames);
        assert_eq!(frames.len(), 160);
        for frame in &frames {
            assert!(frame.x.fract() == 0.0 && frame.right().fract() == 0.0, "{width}×{height}: {frame:?}");
        }
        let is_touched = |frame: &&OutlineRect| frames.iter().any(|next| (next.x, next.y) == (frame.right(), frame.y));
        assert_eq!(frames.iter().filter(is_touched).count(), 156, "{width}×{height}");
    }
}

/// Dashes distinguish edges in greys, too.
#[test]
fn dashed_edges_have_gaps_and_contrast() {
    let (_, mut network) = sample_charts::all().into_iter().find(|(name, _)| *name == "network8").expect("a network");
    let theme = ColorTheme::new(ThemeKind::Light);
    let lines = |network: &ViewChart| {
        let options = DrawOptions::default().with_palette(PaletteKind::Monochrome);
        let edges = draw(network, options).items.into_iter().find_map(|item| match item {
            SceneItem::Group(panel) => panel.items.into_iter().find_map(|item| match item {
                SceneItem::Group(group) if group.name == "edges" => Some(group.items),
                _ => None,
            }),
            _ => None,
        });
        let strokes = edges.expect("edges").into_iter().filter_map(|item| match item {
            SceneItem::Curve(curve) => curve.stroke,
            _ => None,
        });
        strokes.map(|stroke| contrast(stroke.paint.color, theme.paper)).collect::<Vec<f32>>()
    };
    let solid = lines(&network);
    assert!(solid.iter().all(|contrast| *contrast >= 3.0), "{solid:?}");
    if let ChartPanel::Network(panel) = &mut network.panels[0].panel {
        panel.edges.iter_mut().for_each(|edge| edge.is_dashed = true);
    }
    assert!(lines(&network).len() >= 5 * solid.len());
}

/// In a low card, a long legend is beside the panel.
#[test]
fn low_images_leave_room_to_the_panel() {
    let charts = sample_charts::all();
    let find = |name: &str| charts.iter().find(|(other, _)| *other == name).expect("a chart").1.clone();
    let sizes = (0..6_u8).map(|size| LegendItem {
        paint: ChartPaint::Size(f32::from(size) / 5.0),
        label: format!("{} KiB to {} KiB", 1 << size, 2 << size),
    });
    let (mut network, mut matrix) = (find("network24"), find("matrix64"));
    network.legend.extend(sizes.clone());
    matrix.legend.extend(sizes);
    for chart in [&mut network, &mut matrix] {
        chart.title.clear();
        chart.subtitle.clear();
    }
    let options = DrawOptions::new(455.0, 190.0);
    let image = draw_with_regions(&network, options);
    let side = image.regions.iter().find_map(|region| match &region.shape {
        RegionShape::Points { square, .. } => square.as_ref().map(|square| square.height),
        _ => None,
    });
    assert!(side >= Some(85.0), "{side:?}");
    let image = draw_with_regions(&matrix, options);
    let height = image.regions.iter().find_map(|region| match &region.shape {
        RegionShape::Grid { frame, .. } => Some(frame.height),
        _ => None,
    });
    assert!(height >= Some(85.0), "{height:?}");
    assert!([network, matrix].iter().all(|chart| problems(&draw(chart, options)).is_empty()));
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
