//! A time range of the trace.

use std::fmt;

use super::error::FilterError;
use super::time::TimeText;
use crate::query::{GlobalNanos, TimeRange};

/// A time range in nanoseconds. A missing bound is that of the trace. As text: `0.2..0.4`,
/// `250ms..`, `..1.5`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub struct OpenTimeRange {
    pub from: Option<i64>,
    pub to: Option<i64>,
}

impl OpenTimeRange {
    /// The interval in a trace.
    ///
    /// # Errors
    /// If the time range is outside the trace.
    pub fn of(self, extent: TimeRange) -> Result<TimeRange, FilterError> {
        let from = self.from.map_or(extent.from, GlobalNanos).max(extent.from);
        let to = self.to.map_or(extent.to, GlobalNanos).min(extent.to);
        if from < to { Ok(TimeRange { from, to }) } else { Err(FilterError::OutOfTime { extent }) }
    }
}

impl fmt::Display for OpenTimeRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.from.map_or(Ok(()), |from| write!(f, "{}", TimeText(from)))?;
        f.write_str("..")?;
        self.to.map_or(Ok(()), |to| write!(f, "{}", TimeText(to)))
    }
}
