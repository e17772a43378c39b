//! What limits the speed of an execution: the critical path, wait states and efficiency.

pub mod collective_groups;
pub mod collectives;
pub mod critical_path;
pub mod dependences;
pub mod diagnosis;
pub mod diagnosis_tables;
pub mod efficiency;
mod gain;
pub mod imbalance;
mod innermost_state;
pub mod lock_names;
pub mod lock_waits;
pub mod path_shares;
pub mod time_spans;
pub mod wait_states;
