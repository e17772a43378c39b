//! The charts of card files: numbers by hand, and any card on any trace.

use proptest::prelude::*;
use tumit_perspectives::cards::{CardFile, CardView};
use tumit_perspectives::chart::{ChartPaint, ChartPanel, MarkChart, TableValue, ViewChart};
use tumit_perspectives::draw::{DrawOptions, draw};
use tumit_perspectives::error::PerspectiveError;
use tumit_perspectives::execution::{Execution, ExecutionSettings};
use tumit_perspectives::view::{PerspectiveView, TimeMode, ViewRequest};

use crate::request::{at, numbers, texts};
use crate::unit_program::{SECOND, execution, seconds};

/// The events of the traces: `place` has an element, a position, a value and an owner.
const EVENT: &str = "%EventDef PajeNewEvent 21\n% Time date\n% Container string\n% Type string\n% Value string\n\
    % Id int\n% Pos int\n% Size double\n% Owner string\n%EndEventDef\n";

/// Two threads of 10 s, with a load that varies, states, and events.
fn program(lines: &str) -> Execution {
    let text = format!(
        "{}{EVENT}0 T 0 Thread\n1 V T Load \"0 1 0\"\n2 A T Activity\n3 E T Place \"0 1 0\"\n4 M 0 T T Message\n\
         6 0 a 0 T a\n6 0 b 0 T b\n{lines}7 10 T a\n7 10 T b\n",
        include_str!("../../../tests/header.paje")
    );
    execution(&text, ExecutionSettings::default())
}

fn small_program() -> Execution {
    program(
        "8 0 a V 1\n8 0 b V 10\n11 0 a A work\n11 0 b A wait\n\
         21 0 a E placed 7 0 30 one\n21 1 b E placed 8 1 20 two\n15 2 0 M a m k\n8 4 a V 3\n11 4 b A work\n\
         21 5 a E placed 7 1 30 one\n21 5 b E placed 8 0 20 two\n17 6 b E noise\n16 7 0 M b m k\n8 8 b V 4\n",
    )
}

fn view(text: &str) -> CardView {
    CardView::new(CardFile::parse("test.card.toml", &format!("title = \"Test\"\n{text}")).unwrap())
}

fn chart(execution: &Execution, request: &ViewRequest, text: &str) -> ViewChart {
    view(text).chart(execution, request).unwrap()
}

fn whole() -> ViewRequest {
    ViewRequest { mode: TimeMode::Range, ..present(0) }
}

fn present(second: i64) -> ViewRequest {
    ViewRequest { range: seconds(0, 10), columns: 10, ..at(second) }
}

fn series(kind: &str, keys: &str) -> String {
    format!("[[panel]]\nkind = \"{kind}\"\n[[panel.series]]\nlabel = \"x\"\n{keys}\n")
}

#[test]
fn levels_over_time_have_the_numbers_of_the_trace() {
    let program = small_program();
    let levels = |keys: &str| numbers(&chart(&program, &whole(), &series("levels", keys)), "x");
    assert_eq!(levels("of = \"category\"\ncategory = \"busy\""), [1., 1., 1., 1., 2., 2., 2., 2., 2., 2.]);
    assert_eq!(levels("of = \"pending\""), [0., 0., 1., 1., 1., 1., 1., 0., 0., 0.]);
    assert_eq!(levels("of = \"states\"\nvalue = \"WORK\""), [1., 1., 1., 1., 2., 2., 2., 2., 2., 2.]);
    assert_eq!(
        levels("of = \"states\"\ntype = \"Act*\"\ncontainer = \"b\"\nvalue = \"wait\""),
        [1., 1., 1., 1., 0., 0., 0., 0., 0., 0.]
    );
    assert_eq!(levels("of = \"variable\"\nvariable = \"Load\""), [11., 11., 11., 11., 13., 13., 13., 13., 7., 7.]);
    assert_eq!(
        levels("of = \"variable\"\nvariable = \"Load\"\ncombine = \"largest\""),
        [10., 10., 10., 10., 10., 10., 10., 10., 4., 4.]
    );
    assert_eq!(levels("of = \"events\""), [1., 1., 0., 0., 0., 2., 1., 0., 0., 0.]);
    assert_eq!(levels("of = \"events\"\nvalue = \"noise\""), [0., 0., 0., 0., 0., 0., 1., 0., 0., 0.]);
    assert_eq!(levels("of = \"field\"\nfield = \"size\""), [30., 50., 50., 50., 50., 50., 50., 50., 50., 50.]);
    assert_eq!(levels("of = \"field\"\nfield = \"pos\"\ncontainer = \"a\""), [0., 0., 0., 0., 0., 1., 1., 1., 1., 1.]);
    // The axis converts seconds to nanoseconds.
    let text = series("levels", "of = \"field\"\nfield = \"size\"\ncombine = \"mean\"")
        .replace("[[panel.series]]", "axis = { unit = \"seconds\" }\n[[panel.series]]");
    assert_eq!(numbers(&chart(&program, &whole(), &text), "x")[1], 25e9);
}

#[test]
fn a_stack_reports_the_negative_numbers_that_it_does_not_show() {
    let program = program("8 0 a V -1\n8 0 b V 0\n");
    let text = series("levels", "of = \"variable\"\nvariable = \"Load\"");
    assert!(chart(&program, &whole(), &text).notes.is_empty());
    let stacked = text.replace("[[panel.series]]", "stacked = true\n[[panel.series]]");
    let notes = chart(&program, &whole(), &stacked).notes;
    assert_eq!(notes, ["`x` has negative numbers, which a stack does not show. Remove `stacked`."]);
}

#[test]
fn bars_have_a_number_per_unit() {
    let program = small_program();
    let bars = |request: &ViewRequest, keys: &str| numbers(&chart(&program, request, &series("bars", keys)), "x");
    let work = "of = \"states\"\nvalue = \"work\"";
    assert_eq!(bars(&whole(), work), [10e9, 6e9]);
    assert_eq!(bars(&present(5), work), [5e9, 1e9]);
    assert_eq!(
        bars(&whole(), &format!("{work}\nshow = \"percent\"")).iter().map(|n| n.round()).collect::<Vec<_>>(),
        [100., 60.]
    );
    assert_eq!(bars(&whole(), "of = \"category\"\ncategory = \"idle\""), [0., 4e9]);
    assert_eq!(bars(&present(5), "of = \"variable\"\nvariable = \"Load\""), [3., 10.]);
    assert_eq!(bars(&whole(), "of = \"variable\"\nvariable = \"Load\""), [3., 4.]);
    assert_eq!(bars(&present(5), "of = \"pending\""), [0., 1.]);
    assert_eq!(bars(&present(5), "of = \"events\""), [2., 2.]);
    assert_eq!(bars(&whole(), "of = \"events\""), [2., 3.]);
    assert_eq!(bars(&present(4), "of = \"field\"\nfield = \"pos\""), [0., 1.]);
    assert_eq!(bars(&present(5), "of = \"field\"\nfield = \"pos\""), [1., 0.]);
    assert_eq!(bars(&whole(), "of = \"field\"\nfield = \"size\"\nshow = \"sum\""), [60., 40.]);
}

fn marks(chart: &ViewChart) -> &MarkChart {
    match &chart.panels[0].panel {
        ChartPanel::Marks(marks) => marks,
        other => panic!("{other:?}"),
    }
}

const ELEMENTS: &str = "time = [\"at\", \"range\"]\n[[panel]]\nkind = \"elements\"\nglide = \"2s\"\nmoving = \"emphasis\"\n\
    [[panel.events]]\nvalue = \"placed\"\nelement = \"id\"\nx = \"pos\"\ny = \"size\"\ncolor = { field = \"owner\" }\ntext = \"id\"\n";

#[test]
fn elements_are_where_the_latest_event_has_placed_them() {
    let program = small_program();
    let start = chart(&program, &present(0), ELEMENTS);
    assert_eq!((texts(&start, "element"), numbers(&start, "pos")), (vec!["7".to_owned()], vec![0.0]));
    assert_eq!(start.notes, ["1 of 2 elements have no place yet."]);
    let before = chart(&program, &present(4), ELEMENTS);
    assert_eq!((numbers(&before, "pos"), numbers(&before, "size")), (vec![0., 1.], vec![30., 20.]));
    assert_eq!(before.legend[..2].iter().map(|item| item.label.as_str()).collect::<Vec<_>>(), ["one", "two"]);
    // One second after its event, an element is halfway to its new place.
    let during = chart(&program, &present(6), ELEMENTS);
    assert_eq!(numbers(&during, "pos"), [1., 0.]);
    let moving = marks(&during);
    assert_eq!(moving.marks.iter().map(|mark| mark.x).collect::<Vec<_>>(), [0.5, 0.5]);
    assert!(moving.marks.iter().all(|mark| mark.paint == ChartPaint::Emphasis));
    assert_eq!(moving.marks[0].text, "7");
    let after = chart(&program, &present(7), ELEMENTS);
    assert_eq!(
        marks(&after).marks.iter().map(|mark| (mark.x, mark.paint)).collect::<Vec<_>>(),
        [(1.0, ChartPaint::Task(0)), (0.0, ChartPaint::Task(1))]
    );
    // The axes stay while the time moves, and the end of a time range shows the last places.
    assert_eq!(marks(&start).horizontal_axis, marks(&after).horizontal_axis);
    assert_eq!(numbers(&chart(&program, &whole(), ELEMENTS), "pos"), [1., 0.]);
}

#[test]
fn marks_have_coordinates_of_fields_and_names() {
    let program = small_program();
    let text = "[[panel]]\nkind = \"marks\"\n[[panel.events]]\ncolor = { by = \"value\" }\n";
    let timed = chart(&program, &whole(), text);
    assert_eq!(texts(&timed, "container"), ["a", "b", "a", "b", "b"]);
    let ChartPanel::Scatter(scatter) = &timed.panels[0].panel else { panic!("a chart over time") };
    assert_eq!((scatter.categories.as_slice(), scatter.points.len()), (&["a".to_owned(), "b".to_owned()][..], 5));
    let plane = format!("{text}x = {{ field = \"pos\" }}\ny = {{ field = \"size\" }}\n");
    let plane = chart(&program, &ViewRequest { mode: TimeMode::At, ..present(1) }, &plane);
    assert_eq!((numbers(&plane, "pos"), numbers(&plane, "size")), (vec![0., 1.], vec![30., 20.]));
    let units = format!("{text}x = {{ field = \"pos\" }}\ny = \"unit\"\n");
    assert_eq!(marks(&chart(&program, &whole(), &units)).vertical_axis.names, ["a", "b"]);
}

#[test]
fn names_without_a_match_have_the_line_and_the_names_of_the_trace() {
    let program = small_program();
    let error = |text: &str| view(text).chart(&program, &whole()).unwrap_err().to_string();
    let levels = |keys: &str| error(&series("levels", keys));
    assert_eq!(
        levels("of = \"variable\"\nvariable = \"Lod\""),
        "test.card.toml:4: no variable is called `Lod`, did you mean `Load`?; the trace has Load"
    );
    assert!(levels("of = \"states\"\nvalue = \"works\"").contains("did you mean `work`?"));
    assert!(levels("of = \"events\"\ncontainer = \"c*\"").contains("no container is called `c*`"));
    let field = levels("of = \"field\"\nfield = \"siz\"");
    assert!(field.contains("no field of these events is called `siz`, did you mean `Size`?"), "{field}");
    assert!(error(&ELEMENTS.replace("\"pos\"", "\"place\"")).starts_with("test.card.toml:7: "));
    let none = view(&series("levels", "of = \"field\"\nfield = \"x\"\n")).chart(&program_without_events(), &whole());
    assert!(matches!(none, Err(PerspectiveError::NoData { .. })), "{none:?}");
}

fn program_without_events() -> Execution {
    program("")
}

/// Parts of cards that fit together.
fn cards() -> impl Strategy<Value = String> {
    let choice = prop::sample::select(vec![
        "",
        "value = \"placed\"\n",
        "type = \"*\"\n",
        "container = \"b\"\n",
        "value = \"nothing\"\n",
    ]);
    let data = prop::sample::select(vec![
        "of = \"category\"\ncategory = \"busy\"",
        "of = \"category\"\ncategory = \"overhead\"",
        "of = \"pending\"",
        "of = \"states\"\nvalue = \"w*\"",
        "of = \"variable\"\nvariable = \"*\"",
        "of = \"variable\"\nvariable = \"Load\"\ncombine = \"smallest\"",
        "of = \"events\"",
        "of = \"field\"\nfield = \"size\"\ncombine = \"largest\"",
        "of = \"field\"\nfield = \"id\"\ncombine = \"mean\"",
    ]);
    let levels = (data.clone(), any::<bool>()).prop_map(|(data, is_stacked)| {
        format!("[[panel]]\nkind = \"levels\"\nstacked = {is_stacked}\n[[panel.series]]\n{data}\n")
    });
    let bars = data.prop_map(|data| format!("[[panel]]\nkind = \"bars\"\n[[panel.series]]\n{data}\n"));
    let color = prop::sample::select(vec![
        "\"now\"",
        "{ by = \"value\" }",
        "{ by = \"unit\" }",
        "{ field = \"owner\" }",
        "{ field = \"size\", scale = \"gradient\" }",
    ]);
    let place = prop::sample::select(vec!["\"container\"", "\"unit\"", "\"value\"", "{ field = \"size\" }"]);
    let x = prop::sample::select(vec!["\"time\"", "{ field = \"pos\" }"]);
    let marks = (choice.clone(), color.clone(), x, place).prop_map(|(choice, color, x, y)| {
        format!("[[panel]]\nkind = \"marks\"\n[[panel.events]]\n{choice}x = {x}\ny = {y}\ncolor = {color}\n")
    });
    let shape = prop::sample::select(vec!["bars", "cells", "discs"]);
    let elements = (choice, color, shape, 0..4_u8).prop_map(|(choice, color, shape, glide)| {
        format!(
            "[[panel]]\nkind = \"elements\"\nshape = \"{shape}\"\nglide = \"{glide}s\"\n[[panel.events]]\n\
             {choice}element = \"id\"\nx = \"pos\"\ny = \"size\"\ntext = \"owner\"\ncolor = {color}\n"
        )
    });
    let panel = prop_oneof![levels, bars, marks, elements];
    prop::collection::vec(panel, 1..4)
        .prop_map(|panels| format!("time = [\"at\", \"range\", \"moving\"]\n{}", panels.concat()))
}

/// Random lines of a trace, by time.
fn lines() -> impl Strategy<Value = String> {
    let line =
        (0..10_i64, 0..7_u8, prop::bool::ANY, 0..4_i64, -3..9_i64).prop_map(|(second, kind, is_a, id, number)| {
            let thread = if is_a { "a" } else { "b" };
            let text = match kind {
                0 => format!("8 {second} {thread} V {number}"),
                1 => format!("11 {second} {thread} A {}", if number % 2 == 0 { "work" } else { "wait" }),
                2 => format!("17 {second} {thread} E noise"),
                _ => format!("21 {second} {thread} E placed {id} {} {number} owner{id}", number.rem_euclid(5)),
            };
            (second, text)
        });
    prop::collection::vec(line, 0..40).prop_map(|mut lines| {
        lines.sort_by_key(|line| line.0);
        lines.into_iter().map(|line| format!("{}\n", line.1)).collect()
    })
}

fn check(chart: &ViewChart) {
    assert!(!chart.title.is_empty() && !chart.subtitle.is_empty());
    for row in &chart.table.rows {
        assert_eq!(row.len(), chart.table.columns.len());
        let is_finite = |value: &TableValue| !matches!(value, TableValue::Number(number) if !number.is_finite());
        assert!(row.iter().all(is_finite), "{row:?}");
    }
    for panel in &chart.panels {
        if let ChartPanel::Levels(levels) = &panel.panel {
            let is_hidden = |value: f64| levels.stacked && value < 0.0;
            let within = |value: f64| is_hidden(value) || value.abs() <= levels.axis.maximum * (1.0 + 1e-9);
            assert!(levels.series.iter().all(|series| series.means.iter().all(|mean| within(*mean))), "{levels:?}");
        }
    }
    let scene = draw(chart, DrawOptions::default());
    assert!(!scene.items.is_empty());
}

proptest! {
    #[test]
    fn charts_are_a_pure_function_of_the_time(
        card in cards(),
        lines in lines(),
        times in prop::collection::vec((-1..12_i64, 0..3_usize), 1..6),
        (from, nanos) in (0..9_i64, prop_oneof![Just(0), Just(1), SECOND..10 * SECOND]),
        columns in 1..40_u32,
    ) {
        let view = view(&card);
        let used = program(&lines);
        let request = |(second, mode): (i64, usize)| {
            let mut range = seconds(from, from);
            range.to.0 += nanos;
            let mut request = ViewRequest { mode: TimeMode::WORDS[mode].1, range, columns, ..at(second) };
            request.options.width = Some(2 * SECOND);
            request
        };
        let text = |execution: &Execution, time| match view.chart(execution, &request(time)) {
            Ok(chart) => {
                check(&chart);
                format!("{chart:?}")
            }
            Err(error) => error.to_string(),
        };
        // The chart at a time does not depend on the charts before it.
        for time in times.iter().chain(times.iter().rev()) {
            let path = text(&used, *time);
            prop_assert_eq!(path, text(&program(&lines), *time));
        }
    }
}
