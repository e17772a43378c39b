//! Bursts of message exchanges, and the clock offsets computed from them.

/// All exchanges of one burst between different domains.
#[derive(Clone, Debug, Default)]
pub(crate) struct SyncBurst {
    pub(crate) exchanges: Vec<TickExchange>,
}

/// One exchange of a request and a reply, in ticks. Domain `a` sends the request at `t1` and
/// receives the reply at `t4`. Domain `b` receives the request at `t2` and sends the reply at `t3`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TickExchange {
    pub(crate) a: usize,
    pub(crate) b: usize,
    pub(crate) t1: u64,
    pub(crate) t2: u64,
    pub(crate) t3: u64,
    pub(crate) t4: u64,
}

/// The offset of a burst, nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OffsetPoint {
    pub(crate) timestamp: f64,
    pub(crate) offset: f64,
}

impl OffsetPoint {
    /// The drift from this burst to a later one.
    pub(crate) fn drift_to(self, later: Self) -> f64 {
        (later.offset - self.offset) / (later.timestamp - self.timestamp)
    }
}

/// The offset of a domain's clock from the reference clock at one local time. Both are in
/// nanoseconds from the origin of the domain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockOffset {
    pub(crate) local: f64,
    pub(crate) offset: f64,
    /// Maximum error of the offset: half of the shortest round trip.
    pub(crate) half_trip: f64,
}
