//! Slots: fixed pieces of memory where threads write their records.
//!
//! The head of a slot contains one word with the number of records and bytes.
//! This word is the write position of the owning thread, and it publishes the records to readers.

pub(crate) mod pool;
pub(crate) mod record_bytes;
mod sizes;
mod slot;

pub(crate) use sizes::{DROP_REPORT_BYTES, HEAD_BYTES, MAX_RECORD_BYTES, SLOT_BYTES, room_bytes};

use std::sync::atomic::{AtomicU32, AtomicU64};

pub(crate) use slot::{FlushMark, ONE_RECORD, SlotHeader, SlotProgress, records, used_bytes};

const _: () = assert!(HEAD_BYTES == tracer_format::live_file::SLOT_HEAD_BYTES);

/// The slot of threads without a slot. It has no room.
pub(crate) static FULL: SlotHeader = SlotHeader {
    state: AtomicU64::new(0),
    last: AtomicU64::new(0),
    first: AtomicU64::new(0),
    flush_mark: AtomicU64::new(0),
    flushed_last: AtomicU64::new(0),
    sequence: AtomicU64::new(0),
    dropped: AtomicU64::new(0),
    stream: AtomicU32::new(0),
    is_taken: AtomicU32::new(0),
};
