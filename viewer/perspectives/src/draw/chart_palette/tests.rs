//! The colours are distinguishable: in greyscale, and with simulated colour vision deficiencies.

use tumit_paje::RgbColor;
use tumit_paje::category::ActivityCategory;
use tumit_viewer::style::theme::{ColorTheme, ThemeKind, contrast};

use super::{ChartPalette, PaletteKind};
use crate::chart::ChartPaint;

const THEMES: [ThemeKind; 3] = [ThemeKind::Light, ThemeKind::Dark, ThemeKind::Contrast];

/// Matrices in linear light by Machado, Oliveira and Fernandes (2009), at full severity: usual
/// vision, protanopia, deuteranopia, tritanopia.
const VISIONS: [(&str, [[f32; 3]; 3]); 4] = [
    ("usual", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    ("protanopia", [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    (
        "deuteranopia",
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    ),
    ("tritanopia", [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
];

fn linear(color: RgbColor) -> [f32; 3] {
    [color.red, color.green, color.blue].map(|channel| {
        let c = f32::from(channel) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    })
}

/// The perceived colour in linear light.
fn seen(color: RgbColor, vision: &[[f32; 3]; 3]) -> [f32; 3] {
    let light = linear(color);
    vision.map(|row| row.iter().zip(light).map(|(a, b)| a * b).sum::<f32>().clamp(0.0, 1.0))
}

fn luminance(light: [f32; 3]) -> f32 {
    0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2]
}

fn contrast_of(a: [f32; 3], b: [f32; 3]) -> f32 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// The colour in CIE L*a*b*, where distances are similar to perceived ones.
fn lab(light: [f32; 3]) -> [f32; 3] {
    let [r, g, b] = light;
    let x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047;
    let z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883;
    let f = |t: f32| if t > 0.008856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
    let (x, y, z) = (f(x), f(luminance(light)), f(z));
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

fn distance(a: [f32; 3], b: [f32; 3]) -> f32 {
    lab(a).iter().zip(lab(b)).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt()
}

fn pairs<T: Copy>(list: &[T]) -> impl Iterator<Item = (T, T)> {
    list.iter().enumerate().flat_map(|(index, &a)| list[index + 1..].iter().map(move |&b| (a, b)))
}

#[test]
fn categories_differ_in_luminance_for_any_colour_vision() {
    for theme in THEMES {
        for kind in [PaletteKind::Standard, PaletteKind::Monochrome] {
            let palette = ChartPalette::new(theme, kind);
            let categories = ActivityCategory::COUNTED.map(|category| palette.color(ChartPaint::Category(category)));
            for (vision, matrix) in &VISIONS {
                for (a, b) in pairs(&categories) {
                    let found = contrast_of(seen(a, matrix), seen(b, matrix));
                    assert!(found >= 1.45, "{theme:?} {vision}: {a} and {b} have contrast {found}");
                }
            }
            let (paper, track) = (ColorTheme::new(theme).paper, ColorTheme::new(theme).track);
            let idle = contrast(categories[2], track).min(contrast(categories[2], paper));
            assert!(idle >= 1.5, "{theme:?} {kind:?}: idle has contrast {idle}");
            // Busy time contrasts most with the background, idle time least.
            let contrasts = categories.map(|color| contrast(color, paper));
            assert!(contrasts[0] > 1.8 * contrasts[1] && contrasts[1] > 1.45 * contrasts[2], "{contrasts:?}");
        }
    }
}

/// A derived trace has the colours of the light theme. The diagram shows them as the charts do.
#[test]
fn diagrams_and_charts_have_the_same_colours() {
    for theme in THEMES {
        for kind in [PaletteKind::Standard, PaletteKind::TrafficLights] {
            let (of_trace, of_charts) = (ChartPalette::new(ThemeKind::Light, kind), ChartPalette::new(theme, kind));
            let categories = ActivityCategory::COUNTED.map(ChartPaint::Category);
            for paint in categories.into_iter().chain((0..6).map(ChartPaint::Task)) {
                let in_diagram = ColorTheme::new(theme).fill(of_trace.color(paint));
                assert_eq!(in_diagram, of_charts.color(paint), "{theme:?} {kind:?} {paint:?}");
            }
        }
    }
}

#[test]
fn task_colours_are_distinguishable() {
    for theme in THEMES {
        let palette = ChartPalette::new(theme, PaletteKind::Standard);
        let colors: Vec<RgbColor> = (0..6).map(|task| palette.color(ChartPaint::Task(task))).collect();
        for (vision, matrix) in &VISIONS {
            for (a, b) in pairs(&colors) {
                let found = distance(seen(a, matrix), seen(b, matrix));
                assert!(found >= 12.0, "{theme:?} {vision}: {a} and {b} have distance {found}");
            }
        }
        let paper = ColorTheme::new(theme).paper;
        assert!(colors.iter().all(|&color| contrast(color, paper) >= 2.0), "{theme:?}");
        assert_eq!(palette.color(ChartPaint::Task(7)), colors[1]);
    }
}

#[test]
fn sizes_have_even_steps_of_lightness() {
    for theme in THEMES {
        let palette = ChartPalette::new(theme, PaletteKind::Standard);
        let sizes: Vec<f32> = (0..=6).map(|step| step as f32 / 6.0).collect();
        let lightness: Vec<f32> = sizes.iter().map(|&size| lab(linear(palette.size(size)))[0]).collect();
        let steps: Vec<f32> = lightness.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let sign = if theme == ThemeKind::Light { -1.0 } else { 1.0 };
        assert!(steps.iter().all(|step| (6.5..=17.0).contains(&(step * sign))), "{theme:?}: {steps:?}");
        let paper = ColorTheme::new(theme).paper;
        assert!(contrast(palette.size(0.0), paper) >= 1.15, "{theme:?}: small sizes are invisible");
    }
}

#[test]
fn the_present_value_contrasts_with_the_maximum() {
    for theme in THEMES {
        for kind in [PaletteKind::Standard, PaletteKind::Monochrome] {
            let palette = ChartPalette::new(theme, kind);
            let (now, maximum) = (palette.color(ChartPaint::Now), palette.color(ChartPaint::Maximum));
            let paper = ColorTheme::new(theme).paper;
            assert!(contrast(now, maximum) >= 3.0 && contrast(maximum, paper) >= 1.5, "{theme:?}");
        }
    }
}
