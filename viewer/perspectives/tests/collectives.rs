//! Collective operations that fields of states describe: subsets of units, roots, and operations
//! that overlap. The waits of random operations are compared with their definition.

use std::fmt::Write as _;
use std::sync::Arc;

use proptest::prelude::*;
use tumit_paje::collective::CollectiveKind;
use tumit_perspectives::analysis::collective_groups::{CollectiveGroup, collective_groups};
use tumit_perspectives::analysis::collectives::CollectiveSet;
use tumit_perspectives::analysis::critical_path::{CriticalPath, PathSegment};
use tumit_perspectives::analysis::wait_states::{WaitKind, wait_states};
use tumit_perspectives::chart::ViewChart;
use tumit_perspectives::execution::{Execution, ExecutionSettings};
use tumit_perspectives::gallery;
use tumit_perspectives::options::ParsedOptions;
use tumit_perspectives::view::{TimeMode, ViewRequest};
use tumit_viewer::query::{EntityId, GlobalNanos, TimelineSource as _};
use tumit_viewer::store::TraceStore;

const SECOND: i64 = 1_000_000_000;

/// The part of a unit: unit, begin, end.
type Part = (usize, i64, i64);

/// An operation: kind, root, communicator, and its parts.
#[derive(Clone, Debug)]
struct Operation {
    kind: CollectiveKind,
    root: usize,
    communicator: &'static str,
    parts: Vec<Part>,
}

/// An execution of some units, which compute from 0 to the end. Timestamps are seconds.
fn execution(units: usize, end: i64, operations: &[Operation]) -> Execution {
    let mut text = include_str!("../../tests/header.paje").to_owned();
    text.push_str("%EventDef PajePushState 40\n% Time date\n% Container string\n% Type string\n% Value string\n");
    text.push_str(
        "% operation int\n% is_root int\n% collective string\n% communicator string\n% bytes int\n%EndEventDef\n",
    );
    text.push_str("0 R 0 Rank\n2 S R Activity\n5 compute S compute \"0 1 0\"\n5 together S together \"1 0 0\"\n");
    let mut lines: Vec<(i64, u8, String)> = Vec::new();
    for unit in 0..units {
        lines.push((0, 0, format!("6 0 u{unit} 0 R rank{unit}\n12 0 u{unit} S compute")));
        lines.push((end, 3, format!("13 {end} u{unit} S\n7 {end} R u{unit}")));
    }
    for (number, Operation { kind, root, communicator, parts }) in operations.iter().enumerate() {
        for (unit, from, to) in parts {
            let is_root = u8::from(kind.has_root() && unit == root);
            let kind = kind.word();
            lines.push((
                *from,
                2,
                format!("40 {from} u{unit} S together {number} {is_root} {kind} {communicator} {}", 10 + unit),
            ));
            lines.push((*to, 1, format!("13 {to} u{unit} S")));
        }
    }
    lines.sort_by_key(|line| (line.0, line.1));
    lines.iter().for_each(|line| _ = writeln!(text, "{}", line.2));
    let store = TraceStore::from_paje("model", text.as_bytes()).expect("a valid model");
    let diagnostics = store.summary().diagnostics;
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    Execution::new(Arc::new(store), ExecutionSettings::default()).expect("a valid model")
}

fn set_of(execution: &Execution) -> CollectiveSet {
    CollectiveSet::new(execution).expect("a valid model")
}

/// Waiting unit, start, end and causing unit of all waits, in seconds.
fn waits(execution: &Execution) -> Vec<(u32, i64, i64, Option<u32>)> {
    let waits = wait_states(execution, &set_of(execution), execution.extent()).expect("a valid model");
    assert!(waits.iter().all(|wait| wait.kind == WaitKind::Collective));
    waits.iter().map(|wait| (wait.unit, wait.from / SECOND, wait.to / SECOND, wait.cause)).collect()
}

/// The units and times of the path's parts, in seconds.
fn path(execution: &Execution) -> Vec<(u32, i64, i64)> {
    let path = CriticalPath::new(execution, &set_of(execution), execution.extent()).expect("a valid model");
    let part = |segment: &PathSegment| match *segment {
        PathSegment::Unit { unit, from, to } => Some((unit, from / SECOND, to / SECOND)),
        _ => None,
    };
    path.segments.iter().filter_map(part).collect()
}

#[test]
fn members_of_a_broadcast_wait_for_the_root_only() {
    let parts = vec![(0, 1, 6), (1, 5, 7), (2, 9, 10)];
    let broadcast = Operation { kind: CollectiveKind::OneToAll, root: 1, communicator: "world", parts };
    let execution = execution(3, 20, &[broadcast]);
    assert_eq!(waits(&execution), [(0, 1, 5, Some(1))]);
}

#[test]
fn the_root_of_a_reduction_waits_for_the_last() {
    let parts = vec![(0, 1, 2), (1, 2, 10), (2, 9, 10)];
    let reduction = Operation { kind: CollectiveKind::AllToOne, root: 1, communicator: "world", parts };
    let execution = execution(3, 20, &[reduction]);
    assert_eq!(waits(&execution), [(1, 2, 9, Some(2))]);
}

#[test]
fn the_path_continues_at_the_root_of_a_broadcast() {
    // Unit 2 enters last, but no unit waits for it.
    let parts = vec![(0, 1, 9), (1, 8, 9), (2, 9, 10)];
    let broadcast = Operation { kind: CollectiveKind::OneToAll, root: 1, communicator: "world", parts };
    let execution = execution(3, 20, &[broadcast]);
    let busy_last = path(&execution);
    assert_eq!(busy_last.iter().map(|part| part.2 - part.1).sum::<i64>(), 20);
    // All units are busy until the end. The first one waited for the root.
    assert_eq!(busy_last, [(1, 0, 8), (0, 8, 20)]);
}

#[test]
fn barriers_of_two_communicators_overlap() {
    let pair = |units: [usize; 2], from: i64| Operation {
        kind: CollectiveKind::Barrier,
        root: 0,
        communicator: if units[0] == 0 { "low" } else { "high" },
        parts: vec![(units[0], from, from + 6), (units[1], from + 5, from + 6)],
    };
    let execution = execution(4, 20, &[pair([0, 1], 1), pair([2, 3], 3), pair([0, 1], 10)]);
    assert_eq!(waits(&execution), [(0, 1, 6, Some(1)), (2, 3, 8, Some(3)), (0, 10, 15, Some(1))]);
    let groups = collective_groups(&execution, &set_of(&execution), execution.extent());
    let counts: Vec<(&str, u64, u64, i128)> = groups
        .iter()
        .map(|group| (group.communicator.as_str(), group.operations, group.parts, group.wait_nanos / 1_000_000_000))
        .collect();
    assert_eq!(counts, [("low", 2, 4, 10), ("high", 1, 2, 5)]);
    let CollectiveGroup { is_guess, bytes, ref main_cause, .. } = groups[0];
    let main_cause = main_cause.clone().map(|cause| (cause.unit, cause.share));
    assert_eq!((is_guess, bytes, main_cause), (false, Some(42), Some(("rank1".to_owned(), 1.0))));
}

/// Rank 0 works after it has started two operations, and waits for both from 4 to 10. Rank 1 enters
/// the first one at 5 and the second one at 9, and works until both are complete. Rank 2 enters
/// before rank 0 waits.
#[test]
fn units_wait_for_nonblocking_operations_in_the_states_that_complete_them() {
    let mut text = include_str!("../../tests/header.paje").to_owned();
    text.push_str("%EventDef PajePushState 40\n% Time date\n% Container string\n% Type string\n% Value string\n");
    text.push_str("% operation int\n% collective string\n%EndEventDef\n");
    text.push_str("%EventDef PajeDefineEntityValue 41\n% Alias string\n% Type string\n% Name string\n");
    text.push_str("% Category string\n%EndEventDef\n");
    text.push_str("0 R 0 Rank\n0 O R Operations\n2 S R Activity\n2 N O Operation\n");
    text.push_str("5 compute S compute \"0 1 0\"\n5 wait S Wait \"1 0 0\"\n41 barrier N Ibarrier ignored\n");
    for unit in 0..3 {
        _ = writeln!(text, "6 0 u{unit} 0 R rank{unit}\n12 0 u{unit} S compute");
        _ = writeln!(text, "6 0 a{unit} u{unit} O first{unit}\n6 0 b{unit} u{unit} O second{unit}");
    }
    for unit in [0, 2] {
        _ = writeln!(text, "40 1 a{unit} N barrier 0 barrier\n40 2 b{unit} N barrier 1 barrier");
    }
    text.push_str("12 4 u0 S wait\n40 5 a1 N barrier 0 barrier\n40 9 b1 N barrier 1 barrier\n");
    for unit in 0..3 {
        _ = writeln!(text, "13 10 a{unit} N\n13 10 b{unit} N");
    }
    text.push_str("13 10 u0 S\n");
    for unit in 0..3 {
        _ = writeln!(text, "13 12 u{unit} S\n7 12 O a{unit}\n7 12 O b{unit}\n7 12 R u{unit}");
    }
    let store = TraceStore::from_paje("model", text.as_bytes()).expect("a valid model");
    assert!(store.summary().diagnostics.is_empty(), "{:?}", store.summary().diagnostics);
    let execution = Execution::new(Arc::new(store), ExecutionSettings::default()).expect("a valid model");
    // The state waits for the second operation, too. It is one wait.
    assert_eq!(waits(&execution), [(0, 4, 9, Some(1))]);
    let groups = collective_groups(&execution, &set_of(&execution), execution.extent());
    assert_eq!((groups.len(), groups[0].operations, groups[0].parts), (1, 2, 6));
    assert_eq!(groups[0].wait_nanos, i128::from(1 + 5) * i128::from(SECOND));
    assert_eq!(path(&execution), [(1, 0, 9), (0, 9, 12)]);
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let choice = (0usize..4, 0usize..4, 1u32..16, prop::collection::vec((0i64..9, 1i64..9), 4));
    prop::collection::vec(choice, 1..12).prop_map(|choices| {
        let mut clock = [1i64; 4];
        let mut operations = Vec::new();
        for (kind, root, members, times) in choices {
            let mut parts = Vec::new();
            for unit in (0..4).filter(|unit| members >> unit & 1 == 1) {
                let (work, length) = times[unit];
                let from = clock[unit] + work;
                clock[unit] = from + length;
                parts.push((unit, from, from + length));
            }
            let communicator = ["a", "b", "c"][members as usize % 3];
            operations.push(Operation { kind: CollectiveKind::ALL[kind], root, communicator, parts });
        }
        operations
    })
}

/// The waits of an operation by its definition: unit, start, end.
fn expected_waits(Operation { kind, root, parts, .. }: &Operation) -> Vec<(u32, i64, i64)> {
    let last = parts.iter().map(|part| part.1).max().unwrap_or(0);
    let of_root = parts.iter().find(|part| part.0 == *root).map(|part| part.1);
    let wait = |(unit, from, to): &Part| {
        let until = match kind {
            CollectiveKind::Barrier | CollectiveKind::AllToAll => last,
            CollectiveKind::OneToAll => of_root?,
            CollectiveKind::AllToOne => Some(last).filter(|_| unit == root)?,
        };
        (until > *from).then(|| (u32::try_from(*unit).unwrap_or(u32::MAX), *from, until.min(*to)))
    };
    parts.iter().filter_map(wait).collect()
}

#[test]
fn each_part_leads_to_all_parts_of_its_operation() {
    // The members of the broadcast do not overlap.
    let broadcast = Operation {
        kind: CollectiveKind::OneToAll,
        root: 0,
        communicator: "world",
        parts: vec![(0, 1, 2), (1, 3, 4), (2, 5, 6)],
    };
    let barrier = Operation {
        kind: CollectiveKind::Barrier,
        root: 0,
        communicator: "world",
        parts: vec![(0, 10, 15), (1, 12, 15), (2, 14, 15)],
    };
    let execution = execution(3, 20, &[broadcast, barrier]);
    let set = set_of(&execution);
    for operation in &set.list {
        let states: Vec<EntityId> = operation.parts.iter().map(|part| part.state).collect();
        for state in &states {
            let parts = execution.source().operation_parts(*state).expect("a valid model");
            let found: Vec<EntityId> = parts.iter().map(|part| part.id).collect();
            assert_eq!(found, states);
        }
    }
}

#[test]
fn the_matrix_shows_the_data_of_operations() {
    let parts = |from: i64| vec![(0, from, from + 3), (1, from + 1, from + 3), (2, from + 2, from + 3)];
    let operation = |kind, from| Operation { kind, root: 1, communicator: "world", parts: parts(from) };
    let kinds = [CollectiveKind::Barrier, CollectiveKind::OneToAll, CollectiveKind::AllToOne, CollectiveKind::AllToAll];
    let operations: Vec<Operation> =
        kinds.iter().zip([1, 5, 9, 13]).map(|(kind, from)| operation(*kind, from)).collect();
    let execution = execution(3, 20, &operations);
    let view = gallery::view("communication-matrix").expect("a view");
    let chart = |options: &[(&str, &str)], time: i64| {
        let options: Vec<(String, String)> =
            options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let parsed =
            ParsedOptions::parse("communication-matrix", view.info().options, &options).expect("valid options");
        let mode = if time < 0 { TimeMode::Range } else { TimeMode::At };
        let request = ViewRequest {
            mode,
            time: GlobalNanos(time.max(0)),
            range: execution.extent(),
            options: parsed.view,
            columns: 100,
            needs_table: true,
        };
        view.chart(&execution, &request)
    };
    assert!(chart(&[], -1).is_err(), "there are no links");
    // The units have 10, 11 and 12 bytes.
    let rows = |chart: ViewChart| -> Vec<Vec<String>> {
        chart.table.rows.iter().map(|row| row.iter().map(|value| format!("{value:?}")).collect()).collect()
    };
    let table = rows(chart(&[("collectives", "only")], -1).expect("a chart"));
    let cell = |from: &str, to: &str, count: u32, bytes: u32| {
        vec![
            format!("Text({from:?})"),
            format!("Text({to:?})"),
            format!("Number({count}.0)"),
            format!("Number({bytes}.0)"),
        ]
    };
    let expected = [
        cell("rank0", "rank1", 2, 10 + 5),
        cell("rank0", "rank2", 1, 5),
        cell("rank1", "rank0", 2, 10 + 5),
        cell("rank1", "rank2", 2, 12 + 5),
        cell("rank2", "rank0", 1, 6),
        cell("rank2", "rank1", 2, 12 + 6),
    ];
    assert_eq!(table, expected);
    // In the broadcast, the root sends.
    let table = rows(chart(&[("collectives", "add"), ("measure", "messages")], 6 * SECOND).expect("a chart"));
    assert_eq!(table, [cell("rank1", "rank0", 1, 10), cell("rank1", "rank2", 1, 12)]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn waits_are_those_of_their_definition(operations in operations()) {
        let execution = execution(4, 300, &operations);
        let set = set_of(&execution);
        prop_assert_eq!(set.list.len(), operations.len());
        prop_assert!(set.guessed.is_empty() && set.unmatched_values.is_empty());
        let mut expected: Vec<_> = operations.iter().flat_map(expected_waits).collect();
        expected.sort_by_key(|wait| (wait.1, wait.0));
        let found: Vec<_> = waits(&execution).into_iter().map(|(unit, from, to, _)| (unit, from, to)).collect();
        prop_assert_eq!(found, expected);
        let groups = collective_groups(&execution, &set, execution.extent());
        let sum: i128 = groups.iter().map(|group| group.wait_nanos).sum();
        let of_definition: i64 = operations.iter().flat_map(expected_waits).map(|wait| wait.2 - wait.1).sum();
        prop_assert_eq!(sum, i128::from(of_definition) * i128::from(SECOND));
        prop_assert_eq!(groups.iter().map(|group| group.operations).sum::<u64>(), operations.len() as u64);
    }

    #[test]
    fn transfers_follow_the_kind(operations in operations()) {
        let set = set_of(&execution(4, 300, &operations));
        for operation in &set.list {
            let count = operation.parts.len();
            let expected = match operation.kind {
                CollectiveKind::Barrier => 0,
                CollectiveKind::AllToAll => count * (count - 1),
                _ if operation.root().is_some() => count - 1,
                _ => 0,
            };
            prop_assert_eq!(operation.transfers().count(), expected);
            for (from, to) in operation.transfers() {
                match operation.kind {
                    CollectiveKind::OneToAll => prop_assert!(from.is_root && !to.is_root),
                    CollectiveKind::AllToOne => prop_assert!(to.is_root && !from.is_root),
                    _ => prop_assert!(from.unit != to.unit),
                }
            }
        }
    }
}
