//! Limits that all fits share.

/// Safety factor of the fitted wander. Error bounds hold for clocks that wander this many times
/// more.
pub(crate) const SURELY: f64 = 3.0;
/// Minimum wander of a clock per square root of a second, where there is too little data for a fit.
pub(crate) const LEAST_WANDER: f64 = 1e-8;
/// Residual of a fit in nanoseconds: a message may appear to arrive this much before it is sent.
pub(crate) const IMPOSSIBLE: f64 = 500.0;

/// Error of a timestamp from the resolution of its clock, in nanoseconds. `tick` is the resolution.
pub(crate) fn of_dates(tick: f64) -> f64 {
    (tick - 1.0).max(0.0)
}
