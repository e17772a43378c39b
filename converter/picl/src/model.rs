//! The contents of a trace, in the same form for all formats: units, values and actions.
//!
//! A parser adds actions to an [`ActionLog`]. The emitter takes them from it in order of time.

pub(crate) mod action;
pub(crate) mod action_log;
pub(crate) mod messages;
pub(crate) mod units;
pub(crate) mod values;

pub(crate) use action::{Action, ActionKind, Statistic};
pub(crate) use action_log::{ActionLog, LogError};
pub(crate) use messages::Endpoint;
pub(crate) use units::{Unit, UnitTable};
pub(crate) use values::{Slot, ValueKey};
