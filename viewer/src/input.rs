//! The trace at a path: its format, the options of opening it, and its operations.

pub mod current_trace;
pub(crate) mod first_finding;
pub(crate) mod open_options;
pub(crate) mod preview;
pub(crate) mod trace;
