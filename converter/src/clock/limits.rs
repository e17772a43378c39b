//! Limits that all fits share.

/// Bounds on the rate error of a clock, as a fraction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RateBounds {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl RateBounds {
    pub(crate) fn width(self) -> f64 {
        self.high - self.low
    }
}

/// Safety factor of the fitted wander. Error bounds hold for clocks that wander this many times
/// more.
pub(crate) const WANDER_SAFETY_FACTOR: f64 = 3.0;
/// Wander of a clock where there is too little data for a fit: the standard deviation of the change
/// of its rate in one second.
pub(crate) const MIN_WANDER: f64 = 1e-8;
/// Residual of a fit in nanoseconds: a message may appear to arrive this much before it is sent.
pub(crate) const CAUSALITY_TOLERANCE: f64 = 500.0;

/// Error of a timestamp from the resolution of its clock, in nanoseconds. `tick` is the resolution.
pub(crate) fn resolution_error(tick: f64) -> f64 {
    (tick - 1.0).max(0.0)
}
