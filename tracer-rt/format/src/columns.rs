//! Records by columns: the codec that keeps runs small.
//!
//! A block of records is taken apart by record type and field, and each column of numbers is stored in groups, as the distance from
//! a base in just so many bits as most need. That costs about the time of a general compressor and leaves a third to a tenth of what it leaves. The
//! block says how its records are laid out, so that it is unpacked without any schema. `FORMAT.md` has the bytes.

mod numbers;
mod pack;
mod shape;
mod unpack;

#[cfg(all(test, feature = "schema"))]
mod tests;

pub use pack::Packer;
pub use shape::{Form, Part, Shape, TypeLayout, layouts};
pub(crate) use unpack::unpack;
pub use unpack::{Columns, Rows};

/// Methods of columns.
mod method {
    /// As they are.
    pub(super) const PLAIN: u8 = 0;
    /// Numbers in groups.
    pub(super) const GROUPS: u8 = 1;
    /// Numbers of a dictionary's entries.
    pub(super) const DICTIONARY: u8 = 2;
    /// Bytes as an LZ4 block.
    pub(super) const LZ4: u8 = 1;
}

/// Numbers in a group; the last one of a column may have fewer.
const GROUP: usize = 128;
/// In a group's first byte: its numbers are differences.
const DIFFERENCES: u8 = 0x80;
/// Parts of all record types of a block, at most.
const MAX_PARTS: usize = 0xFFFF;
