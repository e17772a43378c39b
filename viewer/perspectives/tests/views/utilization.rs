//! The views of the group utilization equal their definitions.

use proptest::prelude::*;
use tumit_paje::category::ActivityCategory::{self, Busy, Idle, Overhead};
use tumit_perspectives::chart::ChartPanel;
use tumit_perspectives::execution::Execution;

use crate::request::{at, chart, during, numbers, texts, with_options};
use crate::unit_program::{END, SECOND, UnitProgram, programs, seconds};

/// The category of each unit in each second.
fn categories(program: &UnitProgram, execution: &Execution) -> Vec<Vec<ActivityCategory>> {
    let of_unit = |name: &str| {
        let threads = program.threads_of(name);
        let with_states = || threads.iter().filter(|thread| thread.changes.iter().any(|change| change.1 == 0));
        let category = |second| with_states().map(|thread| thread.category(second, Idle)).min().unwrap_or(Idle);
        (0..=END).map(category).collect()
    };
    execution.units().list().iter().map(|unit| of_unit(&unit.name)).collect()
}

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9 * one.abs().max(1.0)
}

/// The smoothed utilization at a second, by its definition.
fn smoothed(categories: &[ActivityCategory], (start, time): (i64, i64), width: i64, overhead: bool) -> f64 {
    let counts = |second: &i64| {
        let category = categories[*second as usize];
        category == Busy || overhead && category == Overhead
    };
    let window: Vec<i64> = ((time - width).max(start)..time).collect();
    if window.is_empty() {
        return f64::from(u8::from(counts(&time)));
    }
    window.iter().filter(|second| counts(second)).count() as f64 / window.len() as f64
}

/// The signed length of the current run at a second, and the longest busy run so far.
fn streak(categories: &[ActivityCategory], (start, time): (i64, i64), overhead: bool) -> (i64, i64) {
    let (mut run, mut longest, mut kind) = (0, 0, None);
    for second in start..=time.max(start) {
        let category = categories[second as usize];
        let now = if category == Overhead && overhead { Busy } else { category };
        if now == Overhead {
            continue;
        }
        if kind != Some(now) {
            (run, kind) = (0, Some(now));
        }
        run += i64::from(second < time);
        longest = if now == Busy { run.max(longest) } else { longest };
    }
    (if kind == Some(Idle) { -run } else { run }, longest)
}

proptest! {
    #[test]
    fn counts_summaries_and_profiles_agree(
        program in programs(),
        is_node in any::<bool>(),
        (from, length) in (0..END, 1..END),
    ) {
        let execution = program.execution(if is_node { "Node" } else { "Thread" }, Default::default());
        if execution.activity().is_err() { return Ok(()) }
        let categories = categories(&program, &execution);
        let range = seconds(from, (from + length).min(END));
        let request = during(range);
        let count = chart("utilization-count", &execution, &request).unwrap();
        let summary = chart("utilization-summary", &execution, &request).unwrap();
        let profile = chart("concurrency-profile", &execution, &request).unwrap();
        let nanos = (range.to.0 - range.from.0) as f64;
        for (index, category) in ActivityCategory::COUNTED.into_iter().enumerate() {
            let word = category.word();
            // A column of G1 is a sorted column of G2, the categories of all units.
            let means = numbers(&count, word);
            let in_second = |second: i64| {
                categories.iter().filter(|list| list[second as usize] == category).count()
            };
            let expected: Vec<f64> = (from..from + means.len() as i64).map(|second| in_second(second) as f64).collect();
            prop_assert_eq!(&means, &expected);
            // G3 is the integral of G1.
            let integral = means.iter().sum::<f64>() * SECOND as f64;
            let times = numbers(&summary, word);
            prop_assert!(close(integral, times.iter().sum()), "{} {:?}", integral, times);
            for (list, time) in categories.iter().zip(&times) {
                let seconds = (range.from.0 / SECOND..range.to.0 / SECOND).filter(|second| list[*second as usize] == category);
                prop_assert!(close(seconds.count() as f64 * SECOND as f64, *time));
            }
            // G5 adds up to 100 % and to the time range.
            let ChartPanel::Bars(bars) = &profile.panels[index].panel else { panic!("not bars") };
            let percent: Vec<f64> = bars.bars.iter().map(|bar| bar.parts[0].value).collect();
            prop_assert!(close(percent.iter().sum(), 100.0));
            let times = numbers(&profile, word);
            prop_assert!(close(times.iter().sum(), nanos));
            for (number, time) in times.iter().enumerate() {
                let seconds = expected.iter().filter(|count| **count == number as f64).count();
                prop_assert!(close(seconds as f64 * SECOND as f64, *time));
            }
        }
    }

    #[test]
    fn present_values_equal_a_simulation(
        program in programs(),
        is_node in any::<bool>(),
        overhead in any::<bool>(),
        (start, time, width) in (0..END, 0..END, 0..15_i64),
    ) {
        let execution = program.execution(if is_node { "Node" } else { "Thread" }, Default::default());
        let Ok(activity) = execution.activity() else { return Ok(()) };
        let categories = categories(&program, &execution);
        let mut request = at(time);
        request.range = seconds(start, END);
        let meter = chart("utilization-meter", &execution, &request).unwrap();
        prop_assert!(close(numbers(&meter, "units").iter().sum(), activity.units() as f64));
        prop_assert!(close(numbers(&meter, "units, %").iter().sum(), 100.0));
        let count = ["count=busy", "count=busy+overhead"][usize::from(overhead)];
        let request_of = |view: &str, options: &[&str]| with_options(view, &request, options);
        let kiviat = request_of("kiviat", &[count, &format!("width={width}s")]);
        let kiviat = chart("kiviat", &execution, &kiviat).unwrap();
        let (now, maximum) = (numbers(&kiviat, "now, %"), numbers(&kiviat, "maximum, %"));
        let streaks = chart("streak", &execution, &request_of("streak", &[count])).unwrap();
        let (lengths, longest) = (numbers(&streaks, "length"), numbers(&streaks, "longest busy run"));
        let kinds = texts(&streaks, "run");
        for (unit, list) in categories.iter().enumerate() {
            let present = smoothed(list, (start, time), width, overhead);
            prop_assert!(close(100.0 * present, now[unit]), "unit {}: {} {}", unit, present, now[unit]);
            let all = (start..=time).map(|time| smoothed(list, (start, time), width, overhead));
            let largest = all.fold(present, f64::max);
            prop_assert!(close(100.0 * largest, maximum[unit]), "unit {}: {} {}", unit, largest, maximum[unit]);
            if start <= time {
                let (run, longest_run) = streak(list, (start, time), overhead);
                prop_assert!(close(run.abs() as f64 * SECOND as f64, lengths[unit]));
                prop_assert!(run == 0 || (run < 0) == (kinds[unit] == "idle"));
                prop_assert!(close(longest_run as f64 * SECOND as f64, longest[unit]));
            }
        }
    }

    #[test]
    fn pending_messages_of_all_units_add_up(program in programs(), time in 0..END) {
        let execution = program.execution("Thread", Default::default());
        let Ok(messages) = execution.messages() else { return Ok(()) };
        let pending = messages.pending().at(time * SECOND);
        let between = program.messages.iter().filter(|message| message.threads.0 != message.threads.1);
        let expected: Vec<_> = between.filter(|message| message.sent <= time && time < message.received).collect();
        prop_assert_eq!(pending, [expected.len() as i64, expected.iter().map(|message| message.bytes).sum()]);
        for (measure, index) in [("messages", 0), ("bytes", 1)] {
            let request = with_options("processor-status", &at(time), &[&format!("measure={measure}")]);
            let status = chart("processor-status", &execution, &request).unwrap();
            for heading in [format!("{measure} being sent"), format!("{measure} awaiting receipt")] {
                prop_assert_eq!(numbers(&status, &heading).iter().sum::<f64>(), pending[index] as f64);
            }
        }
    }
}
