//! Types for timestamps. Timestamps are never bare numbers, and become floats only when converted
//! to text.
//!
//! ```
//! use tumit_paje::time::{GlobalNanos, TimeUnit};
//!
//! let time = GlobalNanos(3 * i64::from(TimeUnit::Millis.nanos()));
//! assert_eq!(time, GlobalNanos(3_000_000));
//! ```

/// A timestamp in ticks of the clock of one process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalTicks(pub u64);

/// A timestamp on the common time line of the run, in nanoseconds from its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct GlobalNanos(pub i64);

impl GlobalNanos {
    /// The maximum absolute value of a timestamp from a text: 146 years before or after 0. The
    /// difference of any two such timestamps fits into 64 bits. Timestamps of runs count from the
    /// start of the run, up to [`Self::LAST`].
    pub const FURTHEST: Self = Self((1 << 62) - 1);

    /// The last possible timestamp, 292 years after the start of a run. Later clock readings get
    /// this timestamp.
    pub const LAST: Self = Self(i64::MAX);
}

/// The unit of the timestamps in a text. The Pajé format demands seconds, but some producers write
/// other units. A file does not contain its unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TimeUnit {
    /// The unit that the format demands.
    #[default]
    Seconds,
    /// Milliseconds.
    Millis,
    /// Microseconds.
    Micros,
    /// Nanoseconds.
    Nanos,
}

impl TimeUnit {
    /// Number of decimals that represent a nanosecond.
    pub(crate) const fn exact_decimals(self) -> u8 {
        match self {
            Self::Seconds => 9,
            Self::Millis => 6,
            Self::Micros => 3,
            Self::Nanos => 0,
        }
    }

    /// The unit in nanoseconds.
    #[must_use]
    pub const fn nanos(self) -> u32 {
        10_u32.pow(self.exact_decimals() as u32)
    }
}
