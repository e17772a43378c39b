//! Runs: programs that record, are killed or grow; their clocks and names; cut, joined, sorted and
//! interrupted conversions of them.

#![allow(clippy::unwrap_used, reason = "a failure is the test's result")]

mod clock_samples;
mod cut_and_join;
mod growing_runs;
mod interrupted_conversion;
mod killed_processes;
mod process_names;
#[cfg(debug_assertions)]
mod self_tracing;
mod sorted_runs;
mod spawned_mpi_processes;
mod stable_conversion;
mod timestamps;
mod truncated_records;
mod unfinished_runs;

tracer_rt::events!("tests/runs/ticks.tumit");
