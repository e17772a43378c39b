//! What the recorder records of itself, as `std:tracer` describes it: the helper's work, and the waits of the program's threads. Off unless
//! it is switched on. It never waits and never calls itself: what finds no room is dropped, as all else.

use std::sync::atomic::Ordering;

use crate::fields::Choice;
use crate::levels::table::Level;
use crate::slots::pool::slot_bytes;
use crate::slots::write::write;
use crate::slots::{Slot, room_bytes, used};

tracer_macros::events!("std:tracer");

/// Its one level.
pub(crate) static LEVEL: &Level = &__tumit_tracer::LEVEL_0;

/// Ids of a wait in its spec.
const WAIT_BEGIN: u32 = 2;
const WAIT_END: u32 = 3;

/// Adds to a record, which is in its slot, why its thread stood still before, and until when.
pub(crate) fn waited(slot: *const Slot, now: u64, why: Cause, until: u64) {
    const MOST_BYTES: usize = 64;
    let Some(base) = LEVEL.known_base() else { return };
    // SAFETY: a slot of the pool, the thread's own.
    let head = unsafe { &*slot };
    let fits =
        |slot: *const Slot| used(head.state.load(Ordering::Relaxed)) + MOST_BYTES <= room_bytes(slot_bytes(slot));
    if fits(slot) {
        let state = head.state.load(Ordering::Relaxed);
        // SAFETY: the slot is the thread's own, in this state, and has the room.
        unsafe { write(slot, state, (base + WAIT_BEGIN) as u16, now, (Choice(why),)) };
        let state = head.state.load(Ordering::Relaxed);
        // SAFETY: as above; both records, and two dates, are less than what there is room for.
        unsafe { write(slot, state, (base + WAIT_END) as u16, until, ()) };
    }
}
