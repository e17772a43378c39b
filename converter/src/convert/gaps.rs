//! What is not in a run's files although it was: blocks that were cut out whole, and left no damage behind. Their numbers, what
//! the process said at its end, and names that nothing explains tell of them.

use std::fmt;

use tracer_format::cause;
use tracer_format::record::Lost;

use super::plan::first_date;
use crate::clock::{ClockMap, Clocks, Method};
use crate::rules::{Symbols, Val, append_value};
use crate::run::{BlockIndex, Process, Stream, StreamReader, is_gap};
use crate::run::{Loss, MissingEnd, Run};
use tumit_paje::time::GlobalNanos;

/// The clocks by which dates of what is missing are told; `None` when there is nothing to date.
pub(crate) fn clocks(run: &Run) -> Option<Clocks> {
    let is_wanted = |process: &Process| process.missing_records() > 0 || process.streams.iter().any(has_gaps);
    if !run.processes.iter().any(is_wanted) {
        return None;
    }
    let mut clocks = Clocks::new(run, Method::default());
    clocks.start_at(first_date(run, &clocks));
    Some(clocks)
}

/// What is missing of a process; `clock` dates it.
pub(crate) fn of_process(process: &Process, clock: Option<&ClockMap>) -> Vec<Loss> {
    let file = || process.path.clone();
    let date = |ticks: u64| GlobalNanos(clock.map_or(0, |clock| clock.global_from_ticks(ticks)));
    let mut losses = Vec::new();
    if process.missing_blocks > 0 {
        losses.push(Loss::MissingTables { file: file(), blocks: process.missing_blocks });
    }
    losses.extend(undescribed(process).into_iter().map(|what| Loss::NotDescribed { file: file(), what }));
    for stream in process.streams.iter().filter(|stream| stream.missing_blocks > 0) {
        let (from, to) = gap_of(stream);
        let dates = (from.map(date), date(to));
        losses.push(Loss::MissingBlocks { file: file(), stream: stream.number, blocks: stream.missing_blocks, dates });
    }
    losses.extend(process.streams.iter().filter_map(|stream| {
        let (from, to) = missed_of(stream)?;
        let (dates, places) = ((from.map(date), to.map(date)), stream.inherited_losses().len());
        Some(Loss::MissingPart { file: file(), stream: stream.number, places, dates })
    }));
    let records = process.missing_records();
    if records > 0 {
        let told = !process.damage.is_empty() || process.streams.iter().any(has_gaps);
        let written = process.totals.map_or(0, |(written, _)| written);
        let place = (!told).then(|| missing_end(process, date));
        losses.push(Loss::MissingRecords { file: file(), records, written, place });
    }
    losses
}

/// From the last record before the first gap to the first one behind the last gap, in ticks.
fn gap_of(stream: &Stream) -> (Option<u64>, u64) {
    let before = std::iter::once(None).chain(stream.blocks.iter().map(Some));
    let gaps = before.zip(&stream.blocks).filter(|(before, block)| is_gap(*before, block));
    let mut span: Option<(Option<u64>, u64)> = None;
    for (before, block) in gaps {
        let from = span.map_or_else(|| before.map(|before: &BlockIndex| before.header.last_ticks), |(from, _)| from);
        span = Some((from, block.header.first_ticks));
    }
    span.unwrap_or_default()
}

/// Whether it is known where records of a stream are missing.
fn has_gaps(stream: &Stream) -> bool {
    stream.missing_blocks > 0 || !stream.inherited_losses().is_empty()
}

/// The same of what a copy tells. What has no length was at the beginning of the stream, or at its end.
fn missed_of(stream: &Stream) -> Option<(Option<u64>, Option<u64>)> {
    let (first, last) = (stream.inherited_losses().first()?, stream.inherited_losses().last()?);
    let begin = stream.blocks.first().map_or(0, |block| block.header.first_ticks);
    let from = Some(first.first_ticks).filter(|from| *from < first.last_ticks || *from > begin);
    let to = Some(last.last_ticks).filter(|to| last.first_ticks < *to || from.is_none());
    Some((from, to))
}

/// A place where records of a stream are missing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gap {
    pub(crate) stream: u32,
    /// From the last record before to the first one behind, as far as there are any.
    pub(crate) from: Option<u64>,
    pub(crate) to: Option<u64>,
    /// What a copy has to say of it; nothing when a record of the file says it.
    pub(crate) lost: Option<Lost>,
}

/// What is missing of a process, for those who make a copy of it: at its place, where that is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Missed {
    pub(crate) gaps: Vec<Gap>,
    /// How many records are missing in all, as far as the process said how many there were.
    pub(crate) records: u64,
}

impl Missed {
    /// All that is missing.
    pub(crate) fn of(process: &Process) -> Self {
        let mut gaps: Vec<Gap> = process.streams.iter().flat_map(gaps_of).collect();
        let records = process.missing_records();
        if let [Gap { lost: Some(lost), .. }] = &mut gaps[..] {
            lost.count = records;
        }
        Self { gaps, records }
    }

    /// What of it is missing in a part: the gaps that are wanted. Where no gap tells of the records, they were last ones, which
    /// `has_end` says are wanted.
    pub(crate) fn within(mut self, is_wanted: impl Fn(&Gap) -> bool, has_end: impl FnOnce() -> bool) -> Self {
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

/// The gaps of a stream, in the order of their dates.
fn gaps_of(stream: &Stream) -> Vec<Gap> {
    let gap = |from: Option<u64>, to: Option<u64>| {
        let (first, last) = (from.or(to).unwrap_or(0), to.or(from).unwrap_or(0));
        let lost = Lost { count: 0, bytes: 0, first_ticks: first, last_ticks: last, cause: cause::DAMAGED };
        Gap { stream: stream.number, from, to, lost: Some(lost) }
    };
    let before = std::iter::once(None).chain(stream.blocks.iter().map(Some));
    let cut_out = before.zip(&stream.blocks).filter(|(before, block)| is_gap(*before, block));
    let cut_out = cut_out
        .map(|(before, block)| gap(before.map(|before| before.header.last_ticks), Some(block.header.first_ticks)));
    let torn = stream.end_is_torn().then(|| gap(stream.blocks.last().map(|last| last.header.last_ticks), None));
    let told = stream.inherited_losses().iter();
    let told = told.map(|lost| Gap { lost: None, ..gap(Some(lost.first_ticks), Some(lost.last_ticks)) });
    cut_out.chain(torn).chain(told).collect()
}

/// No number is missing: so the records are those of last blocks, or of streams of which nothing is left.
fn missing_end(process: &Process, date: impl Fn(u64) -> GlobalNanos) -> MissingEnd {
    let lasts = process.streams.iter().filter_map(|stream| stream.blocks.last());
    let all_known = process.missing_blocks == 0;
    let stream = match &process.streams[..] {
        [one] if all_known => Some(one.number),
        _ => None,
    };
    // A stream that has left nothing may have begun at any time.
    let after = lasts.map(|block| block.header.last_ticks).min().filter(|_| all_known).map(date);
    let some_are_empty = process.streams.iter().any(|stream| stream.blocks.is_empty());
    MissingEnd { stream, after: after.filter(|_| !some_are_empty) }
}

/// What is there and has no description.
fn undescribed(process: &Process) -> Vec<String> {
    let mut what = Vec::new();
    // A file that has nothing is of a process that came to nothing.
    let has_more = process.ended || process.missing_blocks > 0 || !process.streams.is_empty();
    if !process.described && has_more {
        what.push("which process it is of, and which clock it read".to_owned());
    }
    let has_records = |stream: &&Stream| stream.records() > 0;
    if process.providers.is_empty() && process.streams.iter().any(|stream| has_records(&stream)) {
        what.push("what its records are (their spec)".to_owned());
    }
    let nameless = process.streams.iter().filter(has_records).filter(|stream| !stream.described);
    let nameless: Vec<String> = nameless.map(|stream| stream.number.to_string()).collect();
    match &nameless[..] {
        [] => {}
        [one] => what.push(format!("which thread stream {one} is of")),
        [first, others @ ..] => what.push(format!("which threads stream {first} and {} more are of", others.len())),
    }
    what
}

/// Adds what a reader came across that could not be decoded: one loss per file.
pub(crate) fn add_undecodable(losses: &mut Vec<Loss>, reader: &StreamReader<'_>) {
    let process = reader.process();
    let (damage, more) = reader.damage();
    let Some(first) = damage.first() else { return };
    for loss in losses.iter_mut() {
        if let Loss::Undecodable { file, records, .. } = loss
            && *file == process.path
        {
            *records = records.saturating_add(more);
            return;
        }
    }
    losses.push(Loss::Undecodable { file: process.path.clone(), records: more, why: first.why.to_string() });
}

/// Says such a loss.
pub(crate) fn tell(loss: &Loss, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let seconds = |date: GlobalNanos| {
        let mut text = String::new();
        append_value(Val::Date(date.0), "", &Symbols::default(), &mut text);
        text + " s"
    };
    match loss {
        Loss::MissingBlocks { file, stream, blocks, dates: (from, to) } => {
            let (s, are) = if *blocks == 1 { ("", "is") } else { ("s", "are") };
            write!(f, "{}: {blocks} block{s} of stream {stream} {are} missing, ", file.display())?;
            match from {
                Some(from) => write!(f, "between {} and {}", seconds(*from), seconds(*to)),
                None => write!(f, "before {}", seconds(*to)),
            }
        }
        Loss::MissingPart { file, stream, places, dates } => {
            write!(f, "{}: records of stream {stream} are missing", file.display())?;
            match *dates {
                (Some(from), Some(to)) => write!(f, ", between {} and {}", seconds(from), seconds(to)),
                (None, Some(to)) => write!(f, ", before {}", seconds(to)),
                (Some(from), None) => write!(f, ", after {}", seconds(from)),
                (None, None) => Ok(()),
            }?;
            if *places > 1 { write!(f, ", in {places} places") } else { Ok(()) }
        }
        Loss::MissingRecords { file, records, written, place } => {
            let are = if *records == 1 { "is" } else { "are" };
            write!(f, "{}: {records} of the {written} records that the process wrote {are} missing", file.display())?;
            let Some(MissingEnd { stream, after }) = place else { return Ok(()) };
            match stream {
                Some(stream) => write!(f, ": the last ones of stream {stream}")?,
                None => f.write_str(": the last ones of some of its streams")?,
            }
            after.map_or(Ok(()), |after| write!(f, ", after {}", seconds(after)))
        }
        Loss::MissingTables { file, blocks } => {
            let (s, are) = if *blocks == 1 { ("", "is") } else { ("s", "are") };
            write!(
                f,
                "{}: {blocks} block{s} with names, specs, threads or readings of clocks {are} missing",
                file.display()
            )
        }
        Loss::NotDescribed { file, what } => write!(f, "{}: nothing in it says {what}", file.display()),
        Loss::Undecodable { file, records, why } => {
            let s = if *records == 1 { "" } else { "s" };
            write!(f, "{}: {records} record{s} cannot be decoded: {why}", file.display())
        }
        _ => Ok(()),
    }
}
