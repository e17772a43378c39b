//! Lanes that read the states when they are needed give the answers of stored states.

use std::collections::BTreeSet;
use std::sync::Arc;

use tumit_test_support::table_trace::example_program;
use tumit_viewer::filter::NamePattern;
use tumit_viewer::query::{
    ContainerId, EntityId, GlobalNanos, PajeTypeKind, StateEntity, StateLaneId, TimeRange, TimelineSource, TypeId,
    ValueId,
};

use super::trace_builder::TraceBuilder;
use super::{DerivedParts, DerivedTrace, add_containers, bundles, trace_of_lanes, trace_of_units, whole_life};
use crate::analysis::diagnosis::path_with_times;
use crate::execution::{Execution, ExecutionSettings};

fn execution() -> Execution {
    let settings = ExecutionSettings { tasks: Some(NamePattern::new("Activity")), ..ExecutionSettings::default() };
    Execution::new(Arc::new(example_program(3, 4, 5)), settings).expect("the trace has units")
}

/// A trace with a lane per unit.
fn unit_lanes(execution: &Execution, parts: DerivedParts<'_>) -> DerivedTrace {
    let mut builder = TraceBuilder::default();
    let containers = add_containers(execution, whole_life(execution, &parts), &mut builder);
    let lanes = (containers.units.clone(), (0..).take(containers.units.len()).map(|unit| [unit]).collect());
    trace_of_lanes(execution, &parts, (containers, lanes), builder).expect("the trace has the data")
}

/// The contents of each mode, as the page and the cards request them.
fn with_all_parts(execution: &Execution, check: impl Fn(DerivedParts<'_>)) {
    let (path, _) = path_with_times(execution, execution.extent()).expect("the trace has a path");
    let none = DerivedParts::default();
    check(DerivedParts { categories: true, ..none });
    check(DerivedParts { categories: true, hides_idle: true, messages: true, ..none });
    check(DerivedParts { tasks: true, ..none });
    check(DerivedParts { hides_idle: true, messages: true, path: Some(&path), ..none });
    check(DerivedParts { messages: true, path: Some(&path), only_path: true, ..none });
}

fn state_type(source: &dyn TimelineSource) -> TypeId {
    source.model().types.iter().find(|ty| ty.kind == PajeTypeKind::State).expect("it has states").id
}

/// Time ranges of the trace: all, parts, single nanoseconds, and one after its end.
fn ranges(extent: TimeRange) -> Vec<TimeRange> {
    let nanos = extent.to.0 - extent.from.0;
    let range = |from: i64, to: i64| TimeRange { from: GlobalNanos(from), to: GlobalNanos(to) };
    let mut ranges = vec![extent, range(extent.to.0, extent.to.0 + 10)];
    for part in 0..7 {
        let from = extent.from.0 + nanos * part / 7;
        ranges.extend([range(from, from + nanos / 5), range(from, from + 1)]);
    }
    ranges
}

/// The states without their numbers. A stored state without duration is at the end of a part of the
/// path; lanes have none.
fn contents(states: &[StateEntity]) -> Vec<(i64, i64, ValueId)> {
    let states = states.iter().filter(|state| state.life.from < state.life.to);
    states.map(|state| (state.life.from.0, state.life.to.0, state.value)).collect()
}

#[test]
fn lanes_give_the_answers_of_stored_states() {
    let execution = execution();
    with_all_parts(&execution, |parts| {
        let stored = trace_of_units(&execution, parts).expect("the trace has the data");
        let lanes = unit_lanes(&execution, parts);
        assert_eq!(stored.units, lanes.units);
        let (stored, lanes) = (stored.source, lanes.source);
        assert_eq!((stored.containers(), stored.model()), (lanes.containers(), lanes.model()));
        assert!(parts.path.is_some() || stored.summary().states == lanes.summary().states);
        let ty = state_type(lanes.as_ref());
        for info in stored.containers().iter() {
            let lane = StateLaneId { container: info.id, ty, depth: 0 };
            assert_eq!(stored.depths(info.id, ty), lanes.depths(info.id, ty), "{info:?}");
            for range in ranges(execution.extent()) {
                let listed = |source: &dyn TimelineSource, limit| source.states(lane, range, limit).expect("no error");
                let of_lanes = listed(lanes.as_ref(), usize::MAX);
                let expected = contents(&listed(stored.as_ref(), usize::MAX).items);
                assert_eq!(contents(&of_lanes.items), expected, "{range:?}");
                let first = listed(lanes.as_ref(), 2);
                assert_eq!((first.total, &first.items[..]), (of_lanes.total, &of_lanes.items[..expected.len().min(2)]));
                let cells = |source: &dyn TimelineSource| source.cells(&[lane], range, 9).expect("no error");
                assert_eq!(cells(stored.as_ref()), cells(lanes.as_ref()), "{range:?}");
                let times = |source: &dyn TimelineSource| source.times(&[lane], range).expect("no error");
                assert_eq!(times(stored.as_ref()), times(lanes.as_ref()), "{range:?}");
            }
        }
    });
}

#[test]
fn states_of_lanes_have_the_facts_of_stored_states() {
    let execution = execution();
    with_all_parts(&execution, |parts| {
        let stored = trace_of_units(&execution, parts).expect("the trace has the data").source;
        let lanes = unit_lanes(&execution, parts).source;
        let ty = state_type(lanes.as_ref());
        let ids = |source: &dyn TimelineSource| -> Vec<EntityId> {
            let containers = source.containers();
            let lanes = containers.iter().map(|info| StateLaneId { container: info.id, ty, depth: 0 });
            let listed = lanes.map(|lane| source.states(lane, execution.extent(), usize::MAX).expect("no error").items);
            listed.flatten().filter(|state| state.life.from < state.life.to).map(|state| state.id).collect()
        };
        let (of_lanes, of_stored) = (ids(lanes.as_ref()), ids(stored.as_ref()));
        assert_eq!(of_lanes.iter().collect::<BTreeSet<_>>().len(), of_lanes.len(), "numbers are unique");
        assert_eq!(of_lanes.len(), of_stored.len());
        let is_link = |id: &EntityId| matches!(id, EntityId::Link(_));
        for (lane, stored_state) in of_lanes.iter().zip(&of_stored) {
            let mut facts = lanes.facts(*lane).expect("the state exists");
            facts.id = *stored_state;
            assert_eq!(facts, stored.facts(*stored_state).expect("the state exists"));
            let related = |source: &dyn TimelineSource, id| {
                let mut ids = source.related_entities(id, usize::MAX).expect("no error");
                ids.retain(is_link);
                ids.sort_unstable();
                ids
            };
            assert_eq!(related(lanes.as_ref(), *lane), related(stored.as_ref(), *stored_state));
        }
        let free = lanes.free_numbers().state;
        assert!(of_lanes.iter().all(|id| matches!(id, EntityId::State(number) if *number < free)));
        assert!(lanes.facts(EntityId::State(free)).is_err());
    });
}

#[test]
fn a_bundle_has_the_times_of_all_its_units() {
    let execution = execution();
    let order: Vec<usize> = (0..execution.units().count()).rev().collect();
    with_all_parts(&execution, |parts| {
        let single = unit_lanes(&execution, parts);
        for max_rows in [1, 2, 5] {
            let bundled = bundles(&execution, &parts, &order, max_rows).expect("the trace has the data");
            let rows = bundled.source.containers();
            assert!(rows.len() <= max_rows + 1 && bundled.units.len() == order.len(), "{rows:?}");
            assert_eq!(bundled.units_per_row, order.len().div_ceil(max_rows));
            let (bundle_type, unit_type) = (state_type(bundled.source.as_ref()), state_type(single.source.as_ref()));
            assert_eq!(bundled.source.summary().states, single.source.summary().states);
            for row in rows.iter().filter(|row| row.id != ContainerId::ROOT) {
                let units: Vec<usize> = order.iter().copied().filter(|unit| bundled.units[*unit] == row.id).collect();
                let members = bundled.source.members(row.id);
                assert_eq!(members.len(), if bundled.units_per_row > 1 { units.len() } else { 0 });
                let lane = StateLaneId { container: row.id, ty: bundle_type, depth: 0 };
                for range in ranges(execution.extent()) {
                    let cells = bundled.source.cells(&[lane], range, 7).expect("no error").cells;
                    let mut expected = vec![std::collections::BTreeMap::<ValueId, i64>::new(); 7];
                    for unit in &units {
                        let lane = StateLaneId { container: single.units[*unit], ty: unit_type, depth: 0 };
                        let of_unit = single.source.cells(&[lane], range, 7).expect("no error").cells;
                        for (sums, cell) in expected.iter_mut().zip(of_unit) {
                            cell.shares.iter().for_each(|(value, time)| *sums.entry(*value).or_default() += time);
                        }
                    }
                    for (cell, expected) in cells.iter().zip(expected) {
                        assert_eq!(cell.shares.iter().copied().collect::<std::collections::BTreeMap<_, _>>(), expected);
                    }
                }
            }
        }
    });
}
