//! The views of `ParaGraph`, one folder per group.

pub(crate) mod communication;
pub(crate) mod tasks;
pub(crate) mod utilization;
pub(crate) mod whole;
