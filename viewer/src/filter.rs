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
mod ast;
mod attribute;
mod chain;
mod classify;
mod color;
mod comparison;
mod complete;
mod condition;
mod count;
mod cut;
mod duration;
mod error;
pub(crate) mod fields;
mod group;
mod hidden;
mod key;
mod layer;
mod order;
mod parse;
mod part;
mod pattern;
mod pick;
mod print;
mod quote;
mod range;
mod reduce;
mod reuse;
mod select;
mod steps;
mod time;
mod values;
mod words;

pub use ast::{Filter, Form, Keep, Key, LinkEnd, Measure, Operation, Rank, Reduction};
pub use chain::{Chain, Entry, FieldError, FileError, Problem};
pub use comparison::Comparison;
pub use complete::{Completion, complete};
pub use condition::{Condition, FieldTest};
pub use error::FilterError;
pub use layer::Layer;
pub use part::Part;
pub use pattern::{Pattern, Patterns};
