//! A filter as a value.

use tumit_paje::category::ActivityCategory;

use super::comparison::Comparison;
use super::condition::Condition;
use super::pattern::{NamePattern, NamePatterns};
use super::series::SeriesExpr;
use crate::query::{MarkShape, OpenTimeRange, RgbColor};

/// A filter. `docs/filters.md` describes its text form, such as `hide value Waits* of Activity`.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub enum FilterExpr {
    /// Types of entities or containers.
    Types { effect: SelectionEffect, types: NamePatterns },
    /// Values of states, events and links.
    Values { effect: SelectionEffect, values: NamePatterns, types: Option<NamePattern> },
    /// Containers with everything below them.
    Containers { effect: SelectionEffect, containers: NamePatterns },
    /// States, events and links, selected by their fields and endpoints.
    Attribute { effect: SelectionEffect, condition: Condition, types: Option<NamePattern> },
    /// States and links by their duration in nanoseconds.
    Duration { effect: SelectionEffect, comparison: Comparison, nanos: i64, types: Option<NamePattern> },
    /// Removes everything outside a time range, and clips entities to it.
    Cut(OpenTimeRange),
    /// One container that replaces several.
    Group { containers: NamePatterns, name: String },
    /// One row for containers with lifetimes that do not overlap.
    Reuse { types: NamePatterns },
    /// A new variable or state.
    Reduce(Reduction),
    /// New variables of the utilization, the messages and the tasks.
    Series(SeriesExpr),
    /// Replaces the value by the class of a field. The classes are: below the first edge, between
    /// two edges, from the last edge on. Edges of durations are in nanoseconds.
    Classify { types: NamePattern, field: String, edges: Vec<f64> },
    /// Sorts the siblings of a type.
    Sort { ty: NamePattern, key: OrderKey, descending: bool },
    /// Moves containers before their siblings.
    Order { containers: NamePatterns },
    /// Keeps the first containers of a type, sorted by a statistic.
    Best { number: u32, ty: NamePattern, key: OrderKey, is_lowest: bool },
    /// Keeps the containers of a type with a statistic that meets a comparison. Times are in
    /// nanoseconds.
    Having { ty: NamePattern, key: OrderKey, comparison: Comparison, number: f64 },
    /// Sets the colour of values.
    Color { values: NamePatterns, types: Option<NamePattern>, color: RgbColor },
    /// Sets the shape of events.
    Shape { values: NamePatterns, types: Option<NamePattern>, shape: MarkShape },
    /// Sets the size of values. 1 is the default.
    Size { values: NamePatterns, types: Option<NamePattern>, size: f32 },
    /// Sets the category of states, which determines the utilization of units.
    Category { values: NamePatterns, types: Option<NamePattern>, category: ActivityCategory },
    /// Draws all other values in grey.
    Bright { values: NamePatterns, types: Option<NamePattern> },
}

/// Whether a selection names the entities to remove or those to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectionEffect {
    /// Removes the selected entities.
    Hide,
    /// Removes all other entities of the same kind.
    Only,
}

/// The operation that reduces many values to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names explain the variants")]
pub enum ReduceOperation {
    Count,
    Sum,
    Mean,
    Min,
    Max,
}

/// The form of the result of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names explain the variants")]
pub enum ReductionForm {
    Variable,
    State,
}

/// The endpoint that assigns links to containers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssignedEndpoint {
    /// The start: links that a container sends.
    Sent,
    /// The end: links that a container receives.
    Received,
}

impl AssignedEndpoint {
    /// Both endpoints with their words.
    pub const ALL: [(&str, Self); 2] = [("sent", Self::Sent), ("received", Self::Received)];

    /// The word in an expression.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Received => "received",
        }
    }
}

/// A reduction of the entities below each container of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// How the values of several entities become one number.
    pub operation: ReduceOperation,
    /// Counts only links that start, or that end, below the container. `None`: links with either
    /// endpoint there.
    pub end: Option<AssignedEndpoint>,
    /// For a count: the values that are counted. Otherwise the field of states or links that is
    /// reduced. Empty for variables, which are reduced by their value.
    pub values: NamePatterns,
    /// The types that are reduced.
    pub types: NamePattern,
    /// The type of the containers that get the result.
    pub group_type: NamePattern,
    /// The form of the result.
    pub form: ReductionForm,
    /// The name of the new type.
    pub name: Option<String>,
}

/// A measure of a container with everything below it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub enum Measure {
    /// The name, in natural order: `Node 2` before `Node 10`.
    Name,
    /// The start of its lifetime.
    Start,
    /// Nanoseconds in states.
    Time { values: NamePatterns, types: Option<NamePattern> },
    /// Nanoseconds in states that are the innermost state of their type.
    SelfTime { values: NamePatterns, types: Option<NamePattern> },
    /// The same, as a fraction of the lifetime of the containers with such states.
    SelfShare { values: NamePatterns, types: Option<NamePattern> },
    /// Number of states, events or links.
    Number { values: NamePatterns, types: Option<NamePattern> },
    /// The mean of a variable over time. For several variables, the mean of their means.
    Mean { types: NamePattern },
    /// The smallest value of variables.
    Min { types: NamePattern },
    /// The largest value of variables.
    Max { types: NamePattern },
    /// The integral of a variable over time, in seconds. For several variables, the sum.
    Integral { types: NamePattern },
    /// The end of its lifetime.
    End,
    /// Nanoseconds in states, as a fraction of the lifetime of the containers with such states.
    Share { values: NamePatterns, types: Option<NamePattern> },
    /// A statistic of the durations of states and links, in nanoseconds. A link counts in both of
    /// its containers.
    Duration { statistic: DurationStatistic, values: NamePatterns, types: Option<NamePattern> },
    /// A field of states, events and links, reduced. A link counts in both of its containers.
    Field { operation: ReduceOperation, field: String, types: NamePattern },
    /// The number of links that start there, or the sum of one of their fields.
    Sent { field: Option<String>, types: Option<NamePattern> },
    /// The number of links that end there, or the sum of one of their fields.
    Received { field: Option<String>, types: Option<NamePattern> },
}

impl Measure {
    /// Whether the result is a timestamp or a duration in nanoseconds.
    #[must_use]
    pub const fn is_time(&self) -> bool {
        matches!(self, Self::Time { .. } | Self::SelfTime { .. } | Self::Start | Self::End | Self::Duration { .. })
    }
}

/// A number that summarizes the durations of many states or links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names explain the variants")]
pub enum DurationStatistic {
    Mean,
    Shortest,
    Median,
    P90,
    P95,
    P99,
    Longest,
}

impl DurationStatistic {
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
    pub(crate) fn word(self) -> &'static str {
        Self::ALL.iter().find(|entry| entry.1 == self).map_or("", |entry| entry.0)
    }
}

/// The key by which containers are ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderKey {
    /// The number of each container that is compared.
    pub measure: Measure,
    /// The time range. `None`: the whole trace.
    pub time_range: Option<OpenTimeRange>,
}

/// Maximum number of edges, or of different texts. Two further classes are for other texts and for
/// entities without the field.
pub(crate) const MAX_CLASSES: usize = 100;

/// The name of the pseudo-field with the duration of a state or link.
pub(crate) const DURATION: &str = "duration";

/// Whether a field is [`DURATION`].
pub(crate) fn is_duration(field: &str) -> bool {
    field.eq_ignore_ascii_case(DURATION)
}
