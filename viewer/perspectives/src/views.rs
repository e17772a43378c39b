//! The views of `ParaGraph`, one folder per group.

pub(crate) mod communication;
mod measured_messages;
mod request_text;
pub(crate) mod tasks;
#[cfg(test)]
pub(crate) mod test_traces;
mod unit_groups;
pub(crate) mod utilization;
pub(crate) mod whole;
