//! Errors of reading and applying filters.

use std::ops::Range;

use tumit_paje::time_range::RangeOutsideTrace;

use crate::query::{OpenTimeRange, QueryError};

/// Errors of reading and applying filters.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// The text is not an expression.
    #[error("`{text}`: expected {expected}, found {token}; example: `{example}`")]
    Syntax {
        /// The expression.
        text: Box<str>,
        /// The expected token.
        expected: Box<str>,
        /// The token that was found.
        token: Box<str>,
        /// The byte range of that token in the expression.
        byte_range: Range<usize>,
        /// A correct expression of the same form.
        example: &'static str,
    },
    /// A pattern matches nothing in this trace.
    #[error("no {kind} is called `{pattern}`; {help}; example: `{example}`")]
    NoMatch {
        /// The kind of thing that the pattern should match.
        kind: &'static str,
        /// The pattern as written in the expression.
        pattern: String,
        /// The names that exist.
        help: String,
        /// A correct expression. It uses a name of the trace if there is one.
        example: Box<str>,
    },
    /// A container exists, but no link starts or ends at it.
    #[error(
        "no link of {owner} {verb} at `{name}` itself; `{field}` selects the exact container, \
         `{field} ~ NAME/*` any container below it, and `involves` either endpoint in the \
         container or below it; example: `{example}`"
    )]
    NoEnd {
        /// The types of links.
        owner: Box<str>,
        /// `starts` or `ends`.
        verb: &'static str,
        /// The pattern.
        name: Box<str>,
        /// `from` or `to`.
        field: &'static str,
        /// An expression that a link fits.
        example: Box<str>,
    },
    /// The time range is outside the trace.
    #[error("{0}; example: `cut {trace}`", trace = OpenTimeRange::from(.0.extent))]
    RangeOutsideTrace(#[from] RangeOutsideTrace),
    /// States and links have no numeric value.
    #[error("{owner} has no values to reduce; name a field, or use `count`; example: `{example}`")]
    NoField {
        /// The types.
        owner: String,
        /// The reduction with a field.
        example: String,
    },
    /// Only links are sent and received.
    #[error(
        "{owner} is not a type of links, and only links are sent and received; write a value with this name in quotes; example: `{example}`"
    )]
    NoLinks {
        /// The types.
        owner: String,
        /// The reduction with the word in quotes.
        example: String,
    },
    /// A reduction to a state has too many values.
    #[error("the result has more than {limit} different values; compute a variable instead; example: `{example}`")]
    TooManyValues {
        /// The maximum number.
        limit: usize,
        /// The reduction to a variable.
        example: String,
    },
    /// The trace lacks the data of a series.
    #[error("{0}; example: `series busy, pending-messages`")]
    Series(String),
    /// A query of the inner source failed.
    #[error(transparent)]
    Query(#[from] QueryError),
}

impl FilterError {
    /// The byte range of the error in the expression: the unexpected token or the name without a
    /// match. Otherwise the whole expression.
    #[must_use]
    pub fn place(&self, text: &str) -> Range<usize> {
        match self {
            Self::Syntax { byte_range, .. } => byte_range.clone(),
            Self::NoMatch { pattern, .. } => place_of(pattern, text),
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
