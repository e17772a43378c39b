//! What limits the speed of an execution: the critical path, wait states and efficiency.

pub mod collective_groups;
pub mod collectives;
pub mod critical_path;
pub mod diagnosis;
pub mod efficiency;
mod imbalance;
mod innermost_state;
pub mod wait_states;
