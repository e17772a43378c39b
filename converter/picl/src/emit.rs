//! Sends the sorted actions of a trace as Pajé operations.

pub(crate) mod containers;
mod definitions;
mod emitter;
mod state_nesting;

pub(crate) use emitter::{ActionEmitter, EmitError};
