//! The hot path: reserves space in the calling thread's slot, writes the record and publishes it.
//!
//! A thread writes to one slot at a time.
//! One bounds check covers three cases: a full slot, the first record of a thread, and a clock that
//! is not read inline. A thread without a slot points to [`FULL`](crate::slots::FULL), which is
//! always full.

use std::mem::ManuallyDrop;
use std::sync::atomic::{Ordering, compiler_fence};

use tracer_format::ID_DROPPED;
use tracer_format::RECORD_HEAD_BYTES;
use tracer_format::record::DroppedRecords;

use crate::cursor::{CURSOR, NESTED, ThreadCursor, class_of, work_state};
use crate::fields::{Fields, TruncatedFields};
use crate::live_file;
use crate::local_clock;
use crate::self_trace;
use crate::signal::handler_detection;
use crate::slots::record_bytes::{TRUNCATED, write};
use crate::slots::{DROP_REPORT_BYTES, used_bytes};
use crate::slow_path::{FollowUp, RecordSpace, attach, drop_counts, signal_stream};

/// Writes a record.
/// Never fails: a record without space is dropped and counted. The bits above the low 16 bits of
/// `id` select the thread's stream.
#[inline(always)]
pub fn record<F: Fields>(id: u32, fields: F) {
    record_with_timestamp(id, fields);
}

/// Writes a record as [`record`] does, and returns its timestamp in ticks of the local clock.
/// Returns 0 for a record of a signal handler, and for a record without space.
#[inline(always)]
pub(crate) fn record_with_timestamp<F: Fields>(id: u32, fields: F) -> u64 {
    // Only the address: a closure that contains all the work would not always be inlined.
    let cursor = CURSOR.with(std::ptr::from_ref);
    // SAFETY: the variable has no destructor and exists as long as the thread.
    let cursor = unsafe { &*cursor };
    let bytes = RECORD_HEAD_BYTES + fields.bytes();
    if cursor.work_state.load(Ordering::Relaxed) != work_state::IDLE {
        match F::CAN_BE_CUT {
            true => record_nested(cursor, id, bytes, move_fields(fields)),
            false => record_nested(cursor, id, bytes, fields),
        }
        return 0;
    }
    cursor.work_state.store(work_state::RECORDING, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
    let mut now = local_clock::native();
    let mut slot = cursor.slots[class_of(id)].get();
    // SAFETY: a cursor's slot is `FULL` or a slot of the pool, which is never unmapped.
    let mut state = unsafe { &*slot }.state.load(Ordering::Relaxed);
    if used_bytes(state) + bytes > cursor.rooms[class_of(id)].get() {
        let Some(room) = attach::make_room(cursor, id, bytes, now) else {
            cursor.work_state.store(work_state::IDLE, Ordering::Release);
            return 0;
        };
        if room.limit.is_some() || !matches!(room.follow_up, FollowUp::Nothing) {
            let timestamp = room.now;
            match F::CAN_BE_CUT {
                true => record_and_more(cursor, room, id, move_fields(fields)),
                false => record_and_more(cursor, room, id, fields),
            }
            return timestamp;
        }
        RecordSpace { slot, now, .. } = room;
        // SAFETY: `make_room` gives a slot of the pool.
        state = unsafe { &*slot }.state.load(Ordering::Relaxed);
    }
    // SAFETY: the slot is the thread's own and has room for `bytes` bytes.
    unsafe { write(slot, state, id as u16, now, fields) };
    cursor.work_state.store(work_state::IDLE, Ordering::Release);
    now
}

/// Moves the fields of a rare record to separate memory.
/// Fields passed by address would be in memory for all records, and the compiler could optimize
/// less.
#[inline(always)]
fn move_fields<F>(fields: F) -> F {
    let fields = ManuallyDrop::new(fields);
    // SAFETY: the value is valid, and it is not dropped at its old place.
    unsafe { std::ptr::read(&raw const *fields) }
}

/// Writes a record of a signal handler that interrupted the recorder in its own thread.
/// The record goes to a separate stream. If the interrupted record is gone, this one is an ordinary
/// record.
#[cold]
#[inline(never)]
fn record_nested<F: Fields>(cursor: &ThreadCursor, id: u32, bytes: usize, fields: F) {
    if handler_detection::left_a_record(cursor) {
        if let Some(room) = attach::begin_again(cursor, id, bytes) {
            record_and_more(cursor, room, id, fields);
        }
        return;
    }
    if cursor.is_nested.load(Ordering::Relaxed) {
        return drop_counts::count_nested_drop(cursor, bytes);
    }
    cursor.is_nested.store(true, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
    if let Some(room) = signal_stream::make_room(cursor, bytes) {
        fill(cursor, room, id, fields);
    }
    cursor.is_nested.store(false, Ordering::Release);
}

/// Writes a record that is followed by an action, as `room.follow_up`.
#[cold]
#[inline(never)]
fn record_and_more<F: Fields>(cursor: &ThreadCursor, room: RecordSpace, id: u32, fields: F) {
    fill(cursor, room, id, fields);
    match room.follow_up {
        FollowUp::Nothing => {}
        FollowUp::Handler => cursor.is_nested.store(false, Ordering::Release),
        FollowUp::Waited(why, until) => self_trace::record_wait(room.slot, room.now, why, until),
    }
    cursor.work_state.store(work_state::IDLE, Ordering::Release);
}

/// Writes a record into `room`, as a whole or truncated.
fn fill<F: Fields>(cursor: &ThreadCursor, room: RecordSpace, id: u32, fields: F) {
    // SAFETY: the pointer is to a slot of the pool.
    let state = unsafe { &*room.slot }.state.load(Ordering::Relaxed);
    let Some(limit) = room.limit else {
        // SAFETY: as in `record`.
        return unsafe { write(room.slot, state, id as u16, room.now, fields) };
    };
    let field_bytes = fields.bytes();
    let Some(cut) = TruncatedFields::new(fields, limit - DROP_REPORT_BYTES - RECORD_HEAD_BYTES) else {
        let class = if matches!(room.follow_up, FollowUp::Handler) { NESTED } else { class_of(id) };
        return drop_counts::count_uncut_drop(cursor, class, RECORD_HEAD_BYTES + field_bytes, room.now);
    };
    let mark = DroppedRecords::of_truncated((field_bytes - cut.bytes()) as u64, room.now).encode();
    // Both are published together, so that no block ends between them. The record has the timestamp
    // of its mark, so its delta is 0.
    let partial_record = (mark, id as u16, 0u32, cut);
    // SAFETY: as in `record`. The mark and the record are within the limit, and the slot has room
    // for it.
    unsafe { write(room.slot, state, ID_DROPPED, room.now, partial_record) };
    TRUNCATED.fetch_add(1, Ordering::Relaxed);
    live_file::count_truncated();
}
