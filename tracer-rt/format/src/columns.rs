//! Records in columns: the codec that keeps runs small.
//!
//! A block of records is split by record type and field. Each column of numbers is stored in
//! groups, as distances from a base with the number of bits that most of them need. This takes
//! about the time of a general-purpose compressor, and the result is a third to a tenth of its
//! size. The block contains the layout of its records, so that unpacking needs no schema.
//! `FORMAT.md` defines the bytes.

mod numbers;
mod pack;
mod shape;
mod unpack;

#[cfg(all(test, feature = "schema"))]
mod tests;

pub use pack::BlockPacker;
pub use shape::{BodyPart, PartCount, RecordShape, TypeLayout, layouts};
pub(crate) use unpack::unpack;
pub use unpack::{BlockColumns, FixedSizeRows};

/// Storage methods of columns.
mod method {
    /// Unchanged.
    pub(super) const PLAIN: u8 = 0;
    /// Numbers in groups.
    pub(super) const GROUPS: u8 = 1;
    /// Numbers of the entries of a dictionary.
    pub(super) const DICTIONARY: u8 = 2;
    /// Bytes as one LZ4 block.
    pub(super) const LZ4: u8 = 1;
}

/// Numbers per group. The last group of a column may have fewer.
const GROUP: usize = 128;
/// Flag in the first byte of a group: its numbers are differences.
const DIFFERENCES: u8 = 0x80;
/// Maximum number of parts of all record types of a block.
const MAX_PARTS: usize = 0xFFFF;
