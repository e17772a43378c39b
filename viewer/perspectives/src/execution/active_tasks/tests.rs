use proptest::prelude::*;
use tumit_viewer::query::{GlobalNanos, TimeRange, ValueId};

use super::{ActiveTaskSums, ActiveTasks, TaskActivity};
use crate::execution::overlapping_tasks::OverlappingTasks;
use crate::execution::task_timeline::{TaskPiece, TaskState, UnitTasksBuilder};
use crate::execution::tasks::TaskSet;

const END: i64 = 120;

/// Units with states in the order in which they are read. Sequences of states do not overlap.
fn units() -> impl Strategy<Value = Vec<Vec<TaskState>>> {
    let state = (0..END - 1, 1..20_i64, 0..4_u32);
    let unit = (any::<bool>(), prop::collection::vec(state, 0..40)).prop_map(|(is_sequence, states)| {
        let state = |(from, nanos, value): (i64, i64, u32)| TaskState {
            from,
            to: (from + nanos).min(END),
            value: ValueId(value),
        };
        let mut states: Vec<TaskState> = states.into_iter().map(state).collect();
        states.sort_by_key(|state| (state.from, std::cmp::Reverse(state.to)));
        if is_sequence {
            let mut end = 0;
            states.retain(|state| {
                let is_later = state.from >= end;
                end = if is_later { state.to } else { end };
                is_later
            });
        }
        states
    });
    prop::collection::vec(unit, 1..5)
}

fn task_set(units: &[Vec<TaskState>]) -> TaskSet {
    let read = units.iter().map(|states| {
        let mut builder = UnitTasksBuilder::default();
        states.iter().for_each(|state| builder.add(*state));
        builder.finish()
    });
    TaskSet::from_units(Vec::new(), read.collect(), |value| value.0.to_string())
}

fn sums(tasks: &TaskSet, units: &[Vec<TaskState>], slice_changes: usize) -> ActiveTaskSums {
    let overlaps = units.iter().zip(tasks.by_unit()).map(|(states, unit)| {
        let mut overlapping = OverlappingTasks::default();
        for &TaskState { from, to, value } in states {
            let task = tasks.list().iter().zip(0..).find(|(task, _)| task.value == value).map(|found| found.1);
            overlapping.add(TaskPiece { from, to, task: task.expect("each value is a task") });
        }
        unit.has_overlaps.then(|| overlapping.finish())
    });
    ActiveTaskSums::with_slices(overlaps.collect(), slice_changes)
}

proptest! {
    #[test]
    fn all_queries_equal_a_count_of_states_at_each_nanosecond(
        units in units(),
        slice_changes in 1..20_usize,
        (from, nanos) in (-10..END + 10, 0..60_i64),
    ) {
        let tasks = task_set(&units);
        let sums = sums(&tasks, &units, slice_changes);
        let active = ActiveTasks::new(&tasks, &sums);
        let is_at = |state: &&TaskState, time: i64| state.from <= time && time < state.to;
        let counts = |time: i64| -> Vec<i64> {
            let count = |value: ValueId| {
                let has_task = |states: &&Vec<TaskState>| {
                    states.iter().any(|state| state.value == value && is_at(&state, time))
                };
                units.iter().filter(has_task).count() as i64
            };
            tasks.list().iter().map(|task| count(task.value)).collect()
        };
        let (mut expected, steps) = (vec![0_i128; tasks.list().len()], active.count());
        let mut at_times = Vec::new();
        for time in -10..END + 10 {
            let before = TimeRange { from: GlobalNanos(-10), to: GlobalNanos(time) };
            prop_assert_eq!(active.unit_times(before), expected.clone());
            at_times.push((time, counts(time), expected.clone()));
            prop_assert_eq!(active.at(time), counts(time));
            prop_assert_eq!(steps.at(time), [counts(time).iter().filter(|units| **units > 0).count() as i64]);
            expected.iter_mut().zip(counts(time)).for_each(|(sum, units)| *sum += i128::from(units));
            for (unit, states) in units.iter().enumerate() {
                let inner = states.iter().rev().find(|state| is_at(state, time));
                let found = tasks.at(unit, time).map(|task| tasks.list()[task as usize].value);
                prop_assert_eq!(found, inner.map(|state| state.value));
            }
        }
        for (task, nanos) in tasks.list().iter().zip(expected) {
            prop_assert_eq!(task.unit_time, nanos);
            let of_task = || units.iter().flatten().filter(|state| state.value == task.value);
            prop_assert_eq!(Some(task.life.from.0), of_task().map(|state| state.from).min());
            prop_assert_eq!(Some(task.life.to.0), of_task().map(|state| state.to).max());
        }
        for (step, has_slices) in [(1, true), (50, true), (1, false), (50, false)] {
            let new_sums = self::sums(&tasks, &units, slice_changes);
            let active = if has_slices { active } else { ActiveTasks::new(&tasks, &new_sums) };
            let chosen: Vec<_> = at_times.iter().step_by(step).collect();
            let times: Vec<i64> = chosen.iter().map(|at| at.0).collect();
            let mut found = Vec::new();
            active.visit_times(&times, |at, points| {
                let unit_times: Vec<i128> = points.iter().map(|point| point.integral(times[at])).collect();
                found.push((times[at], points.iter().map(|point| point.units).collect(), unit_times));
            });
            prop_assert_eq!(found.iter().collect::<Vec<_>>(), chosen);
        }
        let mut expected: Vec<TaskActivity> =
            counts(from).into_iter().map(|maximum| TaskActivity { unit_time: 0, maximum }).collect();
        for time in from..from + nanos {
            for (sum, units) in expected.iter_mut().zip(counts(time)) {
                sum.unit_time += i128::from(units);
                sum.maximum = sum.maximum.max(units);
            }
        }
        let range = TimeRange { from: GlobalNanos(from), to: GlobalNanos(from + nanos) };
        prop_assert_eq!(active.activity_in(range), expected);
    }
}
