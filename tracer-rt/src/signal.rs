//! Signal handlers that interrupt the recorder: their detection, and requests that they leave to the writer thread.

pub(crate) mod deferred;
pub(crate) mod handler_detection;
