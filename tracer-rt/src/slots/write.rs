//! Writes the bytes of a record to a slot.

use std::sync::atomic::{AtomicU64, Ordering};

use tracer_format::{ID_WIDE_DATE, RECORD_HEAD_BYTES};

use super::{HEAD_BYTES, ONE_RECORD, Slot, WIDE_BYTES, used};
use crate::fields::Fields;

/// Records that were truncated.
pub(crate) static TRUNCATED: AtomicU64 = AtomicU64::new(0);

/// Records that have the date of the one before, as the clock went back.
pub(crate) static REPEATED: AtomicU64 = AtomicU64::new(0);

/// # Safety
/// The slot must be the thread's own, in this state, with room for the record.
#[inline(always)]
pub(crate) unsafe fn write<F: Fields>(slot: *const Slot, mut state: u64, id: u16, mut now: u64, fields: F) {
    // SAFETY: the caller's promise; slots are never unmapped.
    let head = unsafe { &*slot };
    let bytes = RECORD_HEAD_BYTES + fields.bytes();
    let mut delta = now.wrapping_sub(head.last.load(Ordering::Relaxed));
    if delta > u64::from(u32::MAX) {
        (now, state) = far(slot, now);
        delta = 0;
    }
    let at = payload(slot, used(state));
    // SAFETY: `used(state) + bytes` is within the slot's room, and this thread alone writes there.
    unsafe { write_head(at, id, delta as u32) };
    // SAFETY: as above; the head's six bytes are part of `bytes`.
    let body = unsafe { at.add(RECORD_HEAD_BYTES) };
    // SAFETY: the room behind the head is what `fields.bytes()` asked for.
    unsafe { fields.store(body) };
    head.publish(state + (ONE_RECORD | bytes as u64), now);
}

/// The payload of a slot from byte `offset` on.
#[inline(always)]
pub(crate) fn payload(slot: *const Slot, offset: usize) -> *mut u8 {
    slot.cast_mut().cast::<u8>().wrapping_add(HEAD_BYTES + offset)
}

/// # Safety
/// Six bytes at `at` must be the caller's to write.
#[inline(always)]
pub(crate) unsafe fn write_head(at: *mut u8, id: u16, delta: u32) {
    let head = u64::from(id) | u64::from(delta) << 16;
    let [a, b, c, d, e, f, ..] = head.to_le_bytes();
    // SAFETY: the caller's promise; byte arrays have no alignment.
    unsafe { at.cast::<[u8; RECORD_HEAD_BYTES]>().write([a, b, c, d, e, f]) };
}

/// A date that does not fit 32 bits after the last: sets the date anew, or, when the clock went back, keeps the last.
/// Returns the date and state to go on with.
#[cold]
#[inline(never)]
fn far(slot: *const Slot, now: u64) -> (u64, u64) {
    // SAFETY: `write` passes a slot of the pool, the thread's own.
    let head = unsafe { &*slot };
    let state = head.state.load(Ordering::Relaxed);
    let last = head.last.load(Ordering::Relaxed);
    if now < last {
        REPEATED.fetch_add(1, Ordering::Relaxed);
        return (last, state);
    }
    let at = payload(slot, used(state));
    // SAFETY: behind the slot's room there is always some for one such record.
    unsafe { write_head(at, ID_WIDE_DATE, 0) };
    let date = at.wrapping_add(RECORD_HEAD_BYTES);
    // SAFETY: as above.
    unsafe { date.cast::<[u8; 8]>().write(now.to_le_bytes()) };
    // Not published alone: the state of the record that follows covers it.
    (now, state + WIDE_BYTES as u64)
}
