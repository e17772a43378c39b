//! The contents of a trace, in the same form for all formats: units, values and actions.
//!
//! A parser adds actions to an [`ActionLog`]. The emitter takes them from it in order of time.

pub(crate) mod action;
pub(crate) mod action_log;
pub(crate) mod messages;
pub(crate) mod units;
pub(crate) mod values;

pub(crate) use action::{Statistic, TraceAction, TraceActionKind};
pub(crate) use action_log::{ActionLog, LogError};
pub(crate) use messages::MessageEndpoint;
pub(crate) use units::{TraceUnit, TraceUnits};
pub(crate) use values::{TypeSlot, ValueKey};
