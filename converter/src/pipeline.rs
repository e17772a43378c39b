//! The conversion of a run: records → dates → merge → rules → sink.
//!
//! Two passes over the records. The first finds what must be known before the first line (ends of links without other
//! end, computed values, how far the dates of arrows reach); it is left out when no rule asks for it.

use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

use tracer_format::Schema;
use tumit::Spec;

use crate::clock::{Clocks, Method};
use crate::input::ReadError;
use crate::merge::merge;
use crate::paje::Sink;
use crate::plan::{Plan, plan};
use crate::reorder::Feed;
use crate::report::{Counts, Report};
use crate::rules::{Model, Picture, Survey, Surveyor, Symbols, announce, spec_of, write_lines};
use crate::run::Run;
use crate::time::GlobalNanos;

/// Told how much is done: steps done, and steps in all.
pub type Progress = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// What the user chose.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Options {
    /// How clocks are corrected.
    pub clock: Method,
    /// Rules to use instead of those that the run carries.
    pub rules: Option<Spec>,
    /// Name of the text output that [`convert_to_text`] writes.
    pub output: Option<String>,
    /// Called now and then.
    pub progress: Option<Progress>,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("clock", &self.clock).field("output", &self.output).finish_non_exhaustive()
    }
}

/// Why a conversion stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// The run could not be read. (Damage is no error.)
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The result could not be written.
    #[error("cannot write the result: {0}")]
    Write(#[from] io::Error),
    /// There is no such text output.
    #[error("the spec has no text output `{name}`; it has {}", if known.is_empty() { "none" } else { known })]
    NoOutput {
        /// As asked for.
        name: String,
        /// Those that there are.
        known: String,
    },
}

/// Sends the Pajé operations of a run to `sink`: definitions first, then everything in order of date.
///
/// Memory is that of one or a few blocks per stream, of the containers, and of the links in flight.
///
/// # Errors
/// When the run cannot be read or the sink cannot go on. Damage and losses are in the report.
pub fn convert(run: &Run, options: &Options, sink: &mut dyn Sink) -> Result<Report, ConvertError> {
    let options = Options { output: None, ..options.clone() };
    let mut job = Job::new(run, &options);
    let (plan, mut model, mut symbols) = plan(run, &options, &mut job.clocks, &mut job.remarks)?;
    let (mut survey, floors) = job.survey(&plan, &mut model, &mut symbols)?;
    job.note(&survey);
    announce(&plan.programs, &survey, sink)?;
    let mut picture = Picture::begin(&model, &mut survey, &mut symbols, sink)?;
    let mut end = 0;
    job.pass(&plan, floors, |feed, job| {
        let Some((item, body)) = feed.item() else { return Ok(()) };
        end = item.date;
        job.counts.records += u64::from(item.only.is_none());
        let Some(program) = plan.program(feed.stream, item.place.id) else { return Ok(()) };
        let scope = plan.scope(feed.stream, program, item.time, item.place.site, body);
        let stream = u32::try_from(feed.stream).unwrap_or(u32::MAX);
        Ok(picture.record(&scope, item.only, item.date, (stream, item.place.ordinal))?)
    })?;
    let counts = picture.finish(end)?;
    Ok(job.report(run, counts, end))
}

/// The text output that stands for the rules of a run whose spec has none, but writes Pajé itself: the specs of all its
/// processes have no tree and no rules, and this output begins with Pajé's definitions.
#[must_use]
pub fn own_paje_output(run: &Run) -> Option<String> {
    let mut found: Option<String> = None;
    let mut known: Vec<&Schema> = Vec::new();
    for provider in run.processes.iter().flat_map(|process| &process.providers) {
        if known.contains(&&provider.schema) {
            continue;
        }
        known.push(&provider.schema);
        let spec = spec_of(&provider.schema, &mut Vec::new());
        let is_bare = spec.containers.is_empty() && spec.rules.iter().all(Vec::is_empty);
        let paje = spec.outputs.iter().find(|output| output.prologue.trim_start().starts_with("%EventDef"));
        let name = paje.filter(|_| is_bare)?.name.clone();
        if found.get_or_insert_with(|| name.clone()) != &name {
            return None;
        }
    }
    found
}

/// Writes the text output named by [`Options::output`]: its prologue, and its lines in order of date.
///
/// # Errors
/// When there is no such output, the run cannot be read, or the text cannot be written.
pub fn convert_to_text(run: &Run, options: &Options, out: &mut dyn Write) -> Result<Report, ConvertError> {
    let mut job = Job::new(run, options);
    let (plan, mut model, mut symbols) = plan(run, options, &mut job.clocks, &mut job.remarks)?;
    let (survey, floors) = job.survey(&plan, &mut model, &mut symbols)?;
    for prologue in &plan.prologues {
        out.write_all(prologue.as_bytes())?;
    }
    let (mut end, mut line) = (0, String::new());
    let mut counts = Counts::default();
    for once in &survey.once {
        out.write_all(once.as_bytes())?;
        counts.lines += 1;
    }
    job.pass(&plan, floors, |feed, job| {
        let Some((item, body)) = feed.item() else { return Ok(()) };
        end = item.date;
        job.counts.records += u64::from(item.only.is_none());
        let Some(program) = plan.program(feed.stream, item.place.id) else { return Ok(()) };
        let scope = plan.scope(feed.stream, program, item.time, item.place.site, body);
        counts.lines += write_lines(&scope, item.only, &symbols, &mut line);
        out.write_all(line.as_bytes())?;
        line.clear();
        Ok(())
    })?;
    out.flush()?;
    Ok(job.report(run, counts, end))
}

/// By stream: the smallest date in each block or a later one, where arrows have dates of their own.
type Floors = Vec<Option<Vec<i64>>>;

/// A conversion at work: what it counts and tells.
struct Job<'o> {
    options: &'o Options,
    clocks: Clocks,
    remarks: Vec<String>,
    counts: Counts,
    done: u64,
    total: u64,
}

/// How many records pass between two calls of the progress function.
const PROGRESS_RECORDS: u64 = 1 << 14;

impl<'o> Job<'o> {
    fn new(run: &Run, options: &'o Options) -> Self {
        let clocks = Clocks::new(run, options.clock);
        let remarks = clocks.remarks.clone();
        Self { options, clocks, remarks, counts: Counts::default(), done: 0, total: 0 }
    }

    /// The first pass, if any rule asks for it. Returns the floors of each stream whose arrows have dates of their own.
    fn survey(
        &mut self,
        plan: &Plan<'_>,
        model: &mut Model,
        symbols: &mut Symbols,
    ) -> Result<(Survey, Floors), ConvertError> {
        let mut floors: Floors = vec![None; plan.streams.len()];
        self.total = plan.records();
        if !plan.programs.iter().any(|program| program.surveyed) {
            return Ok((Survey::default(), floors));
        }
        self.total *= 2;
        let dated = plan.programs.iter().any(|program| program.dated);
        let mut blocks: Vec<Vec<i64>> = vec![Vec::new(); plan.streams.len()];
        let mut surveyor = Surveyor::default();
        let plain = vec![None; plan.streams.len()];
        self.pass_quietly(plan, plain, |feed, _| {
            let Some((item, body)) = feed.item() else { return Ok(()) };
            if dated {
                note_date(&mut blocks[feed.stream], feed.reader().blocks_read(), item.date);
            }
            let Some(program) = plan.program(feed.stream, item.place.id) else { return Ok(()) };
            if !program.surveyed {
                return Ok(());
            }
            let scope = plan.scope(feed.stream, program, item.time, item.place.site, body);
            let place = (u32::try_from(feed.stream).unwrap_or(u32::MAX), item.place.ordinal);
            surveyor.record(&scope, place, model, symbols, |date| {
                note_date(&mut blocks[feed.stream], feed.reader().blocks_read(), date);
                floors[feed.stream].get_or_insert_default();
            });
            Ok(())
        })?;
        for (floors, mut blocks) in floors.iter_mut().zip(blocks) {
            let mut least = i64::MAX;
            for block in blocks.iter_mut().rev() {
                least = least.min(*block);
                *block = least;
            }
            if let Some(floors) = floors {
                *floors = blocks;
            }
        }
        Ok((surveyor.finish(), floors))
    }

    fn note(&mut self, survey: &Survey) {
        self.counts.links = survey.links;
        self.counts.reversed_links = survey.reversed;
        self.counts.unmatched_starts = survey.unmatched_starts;
        self.counts.unmatched_ends = survey.unmatched_ends;
        if survey.reversed > 0 {
            let links = survey.links;
            self.remarks.push(format!("{} of {links} links end before they start", survey.reversed));
        }
    }

    /// One pass over all records, in order of date, which also counts what the streams lost.
    fn pass(
        &mut self,
        plan: &Plan<'_>,
        floors: Floors,
        visit: impl FnMut(&Feed<'_>, &mut Self) -> Result<(), ConvertError>,
    ) -> Result<(), ConvertError> {
        for feed in self.pass_quietly(plan, floors, visit)? {
            self.counts.backward_records += feed.backward;
            self.counts.early_dates += feed.early;
            self.counts.unknown_records += feed.unknown;
        }
        Ok(())
    }

    fn pass_quietly(
        &mut self,
        plan: &Plan<'_>,
        floors: Floors,
        mut visit: impl FnMut(&Feed<'_>, &mut Self) -> Result<(), ConvertError>,
    ) -> Result<Vec<Tally>, ConvertError> {
        let mut feeds = Vec::new();
        for (stream, (reader, floors)) in plan.readers()?.into_iter().zip(floors).enumerate() {
            feeds.push(Feed::new(plan, stream, reader, floors)?);
        }
        merge::<_, ConvertError>(&mut feeds, |_, feed| {
            self.done += 1;
            if self.done.is_multiple_of(PROGRESS_RECORDS)
                && let Some(progress) = &self.options.progress
            {
                progress(self.done.min(self.total), self.total);
            }
            visit(feed, self)
        })?;
        Ok(feeds.iter().map(Tally::of).collect())
    }

    fn report(self, run: &Run, made: Counts, end: i64) -> Report {
        let dropped = run.processes.iter().map(crate::input::Process::dropped).sum();
        let counts = Counts {
            paje_events: made.paje_events,
            lines: made.lines,
            containers: made.containers,
            pops_of_nothing: made.pops_of_nothing,
            not_computable: made.not_computable,
            without_container: made.without_container,
            dropped_records: dropped,
            ..self.counts
        };
        Report { counts, end: GlobalNanos(end), losses: run.losses(), remarks: self.remarks, clocks: self.clocks }
    }
}

/// What a stream lost or had to repair.
struct Tally {
    backward: u64,
    early: u64,
    unknown: u64,
}

impl Tally {
    fn of(feed: &Feed<'_>) -> Self {
        Self { backward: feed.backward, early: feed.early, unknown: feed.reader().damage().1 }
    }
}

/// Notes a date of a block of which `blocks_read` is the number, from 1.
fn note_date(blocks: &mut Vec<i64>, blocks_read: usize, date: i64) {
    if blocks.len() < blocks_read {
        blocks.resize(blocks_read, i64::MAX);
    }
    if let Some(block) = blocks.get_mut(blocks_read.wrapping_sub(1)) {
        *block = (*block).min(date);
    }
}
