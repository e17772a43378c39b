//! Traces with many types: the cost is proportional to the number of entities, not to types times
//! containers.

#![allow(clippy::unwrap_used, reason = "a failure is the test's result")]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use tumit_paje::write::PajeWriter;
use tumit_viewer::layout::{ContainerOutline, LayoutOptions};
use tumit_viewer::query::{TimeRange, TimelineSource};
use tumit_viewer::scene::{DocumentOptions, document};
use tumit_viewer::stats::{RowGrouping, table};
use tumit_viewer::store::TraceStore;

const HEADER: &str = include_str!("header.paje");
const TYPES: usize = 10_000;
/// An unoptimised build takes about 3 s. With a scan of all types for each type or container, it
/// takes more than a minute.
const MOST: Duration = Duration::from_secs(30);

/// State, event, variable and link types in one container, each with one entity. With `at_once`,
/// all entities are at one timestamp; otherwise they are spread over time.
fn in_one_container(at_once: bool) -> String {
    let mut text = format!("{HEADER}0 T 0 Thread\n6 0 t 0 T t\n");
    for number in 0..TYPES {
        let time = if at_once { 1.0 } else { number as f64 * 1e-6 };
        writeln!(text, "1 V{number} T Variable{number} \"0 0 0\"\n2 S{number} T State{number}\n3 E{number} T Event{number} \"0 0 0\"").unwrap();
        writeln!(text, "4 L{number} 0 T T Link{number}\n5 v{number} S{number} Value{number} \"0 1 0\"").unwrap();
        writeln!(text, "11 {time} t S{number} v{number}\n17 {time} t E{number} e\n8 {time} t V{number} {number}")
            .unwrap();
        writeln!(text, "15 {time} 0 L{number} t l k\n16 {time} 0 L{number} t l k").unwrap();
    }
    text
}

/// State types of one container type. Each container has a state of another type.
fn one_in_each_container() -> String {
    let mut text = format!("{HEADER}0 T 0 Thread\n");
    for at in 0..TYPES {
        writeln!(text, "2 S{at} T State{at}\n6 0 c{at} 0 T c{at}\n11 1 c{at} S{at} v").unwrap();
    }
    text
}

/// Containers inside each other. Each has a type of its own with a state type.
fn in_a_chain() -> String {
    let mut text = format!("{HEADER}0 T 0 Type\n6 0 c 0 T c\n");
    let (mut ty, mut container) = ("T".to_owned(), "c".to_owned());
    for number in 0..TYPES {
        writeln!(text, "0 T{number} {ty} Type{number}\n2 S{number} T{number} State{number}\n6 0 c{number} {container} T{number} c{number}").unwrap();
        writeln!(text, "11 1 c{number} S{number} v").unwrap();
        (ty, container) = (format!("T{number}"), format!("c{number}"));
    }
    text
}

/// For each number, a container type with a state type, and one container of it.
fn in_many_containers() -> String {
    let mut text = HEADER.to_owned();
    for at in 0..TYPES {
        writeln!(text, "0 T{at} 0 Type{at}\n2 S{at} T{at} State{at}\n6 0 c{at} 0 T{at} c{at}").unwrap();
        writeln!(text, "11 1 c{at} S{at} v").unwrap();
    }
    text
}

/// The number of rows of the statistics. Fails if the work of the commands takes too long.
fn rows(text: &str) -> usize {
    let begin = Instant::now();
    let store = TraceStore::from_paje("trace", text.as_bytes()).unwrap();
    let time_range = TimeRange { from: store.extent().from, to: tumit_viewer::query::GlobalNanos(2_000_000_000) };
    let rows = table(&store, time_range, RowGrouping::Value, None).unwrap();
    let outline = ContainerOutline::new(&store).unwrap();
    let options = LayoutOptions::default();
    let size = DocumentOptions { time_range, width: 800.0, height: None, resolution: 1.0, titles: true };
    document(&store, &outline, &options, size).unwrap();
    tumit_viewer::query::replay::replay(&store, &mut PajeWriter::new(std::io::sink())).unwrap();
    tumit_viewer::text::entity_rows::write(&store, &mut std::io::sink()).unwrap();
    let duration = begin.elapsed();
    assert!(duration < MOST, "{TYPES} types took {duration:?}, more than {MOST:?}");
    rows.len()
}

#[test]
fn many_types_in_one_container() {
    assert_eq!(rows(&in_one_container(false)), 4 * TYPES);
}

#[test]
fn many_types_at_one_instant() {
    assert_eq!(rows(&in_one_container(true)), 4 * TYPES);
}

#[test]
fn one_of_many_types_in_each_container() {
    assert_eq!(rows(&one_in_each_container()), TYPES);
}

#[test]
fn many_types_in_many_containers() {
    assert_eq!(rows(&in_many_containers()), TYPES);
}

#[test]
fn many_types_in_a_chain() {
    assert_eq!(rows(&in_a_chain()), TYPES);
}
