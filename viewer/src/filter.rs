//! Filters (thesis P53–P63, papers S30–S35): sources on top of other sources, and their [`FilterChain`].
//!
//! A [`FilterExpr`] is a value: it can be parsed, printed, compared and stored. [`FilterExpr::apply`]
//! resolves its names in a trace and returns a [`TimelineSource`](crate::query::TimelineSource) on
//! top of that of the trace. Entities are never copied or changed: a filter queries the inner
//! source on demand, and uses sums where they suffice. The header of each filter's module states
//! its cost.
//!
//! Applications implement filters of their own with [`FilterLayer`].

mod apply;
mod chain;
pub mod language;
pub(crate) mod sources;

pub use chain::{ChainEntry, FilterChain, FilterFailure, FilterFieldError, FilterFileError};
pub use language::ast::{
    AssignedEndpoint, DurationRank, FilterExpr, Measure, OrderKey, ReduceOperation, Reduction, ReductionForm,
    SelectionEffect,
};
pub use language::comparison::Comparison;
pub use language::complete::{Completion, complete};
pub use language::condition::{Condition, FieldTest};
pub use language::error::FilterError;
pub use language::pattern::{NamePattern, NamePatterns};
pub use sources::layer::FilterLayer;
