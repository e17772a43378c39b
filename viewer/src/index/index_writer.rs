//! Writes an index: collects the output of the simulation in byte streams, then writes lanes in
//! parallel pieces and assembles the file.

pub(crate) mod assembly;
pub(crate) mod builder;
pub(crate) mod lane_summaries;
pub(crate) mod lane_values;
pub(crate) mod lane_writer;
pub(crate) mod nested_sums;
pub(crate) mod operation_parts;
pub(crate) mod prefix_count_writer;
pub(crate) mod state_writer;
