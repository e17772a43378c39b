//! Random runs of all kinds, and judgements of the corrected timestamps.

use tumit_converter::clock::CorrectionMethod;

use super::errors::{TimestampErrors, clocks_alone, judge_run};
use super::generator::write;
use super::random::SplitMix;
use super::run_parameters::{BurstSchedule, ClockRunParameters};

/// Parameters of a random run with correct clocks.
#[must_use]
pub fn random_parameters(seed: u64) -> ClockRunParameters {
    let mut random = SplitMix(seed);
    let seconds = [0.5, 5.0, 60.0, 600.0][random.below(4)];
    let bursts =
        [BurstSchedule::None, BurstSchedule::First, BurstSchedule::Both, BurstSchedule::Many(4)][random.below(4)];
    let (from, share) = (random.unit(), [1.0, 1.0, 0.1, 0.01, 0.001][random.below(5)]);
    let from = from * (1.0 - share);
    let links = [20, 60, 200, 1000, 4000][random.below(5)];
    // A large wander can be found only with messages over the whole run.
    let wanders = if links >= 4000 && share == 1.0 { 4 } else { 3 };
    ClockRunParameters {
        nodes: 2 + random.below(5),
        per_node: 1 + random.below(2),
        seconds,
        links,
        bursts,
        message_range: (from, from + share),
        slow: [0.0, 0.0, 3000.0, 30_000.0][random.below(4)],
        wander: [1e-9, 1e-9, 3e-9, 1e-7][random.below(wanders)],
        one_way: random.below(8) == 0,
        moments: 50,
        seed,
        ..ClockRunParameters::default()
    }
}

/// Judges the timestamps of a run by a method, without the causal pass.
#[must_use]
pub fn judge_clocks(parameters: &ClockRunParameters, method: CorrectionMethod) -> TimestampErrors {
    let folder = tempfile::tempdir().unwrap();
    write(parameters, folder.path());
    judge_run(folder.path(), &clocks_alone(method))
}

/// The clocks with timestamp errors beyond their reported bound: the error in nanoseconds, the
/// process, and the bound.
#[must_use]
pub fn errors_beyond_bound(verdict: &TimestampErrors) -> Vec<(i64, usize, f64)> {
    let clocks = &verdict.report.clocks;
    let certain = |process: usize| clocks.domains[clocks.domain_of[process]].error_bound_nanos;
    let worst = verdict.worst.iter().filter_map(|(&process, &worst)| Some((worst, process, certain(process)?)));
    // Rounding down loses a nanosecond at each endpoint.
    worst.filter(|(worst, _, certain)| *worst as f64 > certain + 2.0).collect()
}
