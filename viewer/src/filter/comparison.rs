//! Comparisons of fields and numbers.

/// How a field or number is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after what they are")]
pub enum Comparison {
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
    /// Fits a pattern.
    Like,
    /// Does not fit a pattern.
    Unlike,
}

impl Comparison {
    /// Whether it holds between two values.
    pub fn holds<T: PartialOrd>(self, a: &T, b: &T) -> bool {
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
