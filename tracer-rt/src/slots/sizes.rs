//! The sizes of slots and of the records in them.

use tracer_format::RECORD_HEAD_BYTES;
use tracer_format::record::DroppedRecords;

use super::slot::SlotHeader;

/// Size of a slot with its head.
pub(crate) const SLOT_BYTES: usize = 1 << 16;

/// Size of a slot's head; the payload follows.
pub(crate) const HEAD_BYTES: usize = size_of::<SlotHeader>();

/// Size of a record that sets the timestamp.
pub(super) const WIDE_BYTES: usize = RECORD_HEAD_BYTES + 8;

/// Size of a `dropped` record.
pub(crate) const DROP_REPORT_BYTES: usize = RECORD_HEAD_BYTES + DroppedRecords::BYTES;

/// The largest record. A `dropped` record may precede it in the slot.
pub(crate) const MAX_RECORD_BYTES: usize = room_bytes(SLOT_BYTES) - DROP_REPORT_BYTES;

/// Payload bytes available in a slot of `slot_bytes` bytes.
/// A slot is full when its payload would exceed this.
/// The slot also has room for a record that sets the timestamp. So the check for room does not
/// depend on whether this record is necessary.
pub(crate) const fn room_bytes(slot_bytes: usize) -> usize {
    slot_bytes - HEAD_BYTES - WIDE_BYTES
}
