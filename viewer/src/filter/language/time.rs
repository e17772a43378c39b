//! Times in expressions.

use std::fmt;

/// Nanoseconds in the largest unit that needs no decimals.
pub(crate) struct TimeText(pub(super) i64);

impl fmt::Display for TimeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")]
            .into_iter()
            .find(|(unit, _)| self.0 % unit == 0)
            .unwrap_or((1, "ns"));
        write!(f, "{}{name}", self.0 / unit)
    }
}
