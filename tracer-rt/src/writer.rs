//! The process's file: definitions first, then full slots.
//! Each block has a checksum, is compressed if that saves space, and is appended by one write.
//! Records that cannot be written are counted as dropped. The file ends at its last whole block.

pub(crate) mod affinity;
mod block_writer;
mod clock_steps;
mod codec;
mod commands;
mod definition_blocks;
mod drop_blocks;
mod file_creation;
mod file_handle;
mod flush_active;
mod pending_block;
mod reserve;
pub(crate) mod thread;

pub(crate) use block_writer::{BLOCK_WRITER, BlockWriter, write_full_slots, write_names};
pub(crate) use file_handle::detach;
