//! Parts of collective operations: the index and the store find those that the events have.

use std::collections::BTreeMap;

use tumit_paje::time::GlobalNanos;
use tumit_paje::{ContainerId, ExtraField, ExtraValue, PajeEvent, PajeSink as _, PajeTypeKind, TypeId, ValueId};
use tumit_viewer::index::IndexReader;
use tumit_viewer::query::{EntityId, OperationFacts, TimelineSource};
use tumit_viewer::sim::Simulation;

use tumit_test_support::xorshift::XorshiftGenerator;

use super::events::{create_container, define_type, define_value};
use super::source_comparison::compare;
use super::{KEY, write_with_little_memory};

const RANKS: u32 = 40;
const OPERATIONS: u64 = 300;

/// The part of a rank: operation, begin, end.
struct PlannedPart {
    operation: u64,
    from: i64,
    to: i64,
}

/// The parts of each rank by time. A rank takes part in two of three operations.
fn planned_parts() -> Vec<Vec<PlannedPart>> {
    let (mut random, mut ranks) = (XorshiftGenerator(99), Vec::new());
    for _ in 0..RANKS {
        let (mut parts, mut now) = (Vec::new(), 0);
        for operation in (0..OPERATIONS).filter(|_| random.below(3) > 0).collect::<Vec<_>>() {
            let from = now + 1 + random.below(1000) as i64;
            now = from + random.below(3) as i64 * random.below(500) as i64;
            parts.push(PlannedPart { operation, from, to: now });
        }
        ranks.push(parts);
    }
    ranks
}

/// The fields of the parts of an operation. Odd operations are written as text, as in Pajé text.
/// Equal fields share a row, so the fields of barriers do.
fn fields(number: u64, text: &str) -> Vec<ExtraField<'_>> {
    let operation = match number % 2 {
        0 => ExtraValue::Integer(number as i64 / 2),
        _ => ExtraValue::Text(text),
    };
    vec![
        ExtraField { name: "Operation", value: operation },
        ExtraField { name: "Collective", value: ExtraValue::Text("barrier") },
    ]
}

#[test]
fn the_parts_of_an_operation_are_found_by_number() {
    let (rank, calls) = (TypeId(1), TypeId(2));
    let planned = planned_parts();
    let texts: Vec<String> = (0..OPERATIONS).map(|number| (1_000_000 + number).to_string()).collect();
    let fields: Vec<Vec<ExtraField<'_>>> =
        (0..OPERATIONS).zip(&texts).map(|(number, text)| fields(number, text)).collect();
    let mut timed: Vec<(i64, PajeEvent<'_>)> = Vec::new();
    for (container, parts) in (1..).map(ContainerId).zip(&planned) {
        for part in parts {
            let (from, to) = (GlobalNanos(part.from), GlobalNanos(part.to));
            let extra = &fields[part.operation as usize][..];
            let (ty, value) = (calls, ValueId(0));
            timed.push((part.from, PajeEvent::PushState { time: from, container, ty, value, extra, source: None }));
            timed.push((part.to, PajeEvent::PopState { time: to, container, ty }));
        }
    }
    // The sort is stable, so a part without duration begins before it ends.
    timed.sort_by_key(|event| event.0);
    let mut events = vec![
        define_type(rank, PajeTypeKind::Container, TypeId::ROOT),
        define_type(calls, PajeTypeKind::State, rank),
        define_value(0, calls),
    ];
    events.extend((1..=RANKS).map(|number| create_container(number, rank)));
    events.extend(timed.into_iter().map(|event| event.1));

    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.tmtx");
    write_with_little_memory(&path, "trace", &events);
    let index = IndexReader::open_file(&path, KEY).expect("it was just written");
    let mut simulation = Simulation::new("trace");
    events.iter().for_each(|event| simulation.event(event).expect("a valid event"));
    let end = events.iter().filter_map(PajeEvent::time).max().expect("events");
    simulation.finish(end).expect("a valid end");
    let store = simulation.into_store();
    compare(&store, &index).expect("the index is whole");

    let mut expected: BTreeMap<u64, Vec<i64>> = BTreeMap::new();
    planned.iter().flatten().for_each(|part| expected.entry(part.operation).or_default().push(part.from));
    expected.values_mut().for_each(|enters| enters.sort_unstable());
    let mut found: BTreeMap<u64, Vec<i64>> = BTreeMap::new();
    for state in (0..store.summary().states as u32).map(EntityId::State) {
        let facts = index.facts(state).expect("the index is whole");
        let operation = OperationFacts::of(&index, &facts).expect("the index is whole").expect("a part");
        assert!(operation.parts.iter().any(|part| part.id == state && part.enter == facts.life.from));
        assert_eq!((operation.parts.first(), operation.parts.last()), (Some(&operation.first), Some(&operation.last)));
        let number: u64 = facts.fields[0].1.parse().expect("a number");
        let number = if number >= 1_000_000 { number - 1_000_000 } else { 2 * number };
        found.insert(number, operation.parts.iter().map(|part| part.enter.0).collect());
    }
    assert_eq!(found, expected);
}
