//! The page in a real browser: elements found by roles and names, moved by real wheel, drag and key
//! events, read like a user reads.

#![allow(clippy::unwrap_used, reason = "a failure is the test's result")]

mod accessibility;
mod address;
mod browser_driver;
mod charts_sources_notes;
mod comparison;
mod costs;
mod counted_results;
mod diagram;
mod disturbances;
mod entity_panel;
mod filters;
mod forced_colours;
mod growing_traces;
mod image_refinement;
mod input_targets;
mod key_table;
mod legend;
mod name_layout;
mod navigation;
mod palette_and_help;
mod panes;
mod remote_access;
mod reproducible_images;
mod rows;
mod saved_files;
mod screenshots;
mod server_loss;
mod styles;
mod time_axis;
mod time_navigation;
mod window_sizes;
