//! Self-tracing: records of the recorder about itself, described by `std:tracer`.
//!
//! They show the work of the writer thread and the waits of the program's threads. Off by default.
//! Self-tracing never waits and never calls itself: records without space are dropped, as all
//! others.

use std::sync::atomic::Ordering;

use crate::fields::Choice;
use crate::levels::level_table::Level;
use crate::slots::pool::slot_bytes;
use crate::slots::record_bytes::write;
use crate::slots::{SlotHeader, room_bytes, used_bytes};

tracer_macros::events!("std:tracer");

/// The only level of the self-tracing.
pub(crate) static LEVEL: &Level = &__tumit_tracer::LEVEL_0;

/// Ids of the begin and end of a wait in the spec.
const WAIT_BEGIN: u32 = 2;
const WAIT_END: u32 = 3;

/// Adds the wait of the thread after a record in its slot: the cause, and its end `end`.
pub(crate) fn record_wait(slot: *const SlotHeader, now: u64, cause: Cause, end: u64) {
    const MAX_SELF_RECORD_BYTES: usize = 64;
    let Some(base) = LEVEL.known_base() else { return };
    // SAFETY: the pointer is to a slot of the pool that the thread owns.
    let head = unsafe { &*slot };
    let fits = |slot: *const SlotHeader| {
        used_bytes(head.state.load(Ordering::Relaxed)) + MAX_SELF_RECORD_BYTES <= room_bytes(slot_bytes(slot))
    };
    if fits(slot) {
        let state = head.state.load(Ordering::Relaxed);
        // SAFETY: the slot is the thread's own, in this state, and has the space.
        unsafe { write(slot, state, (base + WAIT_BEGIN) as u16, now, (Choice(cause),)) };
        let state = head.state.load(Ordering::Relaxed);
        // SAFETY: as above. Both records, with two timestamps, take less than the checked space.
        unsafe { write(slot, state, (base + WAIT_END) as u16, end, ()) };
    }
}
