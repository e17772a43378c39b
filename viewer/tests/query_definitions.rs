//! Compares the answers of the store in memory and of the index with their definitions, computed by
//! searching small lists.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use tumit_paje::time_range::AlignedTimeRange;
use tumit_paje::{ContainerId, DrawStyle, KeyId, PajeEvent, PajeTypeKind, TypeId, ValueId, VariableOp};
use tumit_viewer::filter::FilterExpr;
use tumit_viewer::index::{IndexKey, IndexReader};
use tumit_viewer::query::{EntityId, GlobalNanos, StateLaneId, TimeRange, TimelineSource, ValueRange};
use tumit_viewer::store::TraceStore;

const THREAD: TypeId = TypeId(1);
const ACTIVITY: TypeId = TypeId(2);
const LOAD: TypeId = TypeId(3);
const MESSAGE: TypeId = TypeId(4);
const MARK: TypeId = TypeId(5);
const HERE: ContainerId = ContainerId(1);
const LANE: StateLaneId = StateLaneId { container: HERE, ty: ACTIVITY, depth: 0 };

fn at(time: i64) -> GlobalNanos {
    GlobalNanos(time)
}

fn time_range_of(from: i64, length: i64) -> TimeRange {
    TimeRange { from: at(from), to: at(from + length) }
}

/// One trace in two forms.
struct Sources {
    store: TraceStore,
    index: IndexReader,
}

impl Sources {
    fn all(&self) -> [&dyn TimelineSource; 2] {
        [&self.store, &self.index]
    }
}

/// One thread, `values` values of its state type (and one each for links and events), and these
/// events.
fn sources(values: u32, events: Vec<PajeEvent<'_>>) -> Sources {
    let types = [
        (THREAD, PajeTypeKind::Container, TypeId::ROOT),
        (ACTIVITY, PajeTypeKind::State, THREAD),
        (LOAD, PajeTypeKind::Variable, THREAD),
        (MESSAGE, PajeTypeKind::Link { start: THREAD, end: THREAD }, THREAD),
        (MARK, PajeTypeKind::Event, THREAD),
    ];
    let names: Vec<String> = (0..values + 2).map(|value| format!("v{value}")).collect();
    let mut all: Vec<PajeEvent<'_>> = types
        .map(|(ty, kind, parent)| PajeEvent::DefineType {
            ty,
            kind,
            parent,
            name: "type",
            color: None,
            style: DrawStyle::NONE,
        })
        .into_iter()
        .collect();
    let state_values = (0..values).map(|value| (value, ACTIVITY));
    all.extend(state_values.chain([(values, MESSAGE), (values + 1, MARK)]).map(|(value, ty)| PajeEvent::DefineValue {
        value: ValueId(value),
        ty,
        name: &names[value as usize],
        color: None,
        style: DrawStyle::NONE,
        category: None,
    }));
    all.push(PajeEvent::CreateContainer {
        time: at(0),
        container: HERE,
        ty: THREAD,
        parent: ContainerId::ROOT,
        name: "thread",
        extra: &[],
    });
    all.extend(events);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (path, key) = (folder.path().join("oracle.tmtx"), IndexKey::default());
    IndexReader::write_events(&path, key, "oracle", all.iter().copied()).expect("room for it");
    // The mapping stays valid after the file is removed.
    let index = IndexReader::map_file(&path, key).expect("it was just written");
    Sources { store: TraceStore::from_events("oracle", all), index }
}

/// Gap before, duration and value of each state.
type Plan = Vec<(i64, i64, u32)>;

fn states(plan: &Plan) -> Vec<(i64, i64, u32)> {
    let mut time = 0;
    let place = |&(gap, duration, value): &(i64, i64, u32)| {
        let start = time + gap;
        time = start + duration;
        (start, time, value)
    };
    plan.iter().map(place).collect()
}

fn state_sources(states: &[(i64, i64, u32)], values: u32) -> Sources {
    let (container, ty) = (HERE, ACTIVITY);
    let events = states.iter().flat_map(|&(start, end, value)| {
        let value = ValueId(value);
        let push = PajeEvent::PushState { time: at(start), container, ty, value, extra: &[], source: None };
        [push, PajeEvent::PopState { time: at(end), container, ty }]
    });
    sources(values, events.collect())
}

fn plan(values: u32) -> impl Strategy<Value = Plan> {
    // Mostly without gaps, so that both representations of ends are tested; sometimes without
    // duration.
    let gap = prop_oneof![8 => Just(0_i64), 1 => 0_i64..50];
    prop::collection::vec((gap, prop_oneof![1 => Just(0_i64), 9 => 0_i64..100], 0..values), 0..900)
}

/// Overlap as [`TimelineSource`] defines it. An entity without duration is found at its own
/// timestamp.
fn overlaps(start: i64, end: i64, time_range: TimeRange) -> bool {
    start < time_range.to.0 && (end > time_range.from.0 || (start == end && start == time_range.from.0))
}

fn check_cells(plan: &Plan, values: u32, time_range: TimeRange, columns: u32) -> Result<(), TestCaseError> {
    let states = states(plan);
    for source in state_sources(&states, values).all() {
        check_states(source, &states, time_range, columns)?;
    }
    Ok(())
}

fn check_states(
    store: &dyn TimelineSource,
    states: &[(i64, i64, u32)],
    time_range: TimeRange,
    columns: u32,
) -> Result<(), TestCaseError> {
    let cells = store.cells(&[LANE], time_range, columns).expect("the lane is there").cells;
    prop_assert_eq!(cells.len(), columns as usize);
    let width = i128::from(time_range.to.0 - time_range.from.0);
    for (column, cell) in cells.iter().enumerate() {
        let edge = |column: usize| time_range.from.0 + (width * column as i128 / i128::from(columns)) as i64;
        let (from, to) = (edge(column), edge(column + 1).max(edge(column) + 1));
        let mut expected: BTreeMap<ValueId, i64> = BTreeMap::new();
        for &(start, end, value) in states {
            let time = end.min(to) - start.max(from);
            if time > 0 {
                *expected.entry(ValueId(value)).or_default() += time;
            }
        }
        let found: BTreeMap<ValueId, i64> = cell.shares.iter().copied().collect();
        prop_assert_eq!(found, expected, "column {}", column);
        prop_assert!(cell.shares.is_sorted_by(|a, b| a.1 >= b.1));
    }
    for most in [0, 1, 5] {
        let largest = store.largest_shares(&[LANE], time_range, columns, most).expect("the lane is there").cells;
        for (cell, whole) in largest.iter().zip(&cells) {
            prop_assert_eq!(&cell.shares[..], &whole.shares[..most.min(whole.shares.len())]);
            let all: i64 = whole.shares.iter().map(|share| share.1).sum();
            prop_assert_eq!(cell.unlisted_time + cell.shares.iter().map(|share| share.1).sum::<i64>(), all);
        }
    }
    let listed = store.states(LANE, time_range, 7).expect("the lane is there");
    let expected: Vec<_> = states.iter().filter(|state| overlaps(state.0, state.1, time_range)).collect();
    prop_assert_eq!(listed.total, expected.len() as u64);
    for (state, &&(start, end, value)) in listed.items.iter().zip(&expected) {
        prop_assert_eq!((state.life.from.0, state.life.to.0, state.value.0), (start, end, value));
        let facts = store.facts(state.id).expect("it was listed");
        prop_assert_eq!(facts.life, state.life);
    }
    prop_assert_eq!(listed.items.len(), expected.len().min(7));
    Ok(())
}

/// Pushes and pops: the time before each, and the pushed value. `None` pops.
type StackSteps = Vec<(i64, Option<u32>)>;

fn steps(values: u32, len: usize) -> impl Strategy<Value = StackSteps> {
    let step = prop_oneof![5 => (0..values).prop_map(Some), 5 => Just(None)];
    prop::collection::vec((prop_oneof![1 => Just(0_i64), 3 => 0_i64..20], step), 0..len)
}

/// Stack of values between two timestamps.
type StackPiece = (i64, i64, Vec<u32>);

/// A trace from steps, and its stack of open values over time.
fn trace_of_steps(steps: &StackSteps, values: u32) -> (Sources, Vec<StackPiece>) {
    let (container, ty) = (HERE, ACTIVITY);
    let (mut now, mut stack, mut pieces, mut events) = (0, Vec::new(), Vec::new(), Vec::new());
    for &(gap, push) in steps {
        pieces.push((now, now + gap, stack.clone()));
        now += gap;
        match push {
            Some(value) if stack.len() < 12 => {
                stack.push(value);
                let value = ValueId(value);
                events.push(PajeEvent::PushState { time: at(now), container, ty, value, extra: &[], source: None });
            }
            _ if stack.pop().is_some() => events.push(PajeEvent::PopState { time: at(now), container, ty }),
            _ => {}
        }
    }
    // The last states end with their container.
    pieces.push((now, now + 10, stack));
    events.push(PajeEvent::DestroyContainer { time: at(now + 10), container });
    (sources(values, events), pieces)
}

fn check_nested(
    source: &dyn TimelineSource,
    pieces: &[StackPiece],
    time_range: TimeRange,
    is_kept: impl Fn(u32) -> bool,
) -> Result<(), TestCaseError> {
    let mut expected: BTreeMap<u32, (i128, i128)> = BTreeMap::new();
    for (from, to, stack) in pieces {
        let time = i128::from(((*to).min(time_range.to.0) - (*from).max(time_range.from.0)).max(0));
        let mut open: Vec<u32> = stack.iter().copied().filter(|&value| is_kept(value)).collect();
        if let Some(&innermost) = open.last() {
            expected.entry(innermost).or_default().1 += time;
        }
        open.sort_unstable();
        open.dedup();
        open.into_iter().for_each(|value| expected.entry(value).or_default().0 += time);
    }
    expected.retain(|_, time| time.0 > 0);
    let times = source.nested_times(HERE, ACTIVITY, time_range).expect("the container is there");
    let found: BTreeMap<u32, (i128, i128)> =
        times.into_iter().filter(|one| one.total > 0).map(|one| (one.value.0, (one.total, one.self_time))).collect();
    prop_assert_eq!(found, expected);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn total_and_self_times_equal_their_definition(steps in steps(5, 14_000), from in -100_i64..150_000, length in 1_i64..200_000) {
        let (sources, pieces) = trace_of_steps(&steps, 5);
        for source in sources.all() {
            check_nested(source, &pieces, time_range_of(from, length), |_| true)?;
            check_nested(source, &pieces, source.extent(), |_| true)?;
        }
    }

    #[test]
    fn total_and_self_times_of_many_values_equal_their_definition(
        steps in steps(90, 14_000), from in -100_i64..150_000, length in 1_i64..200_000,
    ) {
        let (sources, pieces) = trace_of_steps(&steps, 90);
        for source in sources.all() {
            check_nested(source, &pieces, time_range_of(from, length), |_| true)?;
        }
    }

    #[test]
    fn total_and_self_times_of_filtered_traces_equal_their_definition(
        steps in steps(5, 900), from in -100_i64..9_000, length in 1_i64..9_000, cut in 0_i64..5_000,
    ) {
        let (Sources { store, index }, pieces) = trace_of_steps(&steps, 5);
        let all: [Arc<dyn TimelineSource>; 2] = [Arc::new(store), Arc::new(index)];
        for source in &all {
            let apply = |text: String| text.parse::<FilterExpr>().expect("it is a filter").apply(source);
            let time_range = time_range_of(from, length);
            let long = apply("only duration >= 0ns of type".to_owned()).expect("it can be applied");
            check_nested(long.as_ref(), &pieces, time_range, |_| true)?;
            let hidden = apply("hide value v1, v3 of type".to_owned()).expect("it can be applied");
            check_nested(hidden.as_ref(), &pieces, time_range, |value| value != 1 && value != 3)?;
            let grouped = apply("group thread into all".to_owned()).expect("it can be applied");
            let group = grouped.containers().last().map(|info| info.id).expect("there is a group");
            prop_assert_eq!(
                grouped.nested_times(group, ACTIVITY, time_range),
                source.nested_times(HERE, ACTIVITY, time_range).map(|mut times| {
                    times.retain(|time| time.total > 0);
                    times.sort_by_key(|time| time.value);
                    times
                })
            );
            let (low, high) = (from.max(cut), (from + length).min(cut + 700));
            if let (Ok(filtered), true) = (apply(format!("cut {cut}ns..{}ns", cut + 700)), low < high) {
                let whole = filtered.nested_times(HERE, ACTIVITY, time_range);
                if whole.is_ok() {
                    prop_assert_eq!(whole, source.nested_times(HERE, ACTIVITY, time_range_of(low, high - low)));
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn cells_and_states_of_few_values_equal_their_definition(
        plan in plan(3), from in -100_i64..30_000, length in 1_i64..60_000, columns in 1_u32..70,
    ) {
        check_cells(&plan, 3, time_range_of(from, length), columns)?;
    }

    #[test]
    fn cells_and_states_of_many_values_equal_their_definition(
        plan in plan(40), from in -100_i64..30_000, length in 1_i64..60_000, columns in 1_u32..7,
    ) {
        check_cells(&plan, 40, time_range_of(from, length), columns)?;
    }

    #[test]
    fn cells_of_columns_below_a_nanosecond_equal_their_definition(plan in plan(3), from in 0_i64..2_000, length in 1_i64..20) {
        check_cells(&plan, 3, time_range_of(from, length), 64)?;
    }

    #[test]
    fn aligned_columns_cover_a_time_range(from in any::<i64>(), length in 1..i64::MAX, columns in 1_u32..5_000) {
        let time_range = TimeRange { from: at(from), to: at(from.saturating_add(length).max(from.saturating_add(1))) };
        prop_assume!(time_range.from < time_range.to);
        let AlignedTimeRange { range: around, columns: count, .. } = time_range.align_to_columns(columns);
        prop_assert!(around.from <= time_range.from && time_range.to <= around.to);
        if (around, count) != (time_range, columns) {
            let total = i128::from(around.to.0) - i128::from(around.from.0);
            let width = total / i128::from(count);
            prop_assert_eq!(width * i128::from(count), total);
            prop_assert!((width as u128).is_power_of_two() && i128::from(around.from.0) % width == 0);
            prop_assert!(count <= columns + 1);
            let exact = (i128::from(time_range.to.0) - i128::from(time_range.from.0)) as f64 / f64::from(columns);
            prop_assert!(width as f64 >= exact && (width as f64) < 2.0 * exact.max(1.0));
        }
    }

    #[test]
    fn link_queries_equal_their_definition(
        rows in prop::collection::vec((0_i64..3_000, prop_oneof![Just(0_i64), -50_i64..60, 0_i64..3_000]), 0..600),
        from in -10_i64..3_000, length in 1_i64..3_000,
    ) {
        let events = rows.iter().enumerate().flat_map(|(at_row, &(start, duration))| {
            let (container, ty, value, key) = (HERE, MESSAGE, ValueId(1), KeyId(at_row as u64));
            let (extra, source): (&[_], _) = (&[], None);
            [
                PajeEvent::StartLink { time: at(start), container, ty, value, start: HERE, key, extra, source },
                PajeEvent::EndLink { time: at(start + duration), container, ty, value, end: HERE, key, extra, source },
            ]
        });
        let sources = sources(1, events.collect());
        let time_range = time_range_of(from, length);
        let mut expected: Vec<(i64, i64)> = rows.iter().map(|&(start, duration)| (start, start + duration)).collect();
        expected.retain(|&(start, end)| overlaps(start.min(end), start.max(end), time_range));
        expected.sort_by_key(|&(start, end)| start.min(end));
        for store in sources.all() {
            let all = store.links(MESSAGE, time_range, usize::MAX).expect("the type is there");
            prop_assert_eq!(all.total, expected.len() as u64);
            let found: Vec<(i64, i64)> = all.items.iter().map(|link| (link.start_time.0, link.end_time.0)).collect();
            prop_assert_eq!(&found, &expected);
            let first = store.links(MESSAGE, time_range, 3).expect("the type is there");
            prop_assert_eq!(first.items, &all.items[..all.items.len().min(3)]);
            prop_assert_eq!(store.links(MESSAGE, time_range, 0).expect("the type is there").total, expected.len() as u64);
        }
    }

    #[test]
    fn variable_queries_equal_their_definition(
        steps in prop::collection::vec((0_i64..40, -1000_i32..1000), 0..900),
        from in -100_i64..20_000, length in 1_i64..20_000, columns in 1_u32..40,
    ) {
        let mut time = 0;
        let mut samples: Vec<(i64, f64)> = Vec::new();
        let mut events = Vec::new();
        for &(step, value) in &steps {
            time += step;
            let value = f64::from(value);
            samples.retain(|&(date, _)| date != time);
            samples.push((time, value));
            events.push(PajeEvent::Variable { time: at(time), container: HERE, ty: LOAD, op: VariableOp::Set, value });
        }
        // The last value lasts for a while.
        let end = time + 25;
        events.push(PajeEvent::DestroyContainer { time: at(end), container: HERE });
        let sources = sources(1, events);
        let lives: Vec<(i64, i64, f64)> = samples
            .iter()
            .enumerate()
            .map(|(at, &(date, value))| (date, samples.get(at + 1).map_or(end, |next| next.0), value))
            .collect();
        let time_range = time_range_of(from, length);
        for store in sources.all() {
            let listed = store.samples(HERE, LOAD, time_range, usize::MAX).expect("the variable is there").items;
            let found: Vec<(i64, i64, f64)> =
                listed.iter().map(|sample| (sample.life.from.0, sample.life.to.0, sample.value)).collect();
            let expected: Vec<(i64, i64, f64)> =
                lives.iter().copied().filter(|life| overlaps(life.0, life.1, time_range)).collect();
            prop_assert_eq!(found, expected);
            let series = store.series(HERE, LOAD, time_range, columns).expect("the variable is there");
            for (column, answer) in series.iter().enumerate() {
                let edge = |column: i64| from + length * column / i64::from(columns);
                let (left, right) = (edge(column as i64), edge(column as i64 + 1).max(edge(column as i64) + 1));
                let inside: Vec<(f64, i64)> = lives
                    .iter()
                    .filter(|life| life.0 < right && life.1 > left)
                    .map(|life| (life.2, life.1.min(right) - life.0.max(left)))
                    .collect();
                let Some(found) = answer else {
                    prop_assert!(inside.is_empty());
                    continue;
                };
                let values = || inside.iter().map(|part| part.0);
                prop_assert_eq!(found.min, values().fold(f64::INFINITY, f64::min));
                prop_assert_eq!(found.max, values().fold(f64::NEG_INFINITY, f64::max));
                let covered: i64 = inside.iter().map(|part| part.1).sum();
                let mean = inside.iter().map(|part| part.0 * part.1 as f64).sum::<f64>() / covered as f64;
                prop_assert!((found.mean - mean).abs() < 1e-6, "{} {}", found.mean, mean);
            }
            let whole = samples.iter().map(|sample| sample.1);
            let range = (!samples.is_empty()).then(|| ValueRange {
                min: whole.clone().fold(f64::INFINITY, f64::min),
                max: whole.fold(f64::NEG_INFINITY, f64::max),
            });
            prop_assert_eq!(store.value_range(LOAD), range);
        }
    }

    #[test]
    fn event_queries_equal_their_definition(dates in prop::collection::vec(0_i64..500, 0..300), from in -10_i64..500, length in 1_i64..300) {
        let value = ValueId(2);
        let events = dates.iter().map(|&date| PajeEvent::NewEvent {
            time: at(date), container: HERE, ty: MARK, value, extra: &[], source: None,
        });
        let sources = sources(1, events.collect());
        let mut expected = dates.clone();
        expected.sort_unstable();
        expected.retain(|&date| date >= from && date < from + length);
        for store in sources.all() {
            let listed = store.events(HERE, MARK, time_range_of(from, length), usize::MAX).expect("the type is there");
            prop_assert_eq!(listed.total, expected.len() as u64);
            let found: Vec<i64> = listed.items.iter().map(|mark| mark.time.0).collect();
            prop_assert_eq!(&found, &expected);
            let whole = store.summary().extent;
            prop_assert_eq!(store.events(HERE, MARK, whole, 0).expect("the type is there").total, dates.len() as u64);
            for mark in listed.items {
                prop_assert!(matches!(mark.id, EntityId::Event(_)) && store.facts(mark.id).is_ok());
            }
        }
    }
}
