//! Collections that exceed their memory budget: the rest is in unlinked temporary files. The Pajé
//! reader, the converter, the simulation and the index use them.
//!
//! - [`SpillMap`](map::SpillMap) has one entry of fixed size per key.
//! - [`EndpointMap`](endpoint_map::EndpointMap) has a queue of link endpoints per key, and pairs a
//!   new endpoint with the first one that waits. It consists of three `SpillMap`s.
//! - [`RowSorter`](row_sorter::RowSorter) sorts rows of equal size.
//! - [`ByteStreams`](byte_streams::ByteStreams) are many streams in one file. Each is read from its
//!   start.
//! - [`Spool`](spool::Spool) is one sequence of bytes. Several threads append to it and read at
//!   offsets.
//! - [`DeferredSection`](deferred_section::DeferredSection) is a part of an output that is written
//!   before its place is known.

pub mod byte_streams;
pub mod deferred_section;
pub mod endpoint_map;
pub mod map;
pub mod row_sorter;
mod sorted_file;
pub mod spool;
pub mod temporary_space;
pub mod varint;
