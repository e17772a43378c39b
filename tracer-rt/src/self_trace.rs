//! What the recorder records of itself, as `std:tracer` describes it: the helper's work, and the waits of the program's threads. Off unless
//! it is switched on. It never waits and never calls itself: what finds no room is dropped, as all else.

use std::sync::atomic::Ordering;

use crate::buffer::{self, Room, Slot, used};
use crate::level::Level;
use crate::private::Choice;
use crate::state::STATE;
use crate::{Span, pool};

tracer_macros::events!("std:tracer");

/// Its one level.
pub(crate) static LEVEL: &Level = &__tumit_tracer::LEVEL_0;

/// The trace and the level, as switches name them.
pub(crate) const NAMES: (&str, &str) = ("tracer", "TUMIT");

/// Ids of a wait in its spec.
const WAIT_BEGIN: u32 = 2;
const WAIT_END: u32 = 3;

/// The helper is about to write a slot. Not under a lock of the recorder.
pub(crate) fn writing() -> Option<Span> {
    LEVEL.known_base()?;
    let state = STATE.lock();
    let (first, blocks) = (*state.full.front()?, state.full.len() as u32);
    // SAFETY: slots are never unmapped.
    let bytes = used(unsafe { &*first }.state.load(Ordering::Relaxed));
    drop(state);
    Some(tumit::write(blocks, bytes as u64))
}

/// Adds to a record, which is in its slot, why its thread stood still before, and until when.
pub(crate) fn waited(room: Room, why: Cause, until: u64) {
    const MOST_BYTES: usize = 64;
    let Some(base) = LEVEL.known_base() else { return };
    // SAFETY: a slot of the pool, the thread's own.
    let head = unsafe { &*room.slot };
    let fits = |slot: *const Slot| {
        used(head.state.load(Ordering::Relaxed)) + MOST_BYTES <= buffer::room_bytes(pool::slot_bytes(slot))
    };
    if fits(room.slot) {
        let state = head.state.load(Ordering::Relaxed);
        // SAFETY: the slot is the thread's own, in this state, and has the room.
        unsafe { buffer::write(room.slot, state, (base + WAIT_BEGIN) as u16, room.now, (Choice(why),)) };
        let state = head.state.load(Ordering::Relaxed);
        // SAFETY: as above; both records, and two dates, are less than what there is room for.
        unsafe { buffer::write(room.slot, state, (base + WAIT_END) as u16, until, ()) };
    }
}
