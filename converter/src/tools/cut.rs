//! Makes a smaller run from a larger one: the selected records, with the tables that they need.

use std::path::Path;

use tracer_format::ID_LOST;
use tracer_format::block::unpack;
use tracer_format::record::{DroppedRecords, RecordIterator};

use super::dump::RecordSelection;
use super::records::{EndTicks, RecordWriter, WriteError};
use crate::clock::RunClocks;
use crate::convert::gaps::{MissingRecords, RecordGap};
use crate::convert::plan::{ConversionPlan, plan_of_layouts};
use crate::convert::{ConvertError, ConvertOptions, ProgressFn, fine_dates};
use crate::run::OpenRun;
use crate::run::{ProcessInRun, RunReadError, StreamInRun, open_shared};
use tumit_paje::TraceDiagnostic;
use tumit_paje::time::GlobalNanos;

/// Statistics of a cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CutSummary {
    /// Number of processes with a written file.
    pub processes: usize,
    /// Number of their kept streams, including streams without selected records.
    pub streams: usize,
    /// Number of written records.
    pub kept: u64,
    /// Number of records that were left out.
    pub left_out: u64,
    /// Number of records that could not be read: those of blocks with damaged contents and a
    /// correct checksum.
    pub unreadable: u64,
    /// If a time range is cut: errors of the clocks, the samples or the order of links that make
    /// its ends imprecise.
    pub errors: Vec<TraceDiagnostic>,
}

/// Reasons why a run could not be cut.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CutError {
    /// The run could not be read.
    #[error(transparent)]
    Read(#[from] RunReadError),
    /// The rules of the run are invalid.
    #[error(transparent)]
    Plan(#[from] ConvertError),
    /// The result could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Writes the records of a selection into process files in `folder`, which is created if necessary.
///
/// Time ranges are in timestamps of a conversion with these options. Written records keep their
/// ticks, and the samples of the clocks are kept. Therefore timestamps by the clocks are unchanged,
/// except for their zero, which is the first record. If the causal pass shifted records and their
/// links are left out, timestamps are those of the clocks.
///
/// Processes without a selected stream get no file. The files report the losses of a stream at the
/// same places as before.
///
/// # Errors
/// When the run cannot be read or the files cannot be written. Memory is that of one block
/// for each stream of one process.
pub fn cut(
    run: &OpenRun,
    options: &ConvertOptions,
    selection: &RecordSelection,
    folder: &Path,
) -> Result<CutSummary, CutError> {
    let mut clocks = RunClocks::new(run, options.clock);
    let (mut plan, symbols) = plan_of_layouts(run, &mut clocks)?;
    let mut errors = clocks.errors();
    // Only time ranges need timestamps.
    if !selection.times.is_empty()
        && let Some(dates) = fine_dates(run, options)?
    {
        errors = dates.errors();
        plan.fines = dates.fines;
    }
    let plan = plan;
    let kinds = plan.programs.iter();
    let kinds = kinds.map(|kind| selection.takes_kind(symbols.text(kind.level), symbols.text(kind.full_name)));
    let kinds: Vec<bool> = kinds.collect();
    let wanted = selection.streams_of(run);
    let errors = if selection.times.is_empty() { Vec::new() } else { errors };
    let (made, progress) = (CutSummary { errors, ..CutSummary::default() }, options.progress.as_ref());
    let mut cutting = CutJob { plan: &plan, selection, kinds, made, progress, done: 0 };
    let mut first = 0;
    for process in &run.processes {
        let streams = (first..).zip(&process.streams);
        let streams: Vec<(usize, &StreamInRun)> = streams.filter(|(at, _)| wanted.get(*at) == Some(&true)).collect();
        first += process.streams.len();
        cutting.process(process, &streams, folder)?;
    }
    Ok(cutting.made)
}

struct CutJob<'c> {
    plan: &'c ConversionPlan<'c>,
    selection: &'c RecordSelection,
    /// By program: whether its records are selected.
    kinds: Vec<bool>,
    made: CutSummary,
    progress: Option<&'c ProgressFn>,
    done: u64,
}

impl CutJob<'_> {
    fn process(
        &mut self,
        process: &ProcessInRun,
        streams: &[(usize, &StreamInRun)],
        folder: &Path,
    ) -> Result<(), CutError> {
        let all: u64 = process.streams.iter().map(StreamInRun::records).sum();
        let taken: u64 = streams.iter().map(|(_, stream)| stream.records()).sum();
        self.made.left_out += all - taken;
        self.report_progress(all - taken);
        if streams.is_empty() {
            return Ok(());
        }
        self.made.processes += 1;
        self.made.streams += streams.len();
        let missed = self.gaps_in_range(process, streams);
        let is_kept = |stream: u32| streams.binary_search_by_key(&stream, |(_, kept)| kept.number).is_ok();
        let ends = self.ends(process, streams);
        let mut writer = RecordWriter::copy_of(process, folder, is_kept, &missed, &ends)?;
        let error = |source| RunReadError { file: process.path.clone(), offset: 0, source };
        let file = open_shared(&process.path).map_err(error)?;
        let (mut stored, mut payload) = (Vec::new(), Vec::new());
        let (from, to) = self.selection.span();
        for (number, stream) in streams {
            let mut ordinal = 0;
            for block in &stream.blocks {
                let records = u64::from(block.header.records);
                writer.set_dropped(stream.number, block.header.dropped);
                self.report_progress(records);
                let is_out = self.date(*number, block.header.last_ticks, u64::MAX) < GlobalNanos(from)
                    || self.date(*number, block.header.first_ticks, 0) > GlobalNanos(to);
                // If the causal pass shifts records, timestamps depend on the position in the
                // stream.
                if is_out && self.plan.fines[*number].has_lines_only() {
                    self.made.left_out += records;
                    continue;
                }
                let filled = process.read_stored(&file, block, &mut stored)?;
                let unpacked = unpack(&block.header, &stored[..filled], &mut payload);
                if is_out {
                    let all = unpacked.map(|payload| {
                        RecordIterator::new(payload, block.header.first_ticks, |id| process.record_type(id))
                            .map_while(Result::ok)
                    });
                    ordinal += all.map_or(0, |all| all.filter(|record| record.id != ID_LOST).count() as u64);
                    self.made.left_out += records;
                    continue;
                }
                let Ok(unpacked) = unpacked else {
                    self.made.unreadable += records;
                    writer.report_unreadable(
                        stream.number,
                        records,
                        block.header.first_ticks,
                        block.header.last_ticks,
                    )?;
                    continue;
                };
                let of = (*number, *stream, &mut ordinal);
                let CutBlock { kept, seen, unreadable_from } =
                    self.block(process, of, unpacked, block.header.first_ticks, &mut writer)?;
                self.made.kept += kept;
                self.made.left_out += seen - kept;
                if let Some(from) = unreadable_from {
                    let records = records.saturating_sub(seen);
                    self.made.unreadable += records;
                    let to = block.header.last_ticks;
                    if self.selection.takes_some_of(self.date(*number, from, 0), self.date(*number, to, u64::MAX)) {
                        writer.report_unreadable(stream.number, records, from, to)?;
                    }
                }
            }
        }
        writer.finish()?;
        Ok(())
    }

    /// The gaps within the selected time range.
    fn gaps_in_range(&self, process: &ProcessInRun, streams: &[(usize, &StreamInRun)]) -> MissingRecords {
        let (from, to) = (GlobalNanos(i64::MIN), GlobalNanos(i64::MAX));
        let is_wanted = |gap: &RecordGap| {
            let Ok(at) = streams.binary_search_by_key(&gap.stream, |(_, stream)| stream.number) else { return false };
            let date = |ticks: u64, ordinal| self.date(streams[at].0, ticks, ordinal);
            let from = gap.from.map_or(from, |ticks| date(ticks, 0));
            self.selection.takes_some_of(from, gap.to.map_or(to, |ticks| date(ticks, u64::MAX)))
        };
        let has_end = || {
            let lasts = streams.iter().map(|(number, stream)| {
                stream.blocks.last().map_or(from, |last| self.date(*number, last.header.last_ticks, u64::MAX))
            });
            self.selection.takes_some_of(lasts.min().unwrap_or(from), to)
        };
        MissingRecords::of(process).within(is_wanted, has_end)
    }

    /// The ends of a process and its threads in the cut. A thread that ends after the interval has
    /// no end in the cut. A process ends with the interval at the latest.
    fn ends(&self, process: &ProcessInRun, streams: &[(usize, &StreamInRun)]) -> EndTicks {
        let mut ends = EndTicks::of(process);
        let to = GlobalNanos(self.selection.span().1);
        ends.threads.retain(|stream, end| {
            let at = streams.binary_search_by_key(stream, |(_, stream)| stream.number);
            at.is_ok_and(|at| self.date(streams[at].0, *end, u64::MAX) <= to)
        });
        if let Some((number, _)) = streams.first() {
            let within = |end| last_within(end, |ticks| self.date(*number, ticks, u64::MAX) <= to);
            ends.process = ends.process.map(within);
            ends.last_known = ends.last_known.map(within);
        }
        ends
    }

    /// The final timestamp of a tick of a stream, for the record with this position in the stream.
    fn date(&self, stream: usize, ticks: u64, ordinal: u64) -> GlobalNanos {
        GlobalNanos(self.plan.fines[stream].date(self.plan.date(stream, ticks), ordinal))
    }

    /// Writes the selected records of a block. `ordinal` is the position of its first record, and
    /// then that of the next block's.
    fn block(
        &self,
        process: &ProcessInRun,
        (number, stream, ordinal): (usize, &StreamInRun, &mut u64),
        payload: &[u8],
        first_ticks: u64,
        writer: &mut RecordWriter,
    ) -> Result<CutBlock, WriteError> {
        let (mut kept, mut seen, mut last) = (0, 0, first_ticks);
        let mut mark = None;
        let mut body = Vec::new();
        for record in RecordIterator::new(payload, first_ticks, |id| process.record_type(id)) {
            let Ok(record) = record else { return Ok(CutBlock { kept, seen, unreadable_from: Some(last) }) };
            last = record.ticks;
            let time = self.date(number, record.ticks, *ordinal);
            if record.id == ID_LOST {
                let lost = DroppedRecords::decode(record.body);
                mark = lost.filter(DroppedRecords::is_truncation);
                if mark.is_some() {
                    continue;
                }
                let start = lost.map_or(time, |lost| self.date(number, lost.first_ticks, 0));
                if self.selection.takes_some_of(start, time) {
                    writer.write_raw(stream.number, record.id, record.ticks, record.body)?;
                }
                continue;
            }
            seen += 1;
            *ordinal += 1;
            let mark = mark.take();
            let kind = self.plan.program_number(number, record.id).and_then(|kind| self.kinds.get(kind));
            if kind != Some(&true) || !self.selection.takes_time(time) {
                continue;
            }
            kept += 1;
            if let Some(mark) = mark {
                writer.write_raw(stream.number, ID_LOST, record.ticks, &mark.encode())?;
            }
            body.clear();
            if process.record_type(record.id).is_some_and(|kind| kind.located) {
                body.extend_from_slice(&record.site.to_le_bytes());
            }
            body.extend_from_slice(record.body);
            writer.write_raw(stream.number, record.id, record.ticks, &body)?;
        }
        Ok(CutBlock { kept, seen, unreadable_from: None })
    }

    fn report_progress(&mut self, records: u64) {
        self.done += records;
        if let Some(progress) = self.progress {
            progress(self.done, self.plan.records());
        }
    }
}

/// The records of a block that was cut.
struct CutBlock {
    kept: u64,
    /// The number of all records.
    seen: u64,
    /// The tick from which on records could not be read.
    unreadable_from: Option<u64>,
}

/// The largest number of ticks up to `end` for which `is_within` holds; 0 if there is none.
fn last_within(end: u64, is_within: impl Fn(u64) -> bool) -> u64 {
    if is_within(end) {
        return end;
    }
    let (mut within, mut beyond) = (0, end);
    while beyond - within > 1 {
        let middle = within + (beyond - within) / 2;
        *(if is_within(middle) { &mut within } else { &mut beyond }) = middle;
    }
    within
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_tick_within_the_range_is_found() {
        assert_eq!(last_within(100, |ticks| ticks <= 1000), 100);
        assert_eq!(last_within(100, |ticks| ticks <= 37), 37);
        assert_eq!(last_within(u64::MAX, |ticks| ticks == 0), 0);
    }
}
