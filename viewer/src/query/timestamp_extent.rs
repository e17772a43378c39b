//! [`TimestampExtent`]: the first and the last timestamp of a set of operations or entities.

use tumit_paje::time::GlobalNanos;
use tumit_paje::time_range::TimeRange;

/// The first and the last timestamp of a set of operations or entities. Unlike a [`TimeRange`], it
/// includes both. The default is the timestamp 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct TimestampExtent {
    pub(crate) first: i64,
    pub(crate) last: i64,
}

/// Returns the time range between two timestamps in nanoseconds.
pub(crate) fn nanos_range(from: i64, to: i64) -> TimeRange {
    TimeRange { from: GlobalNanos(from), to: GlobalNanos(to) }
}

impl TimestampExtent {
    /// The extent without any timestamp.
    pub(crate) const EMPTY: Self = Self { first: i64::MAX, last: i64::MIN };

    #[inline]
    pub(crate) fn instant(timestamp: i64) -> Self {
        Self { first: timestamp, last: timestamp }
    }

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.first > self.last
    }

    /// The extent of both sets.
    #[inline]
    pub(crate) fn join(self, other: Self) -> Self {
        Self { first: self.first.min(other.first), last: self.last.max(other.last) }
    }

    /// The time range from the first timestamp to the last.
    pub(crate) fn time_range(self) -> TimeRange {
        nanos_range(self.first, self.last)
    }
}
