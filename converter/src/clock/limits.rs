//! Limits that all fits share.

/// Clocks wander so many times more than was found, for all that is certain;
pub(super) const SURELY: f64 = 3.0;
/// and at least so much, per square root of a second, where it cannot be found.
pub(super) const LEAST_WANDER: f64 = 1e-8;
/// A message may seem to arrive so much before it left, nanoseconds: what a fit leaves.
pub(super) const IMPOSSIBLE: f64 = 500.0;

/// A date itself says no more than the clock can tell apart.
pub(super) fn of_dates(tick: f64) -> f64 {
    (tick - 1.0).max(0.0)
}
