//! The conversion of a run: records → dates → merge → rules → sink.
//!
//! Two passes over the records. The first finds what must be known before the first line (ends of links without other
//! end, computed values, how far the dates of arrows reach); it is left out when no rule asks for it, and where what it finds
//! may be told later (`at_once`).

mod at_once;
mod clock_check;
mod combined;
mod endings;
mod first;
mod labels;
mod lines;
mod places;
mod second_pass;
mod shapes;
pub(crate) mod survey;

use std::io::{self, Write};
use std::sync::Arc;

use tracer_format::Schema;

use crate::ahead::{Floors, Pass, Passed};
use crate::chunk::Due;
use crate::clock::{Causality, Clocks, Fine, Leap, LinkLog, Method, RawClocks, restore_order, usual_reversal};
use crate::made::Act;
use crate::made::Turn;
pub use crate::options::{ConvertError, DEFAULT_MEMORY, Options, Progress};
use crate::paje::Sink;
use crate::paje::relay::relay;
use crate::pass::{Records, Visit};
use crate::plan::{Needs, Plan, plan};
use crate::ready::Purpose;
use crate::reorder::Taking;
use crate::report::{Counts, Report};
use crate::rules::{Model, Op, Program, Symbols, spec_of};
use crate::run::Run;
use crate::time::GlobalNanos;
pub use clock_check::{ClockCheck, check_clocks};
use first::FirstPass;
use lines::write_lines;
use second_pass::{Once, Picture};
use shapes::announce;
use survey::{Survey, Surveyor};

/// Sends the Pajé operations of a run to `sink`: definitions first, then everything in order of date.
///
/// Memory is that of one or a few blocks per stream, of the containers, and of the links in flight.
///
/// # Errors
/// When the run cannot be read or the sink cannot go on. Damage and losses are in the report.
pub fn convert(run: &Run, options: &Options, sink: &mut dyn Sink) -> Result<Report, ConvertError> {
    match combined::output_beside_rules(run, options) {
        Some(output) => combined::convert(run, options, &output, sink),
        None => convert_rules(run, options, sink),
    }
}

/// As [`convert`], without the text outputs of the spec.
fn convert_rules(run: &Run, options: &Options, sink: &mut dyn Sink) -> Result<Report, ConvertError> {
    let options = Options { output: None, ..options.clone() };
    let mut job = Job::new(run, &options);
    let (mut plan, mut model, mut symbols) = plan(run, &options, &mut job.clocks, &mut job.remarks)?;
    if sink.can_begin_anew() && at_once::is_possible(&job, &plan, &model) {
        match at_once::convert(job, &plan, &model, &mut symbols, sink)? {
            Some(report) => return Ok(report),
            None => sink.begin_anew()?,
        }
        job = Job::new(run, &options);
        (plan, model, symbols) = self::plan(run, &options, &mut job.clocks, &mut job.remarks)?;
    }
    let (mut survey, floors) = job.survey(&mut plan, &mut model, &mut symbols)?;
    let made = make(&mut job, &plan, &model, (&mut survey, &mut symbols), (floors, None), sink)?;
    // Only what is made at once may be void.
    let (counts, end) = made.unwrap_or_default();
    job.note_reversed(counts.reversed_links);
    Ok(job.report(counts, end))
}

/// The second pass for Pajé, or the only one; `None` when what was sent is void. The rules run in a thread of their own when there may be so many: the sink stays in this one.
fn make(
    job: &mut Job<'_>,
    plan: &Plan<'_>,
    model: &Model,
    known: (&mut Survey, &mut Symbols),
    how: How,
    sink: &mut dyn Sink,
) -> Result<Option<(Counts, i64)>, ConvertError> {
    if !job.options.may_use(3) {
        return picture(job, plan, model, known, how, sink);
    }
    let (mut sender, taker) = relay();
    std::thread::scope(|scope| {
        let rules = scope.spawn(move || picture(job, plan, model, known, how, &mut sender));
        let taken = taker.run(sink);
        let made = rules.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // A sink that fails makes the rules fail, too: its reason counts.
        taken?;
        made
    })
}

/// How the pass for Pajé goes: the floors of the streams, and what is asked for if there is no other pass.
type How = (Floors, Option<Once>);

/// Runs the rules over all records and sends their Pajé operations; gives back what was counted, and the last date; `None` when what was sent is void.
fn picture(
    job: &mut Job<'_>,
    plan: &Plan<'_>,
    model: &Model,
    (survey, symbols): (&mut Survey, &mut Symbols),
    (floors, once): How,
    sink: &mut dyn Sink,
) -> Result<Option<(Counts, i64)>, ConvertError> {
    announce(&plan.programs, survey, sink)?;
    let mut picture = Picture::begin(plan, model, survey, symbols, sink, (job.run.may_have_gaps(), once))?;
    let purpose = match once {
        _ if job.options.by_record => Purpose::Records,
        Some(_) => Purpose::Once,
        None => Purpose::Picture(model),
    };
    let end = job.records(plan, (floors, Taking::ALL, purpose), &mut picture);
    if picture.is_void() {
        return Ok(None);
    }
    let end = end?.max(picture.last_end());
    let Some((counts, explanations)) = picture.finish(end)? else { return Ok(None) };
    job.remarks.extend(explanations.failed);
    job.ambiguous = explanations.ambiguous;
    Ok(Some((counts, end)))
}

impl Visit for Picture<'_> {
    fn record(&mut self, due: Due<'_>) -> Result<(), ConvertError> {
        let stream = u32::try_from(due.stream).unwrap_or(u32::MAX);
        match due.scope(self.plan) {
            Some(scope) => self.record(&scope, due.only, due.date, (stream, due.ordinal))?,
            None if due.is_truncation() => {}
            None => self.gap(stream, due.date)?,
        }
        Ok(())
    }

    fn know(&mut self, number: u32, act: Act) {
        self.know(number, act);
    }

    #[inline(always)]
    fn ready(&mut self, turn: Turn) -> Result<(), ConvertError> {
        Ok(self.ready(turn)?)
    }

    fn wide(&mut self, turn: Turn, words: &[u64]) -> Result<(), ConvertError> {
        Ok(self.wide(turn, words)?)
    }
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
        let is_bare = spec.containers.is_empty() && spec.actions().next().is_none();
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
    let report = write_text(run, options, &mut |text, _| out.write_all(text))?;
    out.flush()?;
    Ok(report)
}

/// Takes texts of whole lines, each with the process that it is from.
type WriteLines<'a> = dyn FnMut(&[u8], Option<usize>) -> io::Result<()> + 'a;

/// Writes a text output.
fn write_text(run: &Run, options: &Options, write: &mut WriteLines<'_>) -> Result<Report, ConvertError> {
    let mut job = Job::new(run, options);
    let (mut plan, mut model, mut symbols) = plan(run, options, &mut job.clocks, &mut job.remarks)?;
    let (survey, floors) = job.survey(&mut plan, &mut model, &mut symbols)?;
    if let Some(dates) = fine_dates(run, options)? {
        plan.fines = dates.fines;
        job.clocks = dates.clocks;
        job.causality = dates.causality;
        job.remarks.extend(dates.remarks);
    }
    for prologue in &plan.prologues {
        write(prologue.as_bytes(), None)?;
        // The first line does not go on where it ends.
        if !prologue.is_empty() && !prologue.ends_with('\n') {
            write(b"\n", None)?;
        }
    }
    let mut line = String::new();
    let mut counts = Counts::default();
    for once in &survey.once {
        write(once.as_bytes(), None)?;
        counts.lines += 1;
    }
    let take = |due: Due<'_>| {
        let Some(scope) = due.scope(&plan) else { return Ok(()) };
        counts.lines += write_lines(&scope, due.only, &symbols, &mut line);
        write(line.as_bytes(), Some(scope.stream.process))?;
        line.clear();
        Ok(())
    };
    let end = job.records(&plan, (floors, Taking::RECORDS, Purpose::Records), &mut Records(take))?;
    Ok(job.report(counts, end))
}

/// The dates of a run by its links.
pub(crate) struct FineDates {
    /// By stream.
    pub(crate) fines: Vec<Fine>,
    pub(crate) clocks: Clocks,
    causality: Option<Causality>,
    pub(crate) remarks: Vec<String>,
}

impl FineDates {
    /// What is wrong with the clocks, the samples or the order of links: one sentence each.
    pub(crate) fn faults(&self) -> Vec<String> {
        let of_order = self.causality.map(|found| found.faults(&self.clocks)).unwrap_or_default();
        self.clocks.faults().into_iter().chain(of_order).collect()
    }
}

/// What the links of the rules for Pajé say of the dates of a run, for outputs that have no links themselves. `None` when
/// there are no such rules, or nothing is wanted of them.
pub(crate) fn fine_dates(run: &Run, options: &Options) -> Result<Option<FineDates>, ConvertError> {
    let options = Options { output: None, progress: None, ..options.clone() };
    let mut job = Job::new(run, &options);
    // Processes that say to have one clock may turn out to have several.
    if !options.causal && (options.clock != Method::Graph || job.clocks.domain_of.len() < 2) {
        return Ok(None);
    }
    let (mut plan, mut model, mut symbols) = plan(run, &options, &mut job.clocks, &mut Vec::new())?;
    let mut arrows = plan.programs.iter().flat_map(|program| &program.arrows);
    if !arrows.any(|arrow| matches!(arrow.op, Op::Link { .. })) {
        return Ok(None);
    }
    job.survey(&mut plan, &mut model, &mut symbols)?;
    let Job { clocks, causality, remarks, .. } = job;
    Ok(Some(FineDates { fines: plan.fines, clocks, causality, remarks }))
}

/// A conversion at work: what it counts and tells.
struct Job<'o> {
    run: &'o Run,
    options: &'o Options,
    clocks: Clocks,
    remarks: Vec<String>,
    /// A sentence for each ambiguous reference.
    ambiguous: Vec<String>,
    counts: Counts,
    reversed_coarse: Option<u64>,
    causality: Option<Causality>,
    /// Links that end before they start by the raw clocks. Counted only if no second pass follows.
    reversed_raw: Option<u64>,
    done: u64,
    total: u64,
}

impl<'o> Job<'o> {
    fn new(run: &'o Run, options: &'o Options) -> Self {
        let clocks = Clocks::new(run, options.clock);
        Self {
            run,
            options,
            clocks,
            remarks: Vec::new(),
            ambiguous: Vec::new(),
            counts: Counts::default(),
            reversed_coarse: None,
            causality: None,
            reversed_raw: None,
            done: 0,
            total: 0,
        }
    }

    /// The first pass, if any rule asks for it, and what its links say of dates. Returns the floors of each stream whose
    /// arrows have dates of their own.
    fn survey(
        &mut self,
        plan: &mut Plan<'_>,
        model: &mut Model,
        symbols: &mut Symbols,
    ) -> Result<(Survey, Floors), ConvertError> {
        let (survey, floors, log) = self.first_pass(plan, model, symbols)?;
        self.counts.links = survey.links;
        self.counts.unmatched_starts = survey.unmatched_starts;
        self.counts.unmatched_ends = survey.unmatched_ends;
        let Some(log) = log.filter(|log| log.links() > 0) else {
            self.judge_samples(plan);
            return Ok((survey, floors));
        };
        let raw = self.reversed_raw.map(|_| RawClocks::new(self.run, &self.clocks));
        if self.options.clock == Method::Graph && self.clocks.domain_of.len() > 1 {
            let processes: Vec<usize> = plan.streams.iter().map(|stream| stream.process).collect();
            let reversed = self.clocks.split(self.run, &log, &processes).map_err(ConvertError::Links)?;
            self.reversed_coarse = Some(reversed);
        }
        if self.options.clock == Method::Graph && self.clocks.domains.len() > 1 {
            let extents = plan.extents(&self.clocks);
            let bends = self.clocks.refine(self.run, &log, &extents).map_err(ConvertError::Links)?;
            for (fine, extent) in plan.fines.iter_mut().zip(extents) {
                fine.bend.clone_from(&bends[extent.domain]);
            }
        } else {
            self.judge_samples(plan);
        }
        if self.options.causal {
            #[expect(clippy::cast_possible_truncation, reason = "far below 2^53")]
            let mut tick = (self.clocks.granularity().ceil() as i64 - 1).max(0);
            if self.options.clock == Method::Graph && self.clocks.claim_all() {
                tick = tick.max(usual_reversal(&log, &plan.fines).map_err(ConvertError::Links)?);
            }
            let leaps: Vec<Option<Arc<Vec<Leap>>>> = (0..self.clocks.domains.len())
                .map(|domain| Some(self.clocks.leaps(domain)).filter(|leaps| !leaps.is_empty()).map(Arc::new))
                .collect();
            for (number, fine) in plan.fines.iter_mut().enumerate() {
                fine.tick = tick;
                fine.leaps.clone_from(&leaps[self.clocks.domain_of[plan.streams[number].process]]);
            }
            let found = restore_order(&log, &mut plan.fines).map_err(ConvertError::Links)?;
            self.remarks.extend(found.remarks(&self.clocks));
            self.causality = Some(found);
        }
        if let Some(raw) = raw {
            self.count_reversed(&log, plan, &raw)?;
        }
        Ok((survey, floors))
    }

    /// How good dates are that no message confirms.
    fn judge_samples(&mut self, plan: &Plan<'_>) {
        if self.options.clock != Method::None && self.clocks.domains.len() > 1 {
            let extents = plan.extents(&self.clocks);
            self.clocks.judge_samples(self.run, &extents);
        }
    }

    fn first_pass(
        &mut self,
        plan: &Plan<'_>,
        model: &mut Model,
        symbols: &mut Symbols,
    ) -> Result<(Survey, Floors, Option<LinkLog>), ConvertError> {
        let floors: Floors = vec![None; plan.streams.len()];
        self.total = plan.records();
        if !plan.programs.iter().any(Program::is_surveyed) {
            return Ok((Survey::default(), floors, None));
        }
        if self.reversed_raw.is_none() {
            self.total *= 2;
        }
        let dated = plan.programs.iter().any(|program| program.dated);
        let wanted = self.options.causal || self.options.clock == Method::Graph || self.reversed_raw.is_some();
        let surveyor =
            Surveyor::new(wanted.then(|| LinkLog::with_memory(self.options.memory / 4)), self.options.memory / 4 * 3);
        let plain = vec![None; plan.streams.len()];
        // The least date of a block may be that of any of its records.
        let all: fn(&Program) -> bool = |_| true;
        let taking = Taking { wanted: if dated { all } else { Program::is_surveyed }, gaps: false };
        let needs = plan.needs(if dated { all } else { |program| program.surveyed }, true);
        let purpose = if dated || self.options.by_record { Purpose::Records } else { Purpose::Survey };
        let blocks = vec![Vec::new(); plan.streams.len()];
        let mut first = FirstPass { plan, model, symbols, surveyor, dated, blocks, floors, acts: Vec::new() };
        let passed = self.pass(plan, plain, (taking, needs, purpose), &mut first)?;
        let FirstPass { mut surveyor, blocks, mut floors, .. } = first;
        surveyor.take_columns(passed.values, plan, model, symbols);
        surveyor.ends(plan, model, symbols);
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
        let (survey, log) = surveyor.finish(model, symbols).map_err(ConvertError::Links)?;
        Ok((survey, floors, log))
    }

    fn note_reversed(&mut self, reversed: u64) {
        self.counts.reversed_links = reversed;
        if reversed > 0 {
            let links = self.counts.links;
            self.remarks.push(format!("{reversed} of {links} links end before they start"));
        }
    }

    /// One pass over all records that are known, and over gaps; counts the records and gives back the last date.
    fn records(
        &mut self,
        plan: &Plan<'_>,
        (floors, taking, purpose): (Floors, Taking, Purpose<'_>),
        visit: &mut impl Visit,
    ) -> Result<i64, ConvertError> {
        let needs = plan.needs(taking.wanted, false);
        let passed = self.pass(plan, floors, (taking, needs, purpose), visit)?;
        for tally in &passed.tallies {
            self.counts.backward_records += tally.backward;
            self.counts.early_dates += tally.early;
            self.counts.unknown_records += tally.unknown;
            self.counts.records += tally.records;
        }
        Ok(passed.tallies.iter().map(|tally| tally.end).max().unwrap_or(0))
    }

    /// One pass over the records that are needed, in order of date. What is read one by one is taken by its program.
    fn pass(
        &mut self,
        plan: &Plan<'_>,
        floors: Floors,
        (taking, needs, purpose): (Taking, Needs, Purpose<'_>),
        visit: &mut impl Visit,
    ) -> Result<Passed, ConvertError> {
        let (ahead, readers) = (self.options.may_use(2), self.options.readers(plan.records()));
        let tell = |records: u64| {
            self.done += records;
            if let Some(progress) = &self.options.progress {
                progress(self.done.min(self.total), self.total);
            }
        };
        Pass { plan, floors, taking, needs, purpose, ahead, readers }.run(tell, visit)
    }

    fn report(self, made: Counts, end: i64) -> Report {
        let Self { run, clocks, .. } = self;
        let remarks = run
            .launch_remark()
            .into_iter()
            .chain(run.truncation_remark())
            .chain(clocks.remarks.iter().cloned())
            .chain(self.remarks)
            .collect();
        let dropped = run.processes.iter().fold(0, |sum: u64, process| sum.saturating_add(process.dropped()));
        let counts = Counts {
            paje_events: made.paje_events,
            lines: made.lines,
            containers: made.containers,
            pops_of_nothing: made.pops_of_nothing,
            unknown_states: made.unknown_states,
            not_computable: made.not_computable,
            without_container: made.without_container,
            ambiguous: made.ambiguous,
            dropped_records: dropped,
            ..self.counts
        };
        let (reversed_coarse, causality, losses) = (self.reversed_coarse, self.causality, run.losses());
        Report {
            counts,
            end: GlobalNanos(end),
            losses,
            remarks,
            ambiguous: self.ambiguous,
            clocks,
            reversed_coarse,
            causality,
            text_faults: Vec::new(),
        }
    }
}
