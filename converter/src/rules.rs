//! Rules: from the records of a run to Pajé operations.
//!
//! A [`tumit::Spec`] is compiled to one small program per record type, in which every name has become a number, and the
//! programs are then run over the records in the order of time.

mod compile;
mod default;
mod endings;
mod eval;
mod fit;
mod format;
mod instances;
mod known;
mod labels;
mod lines;
mod links;
mod model;
mod picture;
mod places;
mod ready;
mod referents;
mod shapes;
mod spec_of;
mod stacks;
mod survey;
mod value;
mod values;

pub(crate) use compile::{Arrow, Compiled, Op, Program, compile_spec};
pub(crate) use default::with_default_picture;
pub(crate) use eval::{Code, Facts, Scope, StreamFacts, append_value};
pub(crate) use fit::fit;
pub(crate) use known::KnownValues;
pub(crate) use lines::write_lines;
pub(crate) use links::LinkKey;
pub(crate) use model::Model;
pub(crate) use picture::{Once, Picture};
pub(crate) use ready::{Cell, Part, Ready, ReadyValue, Wide, fixed};
pub(crate) use referents::ReferentTable;
pub(crate) use shapes::announce;
pub(crate) use spec_of::{layouts, spec_of};
pub(crate) use survey::{Survey, Surveyor};
pub(crate) use value::{KeyPart, Symbols, Val};
