//! Units of time.

/// Nanoseconds of a second.
pub(crate) const NANOS_PER_SECOND: f64 = 1e9;
/// Nanoseconds of a second.
pub(crate) const NANOS: i64 = 1_000_000_000;
