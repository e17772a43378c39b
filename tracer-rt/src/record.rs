//! The hot path: reserves space in the calling thread's slot, writes the record and publishes it.
//!
//! A thread writes to one slot at a time. One bounds check covers three cases: a full slot, the first record of a
//! thread, and a clock that is not read inline. A thread without a slot points to [`FULL`](crate::slots::FULL), which is
//! always full.

use std::mem::ManuallyDrop;
use std::sync::atomic::{Ordering, compiler_fence};

use tracer_format::ID_LOST;
use tracer_format::RECORD_HEAD_BYTES;
use tracer_format::record::Lost;

use crate::clock;
use crate::cursor::{CURSOR, Cursor, NESTED, busy, class_of};
use crate::fields::{Fields, Truncated};
use crate::live_file;
use crate::self_trace;
use crate::signal::handler_detection;
use crate::slots::write::{TRUNCATED, write};
use crate::slots::{LOST_BYTES, used};
use crate::slow_path::{After, Room, attach, drops, signal_stream};

/// Writes a record. Never fails: what finds no place is dropped and counted. The high half of `id` says to which of the thread's
/// streams it goes.
#[inline(always)]
pub fn record<F: Fields>(id: u32, fields: F) {
    // The address alone: a closure with all of the work in it would not always be inlined.
    let cursor = CURSOR.with(std::ptr::from_ref);
    // SAFETY: the variable has no destructor: it is there as long as the thread.
    let cursor = unsafe { &*cursor };
    let bytes = RECORD_HEAD_BYTES + fields.bytes();
    if cursor.busy.load(Ordering::Relaxed) != busy::IDLE {
        return match F::CAN_BE_CUT {
            true => record_nested(cursor, id, bytes, apart(fields)),
            false => record_nested(cursor, id, bytes, fields),
        };
    }
    cursor.busy.store(busy::RECORDING, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
    let mut now = clock::native();
    let mut slot = cursor.slots[class_of(id)].get();
    // SAFETY: a cursor's slot is `FULL` or a slot of the pool, which is never unmapped.
    let mut state = unsafe { &*slot }.state.load(Ordering::Relaxed);
    if used(state) + bytes > cursor.rooms[class_of(id)].get() {
        let Some(room) = attach::make_room(cursor, id, bytes, now) else {
            return cursor.busy.store(busy::IDLE, Ordering::Release);
        };
        if room.limit.is_some() || !matches!(room.after, After::Nothing) {
            return match F::CAN_BE_CUT {
                true => record_and_more(cursor, room, id, apart(fields)),
                false => record_and_more(cursor, room, id, fields),
            };
        }
        Room { slot, now, .. } = room;
        // SAFETY: `make_room` gives a slot of the pool.
        state = unsafe { &*slot }.state.load(Ordering::Relaxed);
    }
    // SAFETY: the slot is the thread's own and has room for so many bytes.
    unsafe { write(slot, state, id as u16, now, fields) };
    cursor.busy.store(busy::IDLE, Ordering::Release);
}

/// Moves fields of a rare record to memory of their own. What is passed by address alone would be in memory for all records, where the
/// compiler knows less of it.
#[inline(always)]
fn apart<F>(fields: F) -> F {
    let fields = ManuallyDrop::new(fields);
    // SAFETY: a valid value, which is not dropped where it was.
    unsafe { std::ptr::read(&raw const *fields) }
}

/// A record inside a record: a signal handler interrupted its own thread, wherever it was. It goes to a stream of its own. Unless that one
/// is gone: then this is a record as others.
#[cold]
#[inline(never)]
fn record_nested<F: Fields>(cursor: &Cursor, id: u32, bytes: usize, fields: F) {
    if handler_detection::left_a_record(cursor) {
        if let Some(room) = attach::begin_again(cursor, id, bytes) {
            record_and_more(cursor, room, id, fields);
        }
        return;
    }
    if cursor.nested.load(Ordering::Relaxed) {
        return drops::lose_nested(cursor, bytes);
    }
    cursor.nested.store(true, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
    if let Some(room) = signal_stream::make_room(cursor, bytes) {
        fill(cursor, room, id, fields);
    }
    cursor.nested.store(false, Ordering::Release);
}

/// A record behind which something is to be done.
#[cold]
#[inline(never)]
fn record_and_more<F: Fields>(cursor: &Cursor, room: Room, id: u32, fields: F) {
    fill(cursor, room, id, fields);
    match room.after {
        After::Nothing => {}
        After::Handler => cursor.nested.store(false, Ordering::Release),
        After::Waited(why, until) => self_trace::waited(room.slot, room.now, why, until),
    }
    cursor.busy.store(busy::IDLE, Ordering::Release);
}

/// Writes a record where there is room, as a whole or truncated.
fn fill<F: Fields>(cursor: &Cursor, room: Room, id: u32, fields: F) {
    // SAFETY: a slot of the pool.
    let state = unsafe { &*room.slot }.state.load(Ordering::Relaxed);
    let Some(limit) = room.limit else {
        // SAFETY: as in `record`.
        return unsafe { write(room.slot, state, id as u16, room.now, fields) };
    };
    let whole = fields.bytes();
    let Some(cut) = Truncated::new(fields, limit - LOST_BYTES - RECORD_HEAD_BYTES) else {
        let class = if matches!(room.after, After::Handler) { NESTED } else { class_of(id) };
        return drops::lose_uncut(cursor, class, RECORD_HEAD_BYTES + whole, room.now);
    };
    let mark = Lost::of_truncated((whole - cut.bytes()) as u64, room.now).encode();
    // Published together, so that no block ends between them. The record has the date of its mark: its delta is 0.
    let both = (mark, id as u16, 0u32, cut);
    // SAFETY: as in `record`: the mark and the record are within the limit, for which there is room.
    unsafe { write(room.slot, state, ID_LOST, room.now, both) };
    TRUNCATED.fetch_add(1, Ordering::Relaxed);
    live_file::count_truncated();
}
