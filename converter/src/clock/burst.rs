//! Exchanges of messages at one time, and the offsets that they show.

/// All exchanges of one burst between different domains.
#[derive(Clone, Debug, Default)]
pub(crate) struct Burst {
    pub(crate) exchanges: Vec<Exchange>,
}

/// One exchange: domain `a` asked at `t1` and got its answer at `t4`; `b` received at `t2` and answered at `t3`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange {
    pub(crate) a: usize,
    pub(crate) b: usize,
    pub(crate) t1: u64,
    pub(crate) t2: u64,
    pub(crate) t3: u64,
    pub(crate) t4: u64,
}

/// What a domain's clock shows more than the reference's at some date of its own, in nanoseconds from its origin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offset {
    pub(crate) local: f64,
    pub(crate) offset: f64,
    /// How far off it can be at most, if nobody lies: half of what the fastest messages went to and fro in.
    pub(crate) half_trip: f64,
}
