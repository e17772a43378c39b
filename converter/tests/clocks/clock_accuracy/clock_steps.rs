//! Clock steps are found, by messages or by readings, and drift is no step.

use tumit_converter::clock::CorrectionMethod;
use tumit_paje::diagnostic_texts;
use tumit_test_support::clock_truth::{BurstSchedule, ClockRunParameters, judge, options};

use super::in_order;

#[test]
fn a_clock_step_is_reported_and_corrected() {
    for step_nanos in [5e6, -5e6] {
        let parameters = ClockRunParameters {
            step_nanos,
            links: 8000,
            seconds: 20.0,
            bursts: BurstSchedule::None,
            ..ClockRunParameters::default()
        };
        let verdict = in_order("a step", &parameters);
        let steps = &verdict.report.clocks.domains[1].clock_steps;
        assert_eq!(steps.len(), 1, "{steps:?}");
        assert!(
            (steps[0].timestamp as f64 - 10e9).abs() < 0.3e9 && (steps[0].size as f64 - step_nanos).abs() < 60e3,
            "{steps:?}"
        );
        assert!(verdict.report.errors().iter().any(|error| error.text.contains("was stepped by")));
        assert!(verdict.median <= 100 && verdict.max <= 10_000, "{} {}", verdict.median, verdict.max);
    }
}

#[test]
fn readings_of_the_own_process_show_a_clock_step() {
    // Without messages, or with messages in one direction only, the other processes cannot detect
    // the step.
    let traffic =
        [(0, false, BurstSchedule::Both), (4000, true, BurstSchedule::None), (4000, false, BurstSchedule::Many(5))];
    for (step_nanos, (links, one_way, bursts)) in
        [5e6, -5e6, 700e6].into_iter().flat_map(|step| traffic.map(|traffic| (step, traffic)))
    {
        let parameters = ClockRunParameters {
            step_nanos,
            links,
            one_way,
            bursts,
            readings: true,
            moments: 8000,
            ..ClockRunParameters::default()
        };
        let parameters = ClockRunParameters { nodes: 4, per_node: 2, seconds: 20.0, ..parameters };
        let case = format!("a step of {step_nanos} with {links} links, {bursts:?}");
        let verdict = in_order(&case, &parameters);
        let steps = &verdict.report.clocks.domains[1].clock_steps;
        assert_eq!(steps.len(), 1, "{case}: {steps:?}");
        // Drift within a second cannot be distinguished from a step.
        let (timestamp, size) = (steps[0].timestamp as f64, steps[0].size as f64);
        assert!((timestamp - 10e9).abs() < 0.02e9 && (size - step_nanos).abs() < 60e3, "{case}: {steps:?}");
        let errors = diagnostic_texts(&verdict.report.errors());
        assert!(errors.iter().any(|error| error.contains("was stepped by")), "{case}: {errors:?}");
        assert!(verdict.median <= 40_000, "{case}: {}", verdict.median);
    }
}

#[test]
fn a_backward_clock_step_moves_no_other_clock() {
    for step_nanos in [-5e6, -300e6] {
        let parameters = ClockRunParameters {
            step_nanos,
            links: 8000,
            bursts: BurstSchedule::None,
            readings: true,
            ..ClockRunParameters::default()
        };
        let verdict = in_order(
            "set back",
            &ClockRunParameters { nodes: 4, per_node: 1, seconds: 20.0, moments: 8000, ..parameters },
        );
        // The records of this clock have one timestamp until the clock reaches its former value
        // again. Links that start or end in this time are put in order.
        let others: Vec<_> = verdict.worst.iter().filter(|(process, _)| **process != 1).collect();
        assert!(others.iter().all(|(_, worst)| **worst < 20_000), "{step_nanos}: {others:?}");
    }
}

#[test]
fn no_clock_step_is_reported_without_one() {
    for (wander, drift_ppm) in [(1e-9, 50.0), (1e-7, 300.0)] {
        let parameters = ClockRunParameters {
            wander,
            drift_ppm,
            readings: true,
            links: 2000,
            seconds: 20.0,
            ..ClockRunParameters::default()
        };
        let clocks = in_order("no step", &parameters).report.clocks;
        assert!(clocks.domains.iter().all(|domain| domain.clock_steps.is_empty()), "{clocks:?}");
    }
}

#[test]
fn rates_that_change_each_minute_are_no_steps() {
    for (seed, seconds, links) in [(1, 600.0, 3000), (2, 3600.0, 6000), (3, 1200.0, 2000)] {
        let parameters = ClockRunParameters {
            slewed_ppm: 20.0,
            seconds,
            links,
            seed,
            nodes: 3,
            per_node: 1,
            ..ClockRunParameters::default()
        };
        let verdict = in_order("rates change", &ClockRunParameters { bursts: BurstSchedule::None, ..parameters });
        assert!(verdict.report.clocks.domains.iter().all(|domain| domain.clock_steps.is_empty()), "{seed}");
    }
}

#[test]
fn a_step_of_the_real_time_clock_is_no_suspension() {
    for step_nanos in [5e6, -5e6, 0.7e9, -3e9] {
        let parameters = ClockRunParameters {
            step_nanos,
            links: 8000,
            bursts: BurstSchedule::None,
            readings: true,
            ..ClockRunParameters::default()
        };
        let parameters =
            ClockRunParameters { nodes: 3, per_node: 1, seconds: 20.0, moments: 500, real_time: true, ..parameters };
        let verdict = in_order("a real-time clock", &parameters);
        let steps = &verdict.report.clocks.domains[1].clock_steps;
        let all: i64 = steps.iter().map(|step| step.size).sum();
        assert!((all as f64 / step_nanos - 1.0).abs() < 0.05, "{step_nanos}: {steps:?}");
        assert!(verdict.median <= 40_000, "{step_nanos}: {}", verdict.median);
        // The step is also found without messages.
        let samples_only = judge(&ClockRunParameters { links: 0, ..parameters }, &options(CorrectionMethod::Graph));
        let steps = &samples_only.report.clocks.domains[1].clock_steps;
        assert!(steps.len() == 1 && (steps[0].size as f64 / step_nanos - 1.0).abs() < 0.05, "{step_nanos}: {steps:?}");
    }
}
