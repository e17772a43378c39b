//! Rules: from the records of a run to Pajé operations.
//!
//! A [`tumit::Spec`] is compiled to one small program per record type, in which every name has become a number, and the
//! programs are then run over the records in the order of time.

pub(crate) mod columnar;
pub(crate) mod compile;
pub(crate) mod containers;
pub(crate) mod default_rules;
pub(crate) mod embedded_spec;
pub(crate) mod eval;
pub(crate) mod facts;
pub(crate) mod format;
pub(crate) mod links;
pub(crate) mod model;
pub(crate) mod program;
pub(crate) mod referent_table;
pub(crate) mod referents;
pub(crate) mod stacks;
pub(crate) mod value;
pub(crate) mod value_cache;
pub(crate) mod values;

pub(crate) use columnar::fixed;
pub(crate) use compile::{Compiled, compile_spec};
pub(crate) use default_rules::with_default_picture;
pub(crate) use embedded_spec::{layouts, spec_of};
pub(crate) use eval::{Scope, append_value};
pub(crate) use facts::{Facts, StreamFacts};
pub(crate) use links::LinkKey;
pub(crate) use model::Model;
pub(crate) use program::{Arrow, Cell, Code, Op, Part, Program, Ready, ReadyValue, Wide};
pub(crate) use referent_table::ReferentTable;
pub(crate) use value::{KeyPart, Symbols, Val};
pub(crate) use value_cache::KnownValues;
