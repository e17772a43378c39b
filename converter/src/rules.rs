//! Rules: from the records of a run to Pajé operations.
//!
//! A [`tumit::Spec`] is compiled to one small program per record type. The program refers to
//! everything by number instead of name. The programs then run over the records in order of time.

pub(crate) mod action_properties;
pub(crate) mod columnar_actions;
pub(crate) mod compile;
pub(crate) mod container_instances;
pub(crate) mod default_rules;
pub(crate) mod embedded_spec;
pub(crate) mod eval;
pub(crate) mod link_keys;
pub(crate) mod placeholder;
pub(crate) mod program;
pub(crate) mod referent_table;
pub(crate) mod referents;
pub(crate) mod rule_model;
pub(crate) mod rule_value;
pub(crate) mod stacks;
pub(crate) mod stream_facts;
pub(crate) mod value_cache;
pub(crate) mod value_table;

pub(crate) use columnar_actions::constant_value;
pub(crate) use compile::{CompiledRules, compile_spec};
pub(crate) use default_rules::with_default_rules;
pub(crate) use embedded_spec::{layouts, spec_of};
pub(crate) use eval::{RecordScope, append_value};
pub(crate) use link_keys::LinkKey;
pub(crate) use program::{
    ActionOp, ColumnarAction, ColumnarValue, ExprCode, FieldCell, OperandSource, ProgramAction, RecordProgram,
    ValueColumn, WideWords,
};
pub(crate) use referent_table::{ReferentTable, to_u32};
pub(crate) use rule_model::RuleModel;
pub(crate) use rule_value::{KeyPart, RuleValue, Symbols};
pub(crate) use stream_facts::{ProcessFacts, SourceLocation, StreamFacts, ThreadKey};
pub(crate) use value_cache::KnownValues;
