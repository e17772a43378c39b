//! The levels of specs, and the actions of a level when no slot is free.

pub(crate) mod level_table;
pub(crate) mod overflow_policy;
