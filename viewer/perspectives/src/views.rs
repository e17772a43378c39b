//! The views of `ParaGraph`, one folder per group.

pub(crate) mod communication;
mod measured_messages;
pub(crate) mod tasks;
#[cfg(test)]
pub(crate) mod test_traces;
pub(crate) mod utilization;
pub(crate) mod whole;
