//! The states of lanes are those of a walk over all changes of the timelines.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tumit_paje::category::ActivityCategory;
use tumit_test_support::table_trace::example_program;
use tumit_viewer::filter::NamePattern;
use tumit_viewer::query::{
    ContainerId, EntityId, GlobalNanos, LinkEntity, MixtureCell, PajeTypeKind, QueryError, StateEntity, StateLaneId,
    TimeRange, TimelineSource, TypeId, ValueId,
};
use tumit_viewer::store::TraceStore;

use super::{DerivedParts, bundles, derived_trace, trace_of_units};
use crate::analysis::critical_path::PathSegment;
use crate::analysis::diagnosis::path_with_times;
use crate::execution::activity::UnitMode;
use crate::execution::categories::CategoryRule;
use crate::execution::{Execution, ExecutionSettings};
use crate::views::test_traces::TestTrace;

fn execution() -> Execution {
    let settings = ExecutionSettings { tasks: Some(NamePattern::new("Activity")), ..ExecutionSettings::default() };
    Execution::new(Arc::new(example_program(3, 4, 5)), settings).expect("the trace has units")
}

/// The nodes of the program. Each has several timelines.
fn fractional_execution() -> Execution {
    let mut settings = ExecutionSettings { tasks: Some(NamePattern::new("Activity")), ..ExecutionSettings::default() };
    settings.units.level = Some("Node".to_owned());
    settings.activity.mode = UnitMode::Fractional;
    Execution::new(Arc::new(example_program(3, 4, 5)), settings).expect("the trace has units")
}

/// A unit with many states. Its cells come from the sums of its timeline.
fn long_execution() -> Execution {
    let cycle = |cycle: i64| {
        [("work", 0), ("send", 7), ("wait", 14)].map(|(name, begin)| {
            let from = 21 * cycle + begin;
            (0, from, from + 2 + cycle % 5, name)
        })
    };
    let states = (0..100).flat_map(cycle).collect();
    let trace = TestTrace { units: 2, end: 2150, states, ..TestTrace::default() };
    let tasks = Some(NamePattern::new("Activity"));
    trace.execution_with(ExecutionSettings { tasks, ..ExecutionSettings::default() })
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

fn range(from: i64, to: i64) -> TimeRange {
    TimeRange { from: GlobalNanos(from), to: GlobalNanos(to) }
}

/// Time ranges of the trace: all, parts, single nanoseconds, before its start and after its end.
fn ranges(extent: TimeRange) -> Vec<TimeRange> {
    let nanos = extent.to.0 - extent.from.0;
    let mut ranges = vec![extent, range(extent.to.0, extent.to.0 + 10), range(extent.from.0 - 9, extent.from.0)];
    ranges.push(range(extent.from.0 - nanos / 3, extent.to.0 + nanos / 3));
    for part in 0..7 {
        let from = extent.from.0 + nanos * part / 7;
        ranges.extend([range(from, from + nanos / 5), range(from, from + 1)]);
    }
    ranges
}

/// A state: start, end and name.
type NamedState = (i64, i64, String);

/// The states of a unit: its category, task or path between all timestamps.
fn expected_states(execution: &Execution, parts: &DerivedParts<'_>, unit: usize) -> Vec<NamedState> {
    let extent = execution.extent();
    let path = parts.path.iter().flat_map(|path| &path.segments).filter_map(|segment| match *segment {
        PathSegment::Unit { unit: of, from, to } if of as usize == unit => Some((from, to)),
        _ => None,
    });
    let path: Vec<(i64, i64)> = path.collect();
    let mut times = BTreeSet::from([extent.from.0, extent.to.0]);
    times.extend(path.iter().flat_map(|(from, to)| [*from, *to]));
    times.extend(execution.activity().expect("it has states").timeline(unit).timestamps());
    if parts.tasks {
        times.extend(execution.tasks().expect("it has tasks").timestamps(unit));
    }
    let name = |time: i64| {
        if path.iter().any(|(from, to)| (*from..*to).contains(&time)) {
            return Some("critical path");
        }
        if parts.tasks {
            let tasks = execution.tasks().expect("it has tasks");
            return tasks.at(unit, time).map(|task| tasks.list()[task as usize].name.as_str());
        }
        let category = execution.activity().expect("it has states").at(unit, time);
        let is_hidden = parts.only_path || parts.hides_idle && category == ActivityCategory::Idle;
        (!is_hidden).then(|| category.word())
    };
    let mut states: Vec<NamedState> = Vec::new();
    let times: Vec<i64> = times.range(extent.from.0..=extent.to.0).copied().collect();
    for pair in times.windows(2) {
        let Some(name) = name(pair[0]) else { continue };
        match states.last_mut().filter(|last| last.1 == pair[0] && last.2 == name) {
            Some(last) => last.1 = pair[1],
            None => states.push((pair[0], pair[1], name.to_owned())),
        }
    }
    states
}

fn named(source: &dyn TimelineSource, states: &[StateEntity]) -> Vec<NamedState> {
    let model = source.model();
    let name = |value: ValueId| model.values[value.index()].name.clone();
    states.iter().map(|state| (state.life.from.0, state.life.to.0, name(state.value))).collect()
}

/// The time of each name in a cell.
fn named_times(source: &dyn TimelineSource, cell: &MixtureCell) -> BTreeMap<String, i64> {
    let model = source.model();
    assert_eq!(cell.unlisted_time, 0);
    cell.shares.iter().map(|(value, time)| (model.values[value.index()].name.clone(), *time)).collect()
}

fn times_in(states: &[NamedState], column: TimeRange) -> BTreeMap<String, i64> {
    let mut times = BTreeMap::new();
    for (from, to, name) in states {
        let time = (*to).min(column.to.0) - (*from).max(column.from.0);
        if time > 0 {
            *times.entry(name.clone()).or_default() += time;
        }
    }
    times
}

/// Compares all answers about a lane with the states of a unit. Returns the ids of the states.
fn check_lane(source: &dyn TimelineSource, lane: StateLaneId, expected: &[NamedState]) -> Vec<EntityId> {
    assert_eq!(source.depths(lane.container, lane.ty), u32::from(!expected.is_empty()));
    for range in ranges(source.extent()) {
        let list = source.states(lane, range, usize::MAX).expect("a valid query");
        let overlapping = expected.iter().filter(|state| state.0 < range.to.0 && state.1 > range.from.0);
        assert_eq!(named(source, &list.items), overlapping.cloned().collect::<Vec<_>>(), "{range:?}");
        let first = source.states(lane, range, 2).expect("a valid query");
        assert_eq!((first.total, &first.items[..]), (list.total, &list.items[..list.items.len().min(2)]));
        for limit in 0..3 {
            let is_dense = source.is_dense(lane, range, limit).expect("a valid query");
            assert_eq!(is_dense, list.total > limit as u64);
        }
        for columns in [1, 9] {
            let cells = source.cells(&[lane], range, columns).expect("a valid query").cells;
            for (index, cell) in (0..columns).zip(&cells) {
                assert_eq!(named_times(source, cell), times_in(expected, range.column(index, columns)), "{range:?}");
            }
        }
    }
    let empty = range(5, 5);
    assert_eq!(source.states(lane, empty, 1).err(), Some(QueryError::EmptyTimeRange));
    assert_eq!(source.cells(&[lane], empty, 1).err(), Some(QueryError::EmptyTimeRange));
    let all = source.states(lane, source.extent(), usize::MAX).expect("a valid query").items;
    all.iter().map(|state| state.id).collect()
}

fn all_links(source: &dyn TimelineSource) -> Vec<LinkEntity> {
    let model = source.model();
    let types = model.types.iter().filter(|ty| matches!(ty.kind, PajeTypeKind::Link { .. }));
    types.flat_map(|ty| source.links(ty.id, source.extent(), usize::MAX).expect("a valid query").items).collect()
}

#[test]
fn lanes_have_the_states_of_their_units() {
    for execution in [execution(), fractional_execution(), long_execution()] {
        with_all_parts(&execution, |parts| {
            let derived = trace_of_units(&execution, parts).expect("the trace has the data");
            let (source, ty) = (derived.source.as_ref(), state_type(derived.source.as_ref()));
            let (mut ids, links) = (Vec::new(), all_links(source));
            for (unit, &container) in derived.units.iter().enumerate() {
                let expected = expected_states(&execution, &parts, unit);
                let lane = StateLaneId { container, ty, depth: 0 };
                let of_lane = check_lane(source, lane, &expected);
                for (id, (from, to, name)) in of_lane.iter().zip(&expected) {
                    let facts = source.facts(*id).expect("the state exists");
                    let owner = source.facts(EntityId::Container(container)).expect("the container exists");
                    assert_eq!((facts.id, facts.life, &facts.name), (*id, range(*from, *to), name));
                    assert_eq!((facts.container, facts.container_path), (container, owner.container_path));
                    let type_name = source.model().types[ty.index()].name.clone();
                    assert_eq!(facts.type_path, [owner.type_path, vec![type_name]].concat());
                    let is_within =
                        |(end, time): (ContainerId, GlobalNanos)| end == container && (*from..=*to).contains(&time.0);
                    let touches = |link: &&LinkEntity| {
                        is_within((link.start, link.start_time)) || is_within((link.end, link.end_time))
                    };
                    let related: BTreeSet<EntityId> =
                        source.related_entities(*id, usize::MAX).expect("a valid query").into_iter().collect();
                    assert_eq!(related, links.iter().filter(touches).map(|link| link.id).collect());
                    for link in related {
                        assert!(source.related_entities(link, usize::MAX).expect("a valid query").contains(id));
                    }
                }
                ids.extend(of_lane);
            }
            assert_eq!(source.summary().states, ids.len() as u64);
            assert!(ids.is_sorted_by(|one, next| one < next), "ids are unique");
            let free = source.free_numbers().state;
            assert!(ids.iter().all(|id| matches!(id, EntityId::State(number) if *number < free)));
            assert!(source.facts(EntityId::State(free)).is_err());
        });
    }
}

#[test]
fn fractions_have_the_timelines_of_their_units() {
    let execution = fractional_execution();
    let parts = DerivedParts { categories: true, fractions: true, ..DerivedParts::default() };
    let derived = trace_of_units(&execution, parts).expect("the trace has the data");
    let (source, activity) = (derived.source.as_ref(), execution.activity().expect("it has states"));
    assert!(derived.has_fractions);
    let (ty, extent, containers) = (state_type(source), execution.extent(), source.containers());
    let mut ids = BTreeSet::new();
    for (unit, container) in derived.units.iter().enumerate() {
        let mut below: Vec<_> = containers.iter().filter(|info| info.parent == *container).collect();
        below.sort_by_key(|info| info.id);
        assert_eq!((below.len(), source.depths(*container, ty)), (activity.timelines(unit).len(), 0));
        for (timeline, info) in activity.timelines(unit).iter().zip(below) {
            let lane = StateLaneId { container: info.id, ty, depth: 0 };
            let states = source.states(lane, extent, usize::MAX).expect("a valid query").items;
            let pieces = timeline.pieces(extent).map(|piece| (piece.from, piece.to, piece.category.word().to_owned()));
            assert_eq!(named(source, &states), pieces.collect::<Vec<_>>());
            for state in states {
                assert_eq!(source.facts(state.id).expect("the state exists").container, info.id);
                assert!(ids.insert(state.id), "ids are unique");
            }
        }
    }
    assert_eq!(source.summary().states, ids.len() as u64);
}

/// Other categories share the containers and messages.
#[test]
fn a_change_of_a_category_makes_no_new_messages() {
    let trace = include_str!("../../../tests/two_threads.paje");
    let store = TraceStore::from_paje("example", trace.as_bytes()).expect("a valid trace");
    let source: Arc<dyn TimelineSource> = Arc::new(store);
    let execution = Execution::new(Arc::clone(&source), ExecutionSettings::default()).expect("a valid trace");
    let rule = CategoryRule::new(ActivityCategory::Idle, NamePattern::new("*"), None);
    let idle = execution.with_categories(source, vec![rule]).expect("the same units");
    let parts = DerivedParts { messages: true, ..DerivedParts::default() };
    let [one, other] = [&execution, &idle].map(|execution| derived_trace(execution, parts).expect("a valid trace"));
    assert!(Arc::ptr_eq(&one, &other) && one.summary().links > 0);
    let parts = DerivedParts { categories: true, ..parts };
    let [one, other] = [&execution, &idle].map(|execution| {
        let source = derived_trace(execution, parts).expect("a valid trace");
        (source.summary().links, source.summary().states)
    });
    assert!(one.0 == other.0 && other.1 == 2 && one.1 > 2, "{one:?}, {other:?}");
}

#[test]
fn a_bundle_has_the_times_of_all_its_units() {
    for execution in [execution(), long_execution()] {
        let order: Vec<usize> = (0..execution.units().count()).rev().collect();
        with_all_parts(&execution, |parts| {
            let single = trace_of_units(&execution, parts).expect("the trace has the data");
            for max_rows in [1, 2, 5] {
                let bundled = bundles(&execution, &parts, &order, max_rows).expect("the trace has the data");
                let rows = bundled.source.containers();
                assert!(rows.len() <= max_rows + 1 && bundled.units.len() == order.len(), "{rows:?}");
                assert_eq!(bundled.units_per_row, order.len().div_ceil(max_rows));
                let ty = state_type(bundled.source.as_ref());
                assert_eq!(bundled.source.summary().states, single.source.summary().states);
                for row in rows.iter().filter(|row| row.id != ContainerId::ROOT) {
                    let is_of_row = |unit: &usize| bundled.units[*unit] == row.id;
                    let units: Vec<usize> = order.iter().copied().filter(is_of_row).collect();
                    let members = bundled.source.members(row.id);
                    assert_eq!(members.len(), if bundled.units_per_row > 1 { units.len() } else { 0 });
                    let states: Vec<NamedState> =
                        units.iter().flat_map(|unit| expected_states(&execution, &parts, *unit)).collect();
                    let lane = StateLaneId { container: row.id, ty, depth: 0 };
                    for range in ranges(execution.extent()) {
                        let cells = bundled.source.cells(&[lane], range, 7).expect("no error").cells;
                        for (index, cell) in (0..7).zip(&cells) {
                            let times = named_times(bundled.source.as_ref(), cell);
                            assert_eq!(times, times_in(&states, range.column(index, 7)));
                        }
                    }
                }
            }
        });
    }
}
