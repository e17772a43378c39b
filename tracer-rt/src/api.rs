//! The calls of programs and of generated code.

pub mod dynamic;
pub(crate) mod intern;
pub(crate) mod level_switches;
pub mod private;
pub(crate) mod span;
pub(crate) mod stats;
pub(crate) mod thread_names;
pub(crate) mod traced_future;
