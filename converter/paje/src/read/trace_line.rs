//! The place of a line in a split trace: the file and the number of the line.

/// Number of bits of the line number in an encoded place.
const LINE_BITS: u32 = 40;

/// A line of a trace, in the root file or in a part. [`Self::of`] decodes it from one number, which
/// has the part in the bits from `LINE_BITS` on and the line below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceLine {
    /// The number of the part, from 1; 0 for the root file.
    pub part: u32,
    /// The number of the line in its file.
    pub line: u64,
}

impl TraceLine {
    /// Decodes a place.
    #[must_use]
    pub const fn of(code: u64) -> Self {
        Self { part: (code >> LINE_BITS) as u32, line: code & ((1 << LINE_BITS) - 1) }
    }
}

/// The offset of the line numbers of a part.
pub(super) const fn base_of(part: usize) -> u64 {
    (part as u64) << LINE_BITS
}
