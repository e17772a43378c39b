//! Slots: fixed pieces of memory where threads write their records.
//!
//! The head of a slot contains one word with the number of records and bytes.
//! This word is the write position of the owning thread, and it publishes the records to readers.

pub(crate) mod pool;
mod slot;
pub(crate) mod write;

use std::sync::atomic::{AtomicU32, AtomicU64};

use tracer_format::RECORD_HEAD_BYTES;
use tracer_format::record::DroppedRecords;

pub(crate) use slot::{FlushMark, ONE_RECORD, SlotHeader, records, used_bytes};

/// Size of a slot with its head.
pub(crate) const SLOT_BYTES: usize = 1 << 16;
/// Size of a slot's head; the payload follows.
pub(crate) const HEAD_BYTES: usize = size_of::<SlotHeader>();
/// Size of a record that sets the timestamp.
const WIDE_BYTES: usize = RECORD_HEAD_BYTES + 8;
/// Size of a record that reports a loss.
pub(crate) const LOST_BYTES: usize = RECORD_HEAD_BYTES + DroppedRecords::BYTES;
/// The largest record. A `lost` record may precede it in the slot.
pub(crate) const MAX_RECORD_BYTES: usize = room_bytes(SLOT_BYTES) - LOST_BYTES;
/// Payload bytes available in a slot of `slot_bytes` bytes.
/// A slot is full when its payload would exceed this.
/// A record that sets the timestamp always fits after it, so that the check need not know whether
/// one is necessary.
pub(crate) const fn room_bytes(slot_bytes: usize) -> usize {
    slot_bytes - HEAD_BYTES - WIDE_BYTES
}

const _: () = assert!(HEAD_BYTES == tracer_format::live::SLOT_HEAD_BYTES);

/// The slot of threads without a slot. It has no room.
pub(crate) static FULL: SlotHeader = SlotHeader {
    state: AtomicU64::new(0),
    last: AtomicU64::new(0),
    first: AtomicU64::new(0),
    flushed: AtomicU64::new(0),
    flushed_last: AtomicU64::new(0),
    sequence: AtomicU64::new(0),
    dropped: AtomicU64::new(0),
    stream: AtomicU32::new(0),
    taken: AtomicU32::new(0),
};
