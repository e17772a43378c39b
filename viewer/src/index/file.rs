//! The bytes of an index file: the header, pages with checksums, and packed tables with the search
//! in them.

pub(crate) mod bit_fields;
pub(crate) mod bit_unpacking;
pub(crate) mod file_layout;
pub(crate) mod guarded_map;
pub(crate) mod index_bytes;
pub(crate) mod max_end_tree;
pub(crate) mod packed_table;
pub(crate) mod page_writer;
