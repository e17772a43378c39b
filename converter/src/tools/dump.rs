//! The records of a run as they were recorded, in order of date: what `tumit dump` prints.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use crate::clock::Clocks;
use crate::convert::gaps;
use crate::convert::merge::loser_tree::merge;
use crate::convert::plan::{Plan, plan_of_layouts};
use crate::convert::time_order::{Feed, Taking};
use crate::convert::wall_clock;
use crate::convert::{ConvertError, Options, fine_dates};
use crate::rules::{Scope, Symbols, Val, append_value};
use crate::run::Stream;
use crate::run::{Loss, Run};
use tumit_paje::time::GlobalNanos;

/// A record with its names.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Listed<'a> {
    /// Its date.
    pub time: GlobalNanos,
    /// The timestamp by the real-time clock, nanoseconds since 1970; `None` if no process of the
    /// run read that clock.
    pub wall_clock: Option<i64>,
    /// Position of its process in the run.
    pub process: usize,
    /// Process id of the operating system.
    pub pid: u64,
    /// Rank in the job; the process's place in the run when it has none.
    pub rank: u64,
    /// Thread id of the operating system.
    pub tid: u64,
    /// Host name.
    pub host: &'a str,
    /// Name of the thread, with an ordinal if several threads of the process have the name.
    pub thread: &'a str,
    /// What the program says that the thread's streams are; empty when it says nothing.
    pub label: &'a str,
    /// Name of the level.
    pub level: &'a str,
    /// Name of the event, or of the end of a span (`iteration.begin`).
    pub event: &'a str,
    /// Where in the source, if it was recorded.
    pub source: Option<(&'a str, u32)>,
    /// The recorder cut its longest texts, bytes or arrays, as it was too long.
    pub truncated: bool,
    /// Its fields, in order.
    pub fields: &'a [(&'a str, FieldValue<'a>)],
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum FieldValue<'a> {
    /// An integer.
    Integer(i128),
    /// A 64-bit float.
    Float(f64),
    /// A 32-bit float.
    Single(f32),
    /// True or false.
    Bool(bool),
    /// A date on the run's time line.
    Date(GlobalNanos),
    /// Anything else, as text.
    Text(&'a str),
    /// The elements of a list, none of which is one.
    List(&'a [FieldValue<'a>]),
}

/// Which records are wanted: those that fit one item of each list that is not empty.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Selection {
    /// Names of levels, in any case; with the trace's name before it (`heat.MPI`) or without.
    pub levels: Vec<String>,
    /// Names of events, spans (`step`) or ends of spans (`step.begin`).
    pub events: Vec<String>,
    /// Processes by rank, process id or both; see [`Run::processes_called`].
    pub processes: Vec<String>,
    /// Names, labels or ids of threads.
    pub threads: Vec<String>,
    /// Intervals of dates, ends included.
    pub times: Vec<(GlobalNanos, GlobalNanos)>,
}

impl Selection {
    /// By stream of the run, in the order of its processes: whether it is wanted.
    pub(crate) fn streams_of(&self, run: &Run) -> Vec<bool> {
        let called: BTreeSet<usize> = self.processes.iter().flat_map(|name| run.processes_called(name)).collect();
        let mut wanted = Vec::new();
        for (at, process) in run.processes.iter().enumerate() {
            let is_process = self.processes.is_empty() || called.contains(&at);
            let is_thread =
                |stream: &Stream| self.threads.is_empty() || self.threads.iter().any(|name| stream.is_called(name));
            wanted.extend(process.streams.iter().map(|stream| is_process && is_thread(stream)));
        }
        wanted
    }

    pub(crate) fn takes_kind(&self, level: &str, event: &str) -> bool {
        let span = event.split('.').next().unwrap_or("");
        let is_level = |name: &String| name.rsplit('.').next().is_some_and(|name| name.eq_ignore_ascii_case(level));
        (self.events.is_empty()
            || self.events.iter().any(|name| name.eq_ignore_ascii_case(event) || name.eq_ignore_ascii_case(span)))
            && (self.levels.is_empty() || self.levels.iter().any(is_level))
    }

    pub(crate) fn takes_time(&self, time: GlobalNanos) -> bool {
        self.times.is_empty() || self.times.iter().any(|(from, to)| (*from..=*to).contains(&time))
    }

    /// Whether an interval has a wanted date in it.
    pub(crate) fn takes_some_of(&self, start: GlobalNanos, end: GlobalNanos) -> bool {
        self.times.is_empty() || self.times.iter().any(|(from, to)| *from <= end && start <= *to)
    }

    /// The first and the last date that can be wanted.
    pub(crate) fn span(&self) -> (i64, i64) {
        let from = self.times.iter().map(|(from, _)| from.0).min().unwrap_or(i64::MIN);
        let to = self.times.iter().map(|(_, to)| to.0).max().unwrap_or(i64::MAX);
        (from, to)
    }
}

/// What a listing has to tell beside the records.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Told {
    /// The clock model.
    pub clocks: Clocks,
    /// What is wrong with clocks, samples or the order of links: one sentence each.
    pub faults: Vec<String>,
    /// What the order of links has to say of dates besides.
    pub remarks: Vec<String>,
    /// What could not be decoded of all that was read.
    pub unreadable: Vec<Loss>,
}

/// Visits the records of a run in order of date. Dates are those of a conversion with these options.
///
/// # Errors
/// When the run cannot be read, or what `visit` returns.
pub fn list<E: From<ConvertError>>(
    run: &Run,
    options: &Options,
    mut visit: impl FnMut(&Listed<'_>) -> Result<(), E>,
) -> Result<Told, E> {
    list_selected(run, options, &Selection::default(), |record| visit(record).map(ControlFlow::Continue))
}

/// Visits the wanted records of a run in order of date, until the visitor breaks off. Streams and blocks that hold none of
/// them are not read.
///
/// # Errors
/// When the run cannot be read, or what `visit` returns.
pub fn list_selected<E: From<ConvertError>>(
    run: &Run,
    options: &Options,
    selection: &Selection,
    mut visit: impl FnMut(&Listed<'_>) -> Result<ControlFlow<()>, E>,
) -> Result<Told, E> {
    let mut clocks = Clocks::new(run, options.clock);
    let (mut plan, symbols) = plan_of_layouts(run, &mut clocks).map_err(E::from)?;
    let mut remarks = Vec::new();
    let mut faults = clocks.faults();
    if let Some(dates) = fine_dates(run, options).map_err(E::from)? {
        faults = dates.faults();
        plan.fines = dates.fines;
        clocks = dates.clocks;
        remarks = dates.remarks;
    }
    let plan = plan;
    let start = wall_clock::start_of(run, &clocks);
    let wanted = selection.streams_of(run);
    let (from, to) = selection.span();
    let mut feeds = Vec::new();
    for (stream, file) in plan.files().map_err(ConvertError::from)?.into_iter().enumerate() {
        if wanted.get(stream) == Some(&true) {
            let mut reader = plan.reader(stream, file);
            // Where records are moved, it counts which one of its stream a record is: none is skipped.
            if plan.fines[stream].has_lines_only() {
                reader.skip_before(|ticks| plan.fines[stream].date(plan.date(stream, ticks), 0) < from);
            }
            feeds.push(Feed::new(&plan, stream, reader, None, Taking::RECORDS).map_err(ConvertError::from)?);
        }
    }
    let kinds =
        plan.programs.iter().map(|kind| selection.takes_kind(symbols.text(kind.level), symbols.text(kind.full_name)));
    let kinds: Vec<bool> = kinds.collect();
    let mut scratch = String::new();
    let stopped = merge::<_, Stop<E>>(&mut feeds, |_, feed| {
        let Some((item, _)) = feed.item() else { return Ok(()) };
        if item.date > to {
            return Err(Stop::Enough);
        }
        let kind = plan.program_number(feed.stream, item.place.id);
        let wanted = kind.and_then(|kind| kinds.get(kind)).is_some_and(|wanted| *wanted);
        if !wanted || !selection.takes_time(GlobalNanos(item.date)) {
            return Ok(());
        }
        match record(&plan, (feed, start), &symbols, &mut scratch, &mut visit) {
            Ok(ControlFlow::Continue(())) => Ok(()),
            Ok(ControlFlow::Break(())) => Err(Stop::Enough),
            Err(error) => Err(Stop::Visitor(error)),
        }
    });
    let mut unreadable = Vec::new();
    for feed in &feeds {
        gaps::add_undecodable(&mut unreadable, feed.reader());
    }
    match stopped {
        Ok(()) | Err(Stop::Enough) => Ok(Told { clocks, faults, remarks, unreadable }),
        Err(Stop::Visitor(error)) => Err(error),
        Err(Stop::Read(error)) => Err(ConvertError::from(error).into()),
    }
}

/// Why the merge stopped.
enum Stop<E> {
    Enough,
    Visitor(E),
    Read(crate::run::ReadError),
}

impl<E> From<crate::run::ReadError> for Stop<E> {
    fn from(error: crate::run::ReadError) -> Self {
        Self::Read(error)
    }
}

fn record<E>(
    plan: &Plan<'_>,
    (feed, start): (&Feed<'_>, Option<i64>),
    symbols: &Symbols,
    scratch: &mut String,
    visit: &mut impl FnMut(&Listed<'_>) -> Result<ControlFlow<()>, E>,
) -> Result<ControlFlow<()>, E> {
    let Some((item, body)) = feed.item() else { return Ok(ControlFlow::Continue(())) };
    let Some(program) = plan.program(feed.stream, item.place.id) else { return Ok(ControlFlow::Continue(())) };
    let scope = plan.scope(feed.stream, program, item.time, (item.place.site, item.place.ordinal), body);
    scratch.clear();
    let vals = values(&scope.shown(), scratch, symbols);
    let text: &str = scratch;
    let lists: Vec<Vec<FieldValue<'_>>> = vals
        .iter()
        .map(|(_, shown)| match shown {
            Shown::One(_) => Vec::new(),
            Shown::List(list) => list.iter().map(|val| field_value(*val, text, symbols)).collect(),
        })
        .collect();
    let fields = vals.iter().zip(&lists).map(|((name, shown), list)| match shown {
        Shown::One(val) => (*name, field_value(*val, text, symbols)),
        Shown::List(_) => (*name, FieldValue::List(list)),
    });
    let fields: Vec<(&str, FieldValue<'_>)> = fields.collect();
    let stream = &plan.streams[feed.stream];
    let name = symbols.text(stream.thread_name);
    let numbered = (stream.name_ordinal > 0).then(|| format!("{name} (#{})", stream.name_ordinal));
    visit(&Listed {
        time: GlobalNanos(item.date),
        wall_clock: start.map(|start| start.saturating_add(item.date)),
        process: stream.process,
        pid: stream.pid,
        rank: stream.rank,
        tid: stream.tid,
        host: symbols.text(stream.host),
        thread: numbered.as_deref().unwrap_or(name),
        label: symbols.text(stream.label),
        level: symbols.text(program.level),
        event: symbols.text(program.full_name),
        source: scope.source().map(|(file, line)| (symbols.text(file), line)),
        truncated: item.place.truncated,
        fields: &fields,
    })
}

/// The value of a field, or those of its elements.
enum Shown {
    One(Val),
    List(Vec<Val>),
}

/// The values of all fields; those that are neither numbers nor dates as text.
fn values<'s>(scope: &Scope<'s>, scratch: &mut String, symbols: &Symbols) -> Vec<(&'s str, Shown)> {
    let plain = |val: Val, scratch: &mut String| match val {
        Val::Date(_) | Val::Bool(_) | Val::Unsigned(_) | Val::Single(_) | Val::Float(_) | Val::Int(_) => val,
        other => other.in_scratch(scratch, symbols),
    };
    let mut vals = Vec::new();
    for arrow in &scope.program.arrows {
        for (name, code) in &arrow.with {
            let shown = match scope.elements(code, scratch, symbols) {
                Some(list) => Shown::List(list.into_iter().map(|val| plain(val, scratch)).collect()),
                None => Shown::One(plain(scope.eval(code, scratch, symbols), scratch)),
            };
            vals.push((name.as_str(), shown));
        }
    }
    vals
}

fn field_value<'a>(val: Val, scratch: &'a str, symbols: &'a Symbols) -> FieldValue<'a> {
    match val {
        Val::Date(nanos) => FieldValue::Date(GlobalNanos(nanos)),
        Val::Bool(value) => FieldValue::Bool(value),
        Val::Float(value) => FieldValue::Float(value),
        Val::Single(value) => FieldValue::Single(value),
        val => match val.integer() {
            Some(value) => FieldValue::Integer(value),
            None => FieldValue::Text(val.text(scratch, symbols).unwrap_or("?")),
        },
    }
}

impl std::fmt::Display for FieldValue<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::Single(value) => write!(f, "{value}"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Date(time) => {
                let mut text = String::new();
                append_value(Val::Date(time.0), "", &Symbols::default(), &mut text);
                f.write_str(&text)
            }
            Self::Text(text) => f.write_str(text),
            Self::List(list) => {
                f.write_str("[")?;
                for (number, element) in list.iter().enumerate() {
                    f.write_str(if number > 0 { ", " } else { "" })?;
                    match element {
                        // Else nobody could tell one text with a comma from two.
                        Self::Text(text) => write!(f, "{text:?}")?,
                        element => write!(f, "{element}")?,
                    }
                }
                f.write_str("]")
            }
        }
    }
}
