//! Sends the sorted actions of a trace as Pajé operations.

mod action_emitter;
mod definitions;
mod entity_output;
mod message_links;
pub(crate) mod node_containers;
pub(crate) mod state_extras;
mod state_nesting;

pub(crate) use action_emitter::ActionEmitter;
pub(crate) use entity_output::EmitError;
