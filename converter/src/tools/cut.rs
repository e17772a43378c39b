//! Makes a smaller run from a larger one: the selected records, with the tables that they need.
//!
//! ```
//! # use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords};
//! # let folder = tempfile::tempdir()?;
//! # let text = "trace heat; level APP { event step { n: u32 } }";
//! # let spec = tumit::compile_text("heat.tumit", text).0.expect("correct");
//! # let mut file = SyntheticFile::new(&SyntheticProcess::rank(0), &spec.schema());
//! # file.thread(0, 1, "main");
//! # let mut records = SyntheticRecords::default();
//! # records.record(0, 1_000, &5u32.to_le_bytes());
//! # records.record(0, 2_000, &6u32.to_le_bytes());
//! # file.records(0, 0, &records);
//! # file.end();
//! # file.save(folder.path(), "0.tmt");
//! # let path = folder.path();
//! use tumit_converter::convert::ConvertOptions;
//! use tumit_converter::run::OpenRun;
//! use tumit_converter::tools::cut::cut;
//! use tumit_converter::tools::dump::RecordSelection;
//!
//! let mut selection = RecordSelection::default();
//! selection.times.push("0..500ns".parse()?);
//! let result = path.join("start");
//! let summary = cut(&OpenRun::open(path)?, &ConvertOptions::default(), &selection, &result)?;
//! assert_eq!((summary.written_records, summary.left_out), (1, 1));
//! assert_eq!(OpenRun::open(&result)?.processes[0].streams[0].records(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use tracer_format::ID_DROPPED;
use tracer_format::block::{BlockHeader, unpack};
use tracer_format::record::{DroppedRecords, RecordIterator};

use super::dump::RecordSelection;
use super::records::{EndTicks, RecordWriter, WriteError};
use crate::clock::RunClocks;
use crate::convert::planning::plan::{ConversionPlan, plan_of_layouts};
use crate::convert::run_facts::gaps::{MissingRecords, RecordGap};
use crate::convert::{ConvertError, ConvertOptions, ProgressFn, corrected_timestamps};
use crate::run::{BlockIndex, OpenRun, ProcessInRun, RunReadError, StreamInRun, open_shared};
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
    pub written_records: u64,
    /// Number of records that were left out.
    pub left_out: u64,
    /// Number of records that could not be read: those of blocks with damaged contents and a
    /// correct checksum.
    pub unreadable_records: u64,
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
/// ticks, and the samples of the clocks are kept. Therefore the differences of timestamps by the
/// clocks are unchanged. Time 0 is the first record of the new run. If the causal pass shifted
/// records and their links are left out, timestamps are those of the clocks.
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
        && let Some(corrected) = corrected_timestamps(run, options)?
    {
        errors = corrected.errors();
        plan.timestamp_maps = corrected.timestamp_maps;
    }
    let plan = plan;
    let kinds = plan.programs.iter();
    let kinds = kinds.map(|kind| selection.takes_kind(symbols.text(kind.level), symbols.text(kind.full_name)));
    let kinds: Vec<bool> = kinds.collect();
    let selected = selection.streams_of(run);
    let errors = if selection.times.is_empty() { Vec::new() } else { errors };
    let (summary, progress) = (CutSummary { errors, ..CutSummary::default() }, options.progress.as_ref());
    let mut job = CutJob { plan: &plan, selection, kinds, summary, progress, done_records: 0 };
    let mut first = 0;
    for process in &run.processes {
        let streams = (first..).zip(&process.streams);
        let streams: Vec<(usize, &StreamInRun)> =
            streams.filter(|(number, _)| selected.get(*number) == Some(&true)).collect();
        first += process.streams.len();
        job.process(process, &streams, folder)?;
    }
    Ok(job.summary)
}

struct CutJob<'c> {
    plan: &'c ConversionPlan<'c>,
    selection: &'c RecordSelection,
    /// By program: whether its records are selected.
    kinds: Vec<bool>,
    summary: CutSummary,
    progress: Option<&'c ProgressFn>,
    done_records: u64,
}

impl CutJob<'_> {
    fn process(
        &mut self,
        process: &ProcessInRun,
        streams: &[(usize, &StreamInRun)],
        folder: &Path,
    ) -> Result<(), CutError> {
        let record_count: u64 = process.streams.iter().map(StreamInRun::records).sum();
        let selected: u64 = streams.iter().map(|(_, stream)| stream.records()).sum();
        self.summary.left_out += record_count - selected;
        self.report_progress(record_count - selected);
        if streams.is_empty() {
            return Ok(());
        }
        self.summary.processes += 1;
        self.summary.streams += streams.len();
        let missing = self.gaps_in_range(process, streams);
        let is_selected = |stream: u32| streams.binary_search_by_key(&stream, |(_, stream)| stream.number).is_ok();
        let ends = self.ends(process, streams);
        let mut writer = RecordWriter::copy_of(process, folder, is_selected, &missing, &ends)?;
        let error = |source| RunReadError { file: process.path.clone(), offset: 0, source };
        let file = open_shared(&process.path).map_err(error)?;
        let mut buffers = BlockBuffers { file, stored_payload: Vec::new(), payload: Vec::new() };
        for (number, stream) in streams {
            let mut cut = StreamCut { process, number: *number, stream, ordinal: 0 };
            for block in &stream.blocks {
                self.cut_block(&mut cut, block, &mut buffers, &mut writer)?;
            }
        }
        writer.finish()?;
        Ok(())
    }

    /// Writes the selected records of the next block of a stream.
    fn cut_block(
        &mut self,
        cut: &mut StreamCut<'_>,
        block: &BlockIndex,
        buffers: &mut BlockBuffers,
        writer: &mut RecordWriter,
    ) -> Result<(), CutError> {
        let (process, number, stream) = (cut.process, cut.number, cut.stream.number);
        let BlockHeader { first_ticks, last_ticks, .. } = block.header;
        let records = u64::from(block.header.records);
        let range = self.selection.range();
        writer.set_dropped(stream, block.header.dropped);
        self.report_progress(records);
        let is_out = self.timestamp(number, last_ticks, u64::MAX) < range.from
            || self.timestamp(number, first_ticks, 0) > range.to;
        // If the causal pass shifts records, timestamps depend on the position in the stream.
        if is_out && self.plan.timestamp_maps[number].has_lines_only() {
            self.summary.left_out += records;
            return Ok(());
        }
        let filled = process.read_stored(&buffers.file, block, &mut buffers.stored_payload)?;
        let payload = unpack(&block.header, &buffers.stored_payload[..filled], &mut buffers.payload);
        if is_out {
            cut.ordinal += payload.map_or(0, |payload| cut.count_records(payload, first_ticks));
            self.summary.left_out += records;
            return Ok(());
        }
        let Ok(payload) = payload else {
            self.summary.unreadable_records += records;
            writer.report_unreadable(stream, records, first_ticks, last_ticks)?;
            return Ok(());
        };
        let BlockCut { written_records, readable, unreadable_from } =
            self.write_selected(cut, payload, first_ticks, writer)?;
        self.summary.written_records += written_records;
        self.summary.left_out += readable - written_records;
        if let Some(from) = unreadable_from {
            let records = records.saturating_sub(readable);
            self.summary.unreadable_records += records;
            if self
                .selection
                .takes_some_of(self.timestamp(number, from, 0), self.timestamp(number, last_ticks, u64::MAX))
            {
                writer.report_unreadable(stream, records, from, last_ticks)?;
            }
        }
        Ok(())
    }

    /// The gaps within the selected time range.
    fn gaps_in_range(&self, process: &ProcessInRun, streams: &[(usize, &StreamInRun)]) -> MissingRecords {
        let (from, to) = (GlobalNanos(i64::MIN), GlobalNanos(i64::MAX));
        let is_selected = |gap: &RecordGap| {
            let Ok(index) = streams.binary_search_by_key(&gap.stream, |(_, stream)| stream.number) else {
                return false;
            };
            let timestamp = |ticks: u64, ordinal| self.timestamp(streams[index].0, ticks, ordinal);
            let from = gap.from.map_or(from, |ticks| timestamp(ticks, 0));
            self.selection.takes_some_of(from, gap.to.map_or(to, |ticks| timestamp(ticks, u64::MAX)))
        };
        let has_end = || {
            let last_timestamps = streams.iter().map(|(number, stream)| {
                stream.blocks.last().map_or(from, |last| self.timestamp(*number, last.header.last_ticks, u64::MAX))
            });
            self.selection.takes_some_of(last_timestamps.min().unwrap_or(from), to)
        };
        MissingRecords::of(process).select_gaps(is_selected, has_end)
    }

    /// The ends of a process and its threads in the cut. A thread that ends after the time range
    /// has no end in the cut. A process ends with the time range at the latest.
    fn ends(&self, process: &ProcessInRun, streams: &[(usize, &StreamInRun)]) -> EndTicks {
        let mut ends = EndTicks::of(process);
        let to = self.selection.range().to;
        ends.threads.retain(|stream, end| {
            let index = streams.binary_search_by_key(stream, |(_, stream)| stream.number);
            index.is_ok_and(|index| self.timestamp(streams[index].0, *end, u64::MAX) <= to)
        });
        if let Some((number, _)) = streams.first() {
            let selected_end = |end| last_within(end, |ticks| self.timestamp(*number, ticks, u64::MAX) <= to);
            ends.process = ends.process.map(selected_end);
            ends.last_known = ends.last_known.map(selected_end);
        }
        ends
    }

    /// The final timestamp of a tick of a stream, for the record with this position in the stream.
    fn timestamp(&self, stream: usize, ticks: u64, ordinal: u64) -> GlobalNanos {
        GlobalNanos(self.plan.timestamp_maps[stream].correct(self.plan.raw_timestamp(stream, ticks), ordinal))
    }

    /// Writes the selected records of an unpacked block. Advances the position of the stream.
    fn write_selected(
        &self,
        cut: &mut StreamCut<'_>,
        payload: &[u8],
        first_ticks: u64,
        writer: &mut RecordWriter,
    ) -> Result<BlockCut, WriteError> {
        let (process, number, stream) = (cut.process, cut.number, cut.stream.number);
        let (mut written_records, mut readable, mut last) = (0, 0, first_ticks);
        let mut mark = None;
        let mut body = Vec::new();
        for record in RecordIterator::new(payload, first_ticks, |id| process.record_type(id)) {
            let Ok(record) = record else {
                return Ok(BlockCut { written_records, readable, unreadable_from: Some(last) });
            };
            last = record.ticks;
            let time = self.timestamp(number, record.ticks, cut.ordinal);
            if record.id == ID_DROPPED {
                let dropped = DroppedRecords::decode(record.body);
                mark = dropped.filter(DroppedRecords::is_truncation);
                if mark.is_some() {
                    continue;
                }
                let start = dropped.map_or(time, |dropped| self.timestamp(number, dropped.first_ticks, 0));
                if self.selection.takes_some_of(start, time) {
                    writer.write_raw(stream, record.id, record.ticks, record.body)?;
                }
                continue;
            }
            readable += 1;
            cut.ordinal += 1;
            let mark = mark.take();
            let kind = self.plan.program_number(number, record.id).and_then(|kind| self.kinds.get(kind));
            if kind != Some(&true) || !self.selection.takes_time(time) {
                continue;
            }
            written_records += 1;
            if let Some(mark) = mark {
                writer.write_raw(stream, ID_DROPPED, record.ticks, &mark.encode())?;
            }
            body.clear();
            if process.record_type(record.id).is_some_and(|kind| kind.has_location) {
                body.extend_from_slice(&record.site.to_le_bytes());
            }
            body.extend_from_slice(record.body);
            writer.write_raw(stream, record.id, record.ticks, &body)?;
        }
        Ok(BlockCut { written_records, readable, unreadable_from: None })
    }

    fn report_progress(&mut self, records: u64) {
        self.done_records += records;
        if let Some(progress) = self.progress {
            progress(self.done_records, self.plan.records());
        }
    }
}

struct StreamCut<'r> {
    process: &'r ProcessInRun,
    /// The number of the stream in the plan.
    number: usize,
    stream: &'r StreamInRun,
    /// The position of the next record in the stream.
    ordinal: u64,
}

impl StreamCut<'_> {
    /// The number of the readable records of an unpacked block.
    fn count_records(&self, payload: &[u8], first_ticks: u64) -> u64 {
        let records = RecordIterator::new(payload, first_ticks, |id| self.process.record_type(id));
        records.map_while(Result::ok).filter(|record| record.id != ID_DROPPED).count() as u64
    }
}

/// The file of a process and the buffers of a block.
struct BlockBuffers {
    file: Arc<File>,
    stored_payload: Vec<u8>,
    payload: Vec<u8>,
}

/// The records of a block that was cut.
struct BlockCut {
    written_records: u64,
    /// The number of all readable records.
    readable: u64,
    /// The tick from which on records could not be read.
    unreadable_from: Option<u64>,
}

/// The largest number of ticks up to `end` for which `is_within` holds; 0 if there is none.
fn last_within(end: u64, is_within: impl Fn(u64) -> bool) -> u64 {
    if is_within(end) {
        return end;
    }
    let (mut inside, mut beyond) = (0, end);
    while beyond - inside > 1 {
        let middle = inside + (beyond - inside) / 2;
        *(if is_within(middle) { &mut inside } else { &mut beyond }) = middle;
    }
    inside
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
