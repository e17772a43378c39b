//! Records of signal handlers that interrupted their own thread in the midst of a record, or of any work of the recorder.
//! They go to a stream of their own. Nothing here waits long for a lock or asks for memory: the interrupted
//! work may hold the one and stand in the midst of the other. What finds no place is dropped and counted.

use std::sync::atomic::Ordering;

use tracer_format::tags::tag;
use tracer_format::{BlockKind, cause};

use super::drops::lose_nested;
use super::{After, Room};
use crate::cursor::{Cursor, KEPT, NESTED};
use crate::slots::pool::MAX_PART_RECORD_BYTES;
use crate::slots::{MAX_RECORD_BYTES, used};
use crate::state::stream_entry::{Entry, Names};
use crate::state::{STATE, State};
use crate::stream::Stream;
use crate::threads::thread_id;
use crate::{clock, fault_injection, live_file};

/// Finds room for a record of so many bytes. Counts the loss if there is none.
pub(crate) fn make_room(cursor: &Cursor, bytes: usize) -> Option<Room> {
    if fault_injection::injected("handlers are forgotten") {
        return None;
    }
    let Some(now) = clock::read_nested(cursor) else {
        lose_nested(cursor, bytes);
        return None;
    };
    let shared = fault_injection::injected("handlers share the slot");
    let class = if shared { KEPT } else { NESTED };
    let slot = cursor.slots[class].get();
    // SAFETY: a cursor's slot is `FULL` or a slot of the pool, which is never unmapped.
    let state = unsafe { &*slot }.state.load(Ordering::Relaxed);
    if used(state) + bytes <= cursor.rooms[class].get() {
        return Some(Room { slot, now, after: After::Handler, limit: None });
    }
    let Some(stream) = STATE.try_lock_soon().and_then(|mut state| stream(&mut state, cursor)) else {
        lose_nested(cursor, bytes);
        return None;
    };
    let mut limit = (bytes > MAX_RECORD_BYTES).then_some(MAX_RECORD_BYTES);
    let wanted = limit.unwrap_or(bytes);
    let next = |bytes| STATE.try_lock_soon().and_then(|mut state| state.next_slot(stream, now, bytes));
    let mut slot = next(wanted);
    if slot.is_none() && wanted > MAX_PART_RECORD_BYTES {
        limit = Some(MAX_PART_RECORD_BYTES);
        slot = next(MAX_PART_RECORD_BYTES);
    }
    match slot {
        Some(slot) => {
            cursor.point(NESTED, slot);
            Some(Room { slot, now, after: After::Handler, limit })
        }
        None => {
            stream.lose(1, bytes as u64, (now, now), cause::NESTED);
            None
        }
    }
}

/// The thread's stream for handlers.
fn stream<'a>(state: &mut State, cursor: &Cursor) -> Option<&'a Stream> {
    let mut stream = cursor.streams[NESTED].get();
    if stream.is_null() {
        stream = adopt(state, cursor)?;
        cursor.streams[NESTED].set(stream);
    }
    // SAFETY: a stream lives as long as its thread's cursor points to it.
    unsafe { stream.as_ref() }
}

/// Makes one of the spare streams the thread's.
fn adopt(state: &mut State, cursor: &Cursor) -> Option<*const Stream> {
    let room = state.is_recording() && state.entries.len() < state.entries.capacity() && !cursor.ending.get();
    let mut stream = if room { state.spares.pop()? } else { return None };
    stream.index = state.next_stream;
    let tid = thread_id();
    let mut tags = [0; 28];
    for (at, (tag, value)) in [(tag::TID, tid), (tag::SIGNAL_STREAM, 1)].into_iter().enumerate() {
        let field = &mut tags[at * 14..][..14];
        field[..2].copy_from_slice(&tag.to_le_bytes());
        field[2..6].copy_from_slice(&8u32.to_le_bytes());
        field[6..].copy_from_slice(&value.to_le_bytes());
    }
    if !live_file::try_log(BlockKind::Stream, stream.index, 1, &tags) {
        state.spares.push(stream);
        return None;
    }
    state.next_stream += 1;
    state.alive += 1;
    let address = &raw const *stream;
    state.entries.push(Entry::new(stream, cursor, tid, Names { thread: None, label: None }));
    Some(address)
}
