//! The views of `ParaGraph`, one folder per group.

pub(crate) mod captions;
mod category_legend;
pub(crate) mod communication;
pub(crate) mod execution_group;
pub(crate) mod measured_messages;
mod moving_window;
pub(crate) mod tasks;
#[cfg(test)]
pub(crate) mod test_traces;
pub(crate) mod unit_bundles;
pub(crate) mod utilization;
