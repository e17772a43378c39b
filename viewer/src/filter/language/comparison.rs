//! Comparisons of fields and numbers.

/// A comparison of a field or number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names explain the variants")]
pub enum Comparison {
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
    /// Matches a pattern.
    Like,
    /// Does not match a pattern.
    Unlike,
}

impl Comparison {
    /// Whether the comparison is true for two values.
    pub(crate) fn is_true<T: PartialOrd>(self, a: &T, b: &T) -> bool {
        match self {
            Self::Equal | Self::Like => a == b,
            Self::Unequal | Self::Unlike => a != b,
            Self::Less => a < b,
            Self::AtMost => a <= b,
            Self::More => a > b,
            Self::AtLeast => a >= b,
        }
    }
}
