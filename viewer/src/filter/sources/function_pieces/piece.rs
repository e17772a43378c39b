//! [`FunctionPiece`]: a part of a step function with one value.

use crate::query::{GlobalNanos, TimeRange};

/// A value in a time range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FunctionPiece {
    pub from: i64,
    pub to: i64,
    pub value: f64,
}

impl FunctionPiece {
    pub(crate) fn life(&self) -> TimeRange {
        TimeRange { from: GlobalNanos(self.from), to: GlobalNanos(self.to) }
    }
}
