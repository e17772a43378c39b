//! Rules: from the records of a run to Pajé operations.
//!
//! A [`tumit::Spec`] is compiled to one small program per record type. The program refers to
//! everything by number instead of name. The programs then run over the records in order of time.

pub(crate) mod actions;
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

pub(crate) use columnar::constant_value;
pub(crate) use compile::{CompiledRules, compile_spec};
pub(crate) use default_rules::with_default_rules;
pub(crate) use embedded_spec::{layouts, spec_of};
pub(crate) use eval::{RecordScope, append_value};
pub(crate) use facts::{ProcessFacts, SourceLocation, StreamFacts};
pub(crate) use links::LinkKey;
pub(crate) use model::RuleModel;
pub(crate) use program::{
    ActionOp, ColumnarAction, ColumnarValue, ExprCode, FieldCell, OperationPart, ProgramAction, RecordProgram,
    ValueColumn, WideWords,
};
pub(crate) use referent_table::ReferentTable;
pub(crate) use value::{KeyPart, RuleValue, Symbols};
pub(crate) use value_cache::KnownValues;
