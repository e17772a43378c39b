//! The kinds of clocks.

/// The clock that a process reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ClockKind {
    /// The time-stamp counter of x86.
    Tsc = 1,
    /// The generic timer of ARM.
    ArmCounter = 2,
    /// `CLOCK_MONOTONIC_RAW`, in nanoseconds.
    MonotonicRaw = 3,
    /// `CLOCK_MONOTONIC`, in nanoseconds.
    Monotonic = 4,
    /// A clock of the program.
    User = 5,
}

impl ClockKind {
    /// The kind with this number in a file.
    #[must_use]
    pub const fn from_number(number: u64) -> Option<Self> {
        match number {
            1 => Some(Self::Tsc),
            2 => Some(Self::ArmCounter),
            3 => Some(Self::MonotonicRaw),
            4 => Some(Self::Monotonic),
            5 => Some(Self::User),
            _ => None,
        }
    }

    /// The name in the user interface.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tsc => "TSC",
            Self::ArmCounter => "ARM counter",
            Self::MonotonicRaw => "MONOTONIC_RAW",
            Self::Monotonic => "MONOTONIC",
            Self::User => "user clock",
        }
    }
}
