//! A filter as a value.

use super::comparison::Comparison;
use super::condition::Condition;
use super::part::Part;
use super::pattern::{Pattern, Patterns};
use crate::query::{Color, MarkShape};

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
