//! Compares profiles of random traces with times that are summed up nanosecond by nanosecond.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof};
use proptest::proptest;
use tumit_viewer::query::{GlobalNanos, TimeRange, TypeId};
use tumit_viewer::store::TraceStore;

use crate::call_tree::ROOT;
use crate::profile::{Profile, containers_with};
use crate::value_names::ValueGroups;

const NAMES: [&str; 3] = ["a", "b_one", "b_two"];
/// The state type in the text of [`trace_text`].
const STATE_TYPE: TypeId = TypeId(2);

/// An operation on the states of a container.
#[derive(Clone, Copy, Debug)]
enum StackOperation {
    Push(usize),
    Set(usize),
    Pop,
}

/// The operations of a container, each with the nanoseconds since the one before.
type Operations = Vec<(i64, StackOperation)>;

fn operations() -> impl Strategy<Value = Operations> {
    let operation = prop_oneof![
        4 => (0..NAMES.len()).prop_map(StackOperation::Push),
        1 => (0..NAMES.len()).prop_map(StackOperation::Set),
        4 => Just(StackOperation::Pop),
    ];
    vec((0_i64..4, operation), 0..24)
}

/// A state.
struct State {
    from: i64,
    to: i64,
    depth: usize,
    name: usize,
}

/// The states of a container that ends at `end`.
fn states(operations: &Operations, end: i64) -> Vec<State> {
    let (mut time, mut open, mut states) = (0, Vec::new(), Vec::new());
    let mut close = |open: &mut Vec<(i64, usize)>, to: i64| {
        if let Some((from, name)) = open.pop() {
            states.push(State { from, to, depth: open.len(), name });
        }
    };
    for (wait, operation) in operations {
        time += wait;
        match *operation {
            StackOperation::Push(name) => open.push((time, name)),
            StackOperation::Set(name) => {
                while !open.is_empty() {
                    close(&mut open, time);
                }
                open.push((time, name));
            }
            StackOperation::Pop => close(&mut open, time),
        }
    }
    while !open.is_empty() {
        close(&mut open, end);
    }
    states
}

fn duration(operations: &Operations) -> i64 {
    operations.iter().map(|(wait, _)| wait).sum()
}

fn seconds(nanos: i64) -> String {
    format!("0.{nanos:09}")
}

/// A Pajé file with a container for each list of operations.
fn trace_text(all: &[Operations], end: i64) -> String {
    let mut text = include_str!("../../tests/header.paje").to_owned();
    text.push_str("0 T 0 Thread\n2 S T Function\n");
    NAMES.iter().for_each(|name| _ = writeln!(text, "5 {name} S {name} \"0 1 0\""));
    (0..all.len()).for_each(|index| _ = writeln!(text, "6 0 t{index} 0 T t{index}"));
    let mut lines = Vec::new();
    for (index, operations) in all.iter().enumerate() {
        let mut time = 0;
        for (wait, operation) in operations {
            time += wait;
            let line = match *operation {
                StackOperation::Push(name) => format!("12 {} t{index} S {}", seconds(time), NAMES[name]),
                StackOperation::Set(name) => format!("11 {} t{index} S {}", seconds(time), NAMES[name]),
                StackOperation::Pop => format!("13 {} t{index} S", seconds(time)),
            };
            lines.push((time, line));
        }
    }
    lines.sort_by_key(|line| line.0);
    lines.iter().for_each(|(_, line)| _ = writeln!(text, "{line}"));
    (0..all.len()).for_each(|index| _ = writeln!(text, "7 {} T t{index}", seconds(end)));
    text
}

/// Calls, total and self time by path.
type Times = BTreeMap<Vec<String>, (u64, i128, i128)>;

fn name_of(name: usize, has_groups: bool) -> String {
    match NAMES[name].split_once('_') {
        Some((prefix, _)) if has_groups => prefix.to_owned(),
        _ => NAMES[name].to_owned(),
    }
}

/// The names of the states that begin before `range_end` and are open at a time, outermost first,
/// above a depth.
fn open_names(states: &[State], (time, range_end): (i64, i64), depth: usize, has_groups: bool) -> Vec<String> {
    let is_open = |state: &&State| state.depth < depth && state.from <= time && time < state.to;
    let mut open: Vec<&State> = states.iter().filter(is_open).filter(|state| state.from < range_end).collect();
    open.sort_by_key(|state| state.depth);
    open.iter().map(|state| name_of(state.name, has_groups)).collect()
}

/// The times of all paths, and for each name its calls, total and self time.
fn expected(all: &[Operations], end: i64, range: (i64, i64), has_groups: bool) -> (Times, Times) {
    let (mut by_path, mut by_name) = (Times::new(), Times::new());
    for operations in all {
        let states = states(operations, end);
        for time in range.0..range.1 {
            let path = open_names(&states, (time, range.1), usize::MAX, has_groups);
            for length in 1..=path.len() {
                by_path.entry(path[..length].to_vec()).or_default().1 += 1;
                if !path[..length - 1].contains(&path[length - 1]) {
                    by_name.entry(vec![path[length - 1].clone()]).or_default().1 += 1;
                }
            }
            if let Some(innermost) = path.last() {
                by_name.entry(vec![innermost.clone()]).or_default().2 += 1;
                by_path.entry(path).or_default().2 += 1;
            }
        }
        for state in &states {
            let is_call = match state.from == state.to {
                true => range.0 <= state.from && state.from <= range.1,
                false => state.from < range.1 && state.to > range.0,
            };
            if is_call {
                let mut path = open_names(&states, (state.from.max(range.0), range.1), state.depth, has_groups);
                path.push(name_of(state.name, has_groups));
                by_name.entry(vec![name_of(state.name, has_groups)]).or_default().0 += 1;
                by_path.entry(path).or_default().0 += 1;
            }
        }
    }
    (by_path, by_name)
}

proptest! {
    #[test]
    fn times_and_calls_equal_sums_over_nanoseconds(
        all in vec(operations(), 1..4),
        (first, second) in (any::<u8>(), any::<u8>()),
        has_groups in any::<bool>(),
        states_per_job in 1_u64..20,
    ) {
        let end = all.iter().map(duration).max().unwrap_or(0) + 1;
        let (first, second) = (i64::from(first) % (end + 1), i64::from(second) % (end + 1));
        let range = (first.min(second), first.max(second).max(first.min(second) + 1));
        let store = TraceStore::from_paje("random", trace_text(&all, end).as_bytes()).expect("the text is valid");
        let groups = if has_groups { ValueGroups::Prefix } else { ValueGroups::None };
        let time_range = TimeRange { from: GlobalNanos(range.0), to: GlobalNanos(range.1) };
        let profile = Profile::with_jobs(&store, (&containers_with(&store, STATE_TYPE), STATE_TYPE), time_range, &groups, states_per_job, &|_| {})
            .expect("the store answers all queries");
        let text = |name| profile.names.text(name).to_owned();
        let nodes = profile.tree.nodes().iter().enumerate().skip(ROOT + 1);
        let by_path: Times = nodes
            .map(|(index, node)| {
                let path = profile.tree.path(index).into_iter().map(text).collect();
                (path, (node.calls, node.total, node.self_time))
            })
            .collect();
        let by_name: Times = profile.by_name.iter()
            .map(|name| (vec![text(name.name)], (name.times.calls, name.times.total, name.times.self_time)))
            .collect();
        let (expected_paths, expected_names) = expected(&all, end, range, has_groups);
        prop_assert_eq!(by_path, expected_paths);
        prop_assert_eq!(by_name, expected_names);
        for name in &profile.by_name {
            prop_assert_eq!(name.durations.count(), name.times.calls);
            prop_assert!(name.imbalance.ratio() >= 1.0);
        }
    }
}
