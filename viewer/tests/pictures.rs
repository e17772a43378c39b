//! What is drawn: scenes as text, and PNGs that hold a picture.

#[path = "support/tables.rs"]
mod tables;

use tables::interval;
use tables::program::program;
use viewer::export::{Format, encode};
use viewer::layout::{Folds, Options, Outline};
use viewer::query::TimelineSource;
use viewer::scene::{DocumentOptions, Scene, document};
use viewer::theme::ThemeKind;

fn picture(source: &dyn TimelineSource, options: &Options, width: f32, part: (i64, i64)) -> Scene {
    let outline = Outline::new(source).unwrap();
    let of = DocumentOptions { interval: interval(part.0, part.1), width, height: None, resolution: 1.0, titles: true };
    document(source, &outline, options, of).unwrap()
}

/// Writes pictures to look at into the build folder; asserts that they are not empty.
#[test]
fn pngs_hold_a_picture() {
    let source = program(3, 5, 9);
    let dense = program(3, 4, 700);
    let end = source.end;
    let fold = Folds { level: Some(0), ..Folds::default() };
    let dark = Options { theme: ThemeKind::Dark, ..Options::default() };
    let cases = [
        ("light", &source, Options::default(), (0, end)),
        ("dark", &source, dark, (0, end)),
        ("zoomed", &source, Options::default(), (end / 4, end / 3)),
        ("dense", &dense, Options::default(), (0, dense.end)),
        ("folded", &dense, Options { folds: fold, ..Options::default() }, (0, dense.end / 3)),
    ];
    for (name, source, options, part) in cases {
        let scene = picture(source, &options, 1400.0, part);
        let png = encode(&scene, Format::Png, 1.0).unwrap();
        let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
        std::fs::write(folder.join(format!("{name}.png")), &png).unwrap();
        std::fs::write(folder.join(format!("{name}.svg")), encode(&scene, Format::Svg, 1.0).unwrap()).unwrap();
        assert!(png.starts_with(b"\x89PNG") && png.len() > 20_000, "{name}: {} bytes", png.len());
    }
}
