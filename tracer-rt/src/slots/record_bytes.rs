//! Writes the bytes of a record to a slot.

use std::sync::atomic::{AtomicU64, Ordering};

use tracer_format::{ID_WIDE_TIMESTAMP, RECORD_HEAD_BYTES};

use super::sizes::{HEAD_BYTES, WIDE_BYTES};
use super::{ONE_RECORD, SlotHeader, used_bytes};
use crate::fields::Fields;

/// Number of truncated records.
pub(crate) static TRUNCATED: AtomicU64 = AtomicU64::new(0);

/// Number of records with the timestamp of the previous record, because the clock went back.
pub(crate) static REPEATED: AtomicU64 = AtomicU64::new(0);

/// Writes and publishes a record.
///
/// # Safety
/// The calling thread must own the slot. `state` must be the slot's state, and the slot must have
/// room for the record.
#[inline(always)]
pub(crate) unsafe fn write<F: Fields>(slot: *const SlotHeader, mut state: u64, id: u16, mut now: u64, fields: F) {
    // SAFETY: the caller guarantees it. Slots are never unmapped.
    let head = unsafe { &*slot };
    let bytes = RECORD_HEAD_BYTES + fields.bytes();
    let mut delta = now.wrapping_sub(head.last.load(Ordering::Relaxed));
    if delta > u64::from(u32::MAX) {
        FarTimestamp { now, state } = write_far_timestamp(slot, now);
        delta = 0;
    }
    let target = payload(slot, used_bytes(state));
    // SAFETY: `used(state) + bytes` is within the slot's room, and only this thread writes there.
    unsafe { write_head(target, id, delta as u32) };
    // SAFETY: as above; the head's six bytes are part of `bytes`.
    let body = unsafe { target.add(RECORD_HEAD_BYTES) };
    // SAFETY: the room after the head has the size `fields.bytes()`.
    unsafe { fields.store(body) };
    head.publish(state + (ONE_RECORD | bytes as u64), now);
}

/// The address of byte `offset` of a slot's payload.
#[inline(always)]
pub(crate) fn payload(slot: *const SlotHeader, offset: usize) -> *mut u8 {
    slot.cast_mut().cast::<u8>().wrapping_add(HEAD_BYTES + offset)
}

/// Writes the six bytes of a record's head.
///
/// # Safety
/// The caller must own the six bytes at `target`.
#[inline(always)]
pub(crate) unsafe fn write_head(target: *mut u8, id: u16, delta: u32) {
    let head = u64::from(id) | u64::from(delta) << 16;
    let [a, b, c, d, e, f, ..] = head.to_le_bytes();
    // SAFETY: the caller guarantees it. Byte arrays have no alignment.
    unsafe { target.cast::<[u8; RECORD_HEAD_BYTES]>().write([a, b, c, d, e, f]) };
}

/// A timestamp that is more than 32 bits after the last one, or before it.
struct FarTimestamp {
    /// The timestamp of the next record.
    now: u64,
    /// The slot's state for the next record.
    state: u64,
}

/// Writes a record that sets the timestamp, or keeps the last timestamp if the clock went back.
#[cold]
#[inline(never)]
fn write_far_timestamp(slot: *const SlotHeader, now: u64) -> FarTimestamp {
    // SAFETY: `write` passes a slot of the pool that the thread owns.
    let head = unsafe { &*slot };
    let state = head.state.load(Ordering::Relaxed);
    let last = head.last.load(Ordering::Relaxed);
    if now < last {
        REPEATED.fetch_add(1, Ordering::Relaxed);
        return FarTimestamp { now: last, state };
    }
    let target = payload(slot, used_bytes(state));
    // SAFETY: after the slot's room there is always space for one such record.
    unsafe { write_head(target, ID_WIDE_TIMESTAMP, 0) };
    let ticks = target.wrapping_add(RECORD_HEAD_BYTES);
    // SAFETY: as above.
    unsafe { ticks.cast::<[u8; 8]>().write(now.to_le_bytes()) };
    // Not published here: the state of the next record covers it.
    FarTimestamp { now, state: state + WIDE_BYTES as u64 }
}
