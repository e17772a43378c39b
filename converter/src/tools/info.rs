//! Statistics of a run: number and size of records by kind, and losses. One quick pass, stream by
//! stream.
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
//! use tumit_converter::tools::info::count;
//!
//! let census = count(&OpenRun::open(path)?, &ConvertOptions::default())?;
//! assert_eq!((census.records, census.end.0), (2, 1000));
//! assert_eq!(census.kinds[0].event, "step");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;

use tracer_format::record::DroppedRecords;
use tracer_format::{RECORD_HEAD_BYTES, cause};

use crate::clock::RunClocks;
use crate::convert::ConvertOptions;
use crate::convert::planning::shared_facts::first_timestamp;
use crate::convert::run_facts::gaps;
use crate::run::{Loss, OpenRun};
use crate::run::{ProcessInRun, RunReadError, RunStreamReader, open_shared};
use tumit_paje::time::GlobalNanos;

/// Statistics of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RunCensus {
    /// Number of records that can be decoded.
    pub records: u64,
    /// Their size when they were recorded, in bytes.
    pub bytes: u64,
    /// Number of records of good blocks that cannot be decoded.
    pub undecodable: u64,
    /// Timestamp of the last record.
    pub end: GlobalNanos,
    /// The kinds of records that occur. The most frequent is first.
    pub kinds: Vec<RecordTypeCount>,
    /// Number of records that the recorder truncated.
    pub truncated_records: u64,
    /// Dropped, missing and damaged records that `dropped` records report, by stream and cause.
    pub losses: Vec<DroppedRange>,
    /// Files with records that cannot be decoded, and reasons.
    pub unreadable_files: Vec<Loss>,
    /// The clock model.
    pub clocks: RunClocks,
}

/// Records of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordTypeCount {
    /// Name of the level.
    pub level: String,
    /// Name of the event, or of the end of a span.
    pub event: String,
    /// Number of records.
    pub records: u64,
    /// Their size when they were recorded, in bytes.
    pub bytes: u64,
}

/// Dropped, missing or damaged records of a stream, by one cause.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DroppedRange {
    /// Position of the process in the run.
    pub process: usize,
    /// Position of the stream in the process.
    pub stream: usize,
    /// Number of records.
    pub records: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// Bits of [`tracer_format::cause`].
    pub cause: u32,
    /// Timestamp of the first of them.
    pub first: GlobalNanos,
    /// Timestamp of the last of them.
    pub last: GlobalNanos,
}

impl DroppedRange {
    /// The causes in words.
    #[must_use]
    pub fn causes(&self) -> Vec<String> {
        let entries = [
            (cause::NO_BUFFER, "no free buffer"),
            (cause::OVERSIZE, "larger than a block"),
            (cause::NESTED, "in a signal handler that interrupted a record"),
            (cause::WRITE_FAILED, "a write failed"),
            (cause::OVERWRITTEN, "overwritten by newer ones"),
            (cause::DAMAGED, "damaged or missing before this copy was made"),
        ];
        let mut words: Vec<String> =
            entries.iter().filter(|(bit, _)| self.cause & bit != 0).map(|(_, word)| (*word).to_owned()).collect();
        let unknown_bits = entries.iter().fold(self.cause, |unknown_bits, (bit, _)| unknown_bits & !bit);
        if unknown_bits != 0 || words.is_empty() {
            words.push(format!("cause {unknown_bits:#x}"));
        }
        words
    }
}

/// Counts the records of a run. Keeps one block in memory.
///
/// # Errors
/// When a file cannot be read. Damage is no error.
pub fn count(run: &OpenRun, options: &ConvertOptions) -> Result<RunCensus, RunReadError> {
    let mut clocks = RunClocks::new(run, options.clock);
    clocks.start_at(first_timestamp(run, &clocks));
    let (mut end, mut undecodable, mut truncated_records) = (0, 0, 0);
    let mut kinds: BTreeMap<(&str, &str), RecordTypeCount> = BTreeMap::new();
    let (mut losses, mut unreadable_files) = (Vec::new(), Vec::new());
    for (number, process) in run.processes.iter().enumerate() {
        let map = clocks.map(number);
        let error = |source| RunReadError { file: process.path.clone(), offset: 0, source };
        let file = open_shared(&process.path).map_err(error)?;
        let mut counts: Vec<RecordCount> = Vec::new();
        for (stream_number, stream) in process.streams.iter().enumerate() {
            let mut reader = RunStreamReader::new(process, stream, std::sync::Arc::clone(&file));
            let last = count_stream(&mut reader, &mut counts)?;
            end = last.map_or(end, |ticks| map.global_from_ticks(ticks).max(end));
            undecodable += reader.damaged_records();
            truncated_records += reader.truncated_records();
            gaps::add_undecodable(&mut unreadable_files, &reader);
            let timestamp = |ticks| map.global_from_ticks(ticks);
            losses
                .extend(reader.losses().iter().map(|dropped| dropped_range(dropped, number, stream_number, timestamp)));
        }
        add_kinds(process, &counts, &mut kinds);
    }
    let mut kinds: Vec<RecordTypeCount> = kinds.into_values().collect();
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.records));
    let records = kinds.iter().map(|kind| kind.records).sum();
    let bytes = kinds.iter().map(|kind| kind.bytes).sum();
    let end = GlobalNanos(end);
    Ok(RunCensus { records, bytes, undecodable, end, kinds, truncated_records, losses, unreadable_files, clocks })
}

/// Records with one id.
#[derive(Clone, Copy, Debug, Default)]
struct RecordCount {
    records: u64,
    bytes: u64,
}

/// Counts records and bytes by id. Returns the largest timestamp in ticks.
fn count_stream(reader: &mut RunStreamReader<'_>, counts: &mut Vec<RecordCount>) -> Result<Option<u64>, RunReadError> {
    let mut last = None;
    while let Some(position) = reader.advance()? {
        let id = usize::from(position.id);
        if counts.len() <= id {
            counts.resize(id + 1, RecordCount::default());
        }
        counts[id].records += 1;
        counts[id].bytes += (RECORD_HEAD_BYTES + reader.body(&position).len()) as u64;
        last = last.max(Some(position.ticks.0));
    }
    Ok(last)
}

fn add_kinds<'r>(
    process: &'r ProcessInRun,
    counts: &[RecordCount],
    kinds: &mut BTreeMap<(&'r str, &'r str), RecordTypeCount>,
) {
    for (id, &RecordCount { records, bytes }) in counts.iter().enumerate().filter(|(_, count)| count.records > 0) {
        let Some(position) = u16::try_from(id).ok().and_then(|id| process.kind(id)) else { continue };
        let schema = &process.providers[position.provider].schema;
        let record = &schema.records[position.record];
        let level = schema.levels.get(record.level as usize).map_or("?", |level| &level.name);
        let (level, event) = (level, record.name.as_str());
        let kind = kinds.entry((level, event)).or_insert_with(|| RecordTypeCount {
            level: level.to_owned(),
            event: event.to_owned(),
            ..RecordTypeCount::default()
        });
        kind.records += records;
        // The source position is part of the record, but not of its body.
        kind.bytes += bytes + if record.has_location { 4 * records } else { 0 };
    }
}

fn dropped_range(
    drops: &DroppedRecords,
    process: usize,
    stream: usize,
    timestamp: impl Fn(u64) -> i64,
) -> DroppedRange {
    DroppedRange {
        process,
        stream,
        records: drops.count,
        bytes: drops.bytes,
        cause: drops.cause,
        first: GlobalNanos(timestamp(drops.first_ticks)),
        last: GlobalNanos(timestamp(drops.last_ticks)),
    }
}
