//! Accuracy of corrected timestamps, on short runs with known true timestamps. `cargo bench --bench
//! clock` prints the whole table.

use tumit_converter::clock::{CorrectionMethod, TimestampSource};
use tumit_converter::convert::ConvertError;
use tumit_converter::run::OpenRun;
use tumit_converter::tools::cut::cut;
use tumit_converter::tools::dump::RecordSelection;
use tumit_converter::tools::sort::sort;
use tumit_paje::time::GlobalNanos;
use tumit_paje::time_range::TimeRange;
use tumit_paje::{TraceDiagnostic, diagnostic_texts};
use tumit_test_support::clock_truth::{
    BurstSchedule, ClockScene, SampleFault, TimestampErrors, clocks_alone, judge, judge_run, options, write,
};

#[test]
fn a_generated_run_has_the_errors_of_its_scene() {
    let scene = ClockScene { links: 3000, seconds: 10.0, ..ClockScene::default() };
    let raw = judge(&scene, &clocks_alone(CorrectionMethod::None));
    assert_eq!((raw.links, raw.report.counts.links), (3000, 3000));
    assert_eq!(raw.backward, 0);
    // Clocks differ by seconds. Processes with a slow clock receive messages before they are sent.
    assert!(raw.max > 1_000_000_000 && raw.reversed > 500, "{} {}", raw.max, raw.reversed);
    // Perfect clocks need no correction.
    let perfect = ClockScene { offset_seconds: 0.0, drift_ppm: 0.0, wander: 0.0, ..scene };
    let verdict = judge(&perfect, &clocks_alone(CorrectionMethod::None));
    assert_eq!((verdict.max, verdict.reversed), (1, 0), "a nanosecond is lost by rounding down");
}

#[test]
fn bursts_at_both_ends_of_a_short_run() {
    let scene = ClockScene { seconds: 10.0, links: 5000, bursts: BurstSchedule::Both, ..ClockScene::default() };
    let verdict = judge(&scene, &options(CorrectionMethod::Bursts));
    assert!(verdict.median <= 300 && verdict.max <= 1000, "{} {}", verdict.median, verdict.max);
    assert_eq!(verdict.backward, 0);
}

#[test]
fn no_link_is_reversed_however_wrong_the_clocks_are() {
    for (nodes, hz, record_delay) in [(2, 1e9, 0.0), (3, 2.5e9, 0.0), (8, 1e6, 0.0), (8, 1e9, 1e8)] {
        let scene = ClockScene { nodes, hz, record_delay, links: 2000, seconds: 5.0, seed: 7, ..ClockScene::default() };
        for method in [CorrectionMethod::None, CorrectionMethod::Bursts] {
            let verdict = judge(&scene, &options(method));
            verdict.check_order(&format!("{nodes} nodes, {hz} Hz, {record_delay} ns, {method:?}"));
            let found = verdict.report.causality.unwrap();
            assert_eq!((found.links, found.circular), (2000, 0));
            assert_eq!(found.reversed > 100, method == CorrectionMethod::None, "{found:?}");
        }
    }
}

fn error_texts(diagnostics: &[TraceDiagnostic]) -> Vec<String> {
    diagnostics.iter().filter(|found| found.is_error()).map(ToString::to_string).collect()
}

#[test]
fn dump_reports_a_wrong_clock_model_as_a_conversion_does() {
    let scene = ClockScene {
        nodes: 2,
        links: 2000,
        seconds: 5.0,
        sample_fault: Some(SampleFault::Later(5_000_000)),
        ..ClockScene::default()
    };
    let errors = diagnostic_texts(&judge(&scene, &options(CorrectionMethod::Bursts)).report.errors());
    assert!(errors.iter().any(|error| error.contains("model is wrong")), "{errors:?}");
    let folder = tempfile::tempdir().unwrap();
    write(&scene, folder.path());
    let run = OpenRun::open(folder.path()).unwrap();
    let told = tumit_converter::tools::dump::list::<ConvertError>(&run, &options(CorrectionMethod::Bursts), |_| Ok(()))
        .unwrap();
    assert_eq!(error_texts(&told.diagnostics), errors);
}

#[test]
fn the_graph_fit_needs_no_bursts() {
    for bursts in [BurstSchedule::Both, BurstSchedule::First, BurstSchedule::None] {
        let scene = ClockScene { seconds: 60.0, links: 10_000, bursts, ..ClockScene::default() };
        let verdict = judge(&scene, &clocks_alone(CorrectionMethod::Graph));
        // A fifth of the error allowed for five minutes, without the causal pass.
        verdict.check(&format!("{bursts:?}"), 50, 200);
        assert_eq!(verdict.report.clocks.wander, Some(1e-9));
        let status =
            if bursts == BurstSchedule::None { TimestampSource::Messages } else { TimestampSource::BurstsAndMessages };
        let domains = &verdict.report.clocks.domains;
        assert!(domains[1..].iter().all(|domain| domain.status == status && domain.messages > 100), "{domains:?}");
        assert!(verdict.report.clocks.diagnostics.is_empty(), "{:?}", verdict.report.clocks.diagnostics);
    }
}

/// Converts a scene with clocks that cannot be accurate. The order has to be correct in any case.
fn in_order(name: &str, scene: &ClockScene) -> TimestampErrors {
    let verdict = judge(scene, &options(CorrectionMethod::Graph));
    verdict.check_order(name);
    verdict
}

#[test]
fn one_clock_needs_no_fit() {
    let verdict = in_order("one domain", &ClockScene { nodes: 1, links: 2000, ..ClockScene::default() });
    assert_eq!((verdict.max, verdict.report.clocks.wander), (1, None));
}

#[test]
fn two_components_are_joined_by_the_real_time_clock_and_flagged() {
    let scene =
        ClockScene { split: true, links: 4000, seconds: 20.0, bursts: BurstSchedule::None, ..ClockScene::default() };
    let verdict = in_order("two components", &scene);
    assert_eq!(verdict.report.causality.unwrap().reversed, 0, "each is corrected by its own messages");
    let domains = &verdict.report.clocks.domains;
    assert!(domains[1..4].iter().all(|domain| domain.status == TimestampSource::Messages), "{domains:?}");
    assert!(domains[4..].iter().all(|domain| domain.status == TimestampSource::RealTime), "{domains:?}");
    let warnings = &verdict.report.clocks.diagnostics;
    assert_eq!(
        warnings.iter().filter(|warning| warning.text.contains("no messages relate it to the first clock")).count(),
        4,
        "{warnings:?}"
    );
    // Within milliseconds, the accuracy of the real-time clocks.
    assert!(verdict.max < 50_000_000, "{}", verdict.max);
}

#[test]
fn one_way_traffic_is_reported() {
    let scene = ClockScene {
        nodes: 2,
        one_way: true,
        links: 4000,
        seconds: 20.0,
        bursts: BurstSchedule::None,
        ..ClockScene::default()
    };
    // In a ring of two nodes, messages go in both directions. In a ring of three, each node
    // receives from one other node only, but the loop bounds all errors.
    let both = in_order("a ring of two", &scene);
    assert_eq!(both.report.clocks.domains[1].status, TimestampSource::Messages);
    let ring = in_order("a ring of three", &ClockScene { nodes: 3, ..scene.clone() });
    for domain in &ring.report.clocks.domains[1..] {
        assert_eq!(domain.status, TimestampSource::Messages);
        assert!(
            domain.certified_nanos.is_some_and(|bound| bound > ring.max as f64 && bound < 30_000.0),
            "{}",
            ring.max
        );
    }
    let verdict = in_order("one way", &ClockScene { nodes: 3, open: true, ..scene });
    let domains = &verdict.report.clocks.domains;
    assert!(domains[1..].iter().all(|domain| domain.status == TimestampSource::OneWay), "{domains:?}");
    assert!(verdict.report.clocks.diagnostics.iter().any(|found| found.text.contains("one direction only")));
    // The error is the latency of messages.
    assert!(verdict.max < 30_000, "{}", verdict.max);
}

#[test]
fn ticks_of_a_microsecond_give_errors_of_a_few_ticks() {
    let scene =
        ClockScene { hz: 1e6, links: 10_000, seconds: 30.0, bursts: BurstSchedule::None, ..ClockScene::default() };
    let verdict = in_order("1 us ticks", &scene);
    assert!(verdict.median <= 600 && verdict.max <= 3000, "{} {}", verdict.median, verdict.max);
}

#[test]
fn ticks_of_milliseconds_are_no_drift() {
    for seed in 1..6 {
        let scene =
            ClockScene { nodes: 2, quantum: 3_999_998.7, links: 4000, seconds: 0.8, seed, ..ClockScene::default() };
        let diagnostics = judge(&scene, &options(CorrectionMethod::Graph)).report.diagnostics;
        assert!(diagnostics.is_empty(), "{seed}: {diagnostics:?}");
    }
}

#[test]
fn ticks_of_a_tenth_of_a_millisecond_give_errors_of_two_ticks_at_most() {
    let (ticks, stands_still) = ((1e4, 0.0), (1e9, 100_000.3));
    for (bursts, (hz, quantum)) in [
        (BurstSchedule::None, ticks),
        (BurstSchedule::Both, ticks),
        (BurstSchedule::None, stands_still),
        (BurstSchedule::Both, stands_still),
    ] {
        let scene = ClockScene { nodes: 2, hz, quantum, links: 4000, seconds: 4.0, bursts, ..ClockScene::default() };
        let verdict = in_order("100 us ticks", &scene);
        // The causal pass moves many links by a tick at most. These shifts do not add up.
        assert!(verdict.median <= 100_000 && verdict.max <= 250_000, "{} {}", verdict.median, verdict.max);
        let report = verdict.report;
        assert!(report.is_clean() && report.diagnostics.is_empty(), "{:?} {:?}", report.errors(), report.diagnostics);
        let certain = report.clocks.domains[1].certified_nanos.expect("it is heard both ways");
        assert!(certain >= 100_000.0, "{certain}");
        // Samples alone are as accurate, and none is reported as wrong. Records at a regular beat
        // do not show that a clock stands still.
        if quantum > 0.0 {
            continue;
        }
        let scene = ClockScene { links: 0, moments: 2000, ..scene };
        let alone = judge(&scene, &options(CorrectionMethod::Graph));
        assert!(
            alone.report.is_clean() && alone.max <= 250_000 || bursts == BurstSchedule::None,
            "{} {:?}",
            alone.max,
            alone.report.errors()
        );
        let certain = alone.report.clocks.domains[1].certified_nanos;
        assert!(
            certain.is_some_and(|certain| certain >= alone.max as f64) || bursts == BurstSchedule::None,
            "{certain:?} {}",
            alone.max
        );
    }
}

#[test]
fn bad_clocks_are_followed() {
    let scene = ClockScene {
        nodes: 4,
        wander: 1e-7,
        links: 8000,
        seconds: 20.0,
        bursts: BurstSchedule::None,
        ..ClockScene::default()
    };
    let verdict = in_order("wander 1e-7", &scene);
    assert!(verdict.report.clocks.wander > Some(2e-8), "{:?}", verdict.report.clocks.wander);
    assert!(verdict.median <= 500 && verdict.max <= 5000, "{} {}", verdict.median, verdict.max);
}

#[test]
fn a_clock_step_is_reported_and_corrected() {
    for step_nanos in [5e6, -5e6] {
        let scene =
            ClockScene { step_nanos, links: 8000, seconds: 20.0, bursts: BurstSchedule::None, ..ClockScene::default() };
        let verdict = in_order("a step", &scene);
        let sets = &verdict.report.clocks.domains[1].sets;
        assert_eq!(sets.len(), 1, "{sets:?}");
        assert!((sets[0].0 as f64 - 10e9).abs() < 0.3e9 && (sets[0].1 as f64 - step_nanos).abs() < 60e3, "{sets:?}");
        assert!(verdict.report.errors().iter().any(|error| error.text.contains("was stepped by")));
        assert!(verdict.median <= 100 && verdict.max <= 10_000, "{} {}", verdict.median, verdict.max);
    }
}

#[test]
fn readings_of_the_own_process_show_a_clock_step() {
    // Without messages, or with messages in one direction only, the other processes cannot detect
    // the step.
    let heard =
        [(0, false, BurstSchedule::Both), (4000, true, BurstSchedule::None), (4000, false, BurstSchedule::Many(5))];
    for (step_nanos, (links, one_way, bursts)) in
        [5e6, -5e6, 700e6].into_iter().flat_map(|step| heard.map(|heard| (step, heard)))
    {
        let scene =
            ClockScene { step_nanos, links, one_way, bursts, readings: true, moments: 8000, ..ClockScene::default() };
        let scene = ClockScene { nodes: 4, per_node: 2, seconds: 20.0, ..scene };
        let what = format!("a step of {step_nanos} with {links} links, {bursts:?}");
        let verdict = in_order(&what, &scene);
        let sets = &verdict.report.clocks.domains[1].sets;
        assert_eq!(sets.len(), 1, "{what}: {sets:?}");
        // Drift within a second cannot be distinguished from a step.
        let (date, by) = (sets[0].0 as f64, sets[0].1 as f64);
        assert!((date - 10e9).abs() < 0.02e9 && (by - step_nanos).abs() < 60e3, "{what}: {sets:?}");
        let errors = diagnostic_texts(&verdict.report.errors());
        assert!(errors.iter().any(|error| error.contains("was stepped by")), "{what}: {errors:?}");
        assert!(verdict.median <= 40_000, "{what}: {}", verdict.median);
    }
}

#[test]
fn a_backward_clock_step_moves_no_other_clock() {
    for step_nanos in [-5e6, -300e6] {
        let scene = ClockScene {
            step_nanos,
            links: 8000,
            bursts: BurstSchedule::None,
            readings: true,
            ..ClockScene::default()
        };
        let verdict =
            in_order("set back", &ClockScene { nodes: 4, per_node: 1, seconds: 20.0, moments: 8000, ..scene });
        // The records of this clock have one timestamp until the clock reaches its former value
        // again. Links that start or end in this time are put in order.
        let others: Vec<_> = verdict.worst.iter().filter(|(process, _)| **process != 1).collect();
        assert!(others.iter().all(|(_, worst)| **worst < 20_000), "{step_nanos}: {others:?}");
    }
}

#[test]
fn wrong_bursts_and_clock_steps_are_reported_without_messages() {
    let still = ClockScene { nodes: 3, links: 0, moments: 200, seconds: 20.0, ..ClockScene::default() };
    let scene = ClockScene { bursts: BurstSchedule::Many(7), ..still };
    let honest = judge(&scene, &options(CorrectionMethod::Graph));
    assert!(honest.report.is_clean(), "{:?}", honest.report.errors());
    for (bursts, step_nanos) in [(7, 1.2e6), (7, -1.2e6), (3, 3e6), (4, -3e6), (4, 0.5e6), (5, -0.3e6)] {
        let stepped = ClockScene { step_nanos, bursts: BurstSchedule::Many(bursts), ..scene.clone() };
        let errors = diagnostic_texts(&judge(&stepped, &options(CorrectionMethod::Graph)).report.errors());
        assert!(errors.iter().any(|error| error.contains("between two bursts")), "{bursts} {step_nanos}: {errors:?}");
    }
    // Steps in the middle are difficult, because most pairs of bursts have the step between them.
    for (bursts, sample_fault) in
        [5, 6, 8, 10, 12, 20].into_iter().flat_map(|n| [(n, None), (n, Some(SampleFault::Late(1_000_000)))])
    {
        let step_nanos = if sample_fault.is_none() { 1e6 } else { 0.0 };
        let long = ClockScene {
            step_nanos,
            sample_fault,
            bursts: BurstSchedule::Many(bursts),
            seconds: 600.0,
            nodes: 2,
            ..scene.clone()
        };
        let report = judge(&long, &options(CorrectionMethod::Graph)).report;
        let errors = diagnostic_texts(&report.errors());
        assert!(
            errors.iter().any(|error| error.contains("between two bursts")),
            "{bursts} {sample_fault:?}: {errors:?}"
        );
        assert!(!report.is_clean());
    }
    // Four or five bursts agree well enough to find the wrong one.
    for bursts in [4, 5] {
        let seconds = 60.0;
        let sample_fault = Some(SampleFault::Once(500_000));
        let few = ClockScene { sample_fault, seconds, bursts: BurstSchedule::Many(bursts), nodes: 2, ..scene.clone() };
        let verdict = judge(&few, &options(CorrectionMethod::Graph));
        let errors = diagnostic_texts(&verdict.report.errors());
        assert!(errors.len() == 1 && errors[0].ends_with("not used"), "{bursts}: {errors:?}");
        assert!(verdict.max < 3000, "{bursts}: {} {errors:?}", verdict.max);
    }
    // With and without messages, wrong samples are not used, and the result is as accurate as
    // without them.
    let (once, some) = (SampleFault::Once(1_000_000), SampleFault::EveryThird(3_000_000));
    let lies = [
        once,
        some,
        SampleFault::Middle(200_000),
        SampleFault::First(200_000),
        SampleFault::First(-1_000_000),
        SampleFault::Last(200_000),
    ];
    for (sample_fault, links, nodes) in lies
        .into_iter()
        .flat_map(|sample_fault| [(sample_fault, 0, 2), (sample_fault, 6000, 2), (sample_fault, 6000, 3)])
    {
        let scene = ClockScene {
            nodes,
            sample_fault: Some(sample_fault),
            links,
            bursts: BurstSchedule::Many(9),
            ..scene.clone()
        };
        let verdict = judge(&scene, &options(CorrectionMethod::Graph));
        let errors = diagnostic_texts(&verdict.report.errors());
        assert!(
            errors.len() < nodes && errors.iter().all(|error| error.contains("not used")),
            "{sample_fault:?}: {errors:?}"
        );
        assert!(verdict.max < 3000, "{sample_fault:?} {links}: {} {errors:?}", verdict.max);
        let certain = verdict.report.clocks.domains.iter().map(|domain| domain.certified_nanos);
        assert!(certain.clone().all(|bound| bound.is_some()), "{sample_fault:?} {links}: {certain:?}");
    }
}

#[test]
fn wrong_samples_between_two_clocks_are_found_by_other_clocks() {
    let bursts = BurstSchedule::Many(3);
    let scene = ClockScene {
        links: 0,
        moments: 200,
        bursts,
        sample_fault: Some(SampleFault::Later(1_000_000)),
        ..ClockScene::default()
    };
    // Eight clocks have other paths.
    let verdict = judge(&ClockScene { nodes: 8, per_node: 1, ..scene.clone() }, &options(CorrectionMethod::Graph));
    let errors = diagnostic_texts(&verdict.report.errors());
    let told = "sync samples of 3 bursts between clocks `node 0` and `node 1` differ by";
    assert!(errors.len() == 1 && errors[0].contains(told) && errors[0].ends_with("not used"), "{errors:?}");
    assert!(verdict.max < 3000, "{}", verdict.max);
    // Four clocks have a single loop.
    let errors = diagnostic_texts(
        &judge(&ClockScene { nodes: 4, per_node: 1, ..scene }, &options(CorrectionMethod::Graph)).report.errors(),
    );
    let told = "between clocks `node 0` and `node 1`, `node 0` and `node 2`, `node 1` and `node 3` or `node 2` and `node 3` are wrong";
    assert!(
        errors.len() == 1 && errors[0].contains(told) && errors[0].contains("it is unknown which of them"),
        "{errors:?}"
    );
}

#[test]
fn messages_show_which_of_few_bursts_is_wrong() {
    let scene =
        ClockScene { per_node: 1, links: 6000, seconds: 4.0, bursts: BurstSchedule::Many(3), ..ClockScene::default() };
    for (nodes, one_way) in [(2, false), (3, true)] {
        for sample_fault in [
            SampleFault::First(200_000),
            SampleFault::First(-1_000_000),
            SampleFault::Last(-200_000),
            SampleFault::Last(5_000_000),
        ] {
            let scene = ClockScene { nodes, one_way, sample_fault: Some(sample_fault), ..scene.clone() };
            let verdict = in_order("three bursts", &scene);
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
        let scene = ClockScene {
            nodes: 2,
            links: 6000,
            seconds: 20.0,
            bursts: BurstSchedule::Many(6),
            sample_fault,
            ..ClockScene::default()
        };
        let verdict = in_order("slow bursts", &scene);
        let report = &verdict.report;
        assert!(
            report.is_clean() && report.diagnostics.is_empty(),
            "{nanos}: {:?} {:?}",
            report.errors(),
            report.diagnostics
        );
        verdict.check("slow bursts", 150, 500);
        let alone = judge(&ClockScene { links: 0, moments: 500, ..scene }, &options(CorrectionMethod::Graph));
        assert!(alone.report.is_clean() && alone.max < 2000, "{nanos}: {} {:?}", alone.max, alone.report.errors());
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
                let scene = ClockScene {
                    nodes,
                    sample_fault,
                    links,
                    moments: 500,
                    seconds: 20.0,
                    bursts: many,
                    ..ClockScene::default()
                };
                let verdict = judge(&scene, &options(CorrectionMethod::Graph));
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
            let scene = ClockScene {
                nodes,
                sample_fault,
                bursts,
                links: 0,
                moments: 500,
                seconds: 100.0,
                ..ClockScene::default()
            };
            let verdict = judge(&scene, &options(CorrectionMethod::Graph));
            let errors = diagnostic_texts(&verdict.report.errors());
            assert!(verdict.report.is_clean(), "{nodes} {sample_fault:?}: {errors:?}");
            assert!(verdict.max < 5000, "{nodes} {sample_fault:?}: {} {errors:?}", verdict.max);
        }
    }
}

#[test]
fn samples_with_missing_processes_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    write(&ClockScene { nodes: 4, per_node: 1, links: 0, moments: 20, ..ClockScene::default() }, folder.path());
    let mut run = OpenRun::open(folder.path()).unwrap();
    assert_eq!(run.processes.len(), 4);
    // The second and the third process have samples with the fourth. The samples of the first
    // process are in its own file.
    run.processes.retain(|process| process.rank == Some(1) || process.rank == Some(2));
    let clocks = tumit_converter::clock::RunClocks::new(&run, CorrectionMethod::Graph);
    assert_eq!(clocks.domains[1].status, TimestampSource::RealTime);
    let told = "has 20 sync samples, all with processes that are not in the run";
    assert!(clocks.diagnostics.iter().any(|found| found.text.contains(told)), "{:?}", clocks.diagnostics);
}

#[test]
fn no_clock_step_is_reported_without_one() {
    for (wander, drift_ppm) in [(1e-9, 50.0), (1e-7, 300.0)] {
        let scene =
            ClockScene { wander, drift_ppm, readings: true, links: 2000, seconds: 20.0, ..ClockScene::default() };
        let clocks = in_order("no step", &scene).report.clocks;
        assert!(clocks.domains.iter().all(|domain| domain.sets.is_empty()), "{clocks:?}");
    }
}

#[test]
fn wrong_samples_are_reported_and_ignored() {
    let honest = ClockScene { nodes: 4, links: 6000, seconds: 20.0, ..ClockScene::default() };
    for sample_fault in [
        SampleFault::Later(5_000_000),
        SampleFault::Later(-40_000_000),
        SampleFault::Always(77),
        SampleFault::Always(1 << 63),
    ] {
        let verdict = in_order("a wrong sample", &ClockScene { sample_fault: Some(sample_fault), ..honest.clone() });
        let errors = diagnostic_texts(&verdict.report.errors());
        let named =
            errors.iter().any(|error| error.contains("are impossible") || error.contains("contradict the messages"));
        assert!(named, "{sample_fault:?}: {errors:?}");
        assert!(verdict.median <= 150 && verdict.max <= 500, "{sample_fault:?}: {} {}", verdict.median, verdict.max);
        // A sort reports it, too, because it can no longer be found in the sorted run.
        let folder = tempfile::tempdir().unwrap();
        write(&ClockScene { sample_fault: Some(sample_fault), ..honest.clone() }, folder.path());
        let sorted =
            sort(&OpenRun::open(folder.path()).unwrap(), &options(CorrectionMethod::Graph), Vec::new()).unwrap();
        assert_eq!(error_texts(&sorted.1), errors, "{sample_fault:?}");
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
        let alone = judge(
            &ClockScene { sample_fault: Some(sample_fault), links: 0, moments: 100, ..honest.clone() },
            &options(CorrectionMethod::Graph),
        );
        assert!(!alone.report.is_clean(), "{sample_fault:?}");
        if matches!(sample_fault, SampleFault::Always(_)) {
            assert!(alone.max <= 100_000, "{sample_fault:?}: {}", alone.max);
        }
    }
    // Wrong samples do not affect the resolution that is found for the clocks.
    let coarse = ClockScene { nodes: 2, quantum: 3_999_998.7, bursts: BurstSchedule::Many(60), ..honest.clone() };
    for sample_fault in [None, Some(SampleFault::Before(4_999_999))] {
        let domains = judge(&ClockScene { sample_fault, ..coarse.clone() }, &options(CorrectionMethod::Graph))
            .report
            .clocks
            .domains;
        let ticks: Vec<f64> = domains.iter().map(|domain| domain.granularity_nanos).collect();
        assert!(ticks.iter().all(|tick| (tick - coarse.quantum).abs() < 1e3), "{sample_fault:?}: {ticks:?}");
    }
    let verdict = in_order("the truth", &honest);
    assert!(verdict.report.is_clean(), "{:?}", verdict.report.errors());
}

#[test]
fn messages_in_a_thousandth_of_the_run_are_used() {
    let scene =
        ClockScene { nodes: 3, links: 300, seconds: 60.0, window: (0.4, 0.401), moments: 100, ..ClockScene::default() };
    for bursts in [BurstSchedule::None, BurstSchedule::First] {
        let scene = ClockScene { bursts, ..scene.clone() };
        let verdict = in_order("a short talk", &scene);
        let domains = &verdict.report.clocks.domains;
        assert!(domains[1..].iter().all(|domain| domain.messages > 0), "{domains:?}");
        // Nothing shows the drift before and after the messages, so the reported bound has to be
        // large.
        let certain = domains.iter().filter_map(|domain| domain.certified_nanos).fold(0.0, f64::max);
        assert!((verdict.max as f64) < certain, "{} {certain}", verdict.max);
        assert!(verdict.max < 1_000_000, "{bursts:?}: {}", verdict.max);
    }
    let verdict = in_order("and samples at both ends", &ClockScene { bursts: BurstSchedule::Both, ..scene });
    verdict.check("and samples at both ends", 200, 1000);
}

#[test]
fn few_messages() {
    let scene = ClockScene {
        nodes: 4,
        per_node: 1,
        links: 60,
        seconds: 30.0,
        bursts: BurstSchedule::None,
        ..ClockScene::default()
    };
    let verdict = in_order("sixty messages", &scene);
    assert!(verdict.max <= 100_000, "{}", verdict.max);
}

#[test]
fn many_processes() {
    let scene = ClockScene {
        nodes: 64,
        per_node: 4,
        links: 12_000,
        seconds: 10.0,
        bursts: BurstSchedule::First,
        ..ClockScene::default()
    };
    let verdict = in_order("256 processes", &scene);
    assert!(verdict.median <= 500 && verdict.max <= 5000, "{} {}", verdict.median, verdict.max);
}

#[test]
fn processes_of_one_node_whose_counters_disagree_get_clocks_of_their_own() {
    let scene =
        ClockScene { nodes: 2, per_node: 2, disagree_nanos: 20e3, links: 6000, seconds: 10.0, ..ClockScene::default() };
    let verdict = in_order("counters that disagree", &ClockScene { bursts: BurstSchedule::None, ..scene });
    let clocks = &verdict.report.clocks;
    assert_eq!(clocks.domains.len(), 4);
    assert!(clocks.diagnostics.iter().any(|found| found.text.contains("disagree")), "{:?}", clocks.diagnostics);
    assert!(
        clocks.domains[1..].iter().all(|domain| domain.status == TimestampSource::Messages),
        "{:?}",
        clocks.domains
    );
    assert!(verdict.median <= 100 && verdict.max <= 300, "{} {}", verdict.median, verdict.max);
}

#[test]
fn an_affine_change_of_the_clocks_hardly_moves_timestamps() {
    let scene =
        ClockScene { nodes: 4, links: 6000, seconds: 20.0, bursts: BurstSchedule::None, ..ClockScene::default() };
    let one = in_order("as they are", &scene);
    let other = in_order("changed", &ClockScene { offset_seconds: 0.7, drift_ppm: -20.0, ..scene });
    assert_eq!(one.errors.len(), other.errors.len());
    let most = one.errors.iter().zip(&other.errors).map(|(one, other)| (one - other).abs()).max();
    assert!(most <= Some(20), "{most:?} ns");
}

#[test]
fn a_node_that_begins_late() {
    let scene = ClockScene {
        nodes: 4,
        late: true,
        links: 6000,
        seconds: 20.0,
        bursts: BurstSchedule::First,
        ..ClockScene::default()
    };
    let verdict = in_order("late", &scene);
    assert!(verdict.median <= 100 && verdict.max <= 300, "{} {}", verdict.median, verdict.max);
}

#[test]
fn a_file_that_ends_early() {
    let folder = tempfile::tempdir().unwrap();
    let scene =
        ClockScene { nodes: 4, links: 20_000, seconds: 20.0, bursts: BurstSchedule::None, ..ClockScene::default() };
    write(&scene, folder.path());
    let file = folder.path().join("005.tmt");
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let verdict = judge_run(folder.path(), &options(CorrectionMethod::Graph));
    verdict.check("cut short", 100, 300);
    let counts = verdict.report.counts;
    assert!(counts.unmatched_starts > 100 && counts.unmatched_ends > 100, "{counts:?}");
}

/// A bulk-synchronous program. Of the two directions between neighbours, one always waits. A round
/// trip of single messages therefore takes milliseconds.
#[test]
fn waiting_for_neighbours_does_not_hide_the_network() {
    let ring = ClockScene {
        halo: Some(0.02),
        per_node: 1,
        seconds: 120.0,
        bursts: BurstSchedule::None,
        ..ClockScene::default()
    };
    for (links, seed) in [(1600, 1), (4000, 3)] {
        let verdict = judge(&ClockScene { links, seed, ..ring.clone() }, &clocks_alone(CorrectionMethod::Graph));
        verdict.check(&format!("{links} links, seed {seed}"), 130, 600);
        assert!(verdict.report.is_clean() && verdict.report.diagnostics.is_empty(), "{:?}", verdict.report.errors());
    }
    for step_nanos in [5e6, -5e6] {
        let stepped = ClockScene { step_nanos, links: 3200, nodes: 5, ..ring.clone() };
        let verdict = in_order("a step in a ring", &stepped);
        let sets = &verdict.report.clocks.domains[1].sets;
        assert!(sets.len() == 1 && (sets[0].1 as f64 / step_nanos - 1.0).abs() < 0.01, "{sets:?}");
        assert!(verdict.median <= 200, "{}", verdict.median);
    }
}

#[test]
fn correct_bursts_far_apart_improve_the_accuracy() {
    for wander in [1e-9, 2e-8] {
        let hour = ClockScene { nodes: 4, per_node: 1, seconds: 3600.0, links: 6000, wander, ..ClockScene::default() };
        let without =
            judge(&ClockScene { bursts: BurstSchedule::None, ..hour.clone() }, &clocks_alone(CorrectionMethod::Graph));
        let with = judge(
            &ClockScene { bursts: BurstSchedule::Many(5), ..hour.clone() },
            &clocks_alone(CorrectionMethod::Graph),
        );
        assert!(with.report.clock_errors().is_empty(), "{:?}", with.report.clock_errors());
        assert!(with.max <= 2 * without.max, "{} with, {} without", with.max, without.max);
        let alone = judge(
            &ClockScene { bursts: BurstSchedule::Many(5), links: 0, moments: 100, ..hour },
            &options(CorrectionMethod::Graph),
        );
        assert!(alone.report.clock_errors().is_empty(), "{:?}", alone.report.clock_errors());
    }
}

#[test]
fn rates_that_change_each_minute_are_no_steps() {
    for (seed, seconds, links) in [(1, 600.0, 3000), (2, 3600.0, 6000), (3, 1200.0, 2000)] {
        let scene =
            ClockScene { slewed_ppm: 20.0, seconds, links, seed, nodes: 3, per_node: 1, ..ClockScene::default() };
        let verdict = in_order("rates change", &ClockScene { bursts: BurstSchedule::None, ..scene });
        assert!(verdict.report.clocks.domains.iter().all(|domain| domain.sets.is_empty()), "{seed}");
    }
}

#[test]
fn bursts_of_clocks_with_changing_rates_are_used() {
    for seed in 1..=3 {
        let bursts = BurstSchedule::Many(5);
        let scene = ClockScene {
            slewed_ppm: 20.0,
            seconds: 600.0,
            links: 6000,
            bursts,
            seed,
            nodes: 3,
            ..ClockScene::default()
        };
        let verdict = in_order("rates change, five bursts", &ClockScene { per_node: 1, ..scene });
        let errors = diagnostic_texts(&verdict.report.clock_errors());
        assert!(!errors.iter().any(|error| error.contains("not used")), "{seed}: {errors:?}");
    }
}

#[test]
fn samples_are_used_if_few_messages_show_changing_rates() {
    for seed in [24, 26, 53] {
        let scene = ClockScene {
            slewed_ppm: 20.0,
            seconds: 1200.0,
            links: 150,
            bursts: BurstSchedule::Many(5),
            ..ClockScene::default()
        };
        let verdict =
            judge(&ClockScene { nodes: 3, per_node: 1, seed, ..scene }, &clocks_alone(CorrectionMethod::Graph));
        let errors = diagnostic_texts(&verdict.report.clock_errors());
        assert!(!errors.iter().any(|error| error.contains("not used")), "{seed}: {errors:?}");
    }
}

#[test]
fn readings_bound_the_drift_of_clocks_with_one_way_traffic() {
    for draining in [2e8, 2e7, 3e6] {
        let scene = ClockScene { nodes: 2, one_way: true, open: true, draining, links: 4000, ..ClockScene::default() };
        let scene = ClockScene { readings: true, bursts: BurstSchedule::None, ..scene };
        let verdict = in_order("a queue that drains", &scene);
        let domain = &verdict.report.clocks.domains[1];
        assert_eq!(domain.status, TimestampSource::OneWay);
        assert!(domain.drift_ppm.abs() < 110.0, "{} {}", draining, domain.drift_ppm);
    }
}

#[test]
fn a_step_of_the_real_time_clock_is_no_suspension() {
    for step_nanos in [5e6, -5e6, 0.7e9, -3e9] {
        let scene = ClockScene {
            step_nanos,
            links: 8000,
            bursts: BurstSchedule::None,
            readings: true,
            ..ClockScene::default()
        };
        let scene = ClockScene { nodes: 3, per_node: 1, seconds: 20.0, moments: 500, real_time: true, ..scene };
        let verdict = in_order("a real-time clock", &scene);
        let told = &verdict.report.clocks.domains[1].sets;
        let all: i64 = told.iter().map(|set| set.1).sum();
        assert!((all as f64 / step_nanos - 1.0).abs() < 0.05, "{step_nanos}: {told:?}");
        assert!(verdict.median <= 40_000, "{step_nanos}: {}", verdict.median);
        // The step is also found without messages.
        let alone = judge(&ClockScene { links: 0, ..scene }, &options(CorrectionMethod::Graph));
        let told = &alone.report.clocks.domains[1].sets;
        assert!(told.len() == 1 && (told[0].1 as f64 / step_nanos - 1.0).abs() < 0.05, "{step_nanos}: {told:?}");
    }
}
