//! Sends the sorted actions of a trace as Pajé operations.

mod action_emitter;
mod definitions;
mod state_nesting;
pub(crate) mod unit_containers;

pub(crate) use action_emitter::{ActionEmitter, EmitError};
