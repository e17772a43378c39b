//! Numbers of the column format that packing and unpacking share.

/// Numbers per group. The last group of a column may have fewer.
pub(super) const GROUP: usize = 128;

/// Flag in the first byte of a group: its numbers are differences.
pub(super) const DIFFERENCES: u8 = 0x80;

/// Maximum number of parts of all record types of a block.
pub(super) const MAX_PARTS: usize = 0xFFFF;

/// Storage methods of columns.
pub(super) mod method {
    /// Unchanged.
    pub(in crate::columns) const PLAIN: u8 = 0;
    /// Numbers in groups.
    pub(in crate::columns) const GROUPS: u8 = 1;
    /// Numbers of the entries of a dictionary.
    pub(in crate::columns) const DICTIONARY: u8 = 2;
    /// Bytes as one LZ4 block.
    pub(in crate::columns) const LZ4: u8 = 1;
}
