//! Slots: fixed pieces of memory where threads write their records.
//!
//! A slot's head contains one word with the number of records and bytes. It is both the write position of the owning
//! thread and the publication to readers.

/// The atomics of [`slot`]. Its test replaces them by those of the model checker.
mod atomic {
    pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
}
pub(crate) mod pool;
mod slot;
pub(crate) mod write;

use std::sync::atomic::{AtomicU32, AtomicU64};

use tracer_format::RECORD_HEAD_BYTES;
use tracer_format::record::Lost;

pub(crate) use slot::{Flushed, ONE_RECORD, Slot, records, used};

/// Size of a slot with its head.
pub(crate) const SLOT_BYTES: usize = 1 << 16;
/// Size of a slot's head; the payload follows.
pub(crate) const HEAD_BYTES: usize = size_of::<Slot>();
/// Size of a record that sets the date.
const WIDE_BYTES: usize = RECORD_HEAD_BYTES + 8;
/// Size of a record that tells of a loss.
pub(crate) const LOST_BYTES: usize = RECORD_HEAD_BYTES + Lost::BYTES;
/// The largest record: a `lost` record may stand before it.
pub(crate) const MAX_RECORD_BYTES: usize = room_bytes(SLOT_BYTES) - LOST_BYTES;
/// A slot of so many bytes is full when its payload would pass this. A record that sets the date always fits behind it, so
/// that the check needs not know whether one is due.
pub(crate) const fn room_bytes(slot_bytes: usize) -> usize {
    slot_bytes - HEAD_BYTES - WIDE_BYTES
}

const _: () = assert!(HEAD_BYTES == tracer_format::live::SLOT_HEAD_BYTES);

/// The slot of threads that have none: it has no room.
pub(crate) static FULL: Slot = Slot {
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
