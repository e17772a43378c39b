//! Sync samples that cannot be true.

pub(crate) mod drift_consistency;
pub(crate) mod edge_bursts;
pub(crate) mod loop_closure;
