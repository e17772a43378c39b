//! Missing data of a run: blocks that are absent from its files without leaving damage.
//!
//! They are found from gaps in block numbers, from the counts that the process writes at its end,
//! and from references to names that no block defines.

use std::fmt;

use tracer_format::cause;
use tracer_format::record::DroppedRecords;

use crate::clock::{ClockMap, CorrectionMethod, RunClocks};
use crate::convert::planning::shared_facts::first_timestamp;
use crate::rules::{RuleValue, Symbols, append_value};
use crate::run::{BlockIndex, ProcessInRun, RunStreamReader, StreamInRun, is_gap};
use crate::run::{Loss, MissingEnd, OpenRun};
use tumit_paje::time::GlobalNanos;

/// The clocks that give missing data a time range. `None` if nothing is missing.
pub(crate) fn clocks(run: &OpenRun) -> Option<RunClocks> {
    let is_wanted = |process: &ProcessInRun| process.missing_records() > 0 || process.streams.iter().any(has_gaps);
    if !run.processes.iter().any(is_wanted) {
        return None;
    }
    let mut clocks = RunClocks::new(run, CorrectionMethod::default());
    clocks.start_at(first_timestamp(run, &clocks));
    Some(clocks)
}

/// The missing data of a process. `clock` converts ticks to raw timestamps.
pub(crate) fn of_process(process: &ProcessInRun, clock: Option<&ClockMap>) -> Vec<Loss> {
    let file = || process.path.clone();
    let timestamp = |ticks: u64| GlobalNanos(clock.map_or(0, |clock| clock.global_from_ticks(ticks)));
    let mut losses = Vec::new();
    if process.missing_blocks > 0 {
        losses.push(Loss::MissingTables { file: file(), blocks: process.missing_blocks });
    }
    losses
        .extend(missing_descriptions(process).into_iter().map(|subject| Loss::NotDescribed { file: file(), subject }));
    for stream in process.streams.iter().filter(|stream| stream.missing_blocks > 0) {
        let TickBounds { from, to } = gap_of(stream);
        let (from, to) = (from.map(timestamp), timestamp(to.unwrap_or(0)));
        let (stream, blocks) = (stream.number, stream.missing_blocks);
        losses.push(Loss::MissingBlocks { file: file(), stream, blocks, from, to });
    }
    losses.extend(process.streams.iter().filter_map(|stream| {
        let TickBounds { from, to } = inherited_gaps_of(stream)?;
        let (from, to, places) = (from.map(timestamp), to.map(timestamp), stream.inherited_losses().len());
        Some(Loss::MissingPart { file: file(), stream: stream.number, places, from, to })
    }));
    let records = process.missing_records();
    if records > 0 {
        let is_placed = !process.damage.is_empty() || process.streams.iter().any(has_gaps);
        let written_records = process.totals.map_or(0, |totals| totals.written_records);
        let place = (!is_placed).then(|| missing_end(process, timestamp));
        losses.push(Loss::MissingRecords { file: file(), records, written_records, place });
    }
    losses
}

/// The ticks of the last record before missing ones, and of the first record after them, if they
/// exist.
#[derive(Clone, Copy, Debug, Default)]
struct TickBounds {
    from: Option<u64>,
    to: Option<u64>,
}

/// The time range of all gaps of a stream: from the last record before the first gap to the first
/// record after the last gap, in ticks. The start is `None` if no record precedes the first gap.
fn gap_of(stream: &StreamInRun) -> TickBounds {
    let before = std::iter::once(None).chain(stream.blocks.iter().map(Some));
    let gaps = before.zip(&stream.blocks).filter(|(before, block)| is_gap(*before, block));
    let mut bounds: Option<TickBounds> = None;
    for (before, block) in gaps {
        let first = || before.map(|before: &BlockIndex| before.header.last_ticks);
        let from = bounds.map_or_else(first, |bounds| bounds.from);
        bounds = Some(TickBounds { from, to: Some(block.header.first_ticks) });
    }
    bounds.unwrap_or_default()
}

/// Whether the place of missing records of a stream is known.
fn has_gaps(stream: &StreamInRun) -> bool {
    stream.missing_blocks > 0 || !stream.inherited_losses().is_empty()
}

/// As [`gap_of`], for the missing records that a copy reports. An end of the range is `None` if it
/// coincides with the start or the end of the stream.
fn inherited_gaps_of(stream: &StreamInRun) -> Option<TickBounds> {
    let (first, last) = (stream.inherited_losses().first()?, stream.inherited_losses().last()?);
    let begin = stream.blocks.first().map_or(0, |block| block.header.first_ticks);
    let from = Some(first.first_ticks).filter(|from| *from < first.last_ticks || *from > begin);
    let to = Some(last.last_ticks).filter(|to| last.first_ticks < *to || from.is_none());
    Some(TickBounds { from, to })
}

/// A place where records of a stream are missing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordGap {
    pub(crate) stream: u32,
    /// The ticks of the last record before the gap and of the first record after it, if they exist.
    pub(crate) from: Option<u64>,
    pub(crate) to: Option<u64>,
    /// The record with the count of the missing records that a copy contains for this gap. `None`
    /// if the file already has such a record.
    pub(crate) count_record: Option<DroppedRecords>,
}

/// The missing records of a process, with their places if known. Used to make a copy.
#[derive(Clone, Debug, Default)]
pub(crate) struct MissingRecords {
    pub(crate) gaps: Vec<RecordGap>,
    /// The number of missing records, if the process wrote its counts. Otherwise 0.
    pub(crate) records: u64,
}

impl MissingRecords {
    /// All missing records of a process.
    pub(crate) fn of(process: &ProcessInRun) -> Self {
        let mut gaps: Vec<RecordGap> = process.streams.iter().flat_map(gaps_of).collect();
        let records = process.missing_records();
        if let [RecordGap { count_record: Some(record), .. }] = &mut gaps[..] {
            record.count = records;
        }
        Self { gaps, records }
    }

    /// The part that concerns an excerpt: the wanted gaps. If there are no gaps, the missing
    /// records are the last ones, and `has_end` is whether the excerpt contains the end.
    pub(crate) fn select_gaps(
        mut self,
        is_wanted: impl Fn(&RecordGap) -> bool,
        has_end: impl FnOnce() -> bool,
    ) -> Self {
        let is_any_wanted = if self.gaps.is_empty() {
            has_end()
        } else {
            self.gaps.retain(is_wanted);
            !self.gaps.is_empty()
        };
        if !is_any_wanted {
            self.records = 0;
        }
        self
    }
}

/// The gaps of a stream: gaps between blocks, then a torn end, then the gaps that a copy reports.
fn gaps_of(stream: &StreamInRun) -> Vec<RecordGap> {
    let gap = |from: Option<u64>, to: Option<u64>| {
        let (first, last) = (from.or(to).unwrap_or(0), to.or(from).unwrap_or(0));
        let record = DroppedRecords { count: 0, bytes: 0, first_ticks: first, last_ticks: last, cause: cause::DAMAGED };
        RecordGap { stream: stream.number, from, to, count_record: Some(record) }
    };
    let before = std::iter::once(None).chain(stream.blocks.iter().map(Some));
    let cut_out = before.zip(&stream.blocks).filter(|(before, block)| is_gap(*before, block));
    let cut_out = cut_out
        .map(|(before, block)| gap(before.map(|before| before.header.last_ticks), Some(block.header.first_ticks)));
    let torn = stream.end_is_torn().then(|| gap(stream.blocks.last().map(|last| last.header.last_ticks), None));
    let inherited = stream.inherited_losses().iter().map(|record| {
        let gap = gap(Some(record.first_ticks), Some(record.last_ticks));
        RecordGap { count_record: None, ..gap }
    });
    cut_out.chain(torn).chain(inherited).collect()
}

/// The place of missing records if no block number is missing. They are from the last blocks, or
/// from streams without any block.
fn missing_end(process: &ProcessInRun, timestamp: impl Fn(u64) -> GlobalNanos) -> MissingEnd {
    let last_blocks = process.streams.iter().filter_map(|stream| stream.blocks.last());
    let all_known = process.missing_blocks == 0;
    let stream = match &process.streams[..] {
        [one] if all_known => Some(one.number),
        _ => None,
    };
    // A stream without blocks may have begun at any time.
    let after = last_blocks.map(|block| block.header.last_ticks).min().filter(|_| all_known).map(timestamp);
    let some_are_empty = process.streams.iter().any(|stream| stream.blocks.is_empty());
    MissingEnd { stream, min_timestamp: after.filter(|_| !some_are_empty) }
}

/// Descriptions that are missing although their subjects are in the file.
fn missing_descriptions(process: &ProcessInRun) -> Vec<String> {
    let mut subjects = Vec::new();
    // An empty file belongs to a process that ended before it wrote anything.
    let has_more = process.has_ended || process.missing_blocks > 0 || !process.streams.is_empty();
    if !process.has_description && has_more {
        subjects.push("its process and the clock of that process".to_owned());
    }
    let has_records = |stream: &&StreamInRun| stream.records() > 0;
    if process.providers.is_empty() && process.streams.iter().any(|stream| has_records(&stream)) {
        subjects.push("the spec of its records".to_owned());
    }
    let nameless = process.streams.iter().filter(has_records).filter(|stream| !stream.has_description);
    let nameless: Vec<String> = nameless.map(|stream| stream.number.to_string()).collect();
    match &nameless[..] {
        [] => {}
        [one] => subjects.push(format!("the thread of stream {one}")),
        [first, later_streams @ ..] => {
            subjects.push(format!("the threads of stream {first} and of {} more streams", later_streams.len()));
        }
    }
    subjects
}

/// Adds the records that a reader could not decode, as one loss per file.
pub(crate) fn add_undecodable(losses: &mut Vec<Loss>, reader: &RunStreamReader<'_>) {
    let process = reader.process();
    let (damage, damaged_records) = (reader.damage(), reader.damaged_records());
    let Some(first) = damage.first() else { return };
    for loss in losses.iter_mut() {
        if let Loss::Undecodable { file, records, .. } = loss
            && *file == process.path
        {
            *records = records.saturating_add(damaged_records);
            return;
        }
    }
    losses.push(Loss::Undecodable {
        file: process.path.clone(),
        records: damaged_records,
        reason: first.reason.to_string(),
    });
}

/// Writes the text of such a loss.
pub(crate) fn write_loss(loss: &Loss, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let seconds = |timestamp: GlobalNanos| {
        let mut text = String::new();
        append_value(RuleValue::Date(timestamp.0), "", &Symbols::default(), &mut text);
        text + " s"
    };
    match loss {
        Loss::MissingBlocks { file, stream, blocks, from, to } => {
            let (s, are) = if *blocks == 1 { ("", "is") } else { ("s", "are") };
            write!(f, "{}: {blocks} block{s} of stream {stream} {are} missing, ", file.display())?;
            match from {
                Some(from) => write!(f, "between {} and {}", seconds(*from), seconds(*to)),
                None => write!(f, "before {}", seconds(*to)),
            }
        }
        Loss::MissingPart { file, stream, places, from, to } => {
            write!(f, "{}: records of stream {stream} are missing", file.display())?;
            match (*from, *to) {
                (Some(from), Some(to)) => write!(f, ", between {} and {}", seconds(from), seconds(to)),
                (None, Some(to)) => write!(f, ", before {}", seconds(to)),
                (Some(from), None) => write!(f, ", after {}", seconds(from)),
                (None, None) => Ok(()),
            }?;
            if *places > 1 { write!(f, ", in {places} places") } else { Ok(()) }
        }
        Loss::MissingRecords { file, records, written_records, place } => {
            let are = if *records == 1 { "is" } else { "are" };
            write!(
                f,
                "{}: {records} of the {written_records} records that the process wrote {are} missing",
                file.display()
            )?;
            let Some(MissingEnd { stream, min_timestamp }) = place else { return Ok(()) };
            match stream {
                Some(stream) => write!(f, ": the last ones of stream {stream}")?,
                None => f.write_str(": the last ones of some of its streams")?,
            }
            min_timestamp.map_or(Ok(()), |after| write!(f, ", after {}", seconds(after)))
        }
        Loss::MissingTables { file, blocks } => {
            let (s, are) = if *blocks == 1 { ("", "is") } else { ("s", "are") };
            write!(
                f,
                "{}: {blocks} block{s} with names, specs, threads or readings of clocks {are} missing",
                file.display()
            )
        }
        Loss::NotDescribed { file, subject } => write!(f, "{}: the file does not describe {subject}", file.display()),
        Loss::Undecodable { file, records, reason } => {
            let s = if *records == 1 { "" } else { "s" };
            write!(f, "{}: {records} record{s} cannot be decoded: {reason}", file.display())
        }
        _ => Ok(()),
    }
}
