//! The commands as a user sees them: their options, outputs, images and messages.

#![allow(clippy::unwrap_used, reason = "a failure is the test's result")]

mod bad_input;
mod card_files;
mod collectives;
mod combined_specs;
mod convert_options;
mod dense_images;
mod diagnose;
mod diagram_modes;
mod doc;
mod entity_tables;
mod execution_filters;
mod filters;
mod fmt;
mod image_memory;
mod image_outputs;
mod measurement_programs;
mod perspectives;
mod picl;
mod pj_dump_comparison;
mod specs;
mod task_latencies;
mod trace_input;
mod view;
mod view_options;
