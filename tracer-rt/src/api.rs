//! The calls of programs and of generated code.

pub(crate) mod intern;
pub(crate) mod level_switches;
pub mod private;
pub(crate) mod recorder_stats;
pub mod runtime_specs;
pub(crate) mod span;
pub(crate) mod thread_names;
pub(crate) mod traced_future;
