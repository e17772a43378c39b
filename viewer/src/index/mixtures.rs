//! The mixtures of state lanes per column: computed from the sums of a lane, or read from the
//! overview of aligned columns.

pub(crate) mod few_values;
pub(crate) mod many_values;
pub(crate) mod overview;
pub(crate) mod state_cursor;
