//! Facts of a run that follow from its tables and clocks, without a pass over its records:
//! launches, the time of day, and missing or damaged data.

pub(crate) mod gaps;
pub mod launches;
mod losses;
pub mod wall_clock;
