//! Sends the sorted actions of a trace as Pajé operations.

pub(crate) mod containers;
mod definitions;
mod emitter;
mod open_states;

pub(crate) use emitter::{EmitError, Emitter};
