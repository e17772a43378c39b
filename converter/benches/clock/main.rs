//! Errors of corrected timestamps, on runs with known true timestamps.
//!
//! `cargo bench -p tumit-converter --bench clock` prints a table of errors and reversed links.
//! Options after `--`:
//!
//! - `--smoke`: a few short runs.
//! - `--drawn 100`: 100 random runs of all kinds, and the anomalies of each.
//! - `--targets 100 [SEED [NAME]]`: 100 runs of each kind that has a target, from this seed on.
//!   `NAME` selects the kinds with names that contain it.
//! - `--speed [NAME]`: the time of the correction of 100,000 records.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench prints, and fails by panicking")]

mod accuracy_targets;
mod speed;

use std::time::Instant;

use tumit_converter::clock::CorrectionMethod;
use tumit_test_support::clock_truth::{
    BurstSchedule, ClockRunParameters, TimestampErrors, clocks_alone, errors_beyond_bound, judge_clocks, judge_run,
    options, random_parameters, write,
};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let smoke = arguments.iter().any(|argument| argument == "--smoke");
    if let Some(at) = arguments.iter().position(|argument| argument == "--drawn") {
        let runs = arguments.get(at + 1).and_then(|runs| runs.parse().ok());
        return drawn_runs(runs.expect("--drawn needs how many"));
    }
    if let Some(position) = arguments.iter().position(|argument| argument == "--targets") {
        let number = |at: usize| arguments.get(at).and_then(|number| number.parse().ok());
        let only = arguments.get(position + 3).map_or("", String::as_str);
        return accuracy_targets::print(
            number(position + 1).expect("--targets needs how many"),
            number(position + 2).unwrap_or(1),
            only,
        );
    }
    if let Some(at) = arguments.iter().position(|argument| argument == "--speed") {
        return speed::print(arguments.get(at + 1).map_or("", String::as_str));
    }
    if smoke {
        drawn_runs(3);
    }
    let lengths: &[(f64, usize)] = if smoke { &[(20.0, 20_000)] } else { &[(300.0, 200_000), (3600.0, 600_000)] };
    println!("errors in microseconds; a node has 4 processes");
    println!("nodes  seconds  bursts  method           median       max   reversed    links  seconds to convert");
    for &(seconds, links) in lengths {
        for bursts in [BurstSchedule::Both, BurstSchedule::First, BurstSchedule::None] {
            let parameters = ClockRunParameters { seconds, links, bursts, ..ClockRunParameters::default() };
            table(&parameters);
        }
    }
    if !smoke {
        for nodes in [2, 16, 64] {
            table(&ClockRunParameters {
                nodes,
                seconds: 300.0,
                links: 25_000 * nodes,
                bursts: BurstSchedule::None,
                ..ClockRunParameters::default()
            });
        }
    }
}

fn table(parameters: &ClockRunParameters) {
    let folder = tempfile::tempdir().unwrap();
    write(parameters, folder.path());
    let methods = [
        ("none", clocks_alone(CorrectionMethod::None)),
        ("bursts", clocks_alone(CorrectionMethod::Bursts)),
        ("graph", clocks_alone(CorrectionMethod::Graph)),
        ("graph, causal", options(CorrectionMethod::Graph)),
    ];
    for (name, options) in methods {
        let start = Instant::now();
        let verdict = judge_run(folder.path(), &options);
        println!(
            "{:5}  {:7}  {:6}  {name:13} {:9.3} {:9.3} {:10} {:8} {:8.2}",
            parameters.nodes,
            parameters.seconds,
            format!("{:?}", parameters.bursts),
            verdict.median as f64 * 1e-3,
            verdict.max as f64 * 1e-3,
            verdict.reversed,
            verdict.links,
            start.elapsed().as_secs_f64(),
        );
    }
}

/// Prints errors of random runs, by messages and by samples alone, and the bound that each reports.
/// Marks anomalies: errors beyond the bound, messages that make timestamps worse, reversed links.
fn drawn_runs(runs: u64) {
    println!("errors in nanoseconds: median and largest, then what is certain");
    for seed in 1..=runs {
        let parameters = random_parameters(seed);
        let (graph, bursts) =
            (judge_clocks(&parameters, CorrectionMethod::Graph), judge_clocks(&parameters, CorrectionMethod::Bursts));
        let line = |verdict: &TimestampErrors| {
            format!("{} {} ({:.0})", verdict.median, verdict.max, mean_error_bound(verdict))
        };
        let odd = [
            (!errors_beyond_bound(&graph).is_empty(), "beyond what is certain"),
            (!errors_beyond_bound(&bursts).is_empty(), "samples beyond what is certain"),
            (
                graph.max > bursts.max + bursts.max / 2 + 300 && parameters.bursts != BurstSchedule::None,
                "worse by messages",
            ),
            (graph.reversed > 0, "reversed links"),
        ];
        let odd: Vec<&str> = odd.into_iter().filter(|(is, _)| *is).map(|(_, finding)| finding).collect();
        println!("{seed:4}  messages {}  samples {}  {}", line(&graph), line(&bursts), odd.join(", "));
        println!("      {parameters:?}");
    }
}

fn mean_error_bound(verdict: &TimestampErrors) -> f64 {
    verdict.report.clocks.domains.iter().filter_map(|domain| domain.error_bound_nanos).fold(0.0, f64::max)
}
