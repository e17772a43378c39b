//! The second pass: runs the programs and sends Pajé operations in order of time.
//!
//! Actions are evaluated here for each record ([`actions`]), or earlier by columns
//! ([`columnar_ops`]). Both ways share the code that performs the operations.

mod actions;
mod ambiguous_references;
mod collective_parts;
mod columnar_ops;
mod container_cache;
mod containers;
mod emitter;
mod end_table;
mod ends;
mod entities;
pub(crate) mod event_headers;
mod failures;
mod links;
mod open_link;
mod single_pass_emission;
mod single_pass_state;
mod states;
mod stream_gaps;
mod template_table;
mod unknown_states;

pub(crate) use emitter::Emitter;
pub(crate) use single_pass_state::SinglePassState;
