//! Time as a type: never a bare number, never a float before the text edge.

/// A date in the ticks of one process's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalTicks(pub u64);

/// A date on the run's one time line, in nanoseconds from its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct GlobalNanos(pub i64);

impl GlobalNanos {
    /// The furthest date that is taken from a text, before zero and behind it, 146 years away: what lies between any two of them fits a length. Dates of
    /// runs are counted from their beginning, up to [`Self::LAST`].
    pub const FURTHEST: Self = Self((1 << 62) - 1);

    /// The last date there is, 292 years behind the beginning of a run: what a clock says beyond it is dated there.
    pub const LAST: Self = Self(i64::MAX);
}

/// In what the dates of a text are counted. The Pajé format says seconds, but some producers write others, and a file does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Seconds.
    #[default]
    Seconds,
    /// Milliseconds.
    Millis,
    /// Microseconds.
    Micros,
    /// Nanoseconds.
    Nanos,
}

impl Unit {
    /// How many decimals tell a nanosecond.
    #[must_use]
    pub const fn exact_decimals(self) -> u8 {
        match self {
            Self::Seconds => 9,
            Self::Millis => 6,
            Self::Micros => 3,
            Self::Nanos => 0,
        }
    }

    /// Its nanoseconds.
    #[must_use]
    pub const fn nanos(self) -> u32 {
        10_u32.pow(self.exact_decimals() as u32)
    }
}
