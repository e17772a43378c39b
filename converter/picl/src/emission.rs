//! Sends the sorted actions of a trace as Pajé operations.

mod action_emitter;
mod definitions;
pub(crate) mod node_containers;
mod state_nesting;

pub(crate) use action_emitter::{ActionEmitter, EmitError};
