//! The language of filters: values, text, conditions and completion.

pub(crate) mod ast;
pub(crate) mod comparison;
pub mod completion;
pub(crate) mod condition;
pub mod entity_fields;
pub(crate) mod error;
pub(crate) mod keywords;
pub(crate) mod parse;
pub(crate) mod pattern;
pub(crate) mod print;
pub(crate) mod quote;
pub(crate) mod series;
