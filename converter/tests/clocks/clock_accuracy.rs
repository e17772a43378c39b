//! Accuracy of corrected timestamps, on short runs with known true timestamps. `cargo bench --bench
//! clock` prints the whole table.

mod clock_steps;
mod samples;

use tumit_converter::clock::{CorrectionMethod, TimestampSource};
use tumit_converter::convert::ConvertError;
use tumit_converter::run::OpenRun;
use tumit_paje::{TraceDiagnostic, diagnostic_texts};
use tumit_test_support::clock_truth::{
    BurstSchedule, ClockRunParameters, SampleFault, TimestampErrors, clocks_alone, judge, judge_run, options, write,
};

#[test]
fn a_generated_run_has_the_errors_of_its_parameters() {
    let parameters = ClockRunParameters { links: 3000, seconds: 10.0, ..ClockRunParameters::default() };
    let raw = judge(&parameters, &clocks_alone(CorrectionMethod::None));
    assert_eq!((raw.links, raw.report.counts.links), (3000, 3000));
    assert_eq!(raw.backward, 0);
    // Clocks differ by seconds. Processes with a slow clock receive messages before they are sent.
    assert!(raw.max > 1_000_000_000 && raw.reversed > 500, "{} {}", raw.max, raw.reversed);
    // Perfect clocks need no correction.
    let perfect = ClockRunParameters { offset_seconds: 0.0, drift_ppm: 0.0, wander: 0.0, ..parameters };
    let verdict = judge(&perfect, &clocks_alone(CorrectionMethod::None));
    assert_eq!((verdict.max, verdict.reversed), (1, 0), "a nanosecond is lost by rounding down");
}

#[test]
fn bursts_at_both_ends_of_a_short_run() {
    let parameters =
        ClockRunParameters { seconds: 10.0, links: 5000, bursts: BurstSchedule::Both, ..ClockRunParameters::default() };
    let verdict = judge(&parameters, &options(CorrectionMethod::Bursts));
    assert!(verdict.median <= 300 && verdict.max <= 1000, "{} {}", verdict.median, verdict.max);
    assert_eq!(verdict.backward, 0);
}

#[test]
fn no_link_is_reversed_however_wrong_the_clocks_are() {
    for (nodes, hz, record_delay) in [(2, 1e9, 0.0), (3, 2.5e9, 0.0), (8, 1e6, 0.0), (8, 1e9, 1e8)] {
        let parameters = ClockRunParameters {
            nodes,
            hz,
            record_delay,
            links: 2000,
            seconds: 5.0,
            seed: 7,
            ..ClockRunParameters::default()
        };
        for method in [CorrectionMethod::None, CorrectionMethod::Bursts] {
            let verdict = judge(&parameters, &options(method));
            verdict.check_order(&format!("{nodes} nodes, {hz} Hz, {record_delay} ns, {method:?}"));
            let causality = verdict.report.causality.unwrap();
            assert_eq!((causality.links, causality.circular), (2000, 0));
            assert_eq!(causality.reversals > 100, method == CorrectionMethod::None, "{causality:?}");
        }
    }
}

fn error_texts(diagnostics: &[TraceDiagnostic]) -> Vec<String> {
    diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).map(ToString::to_string).collect()
}

#[test]
fn dump_reports_a_wrong_clock_model_as_a_conversion_does() {
    let parameters = ClockRunParameters {
        nodes: 2,
        links: 2000,
        seconds: 5.0,
        sample_fault: Some(SampleFault::Later(5_000_000)),
        ..ClockRunParameters::default()
    };
    let errors = diagnostic_texts(&judge(&parameters, &options(CorrectionMethod::Bursts)).report.errors());
    assert!(errors.iter().any(|error| error.contains("model is wrong")), "{errors:?}");
    let folder = tempfile::tempdir().unwrap();
    write(&parameters, folder.path());
    let run = OpenRun::open(folder.path()).unwrap();
    let listing =
        tumit_converter::tools::dump::list::<ConvertError>(&run, &options(CorrectionMethod::Bursts), |_| Ok(()))
            .unwrap();
    assert_eq!(error_texts(&listing.diagnostics), errors);
}

#[test]
fn the_graph_fit_needs_no_bursts() {
    for bursts in [BurstSchedule::Both, BurstSchedule::First, BurstSchedule::None] {
        let parameters = ClockRunParameters { seconds: 60.0, links: 10_000, bursts, ..ClockRunParameters::default() };
        let verdict = judge(&parameters, &clocks_alone(CorrectionMethod::Graph));
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

/// Converts a run with clocks that cannot be accurate. The order has to be correct in any case.
fn in_order(name: &str, parameters: &ClockRunParameters) -> TimestampErrors {
    let verdict = judge(parameters, &options(CorrectionMethod::Graph));
    verdict.check_order(name);
    verdict
}

#[test]
fn one_clock_needs_no_fit() {
    let verdict =
        in_order("one domain", &ClockRunParameters { nodes: 1, links: 2000, ..ClockRunParameters::default() });
    assert_eq!((verdict.max, verdict.report.clocks.wander), (1, None));
}

#[test]
fn two_components_are_joined_by_the_real_time_clock_and_flagged() {
    let parameters = ClockRunParameters {
        split: true,
        links: 4000,
        seconds: 20.0,
        bursts: BurstSchedule::None,
        ..ClockRunParameters::default()
    };
    let verdict = in_order("two components", &parameters);
    assert_eq!(verdict.report.causality.unwrap().reversals, 0, "each is corrected by its own messages");
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
    let parameters = ClockRunParameters {
        nodes: 2,
        one_way: true,
        links: 4000,
        seconds: 20.0,
        bursts: BurstSchedule::None,
        ..ClockRunParameters::default()
    };
    // In a ring of two nodes, messages go in both directions. In a ring of three, each node
    // receives from one other node only, but the loop bounds all errors.
    let both = in_order("a ring of two", &parameters);
    assert_eq!(both.report.clocks.domains[1].status, TimestampSource::Messages);
    let ring = in_order("a ring of three", &ClockRunParameters { nodes: 3, ..parameters.clone() });
    for domain in &ring.report.clocks.domains[1..] {
        assert_eq!(domain.status, TimestampSource::Messages);
        assert!(
            domain.error_bound_nanos.is_some_and(|bound| bound > ring.max as f64 && bound < 30_000.0),
            "{}",
            ring.max
        );
    }
    let verdict = in_order("one way", &ClockRunParameters { nodes: 3, open: true, ..parameters });
    let domains = &verdict.report.clocks.domains;
    assert!(domains[1..].iter().all(|domain| domain.status == TimestampSource::OneWay), "{domains:?}");
    assert!(verdict.report.clocks.diagnostics.iter().any(|diagnostic| diagnostic.text.contains("one direction only")));
    // The error is the latency of messages.
    assert!(verdict.max < 30_000, "{}", verdict.max);
}

#[test]
fn ticks_of_a_microsecond_give_errors_of_a_few_ticks() {
    let parameters = ClockRunParameters {
        hz: 1e6,
        links: 10_000,
        seconds: 30.0,
        bursts: BurstSchedule::None,
        ..ClockRunParameters::default()
    };
    let verdict = in_order("1 us ticks", &parameters);
    assert!(verdict.median <= 600 && verdict.max <= 3000, "{} {}", verdict.median, verdict.max);
}

#[test]
fn ticks_of_milliseconds_are_no_drift() {
    for seed in 1..6 {
        let parameters = ClockRunParameters {
            nodes: 2,
            quantum: 3_999_998.7,
            links: 4000,
            seconds: 0.8,
            seed,
            ..ClockRunParameters::default()
        };
        let diagnostics = judge(&parameters, &options(CorrectionMethod::Graph)).report.diagnostics;
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
        let parameters = ClockRunParameters {
            nodes: 2,
            hz,
            quantum,
            links: 4000,
            seconds: 4.0,
            bursts,
            ..ClockRunParameters::default()
        };
        let verdict = in_order("100 us ticks", &parameters);
        // The causal pass moves many links by a tick at most. These shifts do not add up.
        assert!(verdict.median <= 100_000 && verdict.max <= 250_000, "{} {}", verdict.median, verdict.max);
        let report = verdict.report;
        assert!(report.is_clean() && report.diagnostics.is_empty(), "{:?} {:?}", report.errors(), report.diagnostics);
        let certain = report.clocks.domains[1].error_bound_nanos.expect("it is heard both ways");
        assert!(certain >= 100_000.0, "{certain}");
        // Samples alone are as accurate, and none is reported as wrong. Records at a regular beat
        // do not show that a clock stands still.
        if quantum > 0.0 {
            continue;
        }
        let parameters = ClockRunParameters { links: 0, moments: 2000, ..parameters };
        let samples_only = judge(&parameters, &options(CorrectionMethod::Graph));
        assert!(
            samples_only.report.is_clean() && samples_only.max <= 250_000 || bursts == BurstSchedule::None,
            "{} {:?}",
            samples_only.max,
            samples_only.report.errors()
        );
        let certain = samples_only.report.clocks.domains[1].error_bound_nanos;
        assert!(
            certain.is_some_and(|certain| certain >= samples_only.max as f64) || bursts == BurstSchedule::None,
            "{certain:?} {}",
            samples_only.max
        );
    }
}

#[test]
fn bad_clocks_are_followed() {
    let parameters = ClockRunParameters {
        nodes: 4,
        wander: 1e-7,
        links: 8000,
        seconds: 20.0,
        bursts: BurstSchedule::None,
        ..ClockRunParameters::default()
    };
    let verdict = in_order("wander 1e-7", &parameters);
    assert!(verdict.report.clocks.wander > Some(2e-8), "{:?}", verdict.report.clocks.wander);
    assert!(verdict.median <= 500 && verdict.max <= 5000, "{} {}", verdict.median, verdict.max);
}

#[test]
fn messages_in_a_thousandth_of_the_run_are_used() {
    let parameters = ClockRunParameters {
        nodes: 3,
        links: 300,
        seconds: 60.0,
        message_range: (0.4, 0.401),
        moments: 100,
        ..ClockRunParameters::default()
    };
    for bursts in [BurstSchedule::None, BurstSchedule::First] {
        let parameters = ClockRunParameters { bursts, ..parameters.clone() };
        let verdict = in_order("a short talk", &parameters);
        let domains = &verdict.report.clocks.domains;
        assert!(domains[1..].iter().all(|domain| domain.messages > 0), "{domains:?}");
        // Nothing shows the drift before and after the messages, so the reported bound has to be
        // large.
        let certain = domains.iter().filter_map(|domain| domain.error_bound_nanos).fold(0.0, f64::max);
        assert!((verdict.max as f64) < certain, "{} {certain}", verdict.max);
        assert!(verdict.max < 1_000_000, "{bursts:?}: {}", verdict.max);
    }
    let verdict =
        in_order("and samples at both ends", &ClockRunParameters { bursts: BurstSchedule::Both, ..parameters });
    verdict.check("and samples at both ends", 200, 1000);
}

#[test]
fn sixty_messages_bound_errors_to_100_microseconds() {
    let parameters = ClockRunParameters {
        nodes: 4,
        per_node: 1,
        links: 60,
        seconds: 30.0,
        bursts: BurstSchedule::None,
        ..ClockRunParameters::default()
    };
    let verdict = in_order("sixty messages", &parameters);
    assert!(verdict.max <= 100_000, "{}", verdict.max);
}

#[test]
fn clocks_of_256_processes_are_correct_to_5_microseconds() {
    let parameters = ClockRunParameters {
        nodes: 64,
        per_node: 4,
        links: 12_000,
        seconds: 10.0,
        bursts: BurstSchedule::First,
        ..ClockRunParameters::default()
    };
    let verdict = in_order("256 processes", &parameters);
    assert!(verdict.median <= 500 && verdict.max <= 5000, "{} {}", verdict.median, verdict.max);
}

#[test]
fn processes_of_one_node_with_different_counters_get_separate_clocks() {
    let parameters = ClockRunParameters {
        nodes: 2,
        per_node: 2,
        disagree_nanos: 20e3,
        links: 6000,
        seconds: 10.0,
        ..ClockRunParameters::default()
    };
    let verdict = in_order("counters that disagree", &ClockRunParameters { bursts: BurstSchedule::None, ..parameters });
    let clocks = &verdict.report.clocks;
    assert_eq!(clocks.domains.len(), 4);
    assert!(
        clocks.diagnostics.iter().any(|diagnostic| diagnostic.text.contains("disagree")),
        "{:?}",
        clocks.diagnostics
    );
    assert!(
        clocks.domains[1..].iter().all(|domain| domain.status == TimestampSource::Messages),
        "{:?}",
        clocks.domains
    );
    assert!(verdict.median <= 100 && verdict.max <= 300, "{} {}", verdict.median, verdict.max);
}

#[test]
fn an_affine_change_of_the_clocks_hardly_moves_timestamps() {
    let parameters = ClockRunParameters {
        nodes: 4,
        links: 6000,
        seconds: 20.0,
        bursts: BurstSchedule::None,
        ..ClockRunParameters::default()
    };
    let verdict = in_order("as they are", &parameters);
    let other = in_order("changed", &ClockRunParameters { offset_seconds: 0.7, drift_ppm: -20.0, ..parameters });
    assert_eq!(verdict.errors.len(), other.errors.len());
    let max_difference =
        verdict.errors.iter().zip(&other.errors).map(|(error, other_error)| (error - other_error).abs()).max();
    assert!(max_difference <= Some(20), "{max_difference:?} ns");
}

#[test]
fn a_node_that_begins_late() {
    let parameters = ClockRunParameters {
        nodes: 4,
        late: true,
        links: 6000,
        seconds: 20.0,
        bursts: BurstSchedule::First,
        ..ClockRunParameters::default()
    };
    let verdict = in_order("late", &parameters);
    assert!(verdict.median <= 100 && verdict.max <= 300, "{} {}", verdict.median, verdict.max);
}

#[test]
fn a_file_that_ends_early() {
    let folder = tempfile::tempdir().unwrap();
    let parameters = ClockRunParameters {
        nodes: 4,
        links: 20_000,
        seconds: 20.0,
        bursts: BurstSchedule::None,
        ..ClockRunParameters::default()
    };
    write(&parameters, folder.path());
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
    let ring = ClockRunParameters {
        halo: Some(0.02),
        per_node: 1,
        seconds: 120.0,
        bursts: BurstSchedule::None,
        ..ClockRunParameters::default()
    };
    for (links, seed) in [(1600, 1), (4000, 3)] {
        let verdict =
            judge(&ClockRunParameters { links, seed, ..ring.clone() }, &clocks_alone(CorrectionMethod::Graph));
        verdict.check(&format!("{links} links, seed {seed}"), 130, 600);
        assert!(verdict.report.is_clean() && verdict.report.diagnostics.is_empty(), "{:?}", verdict.report.errors());
    }
    for step_nanos in [5e6, -5e6] {
        let stepped = ClockRunParameters { step_nanos, links: 3200, nodes: 5, ..ring.clone() };
        let verdict = in_order("a step in a ring", &stepped);
        let steps = &verdict.report.clocks.domains[1].clock_steps;
        assert!(steps.len() == 1 && (steps[0].size as f64 / step_nanos - 1.0).abs() < 0.01, "{steps:?}");
        assert!(verdict.median <= 200, "{}", verdict.median);
    }
}

#[test]
fn readings_bound_the_drift_of_clocks_with_one_way_traffic() {
    for draining in [2e8, 2e7, 3e6] {
        let parameters = ClockRunParameters {
            nodes: 2,
            one_way: true,
            open: true,
            draining,
            links: 4000,
            ..ClockRunParameters::default()
        };
        let parameters = ClockRunParameters { readings: true, bursts: BurstSchedule::None, ..parameters };
        let verdict = in_order("a queue that drains", &parameters);
        let domain = &verdict.report.clocks.domains[1];
        assert_eq!(domain.status, TimestampSource::OneWay);
        assert!(domain.drift_ppm.abs() < 110.0, "{} {}", draining, domain.drift_ppm);
    }
}
