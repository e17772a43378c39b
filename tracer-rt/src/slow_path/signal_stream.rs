//! Records of signal handlers that interrupted their own thread in the midst of a record, or of any work of the recorder.
//! They go to a stream of their own. Nothing here waits long for a lock or asks for memory: the interrupted
//! work may hold the one and stand in the midst of the other. What finds no place is dropped and counted.

use std::sync::atomic::Ordering;

use tracer_format::tags::tag;
use tracer_format::{BlockKind, cause};

use crate::buffer::{After, Cursor, KEPT, MAX_RECORD_BYTES, NESTED, Room, used};
use crate::state::{STATE, State};
use crate::stream::{Entry, Names, Stream};
use crate::thread::{self, lose_nested};
use crate::{clock, fault, live, pool};

/// Streams that are there for handlers. The helper makes more.
const SPARES: usize = 8;

/// Finds room for a record of so many bytes. Counts the loss if there is none.
pub(crate) fn make_room(cursor: &Cursor, bytes: usize) -> Option<Room> {
    if fault::injected("handlers are forgotten") {
        return None;
    }
    let Some(now) = clock::read_nested(cursor) else {
        lose_nested(cursor, bytes);
        return None;
    };
    let shared = fault::injected("handlers share the slot");
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
    let next = |bytes| STATE.try_lock_soon().and_then(|mut state| thread::next_slot(&mut state, stream, now, bytes));
    let mut slot = next(wanted);
    if slot.is_none() && wanted > pool::MAX_PART_RECORD_BYTES {
        limit = Some(pool::MAX_PART_RECORD_BYTES);
        slot = next(pool::MAX_PART_RECORD_BYTES);
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
    let tid = thread::thread_id();
    let mut tags = [0; 28];
    for (at, (tag, value)) in [(tag::TID, tid), (tag::SIGNAL_STREAM, 1)].into_iter().enumerate() {
        let field = &mut tags[at * 14..][..14];
        field[..2].copy_from_slice(&tag.to_le_bytes());
        field[2..6].copy_from_slice(&8u32.to_le_bytes());
        field[6..].copy_from_slice(&value.to_le_bytes());
    }
    if !live::try_log(BlockKind::Stream, stream.index, 1, &tags) {
        state.spares.push(stream);
        return None;
    }
    state.next_stream += 1;
    state.alive += 1;
    let address = &raw const *stream;
    state.entries.push(Entry::new(stream, cursor, tid, Names { thread: None, label: None }));
    Some(address)
}

/// Makes what handlers may need: not called by them.
pub(crate) fn prepare(state: &mut State) {
    while state.spares.len() < SPARES {
        state.spares.push(Box::new(Stream::new(0, NESTED)));
    }
    state.entries.reserve(SPARES);
}

/// Gives streams of handlers the names of their threads.
pub(crate) fn name(state: &mut State) {
    for at in 0..state.entries.len() {
        let entry = &state.entries[at];
        if entry.told || entry.stream.class != NESTED || entry.names.thread.is_some() {
            continue;
        }
        let (tid, named) = (entry.tid, |entry: &&Entry| entry.names.thread.is_some() || entry.names.label.is_some());
        let of_thread = state.entries.iter().filter(|entry| entry.tid == tid).find(named);
        state.entries[at].names = of_thread.map(|entry| entry.names.clone()).unwrap_or_default();
    }
}
