//! Records of signal handlers that interrupted the recorder in their own thread.
//!
//! They go to a separate stream. Nothing here waits long for a lock or allocates memory, because
//! the interrupted work may hold the lock or be inside the allocator. A record without space is
//! dropped and counted.

use std::sync::atomic::Ordering;

use tracer_format::tags::tag;
use tracer_format::{BlockKind, cause};

use super::drop_counts::count_nested_drop;
use super::record_space::{FollowUp, RecordSpace};
use crate::cursor::{KEPT, NESTED, ThreadCursor};
use crate::slots::pool::MAX_PART_RECORD_BYTES;
use crate::slots::{MAX_RECORD_BYTES, used_bytes};
use crate::state::stream_entry::{StreamEntry, StreamNames};
use crate::state::{RecorderState, STATE};
use crate::stream::ThreadStream;
use crate::threads::thread_id;
use crate::{fault_injection, live_file, local_clock};

/// Finds space for a record of `bytes` bytes. Counts the record as dropped if there is none.
pub(crate) fn make_room(cursor: &ThreadCursor, bytes: usize) -> Option<RecordSpace> {
    if fault_injection::is_injected("records of handlers are omitted") {
        return None;
    }
    let Some(now) = local_clock::read_nested(cursor) else {
        count_nested_drop(cursor, bytes);
        return None;
    };
    let shared = fault_injection::is_injected("handlers share the slot");
    let class = if shared { KEPT } else { NESTED };
    let slot = cursor.slots[class].get();
    // SAFETY: a cursor's slot is `FULL` or a slot of the pool, which is never unmapped.
    let state = unsafe { &*slot }.state.load(Ordering::Relaxed);
    if used_bytes(state) + bytes <= cursor.rooms[class].get() {
        return Some(RecordSpace { slot, now, follow_up: FollowUp::Handler, limit: None });
    }
    let Some(stream) = STATE.try_lock_soon().and_then(|mut state| stream(&mut state, cursor)) else {
        count_nested_drop(cursor, bytes);
        return None;
    };
    let mut limit = (bytes > MAX_RECORD_BYTES).then_some(MAX_RECORD_BYTES);
    let needed = limit.unwrap_or(bytes);
    let next = |bytes| STATE.try_lock_soon().and_then(|mut state| state.next_slot(stream, now, bytes));
    let mut slot = next(needed);
    if slot.is_none() && needed > MAX_PART_RECORD_BYTES {
        limit = Some(MAX_PART_RECORD_BYTES);
        slot = next(MAX_PART_RECORD_BYTES);
    }
    match slot {
        Some(slot) => {
            cursor.point(NESTED, slot);
            Some(RecordSpace { slot, now, follow_up: FollowUp::Handler, limit })
        }
        None => {
            stream.count_dropped(1, bytes as u64, (now, now), cause::NESTED);
            None
        }
    }
}

/// The thread's stream for handlers, taken from the spares if it has none.
fn stream<'a>(state: &mut RecorderState, cursor: &ThreadCursor) -> Option<&'a ThreadStream> {
    let mut stream = cursor.streams[NESTED].get();
    if stream.is_null() {
        stream = adopt(state, cursor)?;
        cursor.streams[NESTED].set(stream);
    }
    // SAFETY: a stream lives as long as its thread's cursor points to it.
    unsafe { stream.as_ref() }
}

/// Assigns a spare stream to the thread.
fn adopt(state: &mut RecorderState, cursor: &ThreadCursor) -> Option<*const ThreadStream> {
    let room = state.is_recording() && state.entries.len() < state.entries.capacity() && !cursor.is_ending.get();
    let mut stream = if room { state.spares.pop()? } else { return None };
    stream.index = state.next_stream;
    let tid = thread_id();
    let mut tags = [0; 28];
    for (index, (tag, value)) in [(tag::TID, tid), (tag::SIGNAL_STREAM, 1)].into_iter().enumerate() {
        let field = &mut tags[index * 14..][..14];
        field[..2].copy_from_slice(&tag.to_le_bytes());
        field[2..6].copy_from_slice(&8u32.to_le_bytes());
        field[6..].copy_from_slice(&value.to_le_bytes());
    }
    if !live_file::try_log(BlockKind::Stream, stream.index, 1, &tags) {
        state.spares.push(stream);
        return None;
    }
    state.next_stream += 1;
    state.live_threads += 1;
    let address = &raw const *stream;
    state.entries.push(StreamEntry::new(stream, cursor, tid, StreamNames { thread: None, label: None }));
    Some(address)
}
