//! Runs with known true timestamps, and the errors of their conversion. This module shares no code
//! with clock correction.
//!
//! Processes on nodes send messages. The clock of each node has an offset, a drift and a wandering
//! frequency. Each direction between two nodes has its own latency, and some messages are late.
//! Besides the time of its clock, a record contains the time of the *reference* clock (the clock of
//! the first node). Correction has to find this time.

mod errors;
mod generator;
mod halo;
mod random;
mod random_parameters;
mod run_parameters;
mod simulated_clock;

pub use errors::{TimestampErrors, clocks_alone, judge, judge_run, options};
pub use generator::write;
pub use random::SplitMix;
pub use random_parameters::{errors_beyond_bound, judge_clocks, random_parameters};
pub use run_parameters::{BurstSchedule, ClockRunParameters, START, SampleFault};
