//! Charts of a small program, with numbers computed by hand.

use tumit_paje::category::ActivityCategory::{Busy, Idle, Overhead};
use tumit_perspectives::chart::{ChartPaint, ChartPanel, StatusGrid, TableValue};
use tumit_perspectives::execution::{Execution, ExecutionSettings};
use tumit_perspectives::view::{TimeMode, ViewRequest};
use tumit_viewer::query::GlobalNanos;

use crate::request::{at, chart, numbers, texts, with_options};
use crate::unit_program::{SECOND, execution, seconds};

/// Two ranks of 10 s. `a` works until 4 s, sends 64 bytes from 4 to 5 s, then waits. `b` waits
/// until 6 s, when it receives them, and works until the end. `a` is in the phase `setup` until 5
/// s, `b` in `solve` from 6 s to 8 s.
fn program() -> Execution {
    let text = format!(
        "{}%EventDef PajeStartLink 18\n% Time date\n% Container string\n% Type string\n\
         % StartContainer string\n% Value string\n% Key string\n% Bytes int\n%EndEventDef\n\
         0 R 0 Rank\n2 A R Activity\n2 P R Phase\n4 M 0 R R Message\n\
         6 0 a 0 R a\n6 0 b 0 R b\n11 0 a A work\n11 0 b A wait\n12 0 a P setup\n\
         11 4 a A send\n18 4 0 M a m k 64\n11 5 a A wait\n13 5 a P\n\
         16 6 0 M b m k\n11 6 b A work\n12 6 b P solve\n13 8 b P\n7 10 R a\n7 10 R b\n",
        include_str!("../../../tests/header.paje")
    );
    execution(&text, ExecutionSettings::default())
}

fn present(second: i64) -> ViewRequest {
    ViewRequest { range: seconds(0, 10), columns: 10, ..at(second) }
}

fn whole() -> ViewRequest {
    ViewRequest { mode: TimeMode::Range, ..present(0) }
}

#[test]
fn utilization_of_two_ranks() {
    let program = program();
    let count = chart("utilization-count", &program, &whole()).unwrap();
    assert_eq!(count.subtitle, "0 s to 10.00 s");
    assert_eq!(numbers(&count, "busy"), [1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]);
    assert_eq!(numbers(&count, "overhead")[4], 1.0);
    let moving = ViewRequest { mode: TimeMode::Moving, ..present(4) };
    let moving = with_options("utilization-count", &moving, &["width=1s"]);
    let moving = chart("utilization-count", &program, &moving).unwrap();
    assert_eq!((moving.table.rows.len(), numbers(&moving, "to")[9]), (10, 5e9));
    assert_eq!(moving.subtitle, "at 4.000 s, 3.000 s to 5.000 s");

    let summary = chart("utilization-summary", &program, &whole()).unwrap();
    assert_eq!(numbers(&summary, "busy"), [4e9, 4e9]);
    assert_eq!(numbers(&summary, "idle, %"), [50.0, 60.0]);
    let meter = chart("utilization-meter", &program, &present(4)).unwrap();
    assert_eq!(numbers(&meter, "units, %"), [0.0, 50.0, 50.0]);
    assert_eq!(meter.notes, ["The categories of all values are guessed from their names."]);

    let profile = chart("concurrency-profile", &program, &whole()).unwrap();
    assert_eq!(numbers(&profile, "busy, %"), [20.0, 80.0, 0.0]);
    assert_eq!(numbers(&profile, "idle, %"), [0.0, 90.0, 10.0]);
    let request = with_options("concurrency-profile", &whole(), &["category=overhead"]);
    let panels = chart("concurrency-profile", &program, &request).unwrap().panels;
    assert_eq!(panels.iter().map(|panel| panel.title.as_str()).collect::<Vec<_>>(), ["overhead"]);
}

#[test]
fn kiviat_and_streaks_of_two_ranks() {
    let program = program();
    let kiviat = |second, options: &[&str]| {
        let request = with_options("kiviat", &present(second), options);
        let chart = chart("kiviat", &program, &request).unwrap();
        (numbers(&chart, "now, %"), numbers(&chart, "maximum, %"))
    };
    assert_eq!(kiviat(8, &["width=5s"]), (vec![20.0, 40.0], vec![100.0, 40.0]));
    assert_eq!(kiviat(8, &["width=5s", "count=busy+overhead"]).0, [40.0, 40.0]);
    // Three of four seconds is the largest fraction of a moving mean over 4 s until 9 s.
    assert_eq!(kiviat(9, &["width=4s"]).1[1], 75.0);
    let request = with_options("kiviat", &present(8), &["width=5s", "order=overhead"]);
    let subtitle = chart("kiviat", &program, &request).unwrap().subtitle;
    let expected = "at 8.00 s; busy, mean over the last 5.000 s; maximum since the start; \
                    ordered by overhead time, largest first";
    assert_eq!(subtitle, expected);

    let streaks = |second, options: &[&str]| {
        let request = with_options("streak", &present(second), options);
        let chart = chart("streak", &program, &request).unwrap();
        let ChartPanel::Bars(bars) = &chart.panels[0].panel else { panic!("no bars") };
        let sum = |bar: &tumit_perspectives::chart::Bar| bar.parts.iter().map(|part| part.value).sum::<f64>() / 1e9;
        (sum(&bars.bars[0]), sum(&bars.bars[1]))
    };
    assert_eq!(streaks(3, &[]), (3.0, -3.0));
    // Overhead does not end the busy run, and is no part of it.
    assert_eq!((streaks(5, &[]).0, streaks(5, &["count=busy+overhead"]).0), (0.0, 0.0));
    let half = ViewRequest { time: GlobalNanos(4 * SECOND + SECOND / 2), ..present(0) };
    let lengths = |options: &[&str]| {
        let request = with_options("streak", &half, options);
        numbers(&chart("streak", &program, &request).unwrap(), "length")[0]
    };
    assert_eq!((lengths(&[]), lengths(&["count=busy+overhead"])), (4e9, 4.5e9));
    assert_eq!(streaks(8, &[]), (-3.0, 2.0));
    // No run continues after the trace.
    assert_eq!(streaks(1000, &[]), streaks(program.extent().to.0 / SECOND, &[]));
}

#[test]
fn status_of_two_ranks() {
    let program = program();
    let status = chart("processor-status", &program, &present(5)).unwrap();
    let titles: Vec<&str> = status.panels.iter().map(|panel| panel.title.as_str()).collect();
    assert_eq!(titles, ["state", "task", "bytes being sent", "bytes awaiting receipt"]);
    let grid = |index: usize| -> StatusGrid {
        let ChartPanel::Grid(grid) = &status.panels[index].panel else { panic!("no grid") };
        grid.clone()
    };
    let paints = |index: usize| grid(index).cells.iter().map(|cell| cell.paint).collect::<Vec<_>>();
    assert_eq!(paints(0), [ChartPaint::Category(Idle); 2]);
    assert_eq!(paints(2), [ChartPaint::Size(1.0), ChartPaint::Absent]);
    assert_eq!(paints(3), [ChartPaint::Absent, ChartPaint::Size(1.0)]);
    assert_eq!(grid(3).cells[1].status, "64 B");
    assert_eq!(grid(0).columns, 2);
    let first = chart("processor-status", &program, &present(4)).unwrap();
    assert_eq!(texts(&first, "state"), [Overhead.word(), Idle.word()]);
    assert_eq!(texts(&first, "task"), ["setup", ""]);
    assert_eq!(first.legend.iter().filter(|item| item.paint == ChartPaint::Category(Busy)).count(), 1);
}

#[test]
fn tasks_of_two_ranks() {
    let program = program();
    let count = chart("task-count", &program, &present(7)).unwrap();
    assert_eq!((numbers(&count, "units"), numbers(&count, "maximum so far")), (vec![0.0, 1.0], vec![1.0, 1.0]));
    let status = |second| texts(&chart("task-status", &program, &present(second)).unwrap(), "status");
    assert_eq!(status(0), ["in progress", "not begun"]);
    assert_eq!(status(5), ["completed", "not begun"]);
    assert_eq!(status(8), ["completed", "completed"]);
    let summary = chart("task-summary", &program, &whole()).unwrap();
    assert_eq!((numbers(&summary, "from, %"), numbers(&summary, "to, %")), (vec![0.0, 60.0], vec![50.0, 80.0]));
    let late = ViewRequest { range: seconds(7, 9), ..whole() };
    let late = chart("task-summary", &program, &late).unwrap();
    assert_eq!(late.notes, ["1 task is outside of the time range."]);
    let surface = chart("task-surface", &program, &ViewRequest { columns: 4, ..whole() }).unwrap();
    assert_eq!(numbers(&surface, "units"), [1.0, 1.0, 1.5 / 2.5, 0.5 / 2.5]);
}

#[test]
fn clock_and_phase_portrait_of_two_ranks() {
    let program = program();
    let clock = chart("clock", &program, &present(4)).unwrap();
    assert_eq!(clock.table.rows[0], [4e9, 4e9, 6e9, 40.0].map(TableValue::Number));
    assert_eq!(numbers(&chart("clock", &program, &present(99)).unwrap(), "trace, %"), [100.0]);

    let request =
        with_options("phase-portrait", &ViewRequest { time: GlobalNanos(5 * SECOND), ..whole() }, &["width=2s"]);
    let portrait = chart("phase-portrait", &program, &request).unwrap();
    let ChartPanel::Portrait(curve) = &portrait.panels[0].panel else { panic!("no portrait") };
    let points: Vec<(f64, f64)> = curve.points.iter().map(|point| (point.x, point.y)).collect();
    assert_eq!((points.len(), curve.cursor), (11, Some(5)));
    // The message is pending from 4 to 6 s. No rank is busy from 4 to 6 s, otherwise one of two is.
    assert_eq!(points[4..8], [(0.0, 50.0), (50.0, 25.0), (100.0, 0.0), (50.0, 25.0)]);
    assert_eq!(texts(&portrait, "task")[4..7], ["setup", "setup", ""]);
    assert_eq!(curve.points[8].paint, ChartPaint::Task(1));
    // At most half of the ranks are busy. The axes are those of all portraits.
    assert_eq!((curve.horizontal_axis.maximum, curve.vertical_axis.maximum), (100.0, 100.0));
}
