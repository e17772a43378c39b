//! Profiles of a trace: calls, total and self time of each value, and call trees.
//!
//! A [`Profile`](profile::Profile) reads the states of one type in a time range. `formats` writes
//! it for other tools.

pub mod call_tree;
pub mod container_names;
pub mod difference;
pub mod duration_histogram;
pub mod flame_graph;
pub mod formats;
pub mod phases;
pub mod profile;
#[cfg(test)]
mod random_traces;
mod tree_builder;
pub mod value_names;
