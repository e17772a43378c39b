//! Tests of numbers as text, and of images that are written in parts.

use std::io;

use proptest::prelude::*;
use tumit_paje::RgbColor;

use super::{SvgNumber, TEXT_BYTES, to_string, write};
use crate::scene::{Scene, SceneGroup, SceneItem, SceneLine};
use crate::style::theme::ColorWithOpacity;

/// Accepts a limited number of bytes, and records the largest write.
struct ShortWriter {
    text: Vec<u8>,
    room: usize,
    longest_write: usize,
}

impl io::Write for ShortWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.longest_write = self.longest_write.max(bytes.len());
        if self.text.len() + bytes.len() > self.room {
            return Err(io::Error::other("full"));
        }
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_long_image_is_sent_completely_in_parts() {
    let paint = ColorWithOpacity { color: RgbColor { red: 0, green: 0, blue: 0 }, alpha: 1.0 };
    let line = |number: u16| {
        let x = f32::from(number);
        SceneItem::Line(SceneLine { from: (x, 0.0), to: (x, 1.0), width: 1.0, paint })
    };
    let group = |number: u16| SceneGroup {
        name: format!("row {number}"),
        items: (0..40_000).map(line).collect(),
        ..SceneGroup::default()
    };
    let items = (0..3).flat_map(|number| [line(number), SceneItem::Group(group(number)), line(number)]).collect();
    let scene = Scene { width: 100.0, height: 50.0, items, ..Scene::default() };
    let expected_text = to_string(&scene);
    assert!(expected_text.len() > 6 * TEXT_BYTES, "{}", expected_text.len());
    let mut out = ShortWriter { text: Vec::new(), room: usize::MAX, longest_write: 0 };
    write(&scene, &mut out).unwrap();
    assert!(out.text == expected_text.as_bytes());
    assert!(out.longest_write < 2 * TEXT_BYTES, "{} at a time", out.longest_write);
    let mut full = ShortWriter { text: Vec::new(), room: expected_text.len() - 1, longest_write: 0 };
    assert_eq!(write(&scene, &mut full).unwrap_err().to_string(), "full");
}

#[test]
fn numbers_are_short() {
    let numbers = [0.0, -0.0, -0.004, 1.0, 0.1, 0.25, 0.05, -1.5, 1600.0, 12.345, -0.01, f32::NAN];
    let texts: Vec<String> = numbers.into_iter().map(|number| SvgNumber(number).to_string()).collect();
    assert_eq!(texts, ["0", "0", "0", "1", "0.1", "0.25", "0.05", "-1.5", "1600", "12.35", "-0.01", "0"]);
}

proptest! {
    #[test]
    fn numbers_are_the_nearest_hundredths(number in -1e6_f32..1e6) {
        let parsed_number: f64 = SvgNumber(number).to_string().parse().unwrap();
        prop_assert!((parsed_number - f64::from(number)).abs() <= 0.005 + 1e-9, "{number} as {parsed_number}");
    }
}
