//! Runs of fixed kinds with many seeds, judged against the required accuracy of clock correction.

use std::time::Instant;

use tumit_converter::clock::CorrectionMethod;
use tumit_test_support::clock_truth::{
    BurstSchedule, ClockRunParameters, TimestampErrors, clocks_alone, errors_beyond_bound, judge_run, write,
};

/// A kind of run, and the largest median and maximum error allowed, nanoseconds.
struct AccuracyTarget {
    name: &'static str,
    parameters: ClockRunParameters,
    median: i64,
    max: i64,
}

fn targets() -> Vec<AccuracyTarget> {
    let target = |name, parameters, median, max| AccuracyTarget { name, parameters, median, max };
    let minutes = ClockRunParameters { seconds: 300.0, links: 100_000, ..ClockRunParameters::default() };
    let hour = ClockRunParameters { seconds: 3600.0, links: 200_000, ..ClockRunParameters::default() };
    // Rates change by up to 20 ppm each minute. The time of a change between two messages is
    // unknown.
    let ntp = ClockRunParameters { slewed_ppm: 20.0, bursts: BurstSchedule::Many(5), ..ClockRunParameters::default() };
    let (first, none) = (BurstSchedule::First, BurstSchedule::None);
    vec![
        target("5 min", minutes.clone(), 100, 400),
        target("no samples", ClockRunParameters { bursts: none, ..minutes.clone() }, 120, 400),
        target("samples at the start", ClockRunParameters { bursts: first, ..minutes.clone() }, 100, 400),
        target(
            "ring, no samples",
            ClockRunParameters { bursts: none, halo: Some(0.02), links: 8000, ..minutes.clone() },
            130,
            600,
        ),
        target("1 h", hour.clone(), 120, 600),
        target("1 h, no samples", ClockRunParameters { bursts: none, ..hour.clone() }, 120, 600),
        target("1 h, bursts each 900 s", ClockRunParameters { bursts: BurstSchedule::Many(5), ..hour }, 120, 600),
        target(
            "sparse ring, no samples",
            ClockRunParameters { bursts: none, halo: Some(0.02), links: 1000, ..minutes.clone() },
            130,
            600,
        ),
        target("NTP", ClockRunParameters { seconds: 600.0, links: 50_000, ..ntp.clone() }, 1000, 20_000),
        target("NTP, sparse", ClockRunParameters { seconds: 1200.0, links: 1000, ..ntp }, 1_000_000, 3_000_000),
        target(
            "64 domains",
            ClockRunParameters { nodes: 64, per_node: 2, links: 400_000, bursts: none, ..minutes },
            80,
            400,
        ),
    ]
}

/// The results of all runs of a kind.
#[derive(Default)]
struct AccuracyResults {
    medians: Vec<i64>,
    maxima: Vec<i64>,
    certain: Vec<f64>,
    reversed: u64,
    backward: u64,
    beyond: usize,
    /// Number of runs that report an error, although their clocks and samples are correct.
    faulty: usize,
    seconds: Vec<f64>,
}

impl AccuracyResults {
    fn add(&mut self, verdict: &TimestampErrors, seconds: f64) {
        self.medians.push(verdict.median);
        self.maxima.push(verdict.max);
        self.reversed += verdict.reversed;
        self.backward += verdict.backward;
        self.beyond += errors_beyond_bound(verdict).len();
        self.seconds.push(seconds);
        let errors = verdict.report.clock_errors();
        self.faulty += usize::from(!errors.is_empty());
        for diagnostic in errors.iter().chain(&verdict.report.diagnostics).take(3) {
            println!("    {diagnostic}");
        }
        let certain = verdict.report.clocks.domains.iter().filter_map(|domain| domain.error_bound_nanos);
        let certain = certain.fold(0.0, f64::max);
        self.certain.push(certain);
    }
}

/// Prints a line per kind of run with a name that contains `only`: errors in microseconds, and
/// whether they meet the target.
pub(crate) fn print(runs: u64, first_seed: u64, only: &str) {
    println!("{runs} runs of each kind from seed {first_seed} on; errors in microseconds");
    println!(
        "{:24} {:>7} {:>7} {:>7} {:>7} {:>8} {:>8} {:>7} {:>7} {:>6} {:>7}  target",
        "run", "median", "worst", "max", "worst", "certain", "reversed", "back", "beyond", "faulty", "seconds"
    );
    for target in targets().into_iter().filter(|target| target.name.contains(only)) {
        let mut tally = AccuracyResults::default();
        for seed in first_seed..first_seed + runs {
            let folder = tempfile::tempdir().unwrap();
            write(&ClockRunParameters { seed, ..target.parameters.clone() }, folder.path());
            let start = Instant::now();
            let verdict = judge_run(folder.path(), &clocks_alone(CorrectionMethod::Graph));
            tally.add(&verdict, start.elapsed().as_secs_f64());
        }
        let AccuracyResults {
            mut medians,
            mut maxima,
            mut certain,
            mut seconds,
            reversed,
            backward,
            beyond,
            faulty,
            ..
        } = tally;
        medians.sort_unstable();
        maxima.sort_unstable();
        certain.sort_by(f64::total_cmp);
        seconds.sort_by(f64::total_cmp);
        let micros = |nanos: i64| nanos as f64 * 1e-3;
        let (middle, last) = (medians.len() / 2, medians.len() - 1);
        let is_met = medians[last] <= target.median && maxima[last] <= target.max;
        println!(
            "{:24} {:7.3} {:7.3} {:7.3} {:7.3} {:8.2} {reversed:8} {backward:7} {beyond:7} {faulty:6} {:7.2}  {:.2} / {:.2} {}",
            target.name,
            micros(medians[middle]),
            micros(medians[last]),
            micros(maxima[middle]),
            micros(maxima[last]),
            certain[middle] * 1e-3,
            seconds[middle],
            micros(target.median),
            micros(target.max),
            if is_met && reversed + backward == 0 && beyond + faulty == 0 { "met" } else { "NOT met" }
        );
    }
}
