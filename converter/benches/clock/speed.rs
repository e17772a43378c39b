//! The time of the fit for 100,000 records (50,000 links) of several kinds of run.

use std::time::{Duration, Instant};

use tumit_converter::clock::CorrectionMethod;
use tumit_converter::convert::check_clocks;
use tumit_converter::run::OpenRun;
use tumit_test_support::clock_truth::{BurstSchedule, ClockRunParameters, SampleFault, options, write};

const LINKS: usize = 50_000;
/// Number of measurements of each run. The fastest counts, because other programs disturb the
/// others.
const REPEATS: usize = 3;

fn parameter_sets() -> Vec<(&'static str, ClockRunParameters)> {
    let none = ClockRunParameters {
        seconds: 300.0,
        links: LINKS,
        bursts: BurstSchedule::None,
        ..ClockRunParameters::default()
    };
    let hour = ClockRunParameters { seconds: 3600.0, ..none.clone() };
    vec![
        ("8 clocks", none.clone()),
        ("8 clocks, both bursts", ClockRunParameters { bursts: BurstSchedule::Both, ..none.clone() }),
        ("8 clocks, 1 h", hour.clone()),
        ("8 clocks, 1 h, wander", ClockRunParameters { wander: 1e-7, ..hour.clone() }),
        ("8 clocks, 1 h, 60 bursts", ClockRunParameters { bursts: BurstSchedule::Many(60), ..hour.clone() }),
        (
            "8 clocks, NTP",
            ClockRunParameters { slewed_ppm: 20.0, bursts: BurstSchedule::Many(5), seconds: 600.0, ..none.clone() },
        ),
        ("8 clocks, step of 5 ms", ClockRunParameters { step_nanos: 5e6, ..none.clone() }),
        (
            "8 clocks, wrong sample",
            ClockRunParameters {
                bursts: BurstSchedule::Both,
                sample_fault: Some(SampleFault::Last(1_000_000)),
                ..none.clone()
            },
        ),
        ("8 clocks, 1 ms ticks", ClockRunParameters { quantum: 1e6, ..none.clone() }),
        ("8 clocks, one way", ClockRunParameters { one_way: true, open: true, ..none.clone() }),
        ("ring of 32", ClockRunParameters { halo: Some(0.02), links: 780, ..none.clone() }),
        ("64 clocks", ClockRunParameters { nodes: 64, per_node: 2, ..none.clone() }),
        ("256 clocks", ClockRunParameters { nodes: 256, per_node: 1, ..none }),
    ]
}

/// Prints the time of a whole correction (reading, fit, causal pass): elapsed time and processor
/// time.
pub(crate) fn print(only: &str) {
    println!("kind                        records   seconds   of all processors");
    for (name, parameters) in parameter_sets().into_iter().filter(|(name, _)| name.contains(only)) {
        let folder = tempfile::tempdir().unwrap();
        write(&parameters, folder.path());
        let run = OpenRun::open(folder.path()).unwrap();
        let measured = (0..REPEATS).map(|_| {
            let (start, processors) = (Instant::now(), processor_time());
            let report = check_clocks(&run, &options(CorrectionMethod::Graph)).unwrap();
            (start.elapsed(), processor_time() - processors, report.report.counts.links)
        });
        let measured: Vec<_> = measured.collect();
        let least = |of: fn(&(Duration, Duration, u64)) -> Duration| measured.iter().map(of).min().unwrap();
        let (wall, processors) = (least(|times| times.0), least(|times| times.1));
        let records = 2 * measured[0].2;
        println!("{name:26} {records:8} {:9.2} {:19.2}", wall.as_secs_f64(), processors.as_secs_f64());
    }
}

/// Processor time of this process, in steps of 10 ms.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let after_name = stat.rsplit(')').next().unwrap();
    let ticks = after_name.split_whitespace().skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap());
    Duration::from_millis(10 * ticks.sum::<u64>())
}
