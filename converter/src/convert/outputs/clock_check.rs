//! Corrects the clocks of a run without a conversion. One pass over the records is sufficient: the
//! log of link endpoints holds everything that the counts of reversed links need.

use crate::clock::{LinkEndpoint, LinkLog, LoggedEndpoint, UncorrectedClocks};
use crate::convert::job::ConversionJob;
use crate::convert::options::{ConvertError, ConvertOptions};
use crate::convert::planning::plan::ConversionPlan;
use crate::convert::planning::plan::{ConversionSetup, plan};
use crate::report::{ConversionCounts, ConversionReport};
use crate::run::OpenRun;

/// The result of [`check_clocks`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClockCheck {
    /// The clock model, and the links by the corrected clocks.
    pub report: ConversionReport,
    /// Links that end before they start by the raw clocks.
    pub reversed_raw: u64,
}

/// Corrects the clocks of a run, and counts the links that end before they start. Reads the records
/// at most once, and only if the rules have links.
///
/// # Errors
/// If the run cannot be read. Damage and dropped records are in the report.
///
/// ```
/// # use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords};
/// # let folder = tempfile::tempdir()?;
/// # let text = "trace heat; level APP { event step { n: u32 } }";
/// # let spec = tumit::compile_text("heat.tumit", text).0.expect("correct");
/// # let mut file = SyntheticFile::new(&SyntheticProcess::rank(0), &spec.schema());
/// # file.thread(0, 1, "main");
/// # let mut records = SyntheticRecords::default();
/// # records.record(0, 1_000, &5u32.to_le_bytes());
/// # records.record(0, 2_000, &6u32.to_le_bytes());
/// # file.records(0, 0, &records);
/// # file.end();
/// # file.save(folder.path(), "0.tmt");
/// # let path = folder.path();
/// use tumit_converter::convert::{ConvertOptions, check_clocks};
/// use tumit_converter::run::OpenRun;
///
/// let check = check_clocks(&OpenRun::open(path)?, &ConvertOptions::default())?;
/// assert_eq!((check.report.counts.reversed_links, check.reversed_raw), (0, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check_clocks(run: &OpenRun, options: &ConvertOptions) -> Result<ClockCheck, ConvertError> {
    let options = ConvertOptions { output: None, ..options.clone() };
    let mut job = ConversionJob { reversed_raw: Some(0), ..ConversionJob::new(run, &options) };
    let ConversionSetup { mut plan, mut model, mut symbols } =
        plan(run, &options, &mut job.clocks, &mut job.diagnostics)?;
    job.survey(&mut plan, &mut model, &mut symbols)?;
    job.note_reversed(job.counts.reversed_links);
    let reversed_raw = job.reversed_raw.unwrap_or(0);
    let last = |stream: usize| plan.source(stream).1.blocks.last().map(|block| block.header.last_ticks);
    let end = (0..plan.streams.len()).filter_map(|stream| {
        last(stream).map(|ticks| plan.timestamp_maps[stream].correct(plan.raw_timestamp(stream, ticks), u64::MAX))
    });
    let end = end.max().unwrap_or(0);
    Ok(ClockCheck { report: job.report(ConversionCounts::default(), end), reversed_raw })
}

impl ConversionJob<'_> {
    /// Counts the links that end before they start, by the raw and by the corrected clocks.
    pub(crate) fn count_reversed(
        &mut self,
        log: &LinkLog,
        plan: &ConversionPlan<'_>,
        raw: &UncorrectedClocks,
    ) -> Result<(), ConvertError> {
        let endpoint = |end: &LinkEndpoint| LoggedEndpoint {
            process: plan.streams[end.stream as usize].process,
            timestamp: end.timestamp,
        };
        let (mut by_raw, mut by_corrected) = (0, 0);
        let counts = log.pairs(|start, finish| {
            by_raw += u64::from(raw.is_reversed(endpoint(start), endpoint(finish)));
            let timestamp =
                |end: &LinkEndpoint| plan.timestamp_maps[end.stream as usize].correct(end.timestamp, end.ordinal);
            by_corrected += u64::from(timestamp(finish) < timestamp(start));
        });
        counts.map_err(ConvertError::Links)?;
        self.reversed_raw = Some(by_raw);
        self.counts.reversed_links = by_corrected;
        Ok(())
    }
}
