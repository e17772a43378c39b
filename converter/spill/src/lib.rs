//! Collections that exceed their memory budget: the rest is in temporary files without names.
//!
//! [`SpillMap`](map::SpillMap) and [`EndpointMap`](endpoint_map::EndpointMap) look entries up by
//! key. [`RowSorter`](row_sorter::RowSorter) sorts rows of equal size.
//! [`ByteStreams`](byte_streams::ByteStreams) and
//! [`DeferredSection`](deferred_section::DeferredSection) are written and then read in order.
//! [`Spool`](spool::Spool) is read at offsets.

pub mod byte_streams;
pub mod deferred_section;
pub mod endpoint_map;
pub mod map;
pub mod row_sorter;
mod run_file;
pub mod spool;
pub mod temporary_space;
pub mod varint;
