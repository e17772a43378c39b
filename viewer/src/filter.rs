//! Filters (thesis P53–P63, papers S30–S35): sources around sources, each of which shows a trace in another way, and their [`Chain`].
//!
//! A [`Filter`] is a value that can be written, read, compared and kept; [`Filter::apply`] finds in a trace what it names and puts a
//! [`TimelineSource`](crate::query::TimelineSource) around it. Entities are never copied or altered: a filter asks the source within when it is asked, by sums where those
//! are enough. Its module says what it costs.
//!
//! A filter of one's own implements [`Layer`].

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
