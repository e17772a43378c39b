//! Signal handlers that interrupt the recorder: their detection, and their requests to the writer
//! thread.

pub(crate) mod handler_detection;
pub(crate) mod handler_requests;
