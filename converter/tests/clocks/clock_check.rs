//! `check_clocks` returns the results of a conversion, and reads the records once.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use tumit_converter::clock::CorrectionMethod;
use tumit_converter::convert::{ConvertOptions, check_clocks, convert};
use tumit_converter::run::OpenRun;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{PajeEvent, PajeSink};
use tumit_test_support::clock_truth::{BurstSchedule, ClockRunParameters, clocks_alone, options, write};

struct DiscardingSink;

impl PajeSink for DiscardingSink {
    fn event(&mut self, _event: &PajeEvent<'_>) -> std::io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, _end: GlobalNanos) -> std::io::Result<()> {
        Ok(())
    }
}

/// Bytes that the calling thread has read from files so far.
fn bytes_read() -> u64 {
    let counters = std::fs::read_to_string("/proc/thread-self/io").unwrap();
    let count = counters.lines().find_map(|line| line.strip_prefix("rchar: "));
    count.unwrap().parse().unwrap()
}

#[test]
fn a_clock_check_gives_the_clocks_of_a_conversion() {
    let parameter_sets = [
        ClockRunParameters { nodes: 3, links: 4000, ..ClockRunParameters::default() },
        ClockRunParameters { nodes: 3, links: 4000, bursts: BurstSchedule::None, ..ClockRunParameters::default() },
        ClockRunParameters {
            nodes: 3,
            links: 4000,
            bursts: BurstSchedule::Many(4),
            record_delay: 1e5,
            ..ClockRunParameters::default()
        },
        ClockRunParameters {
            nodes: 3,
            links: 4000,
            one_way: true,
            open: true,
            bursts: BurstSchedule::None,
            ..ClockRunParameters::default()
        },
        ClockRunParameters { nodes: 1, links: 2000, disagree_nanos: 1e5, ..ClockRunParameters::default() },
        ClockRunParameters { nodes: 1, links: 2000, ..ClockRunParameters::default() },
    ];
    for parameters in parameter_sets {
        let folder = tempfile::tempdir().unwrap();
        write(&parameters, folder.path());
        let run = OpenRun::open(folder.path()).unwrap();
        let raw = convert(&run, &clocks_alone(CorrectionMethod::None), &mut DiscardingSink).unwrap();
        for options in [CorrectionMethod::Graph, CorrectionMethod::Bursts, CorrectionMethod::None]
            .map(options)
            .into_iter()
            .chain([clocks_alone(CorrectionMethod::Graph)])
        {
            let expected = convert(&run, &options, &mut DiscardingSink).unwrap();
            let check = check_clocks(&run, &options).unwrap();
            let case = format!("{options:?} {parameters:?}");
            assert_eq!(check.reversed_raw, raw.counts.reversed_links, "{case}");
            let counts = |report: &tumit_converter::report::ConversionReport| {
                (report.counts.links, report.counts.reversed_links, report.reversed_by_samples, report.causality)
            };
            assert_eq!(counts(&check.report), counts(&expected), "{case}");
            assert_eq!(check.report.end, expected.end, "{case}");
            assert_eq!(check.report.clock_errors(), expected.clock_errors(), "{case}");
            let certain = |report: &tumit_converter::report::ConversionReport| {
                report.clocks.domains.iter().map(|domain| domain.error_bound_nanos).collect::<Vec<_>>()
            };
            assert_eq!(certain(&check.report), certain(&expected), "{case}");
        }
    }
}

#[test]
fn the_records_are_read_once() {
    let folder = tempfile::tempdir().unwrap();
    write(&ClockRunParameters { nodes: 2, links: 200_000, ..ClockRunParameters::default() }, folder.path());
    let size: u64 = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum();
    let run = OpenRun::open(folder.path()).unwrap();
    // One thread does all the work, so its counter counts all reads.
    let mut options = ConvertOptions::default();
    options.threads = std::num::NonZeroUsize::new(1);
    let before = bytes_read();
    let report = check_clocks(&run, &options).unwrap();
    let read = bytes_read() - before;
    assert_eq!(report.report.counts.links, 200_000);
    // If the kind of a clock is unknown, the first 4096 records of a few streams are read to find
    // its resolution.
    assert!(read * 2 > size && read * 4 < size * 5, "{read} bytes read of {size}");
    let before = bytes_read();
    convert(&run, &options, &mut DiscardingSink).unwrap();
    let by_conversion = bytes_read() - before;
    assert!(by_conversion * 10 > read * 17, "a conversion reads twice: {by_conversion} bytes, {read} for its clocks");
}
