//! The category of each unit and the numbers of units equal those of a simple simulation.

use proptest::prelude::*;
use tumit_paje::category::ActivityCategory::{self, Idle};
use tumit_perspectives::execution::Execution;
use tumit_perspectives::execution::activity::UnitMode;
use tumit_perspectives::execution::categories::CategoryRule;
use tumit_viewer::filter::NamePattern;

use crate::unit_program::{END, RandomThread, SECOND, UnitProgram, programs, seconds, settings};

/// The threads whose states determine the category of each unit.
pub(crate) fn groups<'p>(program: &'p UnitProgram, execution: &Execution) -> Vec<Vec<&'p RandomThread>> {
    let containers = execution.source().containers();
    let name = |id| &containers.iter().find(|info| info.id == id).expect("it exists").name;
    let units = execution.units().list().iter();
    let thread =
        |group: &tumit_perspectives::execution::units::StateGroup| program.threads_of(name(group.container))[0];
    units.map(|unit| unit.groups.iter().map(thread).collect()).collect()
}

/// The number of parts of a unit in each category during a second, and the number of parts.
pub(crate) fn parts(
    threads: &[&RandomThread],
    second: i64,
    mode: UnitMode,
    stateless: ActivityCategory,
) -> ([i64; 3], i64) {
    let mut categories: Vec<ActivityCategory> =
        threads.iter().map(|thread| thread.category(second, stateless)).collect();
    if mode == UnitMode::AnyBusy || categories.is_empty() {
        categories = vec![categories.into_iter().min().unwrap_or(Idle)];
    }
    let count = |wanted: ActivityCategory| categories.iter().filter(|category| **category == wanted).count() as i64;
    (ActivityCategory::COUNTED.map(count), categories.len() as i64)
}

proptest! {
    #[test]
    fn categories_and_counts_equal_a_simulation(
        program in programs(),
        settings in settings(),
        is_node in any::<bool>(),
        (from, length) in (0..END, 0..END),
    ) {
        let execution = program.execution(if is_node { "Node" } else { "Thread" }, settings);
        let Ok(activity) = execution.activity() else { return Ok(()) };
        let groups = groups(&program, &execution);
        let with_states = |threads: &[&RandomThread]| {
            threads.iter().filter(|thread| thread.changes.iter().any(|change| change.1 == 0)).count()
        };
        for (unit, threads) in execution.units().list().iter().zip(&groups) {
            prop_assert_eq!(threads.len(), with_states(&program.threads_of(&unit.name)));
        }
        let times: Vec<i64> = (0..=END + 1).map(|second| second * SECOND).collect();
        // The counts of the units one by one, before they are merged.
        let present: Vec<[f64; 3]> = times.iter().map(|time| activity.counts_at(*time)).collect();
        let means = activity.mean_counts(&times);
        let range = seconds(from, (from + length).min(END + 1));
        let mean_in_range = activity.mean_counts_in(&[seconds(0, END), range])[1];
        let counts = activity.counts();
        let is_near = |one: [f64; 3], other: [f64; 3]| one.iter().zip(other).all(|(one, other)| (one - other).abs() < 1e-9);
        let numbers = |of: [i64; 3]| of.map(|number| number as f64 / counts.denominator as f64);
        for (number, time) in times.iter().enumerate() {
            prop_assert!(is_near(present[number], numbers(counts.steps.at(*time))));
            prop_assert!(means.get(number).is_none_or(|mean| is_near(*mean, present[number])));
        }
        let expected_mean = counts.steps.mean(range).map(|mean| mean / counts.denominator as f64);
        prop_assert!(is_near(mean_in_range, expected_mean), "{mean_in_range:?} {expected_mean:?}");
        let mut sums = vec![[0_i64; 3]; groups.len()];
        for second in 0..=END {
            let time = second * SECOND;
            let mut expected = [0; 3];
            for (unit, threads) in groups.iter().enumerate() {
                let (of_unit, all) = parts(threads, second, settings.mode, settings.stateless_category);
                let first = ActivityCategory::COUNTED.into_iter().zip(of_unit).find(|(_, count)| *count > 0);
                prop_assert_eq!(Some(activity.at(unit, time)), first.map(|first| first.0));
                prop_assert_eq!(activity.timeline(unit).at(time + SECOND / 2), activity.at(unit, time));
                for category in 0..3 {
                    expected[category] += of_unit[category] * (counts.denominator / all);
                    if (from..from + length).contains(&second) {
                        sums[unit][category] += of_unit[category];
                    }
                }
            }
            prop_assert_eq!(counts.steps.at(time), expected);
            prop_assert_eq!(expected.iter().sum::<i64>(), counts.denominator * groups.len() as i64);
        }
        let range = seconds(from, (from + length).min(END + 1));
        let mut all = [0_i128; 3];
        for (unit, sum) in sums.iter().enumerate() {
            let times = activity.times(unit, range);
            prop_assert_eq!(times, sum.map(|seconds| i128::from(seconds * SECOND)));
            let parts = activity.timelines(unit).len() as i128;
            for category in 0..3 {
                all[category] += times[category] * (i128::from(counts.denominator) / parts);
            }
        }
        prop_assert_eq!(counts.steps.integral(range), all);
    }

    #[test]
    fn other_categories_give_the_same_as_a_new_execution(
        program in programs(),
        settings in settings(),
        is_node in any::<bool>(),
        changes in prop::collection::vec(prop::collection::vec((0..4_usize, 0..4_usize), 0..4), 2),
    ) {
        let level = if is_node { "Node" } else { "Thread" };
        let rule = |(value, category): &(usize, usize)| {
            let values = NamePattern::new(["work", "send", "wait", "skip"][*value]);
            CategoryRule::new(ActivityCategory::WORDS[*category].1, values, None)
        };
        let rules: Vec<Vec<CategoryRule>> = changes.iter().map(|list| list.iter().map(rule).collect()).collect();
        let execution = program.execution_with(level, settings, rules[0].clone());
        // The states are in memory before the categories change.
        let has_activity = execution.activity().is_ok();
        let rules = rules[1].clone();
        let changed = execution.with_categories(program.source(), rules.clone()).expect("the trace has units");
        let expected = program.execution_with(level, settings, rules);
        prop_assert_eq!(changed.activity().is_ok(), has_activity);
        let (Ok(changed), Ok(expected)) = (changed.activity(), expected.activity()) else { return Ok(()) };
        for unit in 0..expected.units() {
            prop_assert_eq!(changed.timelines(unit), expected.timelines(unit));
        }
    }

    #[test]
    fn tasks_equal_a_simulation(program in programs(), is_node in any::<bool>()) {
        let execution = program.execution(if is_node { "Node" } else { "Thread" }, Default::default());
        let Ok(tasks) = execution.tasks() else { return Ok(()) };
        let units = execution.units().list();
        for second in 0..=END {
            let open: Vec<Vec<(i64, usize)>> = units
                .iter()
                .map(|unit| {
                    let threads = program.threads_of(&unit.name).into_iter();
                    let of_thread = |thread: &RandomThread| thread.open(1, second).unwrap_or_default();
                    threads.flat_map(of_thread).map(|(begin, value)| (begin, value % 3)).collect()
                })
                .collect();
            let units_of_task = execution.active_tasks().unwrap().at(second * SECOND);
            for (number, task) in tasks.list().iter().enumerate() {
                let value = crate::unit_program::TASKS.iter().position(|name| *name == task.name).unwrap();
                let active = open.iter().filter(|open| open.iter().any(|state| state.1 == value)).count();
                prop_assert_eq!(units_of_task[number], active as i64, "{} at {}", &task.name, second);
                prop_assert!(active == 0 || task.life.from.0 <= second * SECOND);
                for (unit, open) in open.iter().enumerate().filter(|_| number == 0) {
                    let found = tasks.at(unit, second * SECOND).map(|task| &tasks.list()[task as usize].name);
                    let latest = open.iter().map(|state| state.0).max();
                    let innermost = open.iter().filter(|state| Some(state.0) == latest);
                    let names: Vec<&str> =
                        innermost.map(|state| crate::unit_program::TASKS[state.1]).collect();
                    if is_node {
                        prop_assert_eq!(found.is_some(), !names.is_empty());
                        prop_assert!(found.is_none_or(|name| names.contains(&name.as_str())));
                    } else {
                        prop_assert_eq!(found.map(String::as_str), names.last().copied());
                    }
                }
            }
        }
        for pair in tasks.list().windows(2) {
            prop_assert!(pair[0].life.from <= pair[1].life.from);
        }
    }
}
