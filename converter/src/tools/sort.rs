//! Writes a run as one file in order of time. It contains the records of all streams of all
//! processes on the corrected time line.
//!
//! Processes and threads are unchanged: each has its tables and its streams in the file, so rules
//! and listings give the same results as for the run. Only timestamps are different: nanoseconds of
//! one clock. This includes timestamps within records.
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
//! use tumit_converter::tools::sort::sort;
//!
//! let mut sorted = Vec::new();
//! let summary = sort(&OpenRun::open(path)?, &ConvertOptions::default(), &mut sorted)?;
//! assert_eq!((summary.processes, summary.records), (1, 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::io::{self, Write};

use tracer_format::columns::RecordShape;
use tracer_format::entries::ClockAnchor;
use tracer_format::record::DroppedRecords;
use tracer_format::schema::{FieldInfo, FieldType, Scalar};
use tracer_format::tags::{append_integer, tag};
use tracer_format::write::{FileWriter, StreamTags};
use tracer_format::{BlockKind, ClockKind, ID_DROPPED};

use super::records::{ClockTags, end_tags, process_tags};
use crate::clock::{RunClocks, TimestampMap};
use crate::convert::columns::evaluate::PassKind;
use crate::convert::columns::single_records::RecordRef;
use crate::convert::merge_pass::RecordVisitorFn;
use crate::convert::planning::plan::{ConversionPlan, plan_of_layouts};
use crate::convert::read_ahead::{MergePass, PassSelection};
use crate::convert::run_facts::gaps::MissingRecords;
use crate::convert::time_order::ordered_item::ItemSelection;
use crate::convert::{ConvertError, ConvertOptions, corrected_timestamps};
use crate::run::OpenRun;
use crate::run::{ProcessInRun, StreamInRun};
use tumit_paje::TraceDiagnostic;
use tumit_paje::time::LocalTicks;

/// Minimum size in bytes of the records that are made into blocks together.
const SLICE_BYTES: usize = 1 << 20;
/// Minimum size per stream. Smaller blocks would consist mostly of headers.
const SLICE_BYTES_PER_STREAM: usize = 2 << 10;
/// Replacement for the real time at the start of a run without real time, nanoseconds. It leaves
/// room for timestamps before the start.
const NO_REAL_TIME: i128 = 1 << 60;
const NANOS: u64 = 1_000_000_000;

/// Statistics of a sorted file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SortSummary {
    /// Number of processes.
    pub processes: usize,
    /// Number of their streams.
    pub streams: usize,
    /// Number of records.
    pub records: u64,
    /// Number of records that could not be read. The file reports losses at their places.
    pub unreadable_records: u64,
    /// The diagnostics about the clocks, the samples and the order of links. Errors come first.
    pub diagnostics: Vec<TraceDiagnostic>,
}

/// Writes a run as one file with blocks in order of time. `options` determine the correction of
/// clocks and the progress reports. The other options apply to conversions only.
///
/// Memory is that of a conversion plus that of [`FileWriter::new_sorted`]: a megabyte of records,
/// or two kilobytes per stream.
///
/// # Errors
/// When the run cannot be read, or the file cannot be written.
pub fn sort<W: Write>(run: &OpenRun, options: &ConvertOptions, out: W) -> Result<SortSummary, ConvertError> {
    let mut clocks = RunClocks::new(run, options.clock);
    let (mut plan, _symbols) = plan_of_layouts(run, &mut clocks)?;
    let mut diagnostics;
    if let Some(timestamps) = corrected_timestamps(run, options)? {
        diagnostics = timestamps.errors();
        plan.timestamp_maps = timestamps.timestamp_maps;
        diagnostics.extend(timestamps.clocks.diagnostics);
        diagnostics.extend(timestamps.diagnostics);
    } else {
        diagnostics = clocks.errors();
        diagnostics.append(&mut clocks.diagnostics);
    }
    let plan = plan;
    let slice = SLICE_BYTES.max(plan.streams.len().saturating_mul(SLICE_BYTES_PER_STREAM));
    let mut writing = SortWriter {
        plan: &plan,
        run,
        file: FileWriter::new_sorted(out, slice)?,
        zero: wall_clock_offset(run, &plan),
        dropped: vec![0; plan.streams.len()],
        gaps: run.processes.iter().flat_map(only_gaps).collect(),
        body: Vec::new(),
        sort_summary: SortSummary {
            processes: run.processes.len(),
            streams: plan.streams.len(),
            ..SortSummary::default()
        },
    };
    writing.tables()?;
    let total = plan.records();
    let mut finished_items = 0;
    let report_progress = |records: u64| {
        finished_items += records;
        if let Some(progress) = &options.progress {
            progress(finished_items.min(total), total);
        }
    };
    let (reads_ahead, readers) = (options.may_use(2), options.readers(plan.records()));
    let floors = vec![None; plan.streams.len()];
    let needs = plan.needs(ItemSelection::ALL.selects, false);
    let pass = MergePass {
        plan: &plan,
        selection: PassSelection { floors, item_selection: ItemSelection::ALL, pass_kind: PassKind::Records },
        required_columns: needs,
        reads_ahead,
        readers,
    };
    let passed =
        pass.run(report_progress, &mut RecordVisitorFn(|item: RecordRef<'_>| Ok(writing.write_record(&item)?)))?;
    writing.sort_summary.unreadable_records = passed.tallies.iter().map(|tally| tally.damaged_records).sum();
    writing.sort_summary.diagnostics = diagnostics;
    Ok(writing.finish()?)
}

/// By stream of a process: its gap, if the process has no other gap. In this case the number of
/// missing records is known.
fn only_gaps(process: &ProcessInRun) -> Vec<Option<DroppedRecords>> {
    let missing = MissingRecords::of(process);
    let only = if let [gap] = &missing.gaps[..] { Some(gap) } else { None };
    let of = |stream: &StreamInRun| only.filter(|gap| gap.stream == stream.number)?.count_record;
    process.streams.iter().map(of).collect()
}

/// The difference between nanoseconds since 1970 and timestamps of the run, from the first process
/// with an anchor.
fn wall_clock_offset(run: &OpenRun, plan: &ConversionPlan<'_>) -> i128 {
    let anchored = run.processes.iter().enumerate().find_map(|(number, process)| {
        let stream = plan.streams.iter().position(|stream| stream.process == number)?;
        let anchor = process.anchors.first().filter(|anchor| anchor.real_nanos > 0)?;
        Some(i128::from(anchor.real_nanos) - i128::from(plan.raw_timestamp(stream, anchor.ticks)))
    });
    anchored.filter(|zero| *zero > 0).unwrap_or(NO_REAL_TIME)
}

struct SortWriter<'s, W> {
    plan: &'s ConversionPlan<'s>,
    run: &'s OpenRun,
    file: FileWriter<W>,
    zero: i128,
    /// By stream: number of records that the recorder dropped so far.
    dropped: Vec<u64>,
    /// By stream: the gap, if it is the only one of its process.
    gaps: Vec<Option<DroppedRecords>>,
    body: Vec<u8>,
    sort_summary: SortSummary,
}

impl<W: Write> SortWriter<'_, W> {
    /// Writes the descriptions of processes and streams: tags, schemas, names, anchors.
    fn tables(&mut self) -> io::Result<()> {
        let first = self.run.processes.first().map_or([0; 16], |process| process.id);
        let domain = format!("sorted {:032x}", u128::from_be_bytes(first));
        let mut stream = 0;
        for (number, process) in (0u32..).zip(&self.run.processes) {
            self.file.select(number)?;
            let clock = ClockTags { kind: Some(ClockKind::User as u64), hz: NANOS, domain: &domain };
            let streams = stream..stream + process.streams.len();
            let last_known = process.last_known_ticks().filter(|_| process.end.is_none());
            let last_known =
                last_known.and_then(|ticks| streams.map(|stream| self.end_of(stream, LocalTicks(ticks))).max());
            let mut tags = process_tags(process, &clock, last_known);
            append_integer(&mut tags, tag::SORTED, 1);
            let of_process = self.file.process_stream();
            self.file.block(BlockKind::Process, of_process, 1, &tags)?;
            for provider in &process.providers {
                let ids = u32::try_from(provider.schema.records.len()).unwrap_or(0);
                self.file.schema(provider.base, ids, &provider.schema.encode())?;
                let shapes = (provider.base..).zip(&provider.schema.records);
                shapes.filter_map(|(id, kind)| RecordShape::of(id, kind)).for_each(|shape| self.file.set_layout(shape));
            }
            for (id, text) in (0u32..).zip(&process.strings) {
                text.iter().for_each(|text| self.file.names().set_string(id, text));
            }
            for (id, site) in (0u32..).zip(&process.sites) {
                site.iter().for_each(|site| self.file.names().set_site(id, &site.file, site.line));
            }
            self.anchors(process, stream)?;
            for of in &process.streams {
                let number = u32::try_from(stream).map_err(io::Error::other)?;
                let end = of.end.map(|end| self.end_of(stream, end));
                self.file.stream(number, &StreamTags { end, ..of.tags() })?;
                stream += 1;
            }
        }
        self.file.select(0)
    }

    fn anchors(&mut self, process: &ProcessInRun, stream: usize) -> io::Result<()> {
        if process.anchors.is_empty() || stream >= self.plan.streams.len() || process.streams.is_empty() {
            return Ok(());
        }
        // The causal pass shifts records, not the clock.
        let timestamp_map =
            TimestampMap { correction: self.plan.timestamp_maps[stream].correction.clone(), ..TimestampMap::default() };
        let mut bytes = Vec::new();
        for anchor in &process.anchors {
            let ticks = self.ticks(timestamp_map.correct(self.plan.raw_timestamp(stream, anchor.ticks), 0));
            bytes.extend_from_slice(&ClockAnchor { ticks, ..*anchor }.encode());
        }
        let count = u32::try_from(process.anchors.len()).unwrap_or(u32::MAX);
        let of_process = self.file.process_stream();
        self.file.block(BlockKind::Anchors, of_process, count, &bytes)
    }

    /// The end of a stream's thread or process, in ticks of the sorted file's clock. It follows all
    /// records of the stream.
    fn end_of(&self, stream: usize, end: LocalTicks) -> u64 {
        let Some(timestamp_map) = self.plan.timestamp_maps.get(stream) else { return end.0 };
        self.ticks(timestamp_map.correct(self.plan.raw_timestamp(stream, end.0), u64::MAX))
    }

    /// Ticks of the sorted file's clock for a timestamp.
    fn ticks(&self, timestamp: i64) -> u64 {
        ticks_of(self.zero, timestamp)
    }

    fn write_record(&mut self, item: &RecordRef<'_>) -> io::Result<()> {
        let stream = u32::try_from(item.stream).unwrap_or(u32::MAX);
        let (plan, zero, timestamp_map) = (self.plan, self.zero, &self.plan.timestamp_maps[item.stream]);
        let sorted =
            |ticks: u64| ticks_of(zero, timestamp_map.correct(plan.raw_timestamp(item.stream, ticks), item.ordinal));
        let ticks = self.ticks(item.corrected_time);
        if item.program.is_none() {
            let record = DroppedRecords::decode(item.body).unwrap_or_default();
            let count = self.gap_of(item.stream, &record).unwrap_or(record.count);
            let (first_ticks, last_ticks) = (sorted(record.first_ticks), sorted(record.last_ticks));
            if record.cause != tracer_format::cause::DAMAGED {
                let streams =
                    self.run.processes.get(plan.streams[item.stream].process).map_or(0, ProcessInRun::dropped_records);
                self.dropped[item.stream] = self.dropped[item.stream].saturating_add(record.count).min(streams);
                self.file.set_dropped(stream, self.dropped[item.stream]);
            }
            return self.file.record(
                stream,
                ID_DROPPED,
                ticks,
                &DroppedRecords { count, first_ticks, last_ticks, ..record }.encode(),
            );
        }
        let process = &self.run.processes[plan.streams[item.stream].process];
        let Some(kind) = process.record_type(item.id) else { return Ok(()) };
        self.body.clear();
        if kind.has_location {
            self.body.extend_from_slice(&item.site.to_le_bytes());
        }
        let start = self.body.len();
        self.body.extend_from_slice(item.body);
        change_timestamps(&kind.fields, &mut self.body[start..], sorted);
        self.sort_summary.records += 1;
        self.file.record(stream, item.id, ticks, &self.body)
    }

    /// The number of records missing in this gap, if it is known.
    fn gap_of(&self, stream: usize, record: &DroppedRecords) -> Option<u64> {
        let only = self.gaps.get(stream)?.as_ref()?;
        (DroppedRecords { count: 0, ..*only } == *record).then_some(only.count)
    }

    fn finish(mut self) -> io::Result<SortSummary> {
        let streams = self.run.processes.iter().flat_map(|process| &process.streams);
        for (number, stream) in (0u32..).zip(streams) {
            self.file.set_dropped(number, stream.dropped);
        }
        let mut stream = 0;
        for (number, process) in (0u32..).zip(&self.run.processes) {
            // The clock of a process without streams is not corrected.
            let streams = stream..stream + process.streams.len();
            stream = streams.end;
            let end = process.end.and_then(|end| streams.map(|stream| self.end_of(stream, end)).max());
            self.file.end_with(number, process.missing_records(), end_tags(process, end));
        }
        let dropped: Vec<Option<u64>> =
            self.run.processes.iter().map(|process| process.has_ended.then(|| process.dropped_records())).collect();
        self.file.finish_all(&dropped)?;
        Ok(self.sort_summary)
    }
}

fn ticks_of(zero: i128, timestamp: i64) -> u64 {
    let ticks = (zero + i128::from(timestamp)).clamp(0, u64::MAX.into());
    u64::try_from(ticks).unwrap_or(0)
}

/// Replaces the timestamps among the fields of a record. Fields beyond the end of the body are
/// unchanged.
fn change_timestamps(fields: &[FieldInfo], mut body: &mut [u8], change: impl Fn(u64) -> u64) {
    for field in fields {
        let element_count = match field.ty {
            FieldType::Variable(_) | FieldType::One(Scalar::String | Scalar::Bytes) => {
                let Some((count, rest)) = body.split_first_chunk_mut::<2>() else { return };
                body = rest;
                usize::from(u16::from_le_bytes(*count))
            }
            _ => 0,
        };
        let (scalar, count) = match field.ty {
            FieldType::One(Scalar::String | Scalar::Bytes) => (Scalar::U8, element_count),
            FieldType::One(scalar) => (scalar, 1),
            FieldType::Fixed(scalar, count) => (scalar, count as usize),
            FieldType::Variable(scalar) => (scalar, element_count),
        };
        let size = FieldType::One(scalar).bytes().unwrap_or(0).saturating_mul(count);
        let Some((values, remaining_body)) = body.split_at_mut_checked(size) else { return };
        if scalar == Scalar::Date {
            for timestamp in values.chunks_exact_mut(8) {
                let ticks = timestamp.first_chunk().map_or(0, |timestamp| u64::from_le_bytes(*timestamp));
                timestamp.copy_from_slice(&change(ticks).to_le_bytes());
            }
        }
        body = remaining_body;
    }
}
