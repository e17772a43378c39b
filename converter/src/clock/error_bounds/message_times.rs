//! Messages by final timestamps.

/// A message by final timestamps, nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MessageTimes {
    pub(crate) send_time: f64,
    pub(crate) receive_time: f64,
    /// Apparent latency plus the resolution of the clocks.
    pub(crate) transfer_time: f64,
}

/// The messages from one domain to another.
#[derive(Clone, Debug)]
pub(crate) struct DomainMessages {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) times: Vec<MessageTimes>,
}
