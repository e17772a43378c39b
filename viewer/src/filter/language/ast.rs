//! A filter as a value.

use super::comparison::Comparison;
use super::condition::Condition;
use super::pattern::{Pattern, Patterns};
use super::time_range::Part;
use crate::query::{Color, MarkShape};

/// A filter. `docs/filters.md` describes its text form, such as `hide value Waits* of Activity`.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub enum Filter {
    /// Types of entities or containers.
    Types { keep: Keep, types: Patterns },
    /// Values of states, events and links.
    Values { keep: Keep, values: Patterns, of: Option<Pattern> },
    /// Containers with everything below them.
    Containers { keep: Keep, containers: Patterns },
    /// States, events and links, selected by their fields and endpoints.
    Attribute { keep: Keep, condition: Condition, of: Option<Pattern> },
    /// States and links by their duration in nanoseconds.
    Duration { keep: Keep, comparison: Comparison, nanos: i64, of: Option<Pattern> },
    /// A time range.
    Cut(Part),
    /// One container that replaces several.
    Group { containers: Patterns, name: String },
    /// One row for containers whose lifetimes do not overlap.
    Reuse { types: Patterns },
    /// A new variable or state.
    Reduce(Reduction),
    /// Replaces the value by the class of a field. The classes are: below the first edge, between
    /// two edges, from the last edge on. Edges of durations are in nanoseconds.
    Classify { of: Pattern, field: String, edges: Vec<f64> },
    /// Sorts the siblings of a type.
    Sort { ty: Pattern, by: Key, descending: bool },
    /// Moves containers before their siblings.
    Order { containers: Patterns },
    /// Keeps the first containers of a type, sorted by a statistic.
    Best { number: u32, ty: Pattern, by: Key, lowest: bool },
    /// Keeps the containers of a type whose statistic meets a comparison. Times are in nanoseconds.
    Having { ty: Pattern, by: Key, comparison: Comparison, number: f64 },
    /// Sets the colour of values.
    Color { values: Patterns, of: Option<Pattern>, color: Color },
    /// Sets the shape of events.
    Shape { values: Patterns, of: Option<Pattern>, shape: MarkShape },
    /// Sets the size of values. 1 is the default.
    Size { values: Patterns, of: Option<Pattern>, size: f32 },
    /// Draws all other values in grey.
    Bright { values: Patterns, of: Option<Pattern> },
}

/// The effect of a selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Removes the selected entities.
    Hide,
    /// Removes all other entities of the same kind.
    Only,
}

/// The operation that reduces many values to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after what they are")]
pub enum Operation {
    Count,
    Sum,
    Mean,
    Min,
    Max,
}

/// The form of the result of a reduction.
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

    /// The word in an expression.
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
    /// The operation.
    pub operation: Operation,
    /// Counts only links that start, or that end, below the container. `None`: links with either
    /// endpoint there.
    pub end: Option<LinkEnd>,
    /// For a count: the values that are counted. Otherwise the field of states or links that is
    /// reduced. Empty for variables, which are reduced by their value.
    pub values: Patterns,
    /// The types that are reduced.
    pub of: Pattern,
    /// The type of the containers that get the result.
    pub per: Pattern,
    /// The form of the result.
    pub form: Form,
    /// The name of the new type.
    pub name: Option<String>,
}

/// A measure of a container with everything below it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub enum Measure {
    /// The name, in natural order: `Node 2` before `Node 10`.
    Name,
    /// The start of its lifetime.
    Start,
    /// Nanoseconds in states.
    Time { values: Patterns, of: Option<Pattern> },
    /// Nanoseconds in states that are the innermost state of their type.
    SelfTime { values: Patterns, of: Option<Pattern> },
    /// The same, as a fraction of the lifetime of the containers with such states.
    SelfShare { values: Patterns, of: Option<Pattern> },
    /// Number of states, events or links.
    Number { values: Patterns, of: Option<Pattern> },
    /// The mean of a variable over time. For several variables, the mean of their means.
    Mean { of: Pattern },
    /// The smallest value of variables.
    Min { of: Pattern },
    /// The largest value of variables.
    Max { of: Pattern },
    /// The integral of a variable over time, in seconds. For several variables, the sum.
    Integral { of: Pattern },
    /// The end of its lifetime.
    End,
    /// Nanoseconds in states, as a fraction of the lifetime of the containers with such states.
    Share { values: Patterns, of: Option<Pattern> },
    /// A statistic of the durations of states and links, in nanoseconds. A link counts in both of
    /// its containers.
    Duration { which: Rank, values: Patterns, of: Option<Pattern> },
    /// A field of states, events and links, reduced. A link counts in both of its containers.
    Field { operation: Operation, field: String, of: Pattern },
    /// The number of links that start there, or the sum of one of their fields.
    Sent { field: Option<String>, of: Option<Pattern> },
    /// The number of links that end there, or the sum of one of their fields.
    Received { field: Option<String>, of: Option<Pattern> },
}

impl Measure {
    /// Whether the result is a timestamp or a duration in nanoseconds.
    #[must_use]
    pub const fn is_time(&self) -> bool {
        matches!(self, Self::Time { .. } | Self::SelfTime { .. } | Self::Start | Self::End | Self::Duration { .. })
    }
}

/// A statistic of durations.
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
    /// All statistics with their words.
    pub const ALL: [(&str, Self); 7] = [
        ("duration", Self::Mean),
        ("shortest", Self::Shortest),
        ("median", Self::Median),
        ("p90", Self::P90),
        ("p95", Self::P95),
        ("p99", Self::P99),
        ("longest", Self::Longest),
    ];

    /// The word in an expression.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|one| one.1 == self).map_or("", |one| one.0)
    }
}

/// The key by which containers are ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The measure.
    pub measure: Measure,
    /// The time range. `None`: the whole trace.
    pub during: Option<Part>,
}

/// Most classes with edges, or different texts; one more is for what has no value, and one for all other texts.
pub(crate) const MAX_CLASSES: usize = 100;

/// The field that is no field: how long a state or link lasts.
pub(crate) const DURATION: &str = "duration";

/// Whether a field is [`DURATION`].
pub(crate) fn is_duration(field: &str) -> bool {
    field.eq_ignore_ascii_case(DURATION)
}
