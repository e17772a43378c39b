//! The contents of a trace, in the same form for all formats: units, values and actions.
//!
//! A parser adds actions to an [`ActionLog`]. The emitter takes them from it in order of time.

pub(crate) mod action_log;
pub(crate) mod collective_counts;
pub(crate) mod message_pairs;
pub(crate) mod state_fields;
pub(crate) mod trace_action;
pub(crate) mod trace_units;
pub(crate) mod trace_values;

pub(crate) use action_log::{ActionLog, LogError};
pub(crate) use message_pairs::PiclEndpoint;
pub(crate) use state_fields::StateFields;
pub(crate) use trace_action::{Statistic, TraceAction, TraceActionKind};
pub(crate) use trace_units::{TraceUnit, TraceUnits};
pub(crate) use trace_values::{TypeSlot, ValueKey};
