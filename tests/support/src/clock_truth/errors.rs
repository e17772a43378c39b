//! Errors of the timestamps of a conversion.

use std::collections::BTreeMap;
use std::path::Path;

use tumit_converter::clock::CorrectionMethod;
use tumit_converter::convert::{ConvertOptions, convert};
use tumit_converter::report::ConversionReport;
use tumit_converter::run::OpenRun;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{ExtraValue, PajeEvent, PajeSink};

use super::generator::write;
use super::run_parameters::ClockRunParameters;

/// The accuracy of the timestamps of a conversion.
#[derive(Debug)]
pub struct TimestampErrors {
    /// Median error of the timestamps of all clocks but the reference, nanoseconds.
    pub median: i64,
    /// Largest of these errors.
    pub max: i64,
    /// Number of links.
    pub links: u64,
    /// Links that end before they start.
    pub reversed: u64,
    /// Records of a process with an earlier timestamp than the record before them.
    pub backward: u64,
    /// All errors, by process and true time.
    pub errors: Vec<i64>,
    /// The largest error of each process.
    pub worst: BTreeMap<usize, i64>,
    /// Everything else that the conversion found.
    pub report: ConversionReport,
}

impl TimestampErrors {
    /// Checks the accuracy and the order of timestamps. `name` begins the message.
    ///
    /// # Panics
    /// If timestamps are less accurate than this, or out of order.
    pub fn check(&self, name: &str, median: i64, max: i64) {
        assert!(self.median <= median, "{name}: median error {} ns, allowed {median}", self.median);
        assert!(self.max <= max, "{name}: largest error {} ns, allowed {max}", self.max);
        self.check_order(name);
    }

    /// Checks the order of timestamps. `name` begins the message.
    ///
    /// # Panics
    /// If links are reversed or records out of order.
    pub fn check_order(&self, name: &str) {
        assert_eq!((self.reversed, self.backward), (0, 0), "{name}: reversed links, records out of order");
        assert_eq!(self.report.counts.reversed_links, 0, "{name}: reversed links as the report counts them");
    }
}

/// Collects timestamps and true times.
#[derive(Default)]
struct TimestampCollector {
    /// Container, timestamp, and true time.
    timestamps: Vec<(u32, i64, i64)>,
    /// By key of the link: the timestamps of its endpoints.
    links: BTreeMap<u64, [Option<i64>; 2]>,
    last: i64,
    /// Ranks by container.
    ranks: BTreeMap<u32, usize>,
}

impl PajeSink for TimestampCollector {
    fn event(&mut self, event: &PajeEvent<'_>) -> std::io::Result<()> {
        let (time, extra, link, true_time) = match event {
            PajeEvent::StartLink { time, extra, key, start, .. } => (time.0, extra, Some((key.0, 0)), start.0),
            PajeEvent::EndLink { time, extra, key, end, .. } => (time.0, extra, Some((key.0, 1)), end.0),
            PajeEvent::NewEvent { time, extra, container, .. } => (time.0, extra, None, container.0),
            PajeEvent::CreateContainer { container, name, .. } => {
                if let Some(rank) = name.strip_prefix("Rank ") {
                    self.ranks.insert(container.0, rank.parse().unwrap());
                }
                return Ok(());
            }
            _ => return Ok(()),
        };
        assert!(time >= self.last, "operations are in order of timestamp");
        self.last = time;
        let ExtraValue::Integer(truth) = extra[0].value else { panic!("a number") };
        self.timestamps.push((true_time, time, truth));
        if let Some((key, end)) = link {
            self.links.entry(key).or_default()[end] = Some(time);
        }
        Ok(())
    }

    fn finish(&mut self, _end: GlobalNanos) -> std::io::Result<()> {
        Ok(())
    }
}

/// Converts the run with these parameters and compares the timestamps. The run is removed.
#[must_use]
pub fn judge(parameters: &ClockRunParameters, options: &ConvertOptions) -> TimestampErrors {
    let folder = tempfile::tempdir().unwrap();
    write(parameters, folder.path());
    judge_run(folder.path(), options)
}

/// Converts a run of [`write()`] and compares the timestamps.
#[must_use]
pub fn judge_run(folder: &Path, options: &ConvertOptions) -> TimestampErrors {
    let run = OpenRun::open(folder).unwrap();
    let mut collector = TimestampCollector::default();
    let report = convert(&run, options, &mut collector).unwrap();
    let TimestampCollector { mut timestamps, links, ranks, .. } = collector;
    let is_reference = |container: u32| report.clocks.domain_of[ranks[&container]] == 0;
    // The first rank is on the reference's node. Its timestamps are correct except for their zero,
    // and the causal pass may move some of them later.
    let errors: Vec<i64> = timestamps.iter().map(|(_, timestamp, truth)| timestamp - truth).collect();
    let reference = timestamps.iter().zip(&errors).filter(|((container, ..), _)| is_reference(*container));
    let origin = reference.map(|(_, error)| *error).min().unwrap();
    // The errors of the reference are negligible. They are used only if there is no other clock.
    let is_single_clock = report.clocks.domains.len() == 1;
    let errors_of_others =
        timestamps.iter().zip(&errors).filter(|((container, ..), _)| is_single_clock || !is_reference(*container));
    let mut sizes: Vec<i64> = errors_of_others.map(|(_, error)| (error - origin).abs()).collect();
    sizes.sort_unstable();
    timestamps.sort_by_key(|(container, _, truth)| (*container, *truth));
    let backward = timestamps.windows(2).filter(|pair| pair[0].0 == pair[1].0 && pair[0].1 > pair[1].1).count() as u64;
    let ends = links.values().map(|[start, end]| (start.unwrap(), end.unwrap()));
    let reversed = ends.filter(|(start, end)| start > end).count() as u64;
    let errors = timestamps.iter().map(|(_, timestamp, truth)| timestamp - truth - origin).collect();
    let (median, max) = (sizes[sizes.len() / 2], sizes[sizes.len() - 1]);
    let mut worst = BTreeMap::new();
    for (container, timestamp, truth) in &timestamps {
        let most = worst.entry(ranks[container]).or_insert(0);
        *most = (timestamp - truth - origin).abs().max(*most);
    }
    TimestampErrors { median, max, links: links.len() as u64, reversed, backward, errors, worst, report }
}

/// The default options with this method.
#[must_use]
pub fn options(method: CorrectionMethod) -> ConvertOptions {
    let mut options = ConvertOptions::default();
    options.clock = method;
    options
}

/// The options of a method, without the causal pass.
#[must_use]
pub fn clocks_alone(method: CorrectionMethod) -> ConvertOptions {
    let mut options = options(method);
    options.has_causal_pass = false;
    options
}
