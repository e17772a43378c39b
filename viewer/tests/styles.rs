//! Shapes and sizes in Pajé text, in the index, in a growing file and in images.

#![allow(clippy::unwrap_used, reason = "a failure is the test's result")]

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tumit_paje::diagnostic_texts;
use tumit_paje::read::{ReadReport, read};
use tumit_paje::write::{HeaderStyle, PajeStyle, in_style};
use tumit_viewer::export::{ImageFormat, encode};
use tumit_viewer::filter::{FilterChain, FilterExpr};
use tumit_viewer::index::{IndexKey, IndexReader};
use tumit_viewer::layout::{ContainerOutline, LayoutOptions, RowLayout};
use tumit_viewer::open::background_read::follow;
use tumit_viewer::query::{DrawStyle, GlobalNanos, MarkShape, TimeRange, TimelineSource};
use tumit_viewer::scene::{DocumentOptions, OutlineRect, Scene, SceneItem, Viewport, diagram, document, legend};
use tumit_viewer::store::TraceStore;
use tumit_viewer::style::theme::{ColorTheme, ThemeKind};
use tumit_viewer::{OpenOptions, scene::wire};

/// Two threads with events of each shape, states of three heights, a link and a curve.
const TRACE: &str = "\
%EventDef PajeDefineEventType 30
% Alias string
% Type string
% Name string
% Shape string
% Size double
%EndEventDef
%EventDef PajeDefineEntityValue 31
% Alias string
% Type string
% Name string
% Shape string
%EndEventDef
%EventDef PajeDefineEntityValue 32
% Size double
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineLinkType 33
% Alias string
% Type string
% StartContainerType string
% EndContainerType string
% Name string
% Size double
%EndEventDef
%EventDef PajeDefineVariableType 34
% Alias string
% Type string
% Name string
% Size double
%EndEventDef
0 T 0 Thread
30 L T Log diamond 2
2 S T Activity
33 M 0 T T Message 3
34 V T Load 2
31 c L disc circle
31 s L box square
31 l L bar line
31 t L tip triangle
5 d L plain \"0 0 1\"
5 w S work \"0 0.5 0.5\"
32 0.5 h S half
32 0.01 n S low
6 0 a 0 T a
6 0 b 0 T b
11 0 a S w
11 4 a S h
11 8 a S n
11 0 b S w
8 0 a V 1
8 5 a V 3
17 1 a L d
17 2 a L c
17 3 a L s
17 5 a L l
17 6 a L t
15 1 0 M a m 1
16 9 0 M b m 1
7 10 T a
7 10 T b
";

fn text() -> String {
    format!("{}{TRACE}", include_str!("header.paje"))
}

fn store(text: &str) -> TraceStore {
    TraceStore::from_paje("styles", text.as_bytes()).unwrap()
}

fn style(shape: Option<MarkShape>, size: Option<f32>) -> DrawStyle {
    DrawStyle { shape, size }
}

/// The styles of types and values.
fn styles(source: &dyn TimelineSource) -> Vec<(String, DrawStyle)> {
    let model = source.model();
    let types = model.types.iter().skip(1).map(|ty| (ty.name.clone(), ty.style));
    types.chain(model.values.iter().map(|value| (value.name.clone(), value.style))).collect()
}

fn seconds(from: i64, to: i64) -> TimeRange {
    TimeRange { from: GlobalNanos(from * 1_000_000_000), to: GlobalNanos(to * 1_000_000_000) }
}

fn drawn(source: &dyn TimelineSource, time_range: TimeRange, width: f32) -> (Scene, RowLayout) {
    let options = LayoutOptions::default();
    let layout = RowLayout::new(&ContainerOutline::new(source).unwrap(), &options);
    let view = Viewport { time_range, width, top: 0.0, bottom: 1e4, resolution: 1.0, titles: true, is_quick: false };
    (diagram(source, &layout, &options, view).unwrap(), layout)
}

/// Name, shape and size of the marks.
fn marks(scene: &Scene) -> Vec<(String, MarkShape, f32)> {
    let mark = |item: &SceneItem| match item {
        SceneItem::Mark(mark) => {
            let title = mark.title.as_deref().unwrap_or("");
            Some((title.split(',').next().unwrap_or("").to_owned(), mark.shape, mark.size))
        }
        _ => None,
    };
    scene.items.iter().filter_map(mark).collect()
}

/// The frame of a state.
fn state(scene: &Scene, name: &str) -> OutlineRect {
    let frame = |item: &SceneItem| match item {
        SceneItem::Rect(rect) if rect.title.as_deref().is_some_and(|title| title.starts_with(name)) => Some(rect.frame),
        _ => None,
    };
    scene.items.iter().find_map(frame).unwrap()
}

#[test]
fn values_inherit_styles_from_their_types() {
    let source = store(&text());
    let (two, diamond) = (Some(2.0), Some(MarkShape::Diamond));
    let expected = [
        ("Thread", DrawStyle::NONE),
        ("Log", style(diamond, two)),
        ("Activity", DrawStyle::NONE),
        ("Message", style(None, Some(3.0))),
        ("Load", style(None, two)),
        ("disc", style(Some(MarkShape::Circle), two)),
        ("box", style(Some(MarkShape::Square), two)),
        ("bar", style(Some(MarkShape::Line), two)),
        ("tip", style(Some(MarkShape::Triangle), two)),
        ("plain", style(diamond, two)),
        ("work", DrawStyle::NONE),
        ("half", style(None, Some(0.5))),
        ("low", style(None, Some(0.01))),
        // This value is used without a declaration.
        ("m", style(None, Some(3.0))),
    ];
    assert_eq!(styles(&source), expected.map(|(name, style)| (name.to_owned(), style)));
    assert!(source.summary().is_intact(), "{:?}", source.summary().diagnostics);
}

#[test]
fn invalid_shapes_and_sizes_are_reported_and_ignored() {
    let wrong = text().replace("Log diamond 2", "Log star -1").replace("Load 2", "Load huge");
    let mut lines = Vec::new();
    let report: ReadReport = read(wrong.as_bytes(), &mut *in_style(&mut lines, PajeStyle::default())).unwrap();
    let errors = diagnostic_texts(&report.errors());
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].starts_with("3 times") && errors[0].contains("shape or size") && errors[0].contains("`star`"));
    assert_eq!(styles(&store(&wrong))[1].1, DrawStyle::NONE);
    // Blanks have no meaning, and are not an error.
    let blank = store(&text().replace("Log diamond 2", "Log \" \" \" \""));
    assert!(blank.summary().is_intact(), "{:?}", blank.summary().diagnostics);
}

#[test]
fn written_text_is_read_with_the_same_styles() {
    let first = store(&text());
    for header in [HeaderStyle::Reference, HeaderStyle::Old, HeaderStyle::Basic] {
        let mut bytes = Vec::new();
        let mut style = PajeStyle::default();
        style.header = header;
        read(text().as_bytes(), &mut *in_style(&mut bytes, style)).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let reread_store = store(&text);
        assert!(
            reread_store.summary().diagnostics.iter().all(|found| found.text.contains("old name")),
            "{:?}",
            reread_store.summary().diagnostics
        );
        if header == HeaderStyle::Basic {
            assert!(!text.contains("Shape") && !text.contains("Size"), "{text}");
            assert!(styles(&reread_store).iter().all(|(_, style)| style.is_none()));
        } else {
            assert_eq!(styles(&reread_store), styles(&first), "{text}");
            // Types and values without a style are written as before.
            assert!(text.contains("\n2 t3 t1 \"Activity\"\n"), "{text}");
        }
    }
}

#[test]
fn an_index_keeps_styles() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tmtx");
    IndexReader::write(&path, IndexKey::default(), "styles", |sink| {
        read(text().as_bytes(), sink).unwrap();
        Ok(())
    })
    .unwrap();
    let index = IndexReader::open_file(&path, IndexKey::default()).unwrap();
    assert_eq!(index.model(), store(&text()).model());
}

#[test]
fn a_growing_file_has_styles() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("growing.paje");
    let (whole, cancel) = (text(), Arc::new(AtomicBool::new(false)));
    let (first, tail) = whole.split_at(whole.find("31 t L").unwrap());
    std::fs::write(&path, first).unwrap();
    let mut options = OpenOptions::default();
    options.cancel = Some(Arc::clone(&cancel));
    let current = follow(&path, &options, Box::new(|_| {}));
    std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(tail.as_bytes()).unwrap();
    while current.snapshot().source.summary().events < 5 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!(styles(current.snapshot().source.as_ref()), styles(&store(&whole)));
    cancel.store(true, Ordering::Relaxed);
}

#[test]
fn events_are_marks_of_their_shape_and_size() {
    let source = store(&text());
    let (scene, layout) = drawn(&source, seconds(0, 10), 1000.0);
    use MarkShape::{Circle, Diamond, Line, Square, Triangle};
    let names = [("plain", Diamond), ("disc", Circle), ("box", Square), ("bar", Line), ("tip", Triangle)];
    // A strip of twice the usual height. Its marks are twice as high.
    assert_eq!(marks(&scene), names.map(|(name, shape)| (name.to_owned(), shape, 17.0)));
    assert_eq!(layout.rows[0].strips[0].height, 19.0);
    // The row of the other thread has no events and is unchanged.
    assert_eq!(layout.rows[1].strips[0].height, 19.0);
    for item in &scene.items {
        if let SceneItem::Mark(mark) = item {
            let strip = &layout.rows[0].strips[0];
            assert!(
                mark.position.1 - mark.height() >= strip.y && mark.position.1 <= strip.y + strip.height,
                "{mark:?}"
            );
        }
    }
    // Rows do not move when the time range changes.
    assert_eq!(drawn(&source, seconds(7, 8), 300.0).1, layout);
}

#[test]
fn marks_without_a_style_have_the_default_shape() {
    let plain = text().replace("Log diamond 2", "Log triangle 1").replace(" circle\n", " triangle\n");
    let (scene, layout) = drawn(&store(&plain), seconds(0, 10), 1000.0);
    assert_eq!(marks(&scene)[1], ("disc".to_owned(), MarkShape::Triangle, 8.5));
    assert_eq!(layout.rows[0].strips[0].height, 10.0);
}

#[test]
fn states_have_their_share_of_the_height_and_stand_on_the_floor() {
    let source = store(&text());
    let (scene, layout) = drawn(&source, seconds(0, 10), 1000.0);
    let strip = &layout.rows[0].strips[1];
    let floor = strip.y + strip.height;
    for (name, height) in [("work", 19.0), ("half", 9.5), ("low", 1.9)] {
        let frame = state(&scene, name);
        assert!((frame.height - height).abs() < 1e-4 && (frame.bottom() - floor).abs() < 1e-4, "{name}: {frame:?}");
    }
    let texts = |scene: &Scene| {
        let text = |item: &SceneItem| if let SceneItem::Text(text) = item { Some(text.text.clone()) } else { None };
        scene.items.iter().filter_map(text).collect::<Vec<_>>()
    };
    assert_eq!(texts(&scene), ["work", "work"], "where there is no room for letters there are none");
    // In a mixture of one column, each state is as low as alone: 0.4; 0.4 at half height; 0.2 at a
    // tenth of the height.
    let (scene, _) = drawn(&source, seconds(0, 10), 1.0);
    let sum = |item: &SceneItem| match item {
        SceneItem::Cells(cells) => Some(cells.columns.parts().iter().map(|part| part.1).sum::<f32>()),
        _ => None,
    };
    let sums: Vec<f32> = scene.items.iter().filter_map(sum).collect();
    assert!((sums[0] - (0.4 + 0.4 * 0.5 + 0.2 * 0.1)).abs() < 1e-5, "{sums:?}");
}

#[test]
fn a_type_with_low_states_only_has_a_thin_strip() {
    let source: Arc<dyn TimelineSource> = Arc::new(store(&text()));
    let filter: FilterExpr = "size 0.5 of Activity".parse().unwrap();
    let thin = filter.apply(&source).unwrap();
    let (scene, layout) = drawn(thin.as_ref(), seconds(0, 10), 1000.0);
    let strip = &layout.rows[0].strips[1];
    assert_eq!(strip.height, 9.5);
    assert!((state(&scene, "work").height - 9.5).abs() < 1e-4);
    let low: FilterExpr = "size 0.25 half of Activity".parse().unwrap();
    let (scene, _) = drawn(low.apply(&thin).unwrap().as_ref(), seconds(0, 10), 1000.0);
    assert!((state(&scene, "half").height - 4.75).abs() < 1e-4);
}

#[test]
fn arrows_and_curves_have_the_given_width() {
    let widths = |text: &str| {
        let (scene, _) = drawn(&store(text), seconds(0, 10), 1000.0);
        let arrow =
            |item: &SceneItem| if let SceneItem::Arrow(arrow) = item { Some((arrow.width, arrow.head)) } else { None };
        let line = |item: &SceneItem| {
            if let SceneItem::Curve(curve) = item { curve.stroke.map(|stroke| stroke.width) } else { None }
        };
        (scene.items.iter().find_map(arrow).unwrap(), scene.items.iter().find_map(line).unwrap())
    };
    let ((wide, head), line) = widths(&text());
    let ((usual, small), thin) = widths(&text().replace("Message 3", "Message 1").replace("Load 2", "Load 1"));
    assert!((wide / usual - 3.0).abs() < 1e-4 && (line / thin - 2.0).abs() < 1e-4, "{wide} {usual} {line} {thin}");
    assert!(head > small && head > 2.0 * wide, "{head}");
    // The width is limited so that an arrow is always visible and never covers everything.
    assert!(widths(&text().replace("Message 3", "Message 0.0001")).0.0 >= 0.3);
    assert!(widths(&text().replace("Message 3", "Message 1000000")).0.0 < 10.0);
}

#[test]
fn svgs_have_the_shapes_and_the_page_their_numbers() {
    let source = store(&text());
    let (scene, layout) = drawn(&source, seconds(0, 10), 1000.0);
    let svg = String::from_utf8(encode(&scene, ImageFormat::Svg, 1.0).unwrap()).unwrap();
    let floor = layout.rows[0].strips[0].y + 19.0;
    assert_eq!(floor, 21.0);
    for path in [
        "M100 21L91.5 12.5L100 4L108.5 12.5Z",
        "M200 21A7.82 7.82 0 1 1 200 5.36A7.82 7.82 0 1 1 200 21Z",
        "M300 21H292.86V6.72H307.14V21Z",
        "M500 21H498.47V4H501.53V21Z",
        "M600 21L590.65 4H609.35Z",
    ] {
        assert!(svg.contains(&format!("<path d=\"{path}\"")), "{path} in {svg}");
    }
    let message = wire::SceneMessage::new(&scene, 1.0, wire::ColumnDetail::ALL[0], true).bytes();
    let length = u32::from_le_bytes(message[..4].try_into().unwrap()) as usize;
    let head: serde_json::Value = serde_json::from_slice(&message[4..4 + length]).unwrap();
    // Differences: diamond, disc, square, line, triangle.
    assert_eq!(head["tables"]["m"][1][3], serde_json::json!([1, 1, 1, 1, -4]));
    for theme in [ThemeKind::Light, ThemeKind::Dark] {
        let options = LayoutOptions { theme, ..LayoutOptions::default() };
        let outline = ContainerOutline::new(&source).unwrap();
        let document_options =
            DocumentOptions { time_range: seconds(0, 10), width: 900.0, height: None, resolution: 2.0, titles: false };
        let scene = document(&source, &outline, &options, document_options).unwrap();
        let svg = String::from_utf8(encode(&scene, ImageFormat::Svg, 1.0).unwrap()).unwrap();
        for disc in ["A7.82 7.82 ", "A6.21 6.21 "] {
            assert_eq!(svg.matches(disc).count(), 2, "one in the row, one in the legend");
        }
        let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
        let name = format!("looks-{theme:?}.png").to_lowercase();
        for (scale, name) in [(1.0, name.clone()), (2.0, format!("2-{name}"))] {
            std::fs::write(folder.join(name), encode(&scene, ImageFormat::Png, scale).unwrap()).unwrap();
        }
    }
}

#[test]
fn the_legend_shows_styles() {
    let source = store(&text());
    let theme = ColorTheme::new(ThemeKind::Light);
    let groups = legend(&source, &ContainerOutline::new(&source).unwrap(), seconds(0, 10), theme).unwrap();
    let entries = groups.iter().flat_map(|group| &group.entries);
    let mut entries: Vec<(&str, Option<&str>, f32)> =
        entries.map(|entry| (entry.name.as_str(), entry.shape, entry.size)).collect();
    entries.sort_by_key(|entry| entry.0);
    let expected = [
        ("Load", None, 2.0),
        ("Message", None, 3.0),
        ("bar", Some("line"), 2.0),
        ("box", Some("square"), 2.0),
        ("disc", Some("circle"), 2.0),
        ("half", None, 0.5),
        ("low", None, 0.1),
        ("plain", Some("diamond"), 2.0),
        ("tip", Some("triangle"), 2.0),
        ("work", None, 1.0),
    ];
    assert_eq!(entries, expected);
}

#[test]
fn filters_give_shapes_and_sizes_to_values_and_types() {
    let source: Arc<dyn TimelineSource> = Arc::new(store(&text()));
    let after = |texts: &[&str]| {
        let chain: FilterChain = texts.iter().map(|text| text.parse::<FilterExpr>().unwrap()).collect();
        styles(chain.apply(Arc::clone(&source)).unwrap().as_ref())
    };
    let style_of = |all: &[(String, DrawStyle)], name: &str| all.iter().find(|one| one.0 == name).unwrap().1;
    let circles = after(&["shape circle of Log", "size 1.5 bar of Log", "shape square b*"]);
    assert_eq!(style_of(&circles, "Log"), style(Some(MarkShape::Circle), Some(2.0)));
    assert_eq!(style_of(&circles, "tip"), style(Some(MarkShape::Circle), Some(2.0)));
    assert_eq!(style_of(&circles, "bar"), style(Some(MarkShape::Square), Some(1.5)));
    assert_eq!(style_of(&circles, "box"), style(Some(MarkShape::Square), Some(2.0)));
    assert_eq!(style_of(&circles, "work"), DrawStyle::NONE);
    assert_eq!(style_of(&after(&["size 4 of Load"]), "Load").size, Some(4.0));
    assert_eq!(style_of(&after(&["size 4 m"]), "m").size, Some(4.0));
    // States, links and variables have no shape.
    for text in ["shape circle work", "shape circle of Activity", "shape circle of Load", "shape circle m of Message"] {
        let error = text.parse::<FilterExpr>().unwrap().apply(&source).err().unwrap().to_string();
        assert!(error.starts_with("no value is called") || error.starts_with("no type of events is called"), "{error}");
    }
}
