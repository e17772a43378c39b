//! Texts of exported images: no label of an axis is cut at an edge or overlaps another text.

#![allow(clippy::unwrap_used, reason = "a failure is the test's result")]

use proptest::prelude::*;
use tumit_test_support::table_trace::{TableTrace, time_range_of};
use tumit_viewer::export::{ImageFormat, encode};
use tumit_viewer::layout::{ContainerOutline, LayoutOptions};
use tumit_viewer::query::{ContainerId, PajeTypeKind, TypeId};
use tumit_viewer::scene::{DocumentOptions, Scene, SceneItem, SceneText, TextAnchor, document};
use tumit_viewer::style::theme::font::width;

const DAY: i64 = 86_400_000_000_000;

/// Two threads, one with a long name, with states over 400 days before and after 0.
fn source() -> TableTrace {
    let mut source = TableTrace::new("a trace of a very long run");
    let thread = source.ty(PajeTypeKind::Container, TypeId::ROOT, "Thread", None);
    let state = source.ty(PajeTypeKind::State, thread, "State", None);
    let value = source.value(state, "busy", 0x0033_6699);
    for name in ["t", "thread that reads all input"] {
        let container = source.container(thread, ContainerId::ROOT, name);
        source.state(container, state, value, 0, -400 * DAY, 400 * DAY);
    }
    source.end = 400 * DAY;
    source
}

fn image(source: &TableTrace, wide: u16, (from, to): (i64, i64)) -> Scene {
    let outline = ContainerOutline::new(source).unwrap();
    let options = DocumentOptions {
        time_range: time_range_of(from, to),
        width: wide.into(),
        height: None,
        resolution: 1.0,
        titles: false,
    };
    document(source, &outline, &LayoutOptions::default(), options).unwrap()
}

/// Left edge, right edge and baseline of a text.
fn place(text: &SceneText) -> (f32, f32, f32) {
    let wide = width(&text.text, text.size, text.weight);
    let left = match text.anchor {
        TextAnchor::Start => text.position.0,
        TextAnchor::Middle => text.position.0 - wide / 2.0,
        TextAnchor::End => text.position.0 - wide,
    };
    (left, left + wide, text.position.1)
}

/// All texts of a page except those in the rows and the legend.
fn texts(scene: &Scene) -> Vec<&SceneText> {
    let mut labels = Vec::new();
    for item in &scene.items {
        if let SceneItem::Text(text) = item {
            labels.push(text);
        }
    }
    labels
}

fn check(scene: &Scene) -> Result<(), TestCaseError> {
    let texts = texts(scene);
    for (at, text) in texts.iter().enumerate() {
        let (left, right, y) = place(text);
        prop_assert!(left >= -0.1 && right <= scene.width + 0.1, "`{}` is cut: {left} to {right}", text.text);
        for other in &texts[..at] {
            let (from, to, line) = place(other);
            let is_separate = right <= from || left >= to || (y - line).abs() >= text.size.min(other.size);
            prop_assert!(is_separate, "`{}` overlaps `{}`", text.text, other.text);
        }
    }
    Ok(())
}

#[test]
fn a_narrow_image_has_a_small_title_before_it_cuts_it() {
    let title = |wide: u16| {
        let scene = image(&source(), wide, (0, DAY));
        let texts = texts(&scene);
        let text = texts.iter().find(|text| text.text.starts_with("a trace")).unwrap();
        (text.text.clone(), text.size)
    };
    let name = "a trace of a very long run".to_owned();
    assert_eq!(title(800), (name.clone(), 24.0));
    let (text, size) = title(400);
    assert!(text == name && (14.0..24.0).contains(&size), "{text} {size}");
    let (text, size) = title(280);
    assert!(text.ends_with('…') && text.len() > 12 && size <= 14.0, "{text} {size}");
}

fn length(least: f64) -> impl Strategy<Value = i64> {
    #[expect(clippy::cast_possible_truncation, reason = "below 2⁶³")]
    (least.ln()..(400.0 * 86_400e9_f64).ln()).prop_map(|power: f64| power.exp() as i64)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn labels_have_room_at_every_width(
        from in prop_oneof![Just(0), length(1.0), length(1.0).prop_map(|nanos| -nanos)],
        span in length(10.0),
        wide in 200_u16..2500,
    ) {
        check(&image(&source(), wide, (from, from.saturating_add(span))))?;
    }
}

/// Checks labels in days, in hours, and as offsets from a base timestamp. Writes the images for
/// inspection to the build folder.
#[test]
fn long_times_are_in_days_and_hours() {
    let source = source();
    let from = 399 * DAY + 7_123_456_789_012;
    for (name, wide, part, expected) in [
        ("days", 1400, (0, 400 * DAY), vec!["0 d", "400 d", "0 s – 400 d"]),
        ("hours", 1400, (0, DAY / 4), vec!["0 min", "1 h 30 min", "0 s – 6 h"]),
        ("narrow", 320, (0, DAY / 4), vec!["0 h"]),
        ("deep", 1400, (from, from + 10_000), vec!["399 d 1 h 58 min 43.4567 s", "10.00 µs"]),
        ("deep-narrow", 260, (from, from + 10_000), vec!["399 d 1 h 58 min 43.456 s"]),
    ] {
        let scene = image(&source, wide, part);
        check(&scene).unwrap();
        let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
        std::fs::write(folder.join(format!("axis-{name}.png")), encode(&scene, ImageFormat::Png, 1.0).unwrap())
            .unwrap();
        let found: Vec<&str> = texts(&scene).iter().map(|text| text.text.as_str()).collect();
        for text in expected {
            assert!(found.contains(&text), "{name}: no `{text}` in {found:?}");
        }
    }
}
