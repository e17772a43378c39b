//! The recorder of C and C++ programs: its generated header compiles everywhere, and its records
//! survive every program and every exit.

#![allow(clippy::unwrap_used, reason = "a failure is the test's result")]

mod arm;
mod external_tools;
mod features;
mod flight_recorder;
mod header_size;
mod name_collisions;
mod process_exits;
mod self_tracing;
mod settings;
mod signal_handlers;
mod standards;
mod translation_units;
mod unusual_programs;
