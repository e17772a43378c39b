//! The records of a run as they were recorded, in order of date: what `tumit dump` prints.

use crate::clock::Clocks;
use crate::merge::merge;
use crate::pipeline::{ConvertError, Options};
use crate::plan::{Plan, plan_of_layouts};
use crate::reorder::Feed;
use crate::rules::{Scope, Symbols, Val, append_value};
use crate::run::Run;
use crate::time::GlobalNanos;

/// A record with its names.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Listed<'a> {
    /// Its date.
    pub time: GlobalNanos,
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
    /// Name of the thread.
    pub thread: &'a str,
    /// Name of the level.
    pub level: &'a str,
    /// Name of the event, or of the end of a span (`iteration.begin`).
    pub event: &'a str,
    /// Where in the source, if it was recorded.
    pub source: Option<(&'a str, u32)>,
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
}

/// Visits the records of a run in order of date.
///
/// # Errors
/// When the run cannot be read, or what `visit` returns.
pub fn list<E: From<ConvertError>>(
    run: &Run,
    options: &Options,
    mut visit: impl FnMut(&Listed<'_>) -> Result<(), E>,
) -> Result<Clocks, E> {
    let mut clocks = Clocks::new(run, options.clock);
    let (plan, symbols) = plan_of_layouts(run, &mut clocks).map_err(E::from)?;
    let mut feeds = Vec::new();
    for (stream, reader) in plan.readers().map_err(ConvertError::from)?.into_iter().enumerate() {
        feeds.push(Feed::new(&plan, stream, reader, None).map_err(ConvertError::from)?);
    }
    let mut scratch = String::new();
    merge::<_, Stop<E>>(&mut feeds, |_, feed| {
        record(&plan, feed, &symbols, &mut scratch, &mut visit).map_err(Stop::Visitor)
    })
    .map_err(|stop| match stop {
        Stop::Visitor(error) => error,
        Stop::Read(error) => ConvertError::from(error).into(),
    })?;
    Ok(clocks)
}

/// Why the merge stopped.
enum Stop<E> {
    Visitor(E),
    Read(crate::input::ReadError),
}

impl<E> From<crate::input::ReadError> for Stop<E> {
    fn from(error: crate::input::ReadError) -> Self {
        Self::Read(error)
    }
}

fn record<E>(
    plan: &Plan<'_>,
    feed: &Feed<'_>,
    symbols: &Symbols,
    scratch: &mut String,
    visit: &mut impl FnMut(&Listed<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let Some((item, body)) = feed.item() else { return Ok(()) };
    let Some(program) = plan.program(feed.stream, item.place.id) else { return Ok(()) };
    let scope = plan.scope(feed.stream, program, item.time, item.place.site, body);
    scratch.clear();
    let vals = values(&scope, scratch, symbols);
    let fields: Vec<(&str, FieldValue<'_>)> =
        vals.iter().map(|(name, val)| (*name, field_value(*val, scratch, symbols))).collect();
    let stream = &plan.streams[feed.stream];
    visit(&Listed {
        time: GlobalNanos(item.time),
        process: stream.process,
        pid: stream.pid,
        rank: stream.rank,
        tid: stream.tid,
        host: symbols.text(stream.host),
        thread: symbols.text(stream.thread_name),
        level: symbols.text(program.level),
        event: symbols.text(program.full_name),
        source: scope.source().map(|(file, line)| (symbols.text(file), line)),
        fields: &fields,
    })
}

/// The values of all fields; those that are neither numbers nor dates as text.
fn values<'s>(scope: &Scope<'s>, scratch: &mut String, symbols: &Symbols) -> Vec<(&'s str, Val)> {
    let mut vals = Vec::new();
    for arrow in &scope.program.arrows {
        for (name, code) in &arrow.with {
            let val = scope.eval(code, scratch, symbols);
            let plain = matches!(
                val,
                Val::Date(_) | Val::Bool(_) | Val::Unsigned(_) | Val::Single(_) | Val::Float(_) | Val::Int(_)
            );
            vals.push((name.as_str(), if plain { val } else { val.in_scratch(scratch, symbols) }));
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
        }
    }
}
