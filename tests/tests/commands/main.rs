//! The commands as a user sees them: their options, outputs, images and messages.

#![allow(clippy::unwrap_used, reason = "a failure is the test's result")]

mod bad_input;
mod collectives;
mod convert_options;
mod diagnose;
mod entity_tables;
mod execution_filters;
mod filters;
mod measurement_programs;
mod picl;
mod pj_dump_comparison;
mod profile;
mod specs;
mod task_latencies;
mod trace_input;
mod view;
