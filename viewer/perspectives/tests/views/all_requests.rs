//! Each view answers any request with a well-formed chart, or says which data it needs.

use proptest::prelude::*;
use tumit_perspectives::chart::{ChartPanel, TableValue, ViewChart};
use tumit_perspectives::error::PerspectiveError;
use tumit_perspectives::execution::{Execution, ExecutionSettings};
use tumit_perspectives::gallery;
use tumit_perspectives::view::ViewRequest;
use tumit_viewer::query::{GlobalNanos, TimeRange};

use crate::request::{at, chart, during, numbers};
use crate::unit_program::{END, SECOND, execution, programs, seconds, settings};

/// Checks a chart.
fn check(view: &str, chart: &ViewChart) {
    assert!(!chart.title.is_empty() && !chart.subtitle.is_empty(), "{view}");
    for row in &chart.table.rows {
        assert_eq!(row.len(), chart.table.columns.len(), "{view}");
        let finite = |value: &TableValue| !matches!(value, TableValue::Number(number) if !number.is_finite());
        assert!(row.iter().all(finite), "{view}: {row:?}");
    }
    for panel in &chart.panels {
        match &panel.panel {
            ChartPanel::Bars(bars) => {
                let within = |value: f64| value.abs() <= bars.axis.maximum * (1.0 + 1e-9);
                for bar in &bars.bars {
                    let top = bar.base + bar.parts.iter().map(|part| part.value.max(0.0)).sum::<f64>();
                    assert!(top.is_finite() && within(top), "{view}: {bar:?}");
                    assert!(bar.maximum.is_none_or(within), "{view}: {bar:?}");
                    assert!(bar.parts.iter().all(|part| within(part.value)), "{view}: {bar:?}");
                }
            }
            ChartPanel::Kiviat(kiviat) => {
                for spoke in &kiviat.spokes {
                    let [least, mean, largest] = spoke.now;
                    assert!(0.0 <= least && least <= mean && mean <= largest, "{view}: {spoke:?}");
                    assert!(largest <= spoke.maximum && spoke.maximum <= 1.0, "{view}: {spoke:?}");
                }
            }
            ChartPanel::Portrait(portrait) => {
                let inside = |value: f64| (0.0..=100.0 + 1e-9).contains(&value);
                assert!(portrait.points.iter().all(|point| inside(point.x) && inside(point.y)), "{view}");
            }
            ChartPanel::Grid(grid) => assert!(grid.columns > 0 && grid.columns.pow(2) >= grid.cells.len(), "{view}"),
            _ => {}
        }
    }
}

fn check_all(execution: &Execution, request: &ViewRequest) {
    for view in gallery::views() {
        let info = view.info();
        for mode in info.modes {
            match view.chart(execution, &ViewRequest { mode: *mode, ..request.clone() }) {
                Ok(chart) => check(info.name, &chart),
                Err(PerspectiveError::NoData { .. }) => {}
                Err(error) => panic!("{}: {error}", info.name),
            }
        }
    }
}

proptest! {
    #[test]
    fn charts_of_any_time_are_well_formed(
        program in programs(),
        settings in settings(),
        is_node in any::<bool>(),
        (from, nanos) in (-SECOND..END * SECOND, prop_oneof![Just(0), 1..20_i64, 0..END * SECOND]),
        (time, columns) in (-SECOND..(END + 1) * SECOND, 1..80_u32),
        width in prop::option::of(0..END * SECOND),
        counts_overhead in any::<bool>(),
    ) {
        let execution = program.execution(if is_node { "Node" } else { "Thread" }, settings);
        let range = TimeRange { from: GlobalNanos(from), to: GlobalNanos(from + nanos) };
        let mut request = ViewRequest { range, time: GlobalNanos(time), columns, ..at(0) };
        (request.options.width, request.options.counts_overhead) = (width, counts_overhead);
        check_all(&execution, &request);
    }
}

/// Many threads that run one after another, each with a task of its own.
fn many_threads(count: i64) -> String {
    let mut text = include_str!("../../../tests/header.paje").to_owned();
    text.push_str("0 T 0 Thread\n2 A T Activity\n2 P T Phase\n5 work A work \"0 1 0\"\n5 wait A wait \"0 1 0\"\n");
    (0..count).for_each(|index| text.push_str(&format!("6 0 t{index} 0 T \"thread {index}\"\n")));
    for index in 0..count {
        text.push_str(&format!("12 {index} t{index} A work\n12 {index} t{index} P \"task {index}\"\n"));
        text.push_str(&format!("11 {} t{index} A wait\n13 {} t{index} P\n", index + 1, index + 1));
    }
    text
}

#[test]
fn views_group_many_units_and_tasks() {
    let count = 3000;
    let execution = execution(&many_threads(count), ExecutionSettings::default());
    let request = ViewRequest { range: execution.extent(), time: GlobalNanos(1500 * SECOND), columns: 100, ..at(0) };
    check_all(&execution, &request);
    for (view, limit) in [
        ("utilization-summary", 256),
        ("concurrency-profile", 256),
        ("kiviat", 200),
        ("streak", 256),
        ("processor-status", 1024),
        ("task-count", 256),
        ("task-status", 1024),
        ("task-summary", 256),
        ("task-surface", 256),
    ] {
        let chart = chart(view, &execution, &request).unwrap();
        let largest = chart.panels.iter().map(|panel| match &panel.panel {
            ChartPanel::Bars(bars) => bars.bars.len(),
            ChartPanel::Kiviat(kiviat) => kiviat.spokes.len(),
            ChartPanel::Grid(grid) => grid.cells.len(),
            ChartPanel::Matrix(matrix) => matrix.rows.len(),
            other => panic!("{other:?}"),
        });
        let largest = largest.max().unwrap();
        assert!((limit / 2..=limit).contains(&largest), "{view}: {largest}");
        assert!(chart.notes.iter().any(|note| note.contains("adjacent")), "{view}: {:?}", chart.notes);
    }
    // One unit is busy at any time. Numbers of units that do not occur are left out.
    let profile = chart("concurrency-profile", &execution, &during(seconds(0, count))).unwrap();
    assert_eq!(numbers(&profile, "units"), [0.0, 1.0, (count - 1) as f64]);
}

#[test]
fn views_name_the_missing_data() {
    let text = format!("{}0 T 0 Thread\n6 0 t 0 T main\n7 3 T t\n", include_str!("../../../tests/header.paje"));
    let execution = execution(&text, ExecutionSettings::default());
    let error = |view: &str| chart(view, &execution, &at(1)).unwrap_err().to_string();
    assert!(error("kiviat").starts_with("the view needs states, but the trace has none;"), "{}", error("kiviat"));
    assert!(error("task-count").starts_with("the view needs states of tasks, but"), "{}", error("task-count"));
    assert!(error("phase-portrait").starts_with("the view needs links between units"), "{}", error("phase-portrait"));
    assert!(error("processor-status").starts_with("the view needs states, tasks or links"));
    assert!(chart("clock", &execution, &at(1)).is_ok());
}
