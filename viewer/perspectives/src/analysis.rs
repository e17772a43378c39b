//! What limits the speed of an execution: the critical path, wait states and efficiency.

pub mod collective_groups;
pub mod collectives;
pub mod critical_path;
pub(crate) mod dependences;
pub mod diagnosis;
pub mod diagnosis_tables;
pub mod efficiency;
pub mod gain;
mod imbalance;
pub(crate) mod innermost_state;
mod lock_names;
mod lock_waits;
pub(crate) mod message_names;
pub mod path_shares;
pub(crate) mod time_spans;
pub mod wait_states;
