//! Tests of PNG images: slices give the same image as one piece, and errors for too large ones.

use super::*;
use crate::query::{EntityId, RgbColor};
use crate::scene::{
    FilledRect, OutlineRect, SceneArrow, SceneCells, SceneCurve, SceneGroup, SceneItem, SceneLine, SceneMark,
    SceneStroke, SceneText, TextAnchor, VariableBand,
};
use crate::style::theme::ColorWithOpacity;
use crate::style::theme::font::FontWeight;

/// Width and height of an image in pixels, and its channels.
type PngPixels = (u32, u32, Vec<u8>);

fn pixels(scene: &Scene, scale: f32, lines: u32) -> PngPixels {
    let mut bytes = Vec::new();
    write_slices(scene, scale, lines, &mut bytes).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut data = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut data).unwrap();
    (info.width, info.height, data)
}

fn paint(number: u16) -> ColorWithOpacity {
    let [red, green] = number.wrapping_mul(2_741).to_be_bytes();
    ColorWithOpacity::from_opaque(RgbColor { red, green, blue: 90 })
}

/// A row with one element of each kind.
fn row(number: u16) -> Vec<SceneItem> {
    let (y, x) = (f32::from(number) * 22.37, f32::from(number % 17) * 11.3);
    let frame = |x, width| OutlineRect::new(x, y + 2.13, width, 18.21);
    let columns = (0..40)
        .map(|number| vec![(0, f32::from(number % 7_u16) / 14.0), (1, 0.25)])
        .collect::<crate::scene::MixtureColumns<u16>>();
    let points: Vec<(f32, f32)> =
        (0..20_u8).map(|number| (f32::from(number) * 9.7, y + f32::from(number * 7 % 13))).collect();
    vec![
        SceneItem::Rect(FilledRect::decoration(frame(x, 61.7), RgbColor { red: 9, green: 99, blue: 199 }, 3.0)),
        SceneItem::Cells(SceneCells {
            frame: frame(200.0, 80.0),
            palette: vec![paint(number).color, paint(number + 1).color],
            values: Vec::new(),
            columns,
        }),
        SceneItem::Curve(SceneCurve {
            points,
            floor: Some(y + 20.0),
            fill: Some(paint(3)),
            stroke: Some(SceneStroke { paint: paint(4), width: 1.3 }),
        }),
        SceneItem::Band(VariableBand {
            x: 290.3,
            step: 2.7,
            columns: (0..30_u8).map(|number| [0.0, 9.0, 4.5].map(|of| y + of + f32::from(number % 5))).collect(),
            floor: y + 20.0,
            band_paint: paint(7),
            fill: paint(8),
            line: SceneStroke { paint: paint(9), width: 1.1 },
        }),
        SceneItem::Mark(SceneMark {
            position: (x + 100.4, y + 19.7),
            shape: tumit_paje::MarkShape::ALL[usize::from(number) % 5],
            size: 9.3,
            fill: paint(number),
            id: None::<EntityId>,
            title: None,
        }),
        SceneItem::Text(SceneText {
            position: (x + 3.3, y + 15.1),
            text: format!("gjÅ thread {number}"),
            size: 11.0,
            weight: FontWeight::Regular,
            anchor: TextAnchor::Start,
            fill: paint(number + 5),
        }),
    ]
}

/// Rows with links between neighbours, below a heading. If `links` is true, also one link across
/// all rows.
fn scene(rows: u16, links: bool) -> Scene {
    let mut items: Vec<SceneItem> = (0..rows).flat_map(row).collect();
    let place = |number: u16, x: f32| (x, f32::from(number) * 22.37 + 11.0);
    let arrow = |from, to| {
        SceneItem::Arrow(SceneArrow {
            from,
            to,
            width: 1.2,
            head: 6.0,
            paint: paint(11),
            halo: Some(paint(12)),
            id: None,
            title: None,
        })
    };
    items.extend((0..rows - 1).map(|row| arrow(place(row, 50.3 + f32::from(row % 9)), place(row + 1, 230.7))));
    items.extend(links.then(|| arrow(place(0, 10.0), place(rows - 1, 390.0))));
    let height = f32::from(rows) * 22.37;
    let window = Some(OutlineRect::new(0.0, 0.0, 380.0, height - 3.3));
    let line = SceneItem::Line(SceneLine { from: (99.0, 20.0), to: (99.0, height), width: 1.0, paint: paint(1) });
    let rows = SceneItem::Group(SceneGroup { name: "Rows".into(), x: 31.25, y: 57.5, window, items });
    Scene {
        width: 420.0,
        height: (height + 90.0).ceil(),
        background: Some(RgbColor { red: 250, green: 251, blue: 252 }),
        items: vec![line, rows],
        ..Scene::default()
    }
}

/// Compares an image in slices of `lines` lines with the whole image: the number of different
/// channels, and the largest difference.
fn differences(image: &PngPixels, scene: &Scene, scale: f32, lines: u32) -> (usize, u8) {
    let slices = pixels(scene, scale, lines);
    assert_eq!((slices.0, slices.1), (image.0, image.1));
    // Most parts are equal, and comparing whole parts takes little time without optimisation.
    let parts = image.2.chunks(1024).zip(slices.2.chunks(1024)).filter(|(image, slices)| image != slices);
    let all = parts.flat_map(|(image, slices)| image.iter().zip(slices).map(|(a, b)| a.abs_diff(*b)));
    (all.clone().filter(|&difference| difference > 0).count(), all.max().unwrap_or(0))
}

#[test]
fn an_image_in_slices_is_the_image_in_one_piece() {
    for (rows, scale, heights) in
        [(40, 1.0, &[97, 333, 1000][..]), (40, 2.0, &[333]), (20, 3.0, &[97, 1000]), (350, 1.0, &[333])]
    {
        let scene = scene(rows, false);
        let image = pixels(&scene, scale, u32::MAX);
        for &lines in heights {
            let (count, most) = differences(&image, &scene, scale, lines);
            // Coordinates are rounded differently at different heights. At a few edges of letters,
            // a line of samples within a pixel is therefore on the other side of the edge.
            let all = f64::from(scene.width * scene.height * scale * scale) * 3.0;
            let share = f64::from(u32::try_from(count).unwrap()) / all;
            assert!(share < 2e-4 && most < 64, "{rows} rows, scale {scale}, {lines} lines: {count} by {most}");
        }
    }
}

#[test]
fn an_image_of_one_slice_is_drawn_in_one_piece() {
    let scene = scene(60, true);
    let mut bytes = Vec::new();
    write(&scene, 1.0, &mut bytes).unwrap();
    let mut expected_bytes = Vec::new();
    write_slices(&scene, 1.0, u32::MAX, &mut expected_bytes).unwrap();
    assert_eq!(bytes, expected_bytes);
}

#[test]
fn links_over_many_slices_differ_by_a_shade() {
    let scene = scene(200, true);
    let (count, most) = differences(&pixels(&scene, 1.0, u32::MAX), &scene, 1.0, 333);
    // The link has an edge on each side, with a halo, in each of 4,500 lines of 420 pixels.
    assert!(count < 60_000 && most < 32, "{count} differ by up to {most}");
}

#[test]
fn the_error_for_a_too_large_image_has_advice() {
    let scene = Scene { width: 20_000.0, height: 20_000.0, ..Scene::default() };
    let error = write(&scene, 1.0, &mut Vec::new()).unwrap_err().to_string();
    assert!(error.contains("20000 × 20000 pixels") && error.contains("--height"), "{error}");
}
