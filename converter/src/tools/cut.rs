//! A smaller run made of a larger one: the records that a selection takes, with the tables that they need.

use std::path::Path;

use tracer_format::ID_LOST;
use tracer_format::block::unpack;
use tracer_format::record::{Lost, Records};

use super::dump::Selection;
use super::records::{Ends, WriteError, Writer};
use crate::clock::Clocks;
use crate::convert::gaps::{Gap, Missed};
use crate::convert::plan::{Plan, plan_of_layouts};
use crate::convert::{ConvertError, Options, Progress, fine_dates};
use crate::run::Run;
use crate::run::{Process, ReadError, Stream, open_shared};
use tumit_paje::time::GlobalNanos;

/// What was kept, and what was not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cut {
    /// Processes of which a file was written.
    pub processes: usize,
    /// Their streams that were kept, those in which no record fits among them.
    pub streams: usize,
    /// Records written.
    pub kept: u64,
    /// Records left out.
    pub left_out: u64,
    /// Records that could not be read: in blocks whose content is damaged although their checksum is right.
    pub unreadable: u64,
    /// Where an interval is cut: what is wrong with the clocks, the samples or the order of links, so that its ends may be off; one sentence each.
    pub faults: Vec<String>,
}

/// Why a run could not be cut.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CutError {
    /// It could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Its rules could not be understood.
    #[error(transparent)]
    Plan(#[from] ConvertError),
    /// The result could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Writes the records that `selection` takes into process files in `folder`, which is made if it is not there. Intervals mean the dates of a
/// conversion with these options. What is written keeps its ticks, and the clocks' samples go with it, so that dates by the clocks stay what they
/// were, up to their zero, which is the first record. Where links moved records and are no longer there, dates are those of the clocks.
///
/// Processes without a stream that is wanted get no file. What a stream lost is told at the same place as before.
///
/// # Errors
/// When the run cannot be read or the files cannot be written. Memory is that of a block of each stream of one process.
pub fn cut(run: &Run, options: &Options, selection: &Selection, folder: &Path) -> Result<Cut, CutError> {
    let mut clocks = Clocks::new(run, options.clock);
    let (mut plan, symbols) = plan_of_layouts(run, &mut clocks)?;
    let mut faults = clocks.faults();
    // Nothing else asks for dates.
    if !selection.times.is_empty()
        && let Some(dates) = fine_dates(run, options)?
    {
        faults = dates.faults();
        plan.fines = dates.fines;
    }
    let plan = plan;
    let kinds = plan.programs.iter();
    let kinds = kinds.map(|kind| selection.takes_kind(symbols.text(kind.level), symbols.text(kind.full_name)));
    let kinds: Vec<bool> = kinds.collect();
    let wanted = selection.streams_of(run);
    let faults = if selection.times.is_empty() { Vec::new() } else { faults };
    let (made, progress) = (Cut { faults, ..Cut::default() }, options.progress.as_ref());
    let mut cutting = Cutting { plan: &plan, selection, kinds, made, progress, done: 0 };
    let mut first = 0;
    for process in &run.processes {
        let streams = (first..).zip(&process.streams);
        let streams: Vec<(usize, &Stream)> = streams.filter(|(at, _)| wanted.get(*at) == Some(&true)).collect();
        first += process.streams.len();
        cutting.process(process, &streams, folder)?;
    }
    Ok(cutting.made)
}

struct Cutting<'c> {
    plan: &'c Plan<'c>,
    selection: &'c Selection,
    /// By program: whether its records are wanted.
    kinds: Vec<bool>,
    made: Cut,
    progress: Option<&'c Progress>,
    done: u64,
}

impl Cutting<'_> {
    fn process(&mut self, process: &Process, streams: &[(usize, &Stream)], folder: &Path) -> Result<(), CutError> {
        let all: u64 = process.streams.iter().map(Stream::records).sum();
        let taken: u64 = streams.iter().map(|(_, stream)| stream.records()).sum();
        self.made.left_out += all - taken;
        self.tell(all - taken);
        if streams.is_empty() {
            return Ok(());
        }
        self.made.processes += 1;
        self.made.streams += streams.len();
        let missed = self.missed(process, streams);
        let is_kept = |stream: u32| streams.binary_search_by_key(&stream, |(_, kept)| kept.number).is_ok();
        let ends = self.ends(process, streams);
        let mut writer = Writer::copy_of(process, folder, is_kept, &missed, &ends)?;
        let error = |source| ReadError { file: process.path.clone(), offset: 0, source };
        let file = open_shared(&process.path).map_err(error)?;
        let (mut stored, mut payload) = (Vec::new(), Vec::new());
        let (from, to) = self.selection.span();
        for (number, stream) in streams {
            let mut ordinal = 0;
            for block in &stream.blocks {
                let records = u64::from(block.header.records);
                writer.dropped(stream.number, block.header.dropped);
                self.tell(records);
                let is_out = self.date(*number, block.header.last_ticks, u64::MAX) < GlobalNanos(from)
                    || self.date(*number, block.header.first_ticks, 0) > GlobalNanos(to);
                // Where records are moved, it counts which one of its stream a record is.
                if is_out && self.plan.fines[*number].has_lines_only() {
                    self.made.left_out += records;
                    continue;
                }
                let filled = process.read_stored(&file, block, &mut stored)?;
                let unpacked = unpack(&block.header, &stored[..filled], &mut payload);
                if is_out {
                    let all = unpacked.map(|payload| {
                        Records::new(payload, block.header.first_ticks, |id| process.record_type(id))
                            .map_while(Result::ok)
                    });
                    ordinal += all.map_or(0, |all| all.filter(|record| record.id != ID_LOST).count() as u64);
                    self.made.left_out += records;
                    continue;
                }
                let Ok(unpacked) = unpacked else {
                    self.made.unreadable += records;
                    writer.unreadable(stream.number, records, block.header.first_ticks, block.header.last_ticks)?;
                    continue;
                };
                let of = (*number, *stream, &mut ordinal);
                let (kept, seen, whole) = self.block(process, of, unpacked, block.header.first_ticks, &mut writer)?;
                self.made.kept += kept;
                self.made.left_out += seen - kept;
                if let Err(from) = whole {
                    let records = records.saturating_sub(seen);
                    self.made.unreadable += records;
                    let to = block.header.last_ticks;
                    if self.selection.takes_some_of(self.date(*number, from, 0), self.date(*number, to, u64::MAX)) {
                        writer.unreadable(stream.number, records, from, to)?;
                    }
                }
            }
        }
        writer.finish()?;
        Ok(())
    }

    /// What is missing in the interval that is wanted.
    fn missed(&self, process: &Process, streams: &[(usize, &Stream)]) -> Missed {
        let (from, to) = (GlobalNanos(i64::MIN), GlobalNanos(i64::MAX));
        let is_wanted = |gap: &Gap| {
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
        Missed::of(process).within(is_wanted, has_end)
    }

    /// The ends of a process and its threads in the cut. A thread that ends after the interval has
    /// no end in the cut. A process ends with the interval at the latest.
    fn ends(&self, process: &Process, streams: &[(usize, &Stream)]) -> Ends {
        let mut ends = Ends::of(process);
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

    /// The final date of a tick of a stream, for the record with this position in it.
    fn date(&self, stream: usize, ticks: u64, ordinal: u64) -> GlobalNanos {
        GlobalNanos(self.plan.fines[stream].date(self.plan.date(stream, ticks), ordinal))
    }

    /// Writes what is wanted of a block; `ordinal` is the position of its first record, then of the next block's. Returns how many records
    /// were kept and how many seen, and from which date on they could not be read.
    fn block(
        &self,
        process: &Process,
        (number, stream, ordinal): (usize, &Stream, &mut u64),
        payload: &[u8],
        first_ticks: u64,
        writer: &mut Writer,
    ) -> Result<(u64, u64, Result<(), u64>), WriteError> {
        let (mut kept, mut seen, mut last) = (0, 0, first_ticks);
        let mut mark = None;
        let mut body = Vec::new();
        for record in Records::new(payload, first_ticks, |id| process.record_type(id)) {
            let Ok(record) = record else { return Ok((kept, seen, Err(last))) };
            last = record.ticks;
            let time = self.date(number, record.ticks, *ordinal);
            if record.id == ID_LOST {
                let lost = Lost::decode(record.body);
                mark = lost.filter(Lost::is_truncation);
                if mark.is_some() {
                    continue;
                }
                let start = lost.map_or(time, |lost| self.date(number, lost.first_ticks, 0));
                if self.selection.takes_some_of(start, time) {
                    writer.raw(stream.number, record.id, record.ticks, record.body)?;
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
                writer.raw(stream.number, ID_LOST, record.ticks, &mark.encode())?;
            }
            body.clear();
            if process.record_type(record.id).is_some_and(|kind| kind.located) {
                body.extend_from_slice(&record.site.to_le_bytes());
            }
            body.extend_from_slice(record.body);
            writer.raw(stream.number, record.id, record.ticks, &body)?;
        }
        Ok((kept, seen, Ok(())))
    }

    fn tell(&mut self, records: u64) {
        self.done += records;
        if let Some(progress) = self.progress {
            progress(self.done, self.plan.records());
        }
    }
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
    fn the_last_tick_within_is_found() {
        assert_eq!(last_within(100, |ticks| ticks <= 1000), 100);
        assert_eq!(last_within(100, |ticks| ticks <= 37), 37);
        assert_eq!(last_within(u64::MAX, |ticks| ticks == 0), 0);
    }
}
