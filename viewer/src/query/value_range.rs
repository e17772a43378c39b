//! [`ValueRange`]: the smallest and the largest value of a variable.

/// The smallest and the largest value of a variable. It includes both.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub struct ValueRange {
    pub min: f64,
    pub max: f64,
}

impl ValueRange {
    /// Returns the smallest range that includes both.
    pub(crate) fn join(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}
