//! A thread gets a stream at its first record, and a slot at its first record and when its slot is
//! full. The full slot is queued for the writer thread.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tracer_format::cause;

use super::record_space::{FollowUp, RecordSpace};
use super::signal_stream;
use crate::cursor::{KEPT, ThreadCursor, class_of, work_state};
use crate::levels::overflow_policy;
use crate::session;
use crate::signal::handler_detection;
use crate::slots::pool::{self, MAX_PART_RECORD_BYTES, set_stuck, slot_bytes};
use crate::slots::{MAX_RECORD_BYTES, SlotHeader, room_bytes, used_bytes};
use crate::state::STATE;
use crate::state::stream_entry::StreamNames;
use crate::stream::{ThreadStream, count_stray_drop};
use crate::threads::thread_id;
use crate::writer::{write_full_slots, write_names};
use crate::{fault_injection, local_clock, self_trace};

/// Finds space for a record of `bytes` bytes, made at `now` of the native clock.
/// Counts the record as dropped if there is none.
#[cold]
#[inline(never)]
pub(crate) fn make_room(cursor: &ThreadCursor, id: u32, bytes: usize, now: u64) -> Option<RecordSpace> {
    let before = cursor.begin_work();
    let room = find_room(cursor, id, bytes, now);
    cursor.end_work(before);
    room
}

/// Finds space for a record that replaces the discarded record in progress.
pub(crate) fn begin_again(cursor: &ThreadCursor, id: u32, bytes: usize) -> Option<RecordSpace> {
    cursor.is_nested.store(false, Ordering::Relaxed);
    let (now, slot) = (local_clock::native(), cursor.slots[class_of(id)].get());
    // SAFETY: a cursor's slot is `FULL` or a slot of the pool, which is never unmapped.
    let state = unsafe { &*slot }.state.load(Ordering::Relaxed);
    if used_bytes(state) + bytes <= cursor.rooms[class_of(id)].get() {
        return Some(RecordSpace { slot, now, follow_up: FollowUp::Nothing, limit: None });
    }
    let room = make_room(cursor, id, bytes, now);
    if room.is_none() {
        cursor.work_state.store(work_state::IDLE, Ordering::Release);
    }
    room
}

fn find_room(cursor: &ThreadCursor, id: u32, bytes: usize, now: u64) -> Option<RecordSpace> {
    let class = class_of(id);
    if cursor.streams[class].get().is_null() {
        if handler_detection::runs() {
            cursor.is_nested.store(true, Ordering::Relaxed);
            let room = signal_stream::make_room(cursor, bytes);
            cursor.is_nested.store(room.is_some(), Ordering::Release);
            return room;
        }
        if !attach(cursor, class) {
            count_stray_drop();
            return None;
        }
    }
    // SAFETY: a stream lives as long as its thread's cursor points to it.
    let stream = unsafe { &*cursor.streams[class].get() };
    let is_native = local_clock::is_native();
    let now = if is_native { now } else { local_clock::read() };
    let mut limit = (bytes > MAX_RECORD_BYTES).then_some(MAX_RECORD_BYTES);
    let needed = limit.unwrap_or(bytes);
    let current = stream.slot.load(Ordering::Relaxed).cast_const();
    // With a clock that is not read inline, the thread's slot may still have space.
    if !is_native && !current.is_null() {
        // SAFETY: a stream's slot is one of the pool.
        let state = unsafe { &*current }.state.load(Ordering::Relaxed);
        if used_bytes(state) + needed <= room_bytes(slot_bytes(current)) {
            return Some(RecordSpace { slot: current, now, follow_up: FollowUp::Nothing, limit });
        }
    }
    let ExchangedSlot { mut slot, has_called_writer } = exchange(stream, now, needed);
    let mut reason = has_called_writer.then_some(self_trace::Cause::Call);
    if slot.is_none() && class == KEPT && overflow_policy::may_block() {
        slot = wait_for_slot(stream, id as u16, now, needed);
        reason = Some(self_trace::Cause::Room);
    }
    if slot.is_none() && needed > MAX_PART_RECORD_BYTES {
        limit = Some(MAX_PART_RECORD_BYTES);
        slot = exchange(stream, now, MAX_PART_RECORD_BYTES).slot;
    }
    let follow_up = match reason {
        Some(reason) if self_trace::LEVEL.known_base().is_some() => FollowUp::Waited(reason, local_clock::read()),
        _ => FollowUp::Nothing,
    };
    match slot {
        Some(slot) => {
            // With a clock that is not read inline, every record comes here, because the thread's
            // cursor stays at `FULL`.
            if is_native {
                cursor.point(class, slot);
            }
            Some(RecordSpace { slot, now, follow_up, limit })
        }
        None => {
            cursor.point_nowhere(class);
            stream.count_dropped(1, bytes as u64, (now, now), cause::NO_BUFFER);
            None
        }
    }
}

/// The result of [`exchange`].
struct ExchangedSlot {
    slot: Option<*const SlotHeader>,
    /// The exchange woke the writer thread or did its work.
    has_called_writer: bool,
}

/// Queues the full slot and takes a free one.
fn exchange(stream: &ThreadStream, now: u64, bytes: usize) -> ExchangedSlot {
    if stream.class == KEPT && stream.slot.load(Ordering::Relaxed).is_null() && !pool::seems_available() {
        return ExchangedSlot { slot: None, has_called_writer: false };
    }
    let mut state = STATE.lock();
    let writer_thread = state.writer_thread.clone();
    let slot = state.next_slot(stream, now, bytes);
    let urgent = state.is_urgent();
    drop(state);
    let has_called_writer = urgent || writer_thread.is_none();
    match writer_thread {
        Some(writer_thread) if urgent => writer_thread.unpark(),
        Some(_) => {}
        None => write_full_slots(),
    }
    ExchangedSlot { slot, has_called_writer }
}

/// Waits for a free slot, if the record's level blocks. The record keeps the timestamp of its call.
fn wait_for_slot(stream: &ThreadStream, id: u16, now: u64, bytes: usize) -> Option<*const SlotHeader> {
    const MAX_WAIT: Duration = Duration::from_secs(10);
    const RETRY_INTERVAL: Duration = Duration::from_micros(50);
    if !STATE.lock().levels.blocks(id) || fault_injection::is_injected("threads do not wait") {
        return None;
    }
    let give_up = Instant::now() + MAX_WAIT;
    while Instant::now() < give_up {
        if let Some(slot) = exchange(stream, now, bytes).slot {
            return Some(slot);
        }
        fault_injection::WAITERS.store(true, Ordering::Relaxed);
        let state = STATE.lock();
        let (recording, writer_thread) = (state.is_recording(), state.writer_thread.clone());
        drop(state);
        if !recording {
            return None;
        }
        match writer_thread {
            Some(writer_thread) => writer_thread.unpark(),
            None => write_full_slots(),
        }
        std::thread::sleep(RETRY_INTERVAL);
    }
    set_stuck(true);
    None
}

/// Gives the thread a stream. Starts the session if this is the first stream.
fn attach(cursor: &ThreadCursor, class: usize) -> bool {
    let thread = cursor.name.get().map_or_else(|| default_name(cursor.is_ending.get()), |name| Some(name.to_owned()));
    let names = StreamNames { thread, label: cursor.label.get().map(str::to_owned) };
    if !session::begin() {
        return false;
    }
    let mut state = STATE.lock();
    let tid = thread_id();
    let names = state.names_of(cursor).unwrap_or(names);
    state.end_streams_of_reused_id(cursor, tid);
    let stream = state.add_stream(cursor, class, tid, names);
    let key = state.thread_key;
    drop(state);
    if !stream.is_logged {
        write_names();
    }
    cursor.streams[class].set(stream.address);
    if let Some(key) = key {
        // SAFETY: the key was made by `thread_key`. The value is not dereferenced.
        unsafe { libc::pthread_setspecific(key, std::ptr::from_ref(cursor).cast()) };
    }
    true
}

/// The name of the thread in Rust. `None` if it has none or cannot be read.
/// `std` panics if its own destructors ran before. The recorder avoids the call where it knows that
/// the thread is ending. It catches the panic if a thread makes its first record there.
fn default_name(is_ending: bool) -> Option<String> {
    if is_ending {
        return None;
    }
    std::panic::catch_unwind(|| std::thread::current().name().map(str::to_owned)).ok().flatten()
}
