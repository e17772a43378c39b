//! Filters (thesis P53–P63, papers S30–S35): sources around other sources, and their [`Chain`].
//!
//! A [`Filter`] is a value: it can be parsed, printed, compared and stored. [`Filter::apply`]
//! resolves
//! its names in a trace and returns a [`TimelineSource`](crate::query::TimelineSource) around that
//! of the trace. Entities are never copied or changed: a filter queries the inner source on demand,
//! and uses sums where those suffice. The header of its module states the cost.
//!
//! Applications implement filters of their own by [`Layer`].

mod apply;
mod chain;
pub mod language;
pub(crate) mod sources;

pub use chain::{Chain, Entry, FieldError, FileError, Problem};
pub use language::ast::{Filter, Form, Keep, Key, LinkEnd, Measure, Operation, Rank, Reduction};
pub use language::comparison::Comparison;
pub use language::complete::{Completion, complete};
pub use language::condition::{Condition, FieldTest};
pub use language::error::FilterError;
pub use language::pattern::{Pattern, Patterns};
pub use language::time_range::Part;
pub use sources::layer::Layer;
