//! Wrong and slow samples are left out, and correct ones improve the accuracy.

use tumit_converter::clock::{CorrectionMethod, TimestampSource};
use tumit_converter::run::OpenRun;
use tumit_converter::tools::cut::cut;
use tumit_converter::tools::dump::RecordSelection;
use tumit_converter::tools::sort::sort;
use tumit_paje::diagnostic_texts;
use tumit_paje::time::GlobalNanos;
use tumit_paje::time_range::TimeRange;
use tumit_test_support::clock_truth::{
    BurstSchedule, ClockRunParameters, SampleFault, clocks_alone, judge, options, write,
};

use super::{error_texts, in_order};

/// Three nodes that exchange samples in seven bursts, and no messages.
fn seven_bursts() -> ClockRunParameters {
    let still = ClockRunParameters { nodes: 3, links: 0, moments: 200, seconds: 20.0, ..ClockRunParameters::default() };
    ClockRunParameters { bursts: BurstSchedule::Many(7), ..still }
}

#[test]
fn clock_steps_between_bursts_are_reported_without_messages() {
    let parameters = seven_bursts();
    let honest = judge(&parameters, &options(CorrectionMethod::Graph));
    assert!(honest.report.is_clean(), "{:?}", honest.report.errors());
    for (bursts, step_nanos) in [(7, 1.2e6), (7, -1.2e6), (3, 3e6), (4, -3e6), (4, 0.5e6), (5, -0.3e6)] {
        let stepped = ClockRunParameters { step_nanos, bursts: BurstSchedule::Many(bursts), ..parameters.clone() };
        let errors = diagnostic_texts(&judge(&stepped, &options(CorrectionMethod::Graph)).report.errors());
        assert!(errors.iter().any(|error| error.contains("between two bursts")), "{bursts} {step_nanos}: {errors:?}");
    }
}

/// Steps in the middle are difficult, because most pairs of bursts have the step between them.
#[test]
fn clock_steps_in_the_middle_of_a_long_run_are_reported_without_messages() {
    for (bursts, sample_fault) in
        [5, 6, 8, 10, 12, 20].into_iter().flat_map(|n| [(n, None), (n, Some(SampleFault::Late(1_000_000)))])
    {
        let step_nanos = if sample_fault.is_none() { 1e6 } else { 0.0 };
        let long = ClockRunParameters {
            step_nanos,
            sample_fault,
            bursts: BurstSchedule::Many(bursts),
            seconds: 600.0,
            nodes: 2,
            ..seven_bursts()
        };
        let report = judge(&long, &options(CorrectionMethod::Graph)).report;
        let errors = diagnostic_texts(&report.errors());
        assert!(
            errors.iter().any(|error| error.contains("between two bursts")),
            "{bursts} {sample_fault:?}: {errors:?}"
        );
        assert!(!report.is_clean());
    }
}

#[test]
fn four_or_five_bursts_show_which_of_them_is_wrong() {
    for bursts in [4, 5] {
        let seconds = 60.0;
        let sample_fault = Some(SampleFault::Once(500_000));
        let few = ClockRunParameters {
            sample_fault,
            seconds,
            bursts: BurstSchedule::Many(bursts),
            nodes: 2,
            ..seven_bursts()
        };
        let verdict = judge(&few, &options(CorrectionMethod::Graph));
        let errors = diagnostic_texts(&verdict.report.errors());
        assert!(errors.len() == 1 && errors[0].ends_with("not used"), "{bursts}: {errors:?}");
        assert!(verdict.max < 3000, "{bursts}: {} {errors:?}", verdict.max);
    }
}

#[test]
fn wrong_samples_do_not_change_the_accuracy_with_or_without_messages() {
    let (once, some) = (SampleFault::Once(1_000_000), SampleFault::EveryThird(3_000_000));
    let faults = [
        once,
        some,
        SampleFault::Middle(200_000),
        SampleFault::First(200_000),
        SampleFault::First(-1_000_000),
        SampleFault::Last(200_000),
    ];
    for (sample_fault, links, nodes) in faults
        .into_iter()
        .flat_map(|sample_fault| [(sample_fault, 0, 2), (sample_fault, 6000, 2), (sample_fault, 6000, 3)])
    {
        let parameters = ClockRunParameters {
            nodes,
            sample_fault: Some(sample_fault),
            links,
            bursts: BurstSchedule::Many(9),
            ..seven_bursts()
        };
        let verdict = judge(&parameters, &options(CorrectionMethod::Graph));
        let errors = diagnostic_texts(&verdict.report.errors());
        assert!(
            errors.len() < nodes && errors.iter().all(|error| error.contains("not used")),
            "{sample_fault:?}: {errors:?}"
        );
        assert!(verdict.max < 3000, "{sample_fault:?} {links}: {} {errors:?}", verdict.max);
        let certain = verdict.report.clocks.domains.iter().map(|domain| domain.error_bound_nanos);
        assert!(certain.clone().all(|bound| bound.is_some()), "{sample_fault:?} {links}: {certain:?}");
    }
}

#[test]
fn wrong_samples_between_two_clocks_are_found_by_other_clocks() {
    let bursts = BurstSchedule::Many(3);
    let parameters = ClockRunParameters {
        links: 0,
        moments: 200,
        bursts,
        sample_fault: Some(SampleFault::Later(1_000_000)),
        ..ClockRunParameters::default()
    };
    // Eight clocks have other paths.
    let verdict =
        judge(&ClockRunParameters { nodes: 8, per_node: 1, ..parameters.clone() }, &options(CorrectionMethod::Graph));
    let errors = diagnostic_texts(&verdict.report.errors());
    let message = "sync samples of 3 bursts between clocks `node 0` and `node 1` differ by";
    assert!(errors.len() == 1 && errors[0].contains(message) && errors[0].ends_with("not used"), "{errors:?}");
    assert!(verdict.max < 3000, "{}", verdict.max);
    // Four clocks have a single loop.
    let errors = diagnostic_texts(
        &judge(&ClockRunParameters { nodes: 4, per_node: 1, ..parameters }, &options(CorrectionMethod::Graph))
            .report
            .errors(),
    );
    let message = "between clocks `node 0` and `node 1`, `node 0` and `node 2`, `node 1` and `node 3` or `node 2` and `node 3` are wrong";
    assert!(
        errors.len() == 1 && errors[0].contains(message) && errors[0].contains("it is unknown which of them"),
        "{errors:?}"
    );
}

#[test]
fn messages_show_which_of_few_bursts_is_wrong() {
    let parameters = ClockRunParameters {
        per_node: 1,
        links: 6000,
        seconds: 4.0,
        bursts: BurstSchedule::Many(3),
        ..ClockRunParameters::default()
    };
    for (nodes, one_way) in [(2, false), (3, true)] {
        for sample_fault in [
            SampleFault::First(200_000),
            SampleFault::First(-1_000_000),
            SampleFault::Last(-200_000),
            SampleFault::Last(5_000_000),
        ] {
            let parameters =
                ClockRunParameters { nodes, one_way, sample_fault: Some(sample_fault), ..parameters.clone() };
            let verdict = in_order("three bursts", &parameters);
            let errors = diagnostic_texts(&verdict.report.errors());
            assert!(!errors.is_empty(), "{nodes} {sample_fault:?}");
            assert!(errors.iter().all(|error| error.contains("not used")), "{nodes} {sample_fault:?}: {errors:?}");
            assert!(verdict.max < 2000, "{nodes} {sample_fault:?}: {} {errors:?}", verdict.max);
            // The correct samples are still used.
            let domain = &verdict.report.clocks.domains[1];
            assert_eq!(
                (domain.status, domain.bursts),
                (TimestampSource::BurstsAndMessages, 2),
                "{nodes} {sample_fault:?}: {errors:?}"
            );
        }
    }
}

#[test]
fn bursts_slow_in_one_direction_have_little_weight_and_are_no_errors() {
    for nanos in [50_000, 200_000] {
        let sample_fault = Some(SampleFault::Slow(nanos));
        let parameters = ClockRunParameters {
            nodes: 2,
            links: 6000,
            seconds: 20.0,
            bursts: BurstSchedule::Many(6),
            sample_fault,
            ..ClockRunParameters::default()
        };
        let verdict = in_order("slow bursts", &parameters);
        let report = &verdict.report;
        assert!(
            report.is_clean() && report.diagnostics.is_empty(),
            "{nanos}: {:?} {:?}",
            report.errors(),
            report.diagnostics
        );
        verdict.check("slow bursts", 150, 500);
        let samples_only =
            judge(&ClockRunParameters { links: 0, moments: 500, ..parameters }, &options(CorrectionMethod::Graph));
        assert!(
            samples_only.report.is_clean() && samples_only.max < 2000,
            "{nanos}: {} {:?}",
            samples_only.max,
            samples_only.report.errors()
        );
    }
}

#[test]
fn a_slow_burst_at_an_end_moves_no_timestamps() {
    for (bursts, nodes) in [(3, 2), (4, 3), (9, 4)] {
        for sample_fault in
            [SampleFault::SlowFirst(1_000_000), SampleFault::SlowLast(1_000_000), SampleFault::SlowFirst(60_000)]
        {
            for links in [0, 6000] {
                let sample_fault = Some(sample_fault);
                let many = BurstSchedule::Many(bursts);
                let parameters = ClockRunParameters {
                    nodes,
                    sample_fault,
                    links,
                    moments: 500,
                    seconds: 20.0,
                    bursts: many,
                    ..ClockRunParameters::default()
                };
                let verdict = judge(&parameters, &options(CorrectionMethod::Graph));
                let errors = diagnostic_texts(&verdict.report.errors());
                assert!(verdict.report.is_clean(), "{bursts} {nodes} {sample_fault:?} {links}: {errors:?}");
                assert!(verdict.max < 3000, "{bursts} {nodes} {sample_fault:?} {links}: {} {errors:?}", verdict.max);
            }
        }
    }
}

/// In a burst that lasts a second, clocks drift by fifty microseconds, more than the tolerance for
/// wrong samples.
#[test]
fn clocks_drift_while_a_slow_burst_lasts() {
    for sample_fault in
        [SampleFault::SlowLast(100_000_000), SampleFault::SlowFirst(100_000_000), SampleFault::Slow(300_000_000)]
    {
        for (nodes, bursts) in [(2, 6), (4, 10), (8, 5)] {
            let (sample_fault, bursts) = (Some(sample_fault), BurstSchedule::Many(bursts));
            let parameters = ClockRunParameters {
                nodes,
                sample_fault,
                bursts,
                links: 0,
                moments: 500,
                seconds: 100.0,
                ..ClockRunParameters::default()
            };
            let verdict = judge(&parameters, &options(CorrectionMethod::Graph));
            let errors = diagnostic_texts(&verdict.report.errors());
            assert!(verdict.report.is_clean(), "{nodes} {sample_fault:?}: {errors:?}");
            assert!(verdict.max < 5000, "{nodes} {sample_fault:?}: {} {errors:?}", verdict.max);
        }
    }
}

#[test]
fn samples_with_missing_processes_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    write(
        &ClockRunParameters { nodes: 4, per_node: 1, links: 0, moments: 20, ..ClockRunParameters::default() },
        folder.path(),
    );
    let mut run = OpenRun::open(folder.path()).unwrap();
    assert_eq!(run.processes.len(), 4);
    // The second and the third process have samples with the fourth. The samples of the first
    // process are in its own file.
    run.processes.retain(|process| process.rank == Some(1) || process.rank == Some(2));
    let clocks = tumit_converter::clock::RunClocks::new(&run, CorrectionMethod::Graph);
    assert_eq!(clocks.domains[1].status, TimestampSource::RealTime);
    let message = "has 20 sync samples, all with processes that are not in the run";
    assert!(clocks.diagnostics.iter().any(|diagnostic| diagnostic.text.contains(message)), "{:?}", clocks.diagnostics);
}

#[test]
fn wrong_samples_are_reported_and_ignored() {
    let honest = ClockRunParameters { nodes: 4, links: 6000, seconds: 20.0, ..ClockRunParameters::default() };
    for sample_fault in [
        SampleFault::Later(5_000_000),
        SampleFault::Later(-40_000_000),
        SampleFault::Always(77),
        SampleFault::Always(1 << 63),
    ] {
        let verdict =
            in_order("a wrong sample", &ClockRunParameters { sample_fault: Some(sample_fault), ..honest.clone() });
        let errors = diagnostic_texts(&verdict.report.errors());
        let named =
            errors.iter().any(|error| error.contains("are impossible") || error.contains("contradict the messages"));
        assert!(named, "{sample_fault:?}: {errors:?}");
        assert!(verdict.median <= 150 && verdict.max <= 500, "{sample_fault:?}: {} {}", verdict.median, verdict.max);
        // A sort reports it, too, because it can no longer be found in the sorted run.
        let folder = tempfile::tempdir().unwrap();
        write(&ClockRunParameters { sample_fault: Some(sample_fault), ..honest.clone() }, folder.path());
        let sorted =
            sort(&OpenRun::open(folder.path()).unwrap(), &options(CorrectionMethod::Graph), Vec::new()).unwrap();
        assert_eq!(error_texts(&sorted.diagnostics), errors, "{sample_fault:?}");
        // A cut by a time range reports it, too, because its ends are timestamps.
        let mut first = RecordSelection::default();
        first.times.push(TimeRange { from: GlobalNanos(0), to: GlobalNanos(1_000_000_000) }.into());
        let (run, method) = (OpenRun::open(folder.path()).unwrap(), options(CorrectionMethod::Graph));
        let of_cut = |selection: &RecordSelection, name| {
            diagnostic_texts(&cut(&run, &method, selection, &folder.path().join(name)).unwrap().errors)
        };
        assert_eq!(of_cut(&first, "first.tmt"), errors, "{sample_fault:?}");
        assert_eq!(of_cut(&RecordSelection::default(), "all.tmt"), [""; 0], "what is cut elsewhere needs no dates");
        // Without messages, values that no clock showed are still not used.
        let samples_only = judge(
            &ClockRunParameters { sample_fault: Some(sample_fault), links: 0, moments: 100, ..honest.clone() },
            &options(CorrectionMethod::Graph),
        );
        assert!(!samples_only.report.is_clean(), "{sample_fault:?}");
        if matches!(sample_fault, SampleFault::Always(_)) {
            assert!(samples_only.max <= 100_000, "{sample_fault:?}: {}", samples_only.max);
        }
    }
    // Wrong samples do not affect the resolution that is found for the clocks.
    let low_resolution =
        ClockRunParameters { nodes: 2, quantum: 3_999_998.7, bursts: BurstSchedule::Many(60), ..honest.clone() };
    for sample_fault in [None, Some(SampleFault::Before(4_999_999))] {
        let domains =
            judge(&ClockRunParameters { sample_fault, ..low_resolution.clone() }, &options(CorrectionMethod::Graph))
                .report
                .clocks
                .domains;
        let ticks: Vec<f64> = domains.iter().map(|domain| domain.resolution_nanos).collect();
        assert!(ticks.iter().all(|tick| (tick - low_resolution.quantum).abs() < 1e3), "{sample_fault:?}: {ticks:?}");
    }
    let verdict = in_order("the truth", &honest);
    assert!(verdict.report.is_clean(), "{:?}", verdict.report.errors());
}

#[test]
fn correct_bursts_far_apart_improve_the_accuracy() {
    for wander in [1e-9, 2e-8] {
        let hour = ClockRunParameters {
            nodes: 4,
            per_node: 1,
            seconds: 3600.0,
            links: 6000,
            wander,
            ..ClockRunParameters::default()
        };
        let without = judge(
            &ClockRunParameters { bursts: BurstSchedule::None, ..hour.clone() },
            &clocks_alone(CorrectionMethod::Graph),
        );
        let with = judge(
            &ClockRunParameters { bursts: BurstSchedule::Many(5), ..hour.clone() },
            &clocks_alone(CorrectionMethod::Graph),
        );
        assert!(with.report.clock_errors().is_empty(), "{:?}", with.report.clock_errors());
        assert!(with.max <= 2 * without.max, "{} with, {} without", with.max, without.max);
        let samples_only = judge(
            &ClockRunParameters { bursts: BurstSchedule::Many(5), links: 0, moments: 100, ..hour },
            &options(CorrectionMethod::Graph),
        );
        assert!(samples_only.report.clock_errors().is_empty(), "{:?}", samples_only.report.clock_errors());
    }
}

#[test]
fn bursts_of_clocks_with_changing_rates_are_used() {
    for seed in 1..=3 {
        let bursts = BurstSchedule::Many(5);
        let parameters = ClockRunParameters {
            slewed_ppm: 20.0,
            seconds: 600.0,
            links: 6000,
            bursts,
            seed,
            nodes: 3,
            ..ClockRunParameters::default()
        };
        let verdict = in_order("rates change, five bursts", &ClockRunParameters { per_node: 1, ..parameters });
        let errors = diagnostic_texts(&verdict.report.clock_errors());
        assert!(!errors.iter().any(|error| error.contains("not used")), "{seed}: {errors:?}");
    }
}

#[test]
fn samples_are_used_if_few_messages_show_changing_rates() {
    for seed in [24, 26, 53] {
        let parameters = ClockRunParameters {
            slewed_ppm: 20.0,
            seconds: 1200.0,
            links: 150,
            bursts: BurstSchedule::Many(5),
            ..ClockRunParameters::default()
        };
        let verdict = judge(
            &ClockRunParameters { nodes: 3, per_node: 1, seed, ..parameters },
            &clocks_alone(CorrectionMethod::Graph),
        );
        let errors = diagnostic_texts(&verdict.report.clock_errors());
        assert!(!errors.iter().any(|error| error.contains("not used")), "{seed}: {errors:?}");
    }
}
