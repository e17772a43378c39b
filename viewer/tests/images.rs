//! Drawn images: scenes as text, and PNGs with contents.

#![allow(clippy::unwrap_used, reason = "a failure is the test's result")]

use std::fmt::Write as _;

use tumit_test_support::table_trace::{TableTrace, example_program, time_range_of};
use tumit_viewer::export::{ImageFormat, encode};
use tumit_viewer::layout::{ContainerOutline, FoldedContainers, LayoutOptions, RowLayout, RowStrip, StripKind};
use tumit_viewer::query::{ContainerId, PajeTypeKind, TimelineSource, TypeId};
use tumit_viewer::scene::{
    DocumentOptions, FilledRect, ImagePoint, Scene, SceneItem, Viewport, diagram, document, mixture,
};
use tumit_viewer::store::TraceStore;
use tumit_viewer::style::theme::ThemeKind;

fn draw(source: &dyn TimelineSource, options: &LayoutOptions, width: f32, range: (i64, i64)) -> Scene {
    let outline = ContainerOutline::new(source).unwrap();
    let time_range = time_range_of(range.0, range.1);
    let document_options = DocumentOptions { time_range, width, height: None, resolution: 1.0, titles: true };
    document(source, &outline, options, document_options).unwrap()
}

/// Writes images for inspection to the build folder, and asserts that they are not empty.
#[test]
fn pngs_have_contents() {
    let source = example_program(3, 5, 9);
    let dense = example_program(3, 4, 700);
    let end = source.end;
    let fold = FoldedContainers { level: Some(0), ..FoldedContainers::default() };
    let dark = LayoutOptions { theme: ThemeKind::Dark, ..LayoutOptions::default() };
    let cases = [
        ("light", &source, LayoutOptions::default(), (0, end)),
        ("dark", &source, dark, (0, end)),
        ("zoomed", &source, LayoutOptions::default(), (end / 4, end / 3)),
        ("dense", &dense, LayoutOptions::default(), (0, dense.end)),
        ("folded", &dense, LayoutOptions { folds: fold, ..LayoutOptions::default() }, (0, dense.end / 3)),
    ];
    for (name, source, options, part) in cases {
        let scene = draw(source, &options, 1400.0, part);
        let png = encode(&scene, ImageFormat::Png, 1.0).unwrap();
        let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
        std::fs::write(folder.join(format!("{name}.png")), &png).unwrap();
        std::fs::write(folder.join(format!("{name}.svg")), encode(&scene, ImageFormat::Svg, 1.0).unwrap()).unwrap();
        assert!(png.starts_with(b"\x89PNG") && png.len() > 20_000, "{name}: {} bytes", png.len());
    }
}

/// A scene as lines of text with rounded coordinates, one for each primitive that represents an
/// entity.
fn lines(scene: &Scene) -> String {
    fn write(items: &[SceneItem], out: &mut Vec<String>) {
        for item in items {
            match item {
                SceneItem::Group(group) => write(&group.items, out),
                SceneItem::Rect(FilledRect { frame: f, fill, title: Some(title), .. }) => {
                    out.push(format!(
                        "rect {:.0}+{:.0} y {:.0}+{:.0} {} {title}",
                        f.x, f.width, f.y, f.height, fill.color
                    ));
                }
                SceneItem::Cells(cells) => {
                    let sum: f32 = cells.columns.parts().iter().map(|part| part.1).sum();
                    let f = cells.frame;
                    out.push(format!("cells {:.0}+{:.0} columns {} sum {sum:.2}", f.x, f.width, cells.columns.len()));
                }
                SceneItem::Arrow(arrow) if arrow.title.is_some() => {
                    let ((a, b), (c, d)) = (arrow.from, arrow.to);
                    out.push(format!("arrow {a:.0},{b:.0} to {c:.0},{d:.0} {}", arrow.title.as_deref().unwrap_or("")));
                }
                SceneItem::Mark(mark) if mark.title.is_some() => {
                    out.push(format!(
                        "mark {:.0},{:.0} {}",
                        mark.position.0,
                        mark.position.1,
                        mark.title.as_deref().unwrap_or("")
                    ));
                }
                SceneItem::Text(text) => {
                    out.push(format!("text {:.0},{:.0} {}", text.position.0, text.position.1, text.text));
                }
                _ => {}
            }
        }
    }
    let mut out = Vec::new();
    write(&scene.items, &mut out);
    out.join("\n")
}

#[test]
fn a_small_program_matches_its_snapshot() {
    let source = example_program(2, 2, 2);
    insta::assert_snapshot!(lines(&draw(&source, &LayoutOptions::default(), 900.0, (0, source.end))));
}

#[test]
fn shares_of_narrow_states_are_exact() {
    // 1,000 states of 3 ns with gaps of 7 ns, on 100 pixels of 100 ns: each column is filled to 30
    // %.
    let mut source = TableTrace::new("narrow");
    let thread = source.ty(PajeTypeKind::Container, TypeId::ROOT, "Thread", None);
    let state = source.ty(PajeTypeKind::State, thread, "State", None);
    let value = source.value(state, "busy", 0x0033_6699);
    let container = source.container(thread, ContainerId::ROOT, "thread");
    for n in 0..1000 {
        source.state(container, state, value, 0, n * 10, n * 10 + 3);
    }
    source.end = 10_000;
    let outline = ContainerOutline::new(&source).unwrap();
    let options = LayoutOptions::default();
    let layout = RowLayout::new(&outline, &options);
    for (width, time_range) in
        [(100.0, time_range_of(0, 10_000)), (400.0, time_range_of(0, 1_000)), (50.0, time_range_of(0, 10_000))]
    {
        let view =
            Viewport { time_range, width, top: 0.0, bottom: 100.0, resolution: 1.0, titles: false, is_quick: false };
        let scene = diagram(&source, &layout, &options, view).unwrap();
        let mut filled = 0.0;
        for item in &scene.items {
            match item {
                SceneItem::Cells(cells) => {
                    let column = cells.frame.width / cells.columns.len() as f32;
                    filled += cells.columns.parts().iter().map(|part| part.1 * column).sum::<f32>();
                }
                SceneItem::Rect(rect) if rect.id.is_some() => filled += rect.frame.width,
                _ => {}
            }
        }
        assert!((filled / width - 0.3).abs() < 0.002, "{filled} of {width} pixels");
    }
}

#[test]
fn a_quick_image_of_a_large_group_is_marked_as_incomplete() {
    // In each thread, one value has half of the time, and many others share the rest.
    let mut source = TableTrace::new("many");
    let process = source.ty(PajeTypeKind::Container, TypeId::ROOT, "Process", None);
    let thread = source.ty(PajeTypeKind::Container, process, "Thread", None);
    let state = source.ty(PajeTypeKind::State, thread, "State", None);
    let values: Vec<_> =
        (0..40).map(|n| source.value(state, &format!("v{n}"), 0x0010_0010 + n * 0x0005_0301)).collect();
    let parent = source.container(process, ContainerId::ROOT, "process");
    for member in 0..20 {
        let container = source.container(thread, parent, &format!("thread {member}"));
        for n in 0..8000_i64 {
            let value = if n % 2 == 0 { values[0] } else { values[(n / 2 % 39) as usize + 1] };
            source.state(container, state, value, 0, n * 10, n * 10 + 10);
        }
    }
    source.end = 80_000;
    let outline = ContainerOutline::new(&source).unwrap();
    for (level, is_folded) in [(Some(0), true), (None, false)] {
        let options = LayoutOptions {
            folds: FoldedContainers { level, ..FoldedContainers::default() },
            ..LayoutOptions::default()
        };
        let layout = RowLayout::new(&outline, &options);
        let image = |is_quick| {
            let view = Viewport {
                time_range: time_range_of(0, 80_000),
                width: 50.0,
                top: 0.0,
                bottom: 1e4,
                resolution: 1.0,
                titles: false,
                is_quick,
            };
            diagram(&source, &layout, &options, view).unwrap()
        };
        let largest = |scene: &Scene| {
            let cells = scene.items.iter().filter_map(|item| match item {
                SceneItem::Cells(cells) => Some(cells.columns.parts().iter().map(|part| part.1).fold(0.0, f32::max)),
                _ => None,
            });
            cells.fold(0.0, f32::max)
        };
        let (quick, all) = (image(true), image(false));
        assert_eq!((quick.is_quick, all.is_quick), (is_folded, false), "{level:?}");
        // The largest share is the same.
        assert!(
            (largest(&quick) - 0.5).abs() < 0.01 && (largest(&all) - 0.5).abs() < 0.01,
            "{} {}",
            largest(&quick),
            largest(&all)
        );
    }
}

#[test]
fn svg_is_well_formed_for_any_names() {
    let mut source = example_program(1, 2, 2);
    source.name = "a <b> & \"c\" \u{1}".into();
    source.containers[1].name = "<script>alert(1)</script>".into();
    let svg = encode(&draw(&source, &LayoutOptions::default(), 900.0, (0, source.end)), ImageFormat::Svg, 1.0).unwrap();
    let text = String::from_utf8(svg).unwrap();
    assert!(!text.contains("<script>") && text.contains("&lt;script&gt;"));
    let tree = resvg::usvg::roxmltree::Document::parse(&text).unwrap();
    let titles = tree.descendants().filter(|node| node.has_tag_name("title")).count();
    assert!(titles > source.states.len(), "one title per entity and one for all");
    assert_eq!(tree.root_element().attribute("role"), Some("img"));
}

#[test]
fn empty_and_extreme_traces_can_be_drawn() {
    let empty = TableTrace::new("empty");
    draw(&empty, &LayoutOptions::default(), 900.0, (0, 0));
    let source = example_program(1, 2, 2);
    for part in [(0, 1), (-5_000_000, -4_000_000), (i64::MIN / 4, i64::MAX / 4), (source.end, source.end)] {
        let scene = draw(&source, &LayoutOptions::default(), 900.0, part);
        assert!(!encode(&scene, ImageFormat::Png, 1.0).unwrap().is_empty(), "{part:?}");
    }
}

/// Links above the listing limit are counted: each belongs to an arrow, and equal time ranges have
/// equal numbers.
#[test]
fn very_many_links_are_drawn_evenly() {
    let mut text =
        include_str!("header.paje").to_owned() + "0 T 0 Thread\n4 L 0 T T Message\n6 0 a 0 T a\n6 0 b 0 T b\n";
    for number in 0..80_000 {
        let (date, long) = (number * 10, if number == 0 { 400_000 } else { 5 });
        let seconds = |nanos: i64| format!("0.{nanos:09}");
        text.push_str(&format!(
            "15 {} 0 L a m k{number}\n16 {} 0 L b m k{number}\n",
            seconds(date),
            seconds(date + long)
        ));
    }
    let store = TraceStore::from_paje("links", text.as_bytes()).unwrap();
    let options = LayoutOptions::default();
    let layout = RowLayout::new(&ContainerOutline::new(&store).unwrap(), &options);
    let time_range = time_range_of(0, 800_000);
    let view =
        Viewport { time_range, width: 800.0, top: 0.0, bottom: 400.0, resolution: 1.0, titles: true, is_quick: false };
    let scene = diagram(&store, &layout, &options, view).unwrap();
    let mut quarters = [0; 4];
    for item in &scene.items {
        if let SceneItem::Arrow(arrow) = item {
            quarters[(arrow.from.0 / 200.0) as usize] += 1;
        }
    }
    assert!(quarters.iter().all(|&arrows| (100..=150).contains(&arrows)), "{quarters:?}");
    let note = &scene.notes[0];
    assert!(note.starts_with("80\u{202f}000 links are drawn as "), "{note}");
    let all: u64 = scene.items.iter().map(links_of).sum();
    assert_eq!(all, 80_000);
}

/// The number of links that an item represents, from its title.
fn links_of(item: &SceneItem) -> u64 {
    let SceneItem::Arrow(arrow) = item else { return 0 };
    let title = arrow.title.as_deref().unwrap();
    title.split_once(" links, ").map_or(1, |(count, _)| count.replace('\u{202f}', "").parse().unwrap())
}

/// With many time bins and rows, both are combined: the number of arrows is limited, and no
/// link is missing.
#[test]
fn links_between_very_many_rows_are_all_drawn() {
    let mut text = include_str!("header.paje").to_owned() + "0 T 0 Thread\n4 L 0 T T Message\n";
    const ROWS: u64 = 1_000;
    (0..ROWS).for_each(|row| text.push_str(&format!("6 0 t{row} 0 T t{row}\n")));
    let mut random = 1_u64;
    for number in 0..70_000_u64 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (from, to) = ((random >> 33) % ROWS, (random >> 45) % ROWS);
        let date = format!("0.{:09}", number * 1_000);
        // Each link has its own value. Its colour must not create a separate arrow.
        text.push_str(&format!("15 {date} 0 L t{from} m k{number}\n16 {date}9 0 L t{to} m k{number}\n"));
    }
    let store = TraceStore::from_paje("links", text.as_bytes()).unwrap();
    let options = LayoutOptions::default();
    let layout = RowLayout::new(&ContainerOutline::new(&store).unwrap(), &options);
    let time_range = time_range_of(0, 70_000_000);
    let view = Viewport {
        time_range,
        width: 800.0,
        top: 0.0,
        bottom: layout.height,
        resolution: 1.0,
        titles: true,
        is_quick: false,
    };
    let scene = diagram(&store, &layout, &options, view).unwrap();
    let arrows = scene.items.iter().filter(|item| matches!(item, SceneItem::Arrow(_))).count();
    assert!((1_000..=32_768).contains(&arrows), "{arrows} arrows");
    assert_eq!(scene.items.iter().map(links_of).sum::<u64>(), 70_000);
}

/// The mixture under the pointer equals the sums over the states.
#[test]
fn a_mixture_under_the_pointer_is_exact() {
    let source = example_program(2, 3, 200);
    let (options, whole) = (LayoutOptions::default(), time_range_of(0, source.end));
    let outline = ContainerOutline::new(&source).unwrap();
    let layout = RowLayout::new(&outline, &options);
    let states_of = |strip: &&RowStrip| matches!(strip.kind, StripKind::States { .. });
    let (row, strip) = layout.rows.iter().find_map(|row| Some((row, row.strips.iter().find(states_of)?))).unwrap();
    let ty = strip.ty;
    for (from, to) in [(0, source.end), (source.end / 3, source.end / 2), (12_345, 12_346)] {
        let y = strip.y + strip.height - 1.0;
        let picked_mixture =
            mixture(&source, &layout, &options, ImagePoint { time_range: time_range_of(from, to), y }).unwrap();
        let mut shares = std::collections::BTreeMap::<String, i64>::new();
        let mut states = 0;
        for (_, _, state) in source.states.iter().filter(|(container, of, _)| (*container, *of) == (row.container, ty))
        {
            let time = state.life.to.0.min(to) - state.life.from.0.max(from);
            if time > 0 {
                states += 1;
                let name = source.model.values[state.value.index()].name.clone();
                *shares.entry(name).or_default() += time;
            }
        }
        let found = picked_mixture.unwrap();
        assert_eq!(found.states, states);
        assert_eq!(found.parts.len(), shares.len());
        for part in &found.parts {
            let exact = shares[&part.name] as f32 / (to - from) as f32;
            assert!((part.share - exact).abs() < 1e-5, "{part:?} {exact}");
        }
        assert!(found.parts.is_sorted_by(|a, b| a.share >= b.share));
    }
    let below = ImagePoint { time_range: whole, y: layout.height + 1.0 };
    assert_eq!(mixture(&source, &layout, &options, below).unwrap(), None);
    // A folded row shows the mean of its threads.
    let options = LayoutOptions {
        folds: FoldedContainers { level: Some(0), ..FoldedContainers::default() },
        ..LayoutOptions::default()
    };
    let layout = RowLayout::new(&outline, &options);
    let row = layout.rows.iter().find(|row| row.is_folded).unwrap();
    let strip = row.strips.iter().find(|strip| strip.ty == ty).unwrap();
    let inside = ImagePoint { time_range: whole, y: strip.y + 1.0 };
    let found = mixture(&source, &layout, &options, inside).unwrap().unwrap();
    let sum: f32 = found.parts.iter().map(|part| part.share).sum();
    assert!(found.states > 200 && (0.3..=1.0).contains(&sum), "{found:?}");
}

#[test]
fn a_single_link_of_a_bundle_has_its_own_timestamps() {
    let mut text = include_str!("header.paje").to_owned() + "0 N 0 Node\n4 L 0 N N Message\n";
    (0..3).for_each(|node| writeln!(text, "6 0 n{node} 0 N \"Node {node}\"").unwrap());
    // More links than are listed, all at the begin, and one far from them.
    for link in 0..70_000 {
        let at = f64::from(link) * 1e-5;
        writeln!(text, "15 {at:.6} 0 L n0 m k{link}\n16 {:.6} 0 L n1 m k{link}", at + 5e-6).unwrap();
    }
    text.push_str("15 50.1 0 L n0 m far\n16 50.10001 0 L n2 m far\n7 100 N n0\n");
    let store = TraceStore::from_paje("crowd", text.as_bytes()).unwrap();
    let scene = draw(&store, &LayoutOptions::default(), 1400.0, (0, 100_000_000_000));
    let svg = String::from_utf8(encode(&scene, ImageFormat::Svg, 1.0).unwrap()).unwrap();
    let title = svg.split("<title>").filter_map(|rest| rest.split_once("</title>")).map(|title| title.0);
    let lone: Vec<&str> = title.filter(|title| title.contains("Node 2") && title.contains("Message")).collect();
    assert!(lone.len() == 1 && lone[0].contains("10.00 µs"), "{lone:?}");
}

/// All arrows of a scene, also those in groups.
fn arrows<'s>(items: &'s [SceneItem], out: &mut Vec<&'s tumit_viewer::scene::SceneArrow>) {
    for item in items {
        match item {
            SceneItem::Group(group) => arrows(&group.items, out),
            SceneItem::Arrow(arrow) => out.push(arrow),
            _ => {}
        }
    }
}

#[test]
fn many_arrows_leave_the_colours_below_them_as_they_are() {
    // Some thousands of arrows from the first row to the last, all over the image, in different
    // directions.
    let mut text = format!(
        "{}0 T 0 Thread\n2 S T Activity\n4 M 0 T T Message\n5 w S work \"0 0 1\"\n5 m M m \"0.5 0.2 0\"\n",
        include_str!("header.paje")
    );
    for row in 0..10 {
        writeln!(text, "6 0 t{row} 0 T t{row}\n11 0 t{row} S w").unwrap();
    }
    for number in 0..20_000_u64 {
        let (start, end) = (number * 50, number * 50 + 1 + number * 7919 % 40_000);
        let (from, to) = (number * 7 % 3, 7 + number * 11 % 3);
        writeln!(text, "15 0.{start:06} 0 M t{from} m k{number}\n16 0.{:06} 0 M t{to} m k{number}", end.min(999_999))
            .unwrap();
    }
    text.push_str("13 1 t0 S\n");
    let source = TraceStore::from_paje("many", text.as_bytes()).unwrap();
    let scene = draw(&source, &LayoutOptions::default(), 1200.0, (0, 1_000_000_000));
    let mut labels = Vec::new();
    arrows(&scene.items, &mut labels);
    // The legend has one, too.
    assert!(labels.len() > 2_000, "{}", labels.len());
    let ink: f32 = labels
        .iter()
        .map(|arrow| {
            let length = f32::hypot(arrow.to.0 - arrow.from.0, arrow.to.1 - arrow.from.1);
            arrow.paint.alpha * arrow.width * length
        })
        .sum();
    let (top, bottom) = labels.iter().fold((f32::MAX, f32::MIN), |(a, b), arrow| {
        (a.min(arrow.from.1.min(arrow.to.1)), b.max(arrow.from.1.max(arrow.to.1)))
    });
    let veil = ink / (scene.width * (bottom - top));
    assert!(veil < 0.16, "arrows cover {veil} of what is below them");
    assert!(veil > 0.02, "and can be seen: {veil}");
}

#[test]
fn the_legend_is_grey_where_the_image_is() {
    let source = example_program(2, 2, 2);
    let value = source.model().values[0].clone();
    let color_count = |dimmed: &[tumit_viewer::query::ValueId]| {
        let options = LayoutOptions { dimmed_values: dimmed.iter().copied().collect(), ..LayoutOptions::default() };
        let scene = draw(&source, &options, 900.0, (0, source.end));
        String::from_utf8(encode(&scene, ImageFormat::Svg, 1.0).unwrap())
            .unwrap()
            .matches(&value.color.to_string())
            .count()
    };
    assert!(color_count(&[]) > 1);
    assert_eq!(color_count(&[value.id]), 0, "{} is nowhere in its own colour", value.name);
}

#[test]
fn a_group_of_millions_of_years_is_drawn() {
    // Timestamps at 0 and at an epoch, in many containers: a pixel column contains more nanoseconds
    // than fit into 64 bits.
    let mut text = format!(
        "{}0 H 0 Host\n2 S H Activity\n5 off S off \"1 0 0\"\n5 on S on \"0 1 0\"\n",
        include_str!("header.paje")
    );
    let (start, end) = (1_000_000_000_u64, 4_000_000_000_u64);
    const HOSTS: u64 = 4_000;
    for host in 0..HOSTS {
        writeln!(text, "6 0 h{host} 0 H h{host}\n11 0 h{host} S off\n11 {start} h{host} S on").unwrap();
    }
    writeln!(text, "7 {end} H h0").unwrap();
    let store: std::sync::Arc<dyn TimelineSource> =
        std::sync::Arc::new(TraceStore::from_paje("hosts", text.as_bytes()).unwrap());
    let source = "group h* into All".parse::<tumit_viewer::filter::FilterExpr>().unwrap().apply(&store).unwrap();
    let time_range = time_range_of(0, i64::try_from(end).unwrap() * 1_000_000_000);
    let (outline, options) = (ContainerOutline::new(source.as_ref()).unwrap(), LayoutOptions::default());
    let layout = RowLayout::new(&outline, &options);
    // Few columns, so that fewer hosts suffice for columns as wide as those of a million hosts.
    let view =
        Viewport { time_range, width: 40.0, top: 0.0, bottom: 100.0, resolution: 1.0, titles: false, is_quick: false };
    let scene = diagram(source.as_ref(), &layout, &options, view).unwrap();
    let cells = scene.items.iter().find_map(|item| match item {
        SceneItem::Cells(cells) => Some(cells),
        _ => None,
    });
    let cells = cells.expect("a mixture");
    let shares: Vec<f32> = cells.columns.iter().map(|column| column.iter().map(|part| part.1).sum()).collect();
    assert_eq!(shares.len(), 40);
    assert!(shares.iter().all(|share| (share - 1.0).abs() < 1e-3), "{shares:?}");
}
