//! How many records of each kind a run holds, how large they are, and what was lost: one quick pass, stream by stream.

use std::collections::BTreeMap;

use tracer_format::record::Lost;
use tracer_format::{RECORD_HEAD_BYTES, cause};

use crate::clock::Clocks;
use crate::convert::Options;
use crate::convert::gaps;
use crate::convert::plan::first_date;
use crate::run::{Loss, Run};
use crate::run::{Process, ReadError, StreamReader, open_shared};
use tumit_paje::time::GlobalNanos;

/// What a run holds, in numbers.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Census {
    /// Records that can be decoded.
    pub records: u64,
    /// Their size when they were recorded, in bytes.
    pub bytes: u64,
    /// Records of good blocks that cannot be decoded.
    pub undecodable: u64,
    /// Date of the last record.
    pub end: GlobalNanos,
    /// The kinds of records that occur, the most frequent first.
    pub kinds: Vec<Kind>,
    /// Records that the recorder truncated.
    pub truncated: u64,
    /// What `lost` records tell, by stream and cause.
    pub losses: Vec<LostSpan>,
    /// Of which files, and why.
    pub unreadable: Vec<Loss>,
    /// The clock model.
    pub clocks: Clocks,
}

/// Records of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kind {
    /// Name of the level.
    pub level: String,
    /// Name of the event, or of the end of a span.
    pub event: String,
    /// How many.
    pub records: u64,
    /// Their size when they were recorded, in bytes.
    pub bytes: u64,
}

/// Records that a stream lost for one cause.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LostSpan {
    /// Position of the process in the run.
    pub process: usize,
    /// Position of the stream in the process.
    pub stream: usize,
    /// How many.
    pub records: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// Bits of [`tracer_format::cause`].
    pub cause: u32,
    /// Date of the first of them.
    pub first: GlobalNanos,
    /// Date of the last of them.
    pub last: GlobalNanos,
}

impl LostSpan {
    /// The causes in words.
    #[must_use]
    pub fn causes(&self) -> Vec<String> {
        let known = [
            (cause::NO_BUFFER, "no free buffer"),
            (cause::OVERSIZE, "larger than a block"),
            (cause::NESTED, "in a signal handler that interrupted a record"),
            (cause::WRITE_FAILED, "writing failed"),
            (cause::OVERWRITTEN, "overwritten by newer ones"),
            (cause::DAMAGED, "damaged or missing before this copy was made"),
        ];
        let mut words: Vec<String> =
            known.iter().filter(|(bit, _)| self.cause & bit != 0).map(|(_, word)| (*word).to_owned()).collect();
        let rest = known.iter().fold(self.cause, |rest, (bit, _)| rest & !bit);
        if rest != 0 || words.is_empty() {
            words.push(format!("cause {rest:#x}"));
        }
        words
    }
}

/// Counts the records of a run. Holds one block.
///
/// # Errors
/// When a file cannot be read. Damage is no error.
pub fn count(run: &Run, options: &Options) -> Result<Census, ReadError> {
    let mut clocks = Clocks::new(run, options.clock);
    clocks.start_at(first_date(run, &clocks));
    let (mut end, mut undecodable, mut truncated) = (0, 0, 0);
    let mut kinds: BTreeMap<(&str, &str), Kind> = BTreeMap::new();
    let (mut losses, mut unreadable) = (Vec::new(), Vec::new());
    for (number, process) in run.processes.iter().enumerate() {
        let map = clocks.map(number);
        let error = |source| ReadError { file: process.path.clone(), offset: 0, source };
        let file = open_shared(&process.path).map_err(error)?;
        let mut counts: Vec<(u64, u64)> = Vec::new();
        for (place, stream) in process.streams.iter().enumerate() {
            let mut reader = StreamReader::new(process, stream, std::sync::Arc::clone(&file));
            let last = count_stream(&mut reader, &mut counts)?;
            end = last.map_or(end, |ticks| map.global_from_ticks(ticks).max(end));
            undecodable += reader.damage().1;
            truncated += reader.truncated();
            gaps::add_undecodable(&mut unreadable, &reader);
            losses.extend(reader.losses().iter().map(|lost| span(lost, number, place, |t| map.global_from_ticks(t))));
        }
        add_kinds(process, &counts, &mut kinds);
    }
    let mut kinds: Vec<Kind> = kinds.into_values().collect();
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.records));
    let records = kinds.iter().map(|kind| kind.records).sum();
    let bytes = kinds.iter().map(|kind| kind.bytes).sum();
    let end = GlobalNanos(end);
    Ok(Census { records, bytes, undecodable, end, kinds, truncated, losses, unreadable, clocks })
}

/// Counts records and bytes by id; returns the date of the last record.
fn count_stream(reader: &mut StreamReader<'_>, counts: &mut Vec<(u64, u64)>) -> Result<Option<u64>, ReadError> {
    let mut last = None;
    while let Some(place) = reader.advance()? {
        let id = usize::from(place.id);
        if counts.len() <= id {
            counts.resize(id + 1, (0, 0));
        }
        let (records, bytes) = &mut counts[id];
        *records += 1;
        *bytes += (RECORD_HEAD_BYTES + reader.body(&place).len()) as u64;
        last = last.max(Some(place.ticks.0));
    }
    Ok(last)
}

fn add_kinds<'r>(process: &'r Process, counts: &[(u64, u64)], kinds: &mut BTreeMap<(&'r str, &'r str), Kind>) {
    for (id, (records, bytes)) in counts.iter().enumerate().filter(|(_, (records, _))| *records > 0) {
        let Some((provider, record)) = u16::try_from(id).ok().and_then(|id| process.kind(id)) else { continue };
        let schema = &process.providers[provider].schema;
        let record = &schema.records[record];
        let level = schema.levels.get(record.level as usize).map_or("?", |level| &level.name);
        let (level, event) = (level, record.name.as_str());
        let kind = kinds.entry((level, event)).or_insert_with(|| Kind {
            level: level.to_owned(),
            event: event.to_owned(),
            ..Kind::default()
        });
        kind.records += records;
        // The source position is part of the record, and not of its body.
        kind.bytes += bytes + if record.located { 4 * records } else { 0 };
    }
}

fn span(lost: &Lost, process: usize, stream: usize, date: impl Fn(u64) -> i64) -> LostSpan {
    LostSpan {
        process,
        stream,
        records: lost.count,
        bytes: lost.bytes,
        cause: lost.cause,
        first: GlobalNanos(date(lost.first_ticks)),
        last: GlobalNanos(date(lost.last_ticks)),
    }
}
