//! Filters (thesis P53–P63, papers S30–S35): sources around sources, each of which shows a trace in another way, and their [`Chain`].
//!
//! A [`Filter`] is a value that can be written, read, compared and kept; [`Filter::apply`] finds in a trace what it names and puts a
//! [`TimelineSource`] around it. Entities are never copied or altered: a filter asks the source within when it is asked, by sums where those
//! are enough. Its module says what it costs.
//!
//! A filter of one's own implements [`Layer`].

pub(crate) mod attribute;
mod chain;
mod classify;
mod color;
mod complete;
mod condition;
mod count;
mod cut;
mod duration;
mod group;
mod hidden;
mod key;
mod layer;
mod order;
mod parse;
mod pattern;
mod pick;
mod print;
mod range;
mod reduce;
mod reuse;
mod select;
mod steps;
pub(crate) mod tree;
mod values;
pub mod walk;

use std::ops::Range;
use std::sync::Arc;

pub use chain::{Chain, Entry, FieldError, FileError, Problem};
pub use complete::{Completion, complete};
pub use condition::{Condition, FieldTest};
pub use layer::Layer;
pub use pattern::{Pattern, Patterns};

use crate::query::{Color, GlobalNanos, Interval, Look, MarkShape, QueryError, TimelineSource};

/// A filter. As text it is an expression of the language of `docs/filters.md`: `hide value Waits* of Activity`.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub enum Filter {
    /// Types of entities or containers.
    Types { keep: Keep, types: Patterns },
    /// Values of states, events and links.
    Values { keep: Keep, values: Patterns, of: Option<Pattern> },
    /// Containers with all below them.
    Containers { keep: Keep, containers: Patterns },
    /// States, events and links, selected by their fields and endpoints.
    Attribute { keep: Keep, condition: Condition, of: Option<Pattern> },
    /// States and links by their duration in nanoseconds.
    Duration { keep: Keep, comparison: Comparison, nanos: i64, of: Option<Pattern> },
    /// A part of time.
    Cut(Part),
    /// One container in the place of several.
    Group { containers: Patterns, name: String },
    /// One row for containers that follow each other.
    Reuse { types: Patterns },
    /// A new variable or state.
    Reduce(Reduction),
    /// The class of a field as the value; numbers below the first edge, from there to the next, and so on. Edges of durations are in nanoseconds.
    Classify { of: Pattern, field: String, edges: Vec<f64> },
    /// Siblings of a type in order.
    Sort { ty: Pattern, by: Key, descending: bool },
    /// Containers before their siblings.
    Order { containers: Patterns },
    /// Only the first of a type by a statistic.
    Best { number: u32, ty: Pattern, by: Key, lowest: bool },
    /// Only those of a type whose statistic compares so; times in nanoseconds.
    Having { ty: Pattern, by: Key, comparison: Comparison, number: f64 },
    /// Values in a colour.
    Color { values: Patterns, of: Option<Pattern>, color: Color },
    /// Events as marks of a shape.
    Shape { values: Patterns, of: Option<Pattern>, shape: MarkShape },
    /// Values in a size, 1 being the usual one.
    Size { values: Patterns, of: Option<Pattern>, size: f32 },
    /// All grey but these.
    Bright { values: Patterns, of: Option<Pattern> },
}

/// What a selection does with what it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Leaves it out.
    Hide,
    /// Leaves out all else of its kind.
    Only,
}

/// How a field or number is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after what they are")]
pub enum Comparison {
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
    /// Fits a pattern.
    Like,
    /// Does not fit a pattern.
    Unlike,
}

impl Comparison {
    /// Whether it holds between two values.
    pub fn holds<T: PartialOrd>(self, a: &T, b: &T) -> bool {
        match self {
            Self::Equal | Self::Like => a == b,
            Self::Unequal | Self::Unlike => a != b,
            Self::Less => a < b,
            Self::AtMost => a <= b,
            Self::More => a > b,
            Self::AtLeast => a >= b,
        }
    }
}

/// A part of time, in nanoseconds. A bound that is not given is the trace's. As text: `0.2..0.4`, `250ms..`, `..1.5`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Part {
    pub from: Option<i64>,
    pub to: Option<i64>,
}

impl Part {
    /// The interval of a trace.
    ///
    /// # Errors
    /// When nothing of the trace lies in it.
    pub fn of(self, extent: Interval) -> Result<Interval, FilterError> {
        let from = self.from.map_or(extent.from, GlobalNanos).max(extent.from);
        let to = self.to.map_or(extent.to, GlobalNanos).min(extent.to);
        if from < to { Ok(Interval { from, to }) } else { Err(FilterError::OutOfTime { extent }) }
    }
}

/// What makes one value of many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after what they are")]
pub enum Operation {
    Count,
    Sum,
    Mean,
    Min,
    Max,
}

/// What the result of a reduction is shown as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after what they are")]
pub enum Form {
    Variable,
    State,
}

/// The endpoint that assigns links to containers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEnd {
    /// The start: links that a container sends.
    Sent,
    /// The end: links that a container receives.
    Received,
}

impl LinkEnd {
    /// Both endpoints with their words.
    pub const ALL: [(&str, Self); 2] = [("sent", Self::Sent), ("received", Self::Received)];

    /// Its word in an expression.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Received => "received",
        }
    }
}

/// A reduction of the entities below each container of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// What is computed.
    pub operation: Operation,
    /// Counts only links that start, or that end, below the container. `None`: links with either
    /// endpoint there.
    pub end: Option<LinkEnd>,
    /// For a count: the values that count. Else the field of states or links that is reduced; of variables, their values are.
    pub values: Patterns,
    /// The types of what is reduced.
    pub of: Pattern,
    /// The type of the containers that get the result.
    pub per: Pattern,
    /// What it is shown as.
    pub form: Form,
    /// Name of the new type.
    pub name: Option<String>,
}

/// What is measured of a container and all below it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub enum Measure {
    /// Its name, as people count: `Node 2` before `Node 10`.
    Name,
    /// When it began to exist.
    Start,
    /// Nanoseconds in states.
    Time { values: Patterns, of: Option<Pattern> },
    /// Nanoseconds in states that are the innermost state of their type.
    SelfTime { values: Patterns, of: Option<Pattern> },
    /// The same, as a share of the lifetime of the containers with such states.
    SelfShare { values: Patterns, of: Option<Pattern> },
    /// Number of states, events or links.
    Number { values: Patterns, of: Option<Pattern> },
    /// Mean of a variable over time; of several, the mean of their means.
    Mean { of: Pattern },
    /// Least value of variables.
    Min { of: Pattern },
    /// Largest value of variables.
    Max { of: Pattern },
    /// A variable over time, as value times seconds; of several, the sum.
    Integral { of: Pattern },
    /// When it ended.
    End,
    /// Nanoseconds in states, as a share of the time for which the containers with such states existed.
    Share { values: Patterns, of: Option<Pattern> },
    /// Of the whole durations of states and links, in nanoseconds; links count in both of their containers.
    Duration { which: Rank, values: Patterns, of: Option<Pattern> },
    /// Of a field of states, events and links; links count in both of their containers.
    Field { operation: Operation, field: String, of: Pattern },
    /// How many links start there, or the sum of a field of these.
    Sent { field: Option<String>, of: Option<Pattern> },
    /// How many links end there, or the sum of a field of these.
    Received { field: Option<String>, of: Option<Pattern> },
}

impl Measure {
    /// Whether it is a date or a duration, in nanoseconds.
    #[must_use]
    pub const fn is_time(&self) -> bool {
        matches!(self, Self::Time { .. } | Self::SelfTime { .. } | Self::Start | Self::End | Self::Duration { .. })
    }
}

/// Which of many durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after what they are")]
pub enum Rank {
    Mean,
    Shortest,
    Median,
    P90,
    P95,
    P99,
    Longest,
}

impl Rank {
    /// All of them, as they are written.
    pub const ALL: [(&str, Self); 7] = [
        ("duration", Self::Mean),
        ("shortest", Self::Shortest),
        ("median", Self::Median),
        ("p90", Self::P90),
        ("p95", Self::P95),
        ("p99", Self::P99),
        ("longest", Self::Longest),
    ];

    /// How it is written.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|one| one.1 == self).map_or("", |one| one.0)
    }
}

/// What containers are put in order by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// What is measured.
    pub measure: Measure,
    /// Over which part of time; over all of it without one.
    pub during: Option<Part>,
}

/// Why a filter cannot be read or applied.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// It is no expression.
    #[error("`{text}`: expected {expected}, found {found}; example: `{}`", parse::example(text))]
    Syntax {
        /// The expression.
        text: String,
        /// What could have stood there.
        expected: String,
        /// What stands there.
        found: Box<str>,
        /// Where, in bytes of the expression.
        at: Range<usize>,
    },
    /// A pattern fits nothing in this trace.
    #[error("no {what} is called `{pattern}`; {help}; example: `{example}`")]
    Nothing {
        /// What should have been found.
        what: &'static str,
        /// The pattern.
        pattern: String,
        /// What there is.
        help: String,
        /// A correct expression. It uses a name of the trace if there is one.
        example: Box<str>,
    },
    /// A container exists, but no link starts or ends at it.
    #[error(
        "no link of {of} {verb} at `{name}` itself; `{field}` means the exact container, `{field} ~ NAME/*` any \
         container below it and `involves` either end, there or below; example: `{example}`"
    )]
    NoEnd {
        /// The types of links.
        of: Box<str>,
        /// `starts` or `ends`.
        verb: &'static str,
        /// The pattern.
        name: Box<str>,
        /// `from` or `to`.
        field: &'static str,
        /// An expression that a link fits.
        example: Box<str>,
    },
    /// The part of time lies outside of the trace.
    #[error(
        "nothing lies in that part of time; the trace runs from {} to {}; example: `{}`",
        crate::time_text::timestamp(extent.from, 1000),
        crate::time_text::timestamp(extent.to, 1000),
        Filter::Cut(Part { from: Some(extent.from.0), to: Some(extent.to.0) })
    )]
    OutOfTime {
        /// What there is.
        extent: Interval,
    },
    /// States and links have no value of their own.
    #[error("{of} has no values to reduce; name a field, or count; example: `{example}`")]
    NoField {
        /// The types.
        of: String,
        /// The reduction with a field.
        example: String,
    },
    /// Only links are sent and received.
    #[error(
        "{of} is no type of links, and only links are sent and received; write a value of this name in quotes; example: `{example}`"
    )]
    NoLinks {
        /// The types.
        of: String,
        /// The reduction with the word in quotes.
        example: String,
    },
    /// A reduction into a state has too many values.
    #[error("the result takes more than {most} different values; make a variable of it; example: `{example}`")]
    TooManyValues {
        /// How many there may be.
        most: usize,
        /// The reduction into a variable.
        example: String,
    },
    /// The source within cannot answer.
    #[error(transparent)]
    Query(#[from] QueryError),
}

impl FilterError {
    /// Where in its expression the mistake is, in bytes: what was not expected, or the name that fits nothing; else all of it.
    #[must_use]
    pub fn place(&self, text: &str) -> Range<usize> {
        match self {
            Self::Syntax { at, .. } => at.clone(),
            Self::Nothing { pattern, .. } => place_of(pattern, text),
            Self::NoEnd { name, .. } => place_of(name, text),
            _ => 0..text.len(),
        }
    }
}

/// The byte range of a name in an expression. The range of the whole expression if it does not
/// contain the name.
fn place_of(name: &str, text: &str) -> Range<usize> {
    text.find(name).map_or(0..text.len(), |from| from..from + name.len())
}

impl Filter {
    /// Puts the filter around a source.
    ///
    /// # Errors
    /// When it names what is not there, see [`FilterError`].
    pub fn apply(&self, inner: &Arc<dyn TimelineSource>) -> Result<Arc<dyn TimelineSource>, FilterError> {
        match self {
            Self::Types { keep, types } => select::types(inner, *keep, types),
            Self::Values { keep, values: named, of } => values::apply(inner, *keep, named, of.as_ref()),
            Self::Containers { keep, containers } => select::containers(inner, *keep, containers),
            Self::Attribute { keep, condition, of } => attribute::apply(inner, *keep, condition, of.as_ref()),
            Self::Duration { keep, comparison, nanos, of } => {
                duration::apply(inner, *keep, *comparison, *nanos, of.as_ref())
            }
            Self::Cut(part) => cut::apply(inner, *part),
            Self::Group { containers, name } => group::apply(inner, containers, name),
            Self::Reuse { types } => reuse::reuse(inner, types),
            Self::Reduce(reduction) => reduce::apply(inner, reduction),
            Self::Classify { of, field, edges } => classify::apply(inner, of, field, edges),
            Self::Sort { ty, by, descending } => order::sort(inner, ty, by, *descending),
            Self::Order { containers } => order::by_hand(inner, containers),
            Self::Best { number, ty, by, lowest } => order::best(inner, (*number, ty), by, *lowest),
            Self::Having { ty, by, comparison, number } => order::having(inner, ty, by, (*comparison, *number)),
            Self::Color { values, of, color } => color::paint(inner, values, of.as_ref(), *color),
            Self::Shape { values, of, shape } => {
                color::dress(inner, values, of.as_ref(), Look { shape: Some(*shape), size: None })
            }
            Self::Size { values, of, size } => {
                color::dress(inner, values, of.as_ref(), Look { shape: None, size: Some(*size) })
            }
            Self::Bright { values, of } => color::bright(inner, values, of.as_ref()),
        }
    }
}
