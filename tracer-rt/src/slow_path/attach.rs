//! A thread's slow path: it gets a stream at its first record, a slot when the last one is full, and is retired when it
//! ends.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tracer_format::live::taken;
use tracer_format::record::Lost;
use tracer_format::{ID_LOST, RECORD_HEAD_BYTES, cause};

use crate::buffer::{self, After, CURSOR, Cursor, LOST_BYTES, MAX_RECORD_BYTES, Room, Slot, class_of, used};
use crate::buffer::{KEPT, NESTED, RING, busy};
use crate::live;
use crate::policy;
use crate::pool;
use crate::ring;
use crate::session;
use crate::state::{STATE, State};
use crate::stream::{Names, Stream};
use crate::{clock, elsewhere, fault, handler, nested, own};

/// Counts a record that no stream can be charged with.
pub(crate) fn lose_stray() {
    STRAYS.fetch_add(1, Ordering::Relaxed);
    live::count_lost(0, 1);
}

/// Losses of threads that had no stream yet, or have none any more.
pub(crate) static STRAYS: AtomicU64 = AtomicU64::new(0);

/// A signal handler's record that cannot be written.
#[cold]
#[inline(never)]
pub(crate) fn lose_nested(cursor: &Cursor, bytes: usize) {
    let now = clock::read_nested(cursor);
    // The last one first: another might just be getting rid of its slot, and would tell of this too early.
    for stream in cursor.streams.iter().rev() {
        // SAFETY: a stream lives as long as its thread's cursor points to it.
        if let Some(stream) = unsafe { stream.get().as_ref() } {
            let now = now.unwrap_or_else(|| stream.latest());
            return stream.lose(1, bytes as u64, (now, now), cause::NESTED);
        }
    }
    lose_stray();
}

/// Counts a record that cannot be truncated as far as it would have to be: what it has are fields of a fixed size.
pub(crate) fn lose_uncut(cursor: &Cursor, class: usize, bytes: usize, now: u64) {
    // SAFETY: a stream lives as long as its thread's cursor points to it.
    match unsafe { cursor.streams[class].get().as_ref() } {
        Some(stream) => {
            let cause = if bytes > MAX_RECORD_BYTES { cause::OVERSIZE } else { cause::NO_BUFFER };
            stream.lose(1, bytes as u64, (now, now), cause);
        }
        None => lose_stray(),
    }
}

/// Finds room for a record of so many bytes, which was made at `now` of the native clock. Counts the loss if there is
/// none.
#[cold]
#[inline(never)]
pub(crate) fn make_room(cursor: &Cursor, id: u32, bytes: usize, now: u64) -> Option<Room> {
    let before = cursor.begin_work();
    let room = find_room(cursor, id, bytes, now);
    cursor.end_work(before);
    room
}

/// The record that the thread had begun is gone, and another one begins in its place.
pub(crate) fn begin_again(cursor: &Cursor, id: u32, bytes: usize) -> Option<Room> {
    cursor.nested.store(false, Ordering::Relaxed);
    let (now, slot) = (clock::native(), cursor.slots[class_of(id)].get());
    // SAFETY: a cursor's slot is `FULL` or a slot of the pool, which is never unmapped.
    let state = unsafe { &*slot }.state.load(Ordering::Relaxed);
    if used(state) + bytes <= cursor.rooms[class_of(id)].get() {
        return Some(Room { slot, now, after: After::Nothing, limit: None });
    }
    let room = make_room(cursor, id, bytes, now);
    if room.is_none() {
        cursor.busy.store(busy::IDLE, Ordering::Release);
    }
    room
}

fn find_room(cursor: &Cursor, id: u32, bytes: usize, now: u64) -> Option<Room> {
    let class = class_of(id);
    if cursor.streams[class].get().is_null() {
        if handler::runs() {
            cursor.nested.store(true, Ordering::Relaxed);
            let room = nested::make_room(cursor, bytes);
            cursor.nested.store(room.is_some(), Ordering::Release);
            return room;
        }
        if !attach(cursor, class) {
            lose_stray();
            return None;
        }
    }
    // SAFETY: a stream lives as long as its thread's cursor points to it.
    let stream = unsafe { &*cursor.streams[class].get() };
    let native = clock::is_native();
    let now = if native { now } else { clock::read() };
    let mut limit = (bytes > MAX_RECORD_BYTES).then_some(MAX_RECORD_BYTES);
    let wanted = limit.unwrap_or(bytes);
    let current = stream.slot.load(Ordering::Relaxed).cast_const();
    if !native && !current.is_null() {
        // SAFETY: a stream's slot is one of the pool.
        let state = unsafe { &*current }.state.load(Ordering::Relaxed);
        if used(state) + wanted <= buffer::room_bytes(pool::slot_bytes(current)) {
            return Some(Room { slot: current, now, after: After::Nothing, limit });
        }
    }
    let (mut slot, called) = exchange(stream, now, wanted);
    let mut why = called.then_some(own::Cause::Call);
    if slot.is_none() && class == KEPT && policy::may_block() {
        slot = wait_for_slot(stream, id as u16, now, wanted);
        why = Some(own::Cause::Room);
    }
    if slot.is_none() && wanted > pool::MAX_PART_RECORD_BYTES {
        limit = Some(pool::MAX_PART_RECORD_BYTES);
        (slot, _) = exchange(stream, now, pool::MAX_PART_RECORD_BYTES);
    }
    let after = match why {
        Some(why) if own::LEVEL.known_base().is_some() => After::Waited(why, clock::read()),
        _ => After::Nothing,
    };
    match slot {
        Some(slot) => {
            // With a clock that is not read inline, every record comes this way: the thread's own slot stays `FULL`.
            if native {
                cursor.point(class, slot);
            }
            Some(Room { slot, now, after, limit })
        }
        None => {
            cursor.point_nowhere(class);
            stream.lose(1, bytes as u64, (now, now), cause::NO_BUFFER);
            None
        }
    }
}

/// Gives the full slot to the helper and takes a free one. Says also whether it called somebody for that, or did the helper's work.
fn exchange(stream: &Stream, now: u64, bytes: usize) -> (Option<*const Slot>, bool) {
    if stream.class == KEPT && stream.slot.load(Ordering::Relaxed).is_null() && !pool::seems_available() {
        return (None, false);
    }
    let mut state = STATE.lock();
    let helper = state.helper.clone();
    let slot = next_slot(&mut state, stream, now, bytes);
    let urgent = state.is_urgent();
    drop(state);
    let called = urgent || helper.is_none();
    match helper {
        Some(helper) if urgent => helper.unpark(),
        Some(_) => {}
        None => session::write_here(),
    }
    (slot, called)
}

/// Takes the stream's slot away from it and gives it another one, if there is one.
pub(crate) fn next_slot(state: &mut State, stream: &Stream, now: u64, bytes: usize) -> Option<*const Slot> {
    // Dates of a stream never decrease, from one slot to the next neither.
    let now = now.max(stream.latest());
    seal(state, stream);
    if !state.is_recording() {
        return None;
    }
    fault::signal("a slot");
    let sequence = state.entry(stream.index).map_or(0, |entry| entry.next_sequence);
    let is_first = sequence == 0;
    let slot =
        if stream.class == RING { ring::take(state, bytes, is_first) } else { state.take_slot(bytes, is_first) }?;
    start_slot(slot, stream, sequence, now);
    stream.slot.store(slot.cast_mut(), Ordering::Release);
    Some(slot)
}

/// Waits for a free slot, if the record's level blocks. It keeps its date: that of the call.
fn wait_for_slot(stream: &Stream, id: u16, now: u64, bytes: usize) -> Option<*const Slot> {
    const PATIENCE: Duration = Duration::from_secs(10);
    const NAP: Duration = Duration::from_micros(50);
    if !STATE.lock().levels.blocks(id) || fault::injected("nobody waits") {
        return None;
    }
    let give_up = Instant::now() + PATIENCE;
    while Instant::now() < give_up {
        if let (Some(slot), _) = exchange(stream, now, bytes) {
            return Some(slot);
        }
        fault::WAITERS.store(true, Ordering::Relaxed);
        let state = STATE.lock();
        let (recording, helper) = (state.is_recording(), state.helper.clone());
        drop(state);
        if !recording {
            return None;
        }
        match helper {
            Some(helper) => helper.unpark(),
            None => session::write_here(),
        }
        std::thread::sleep(NAP);
    }
    policy::set_stuck(true);
    None
}

/// Takes the stream's slot away from it and queues it for the helper, or keeps it until it is overwritten.
fn seal(state: &mut State, stream: &Stream) {
    let slot = stream.slot.swap(std::ptr::null_mut(), Ordering::Relaxed).cast_const();
    if slot.is_null() {
        return;
    }
    // SAFETY: a stream's slot is one of the pool.
    let head = unsafe { &*slot };
    head.dropped.store(stream.dropped(), Ordering::Relaxed);
    if let Some(entry) = state.entry(stream.index) {
        entry.close_slot(head);
        entry.waiting += 1;
    }
    if stream.class == RING && head.unwritten() > 0 { state.ring.push(slot) } else { state.full.push_back(slot) }
}

fn start_slot(slot: *const Slot, stream: &Stream, sequence: u64, now: u64) {
    // SAFETY: the slot was just taken from the pool.
    let head = unsafe { &*slot };
    for (word, value) in [(&head.first, now), (&head.last, now), (&head.flushed, 0), (&head.sequence, sequence)] {
        word.store(value, Ordering::Relaxed);
    }
    head.stream.store(stream.index, Ordering::Relaxed);
    head.dropped.store(stream.dropped(), Ordering::Relaxed);
    let told = stream.losses.tell().map_or(0, |lost| {
        let at = buffer::payload(slot, 0);
        // SAFETY: the slot is empty and this thread's own.
        unsafe { buffer::write_head(at, ID_LOST, 0) };
        let body = at.wrapping_add(RECORD_HEAD_BYTES);
        // SAFETY: as above.
        unsafe { body.cast::<[u8; Lost::BYTES]>().write(lost.encode()) };
        LOST_BYTES as u64
    });
    head.state.store(told, Ordering::Release);
    let taken = if stream.class == RING { taken::OVERWRITES } else { taken::YES };
    head.taken.store(taken, Ordering::Release);
}

/// Gives the thread a stream, and starts the session when this is the first one.
fn attach(cursor: &Cursor, class: usize) -> bool {
    let thread = cursor.name.get().map_or_else(|| default_name(cursor.ending.get()), |name| Some(name.to_owned()));
    let names = Names { thread, label: cursor.label.get().map(str::to_owned) };
    if !session::begin() {
        return false;
    }
    let mut state = STATE.lock();
    let tid = thread_id();
    let names = state.names_of(cursor).unwrap_or(names);
    let_go_of_namesakes(&mut state, cursor, tid);
    let (stream, logged) = state.add_stream(cursor, class, tid, names);
    let key = state.thread_key;
    drop(state);
    if !logged {
        session::write_names();
    }
    cursor.streams[class].set(stream);
    if let Some(key) = key {
        // SAFETY: the key was made by `thread_key`; the value is not dereferenced.
        unsafe { libc::pthread_setspecific(key, std::ptr::from_ref(cursor).cast()) };
    }
    true
}

/// Makes the key whose destructor retires threads. Destructors of keys run after those of thread-local variables, so that
/// records made there are kept; a record in another key's destructor starts a new stream.
pub(crate) fn thread_key() -> Option<libc::pthread_key_t> {
    let mut key = 0;
    // SAFETY: the pointer is to a local of the right type.
    let failed = unsafe { libc::pthread_key_create(&raw mut key, Some(retire)) };
    (failed == 0).then_some(key)
}

extern "C" fn retire(_: *mut libc::c_void) {
    CURSOR.with(|cursor| {
        let before = cursor.begin_work();
        if before != busy::IDLE {
            return cursor.end_work(before);
        }
        cursor.ending.set(true);
        let streams = [KEPT, RING, NESTED].map(|class| {
            cursor.point_nowhere(class);
            cursor.streams[class].replace(std::ptr::null())
        });
        let now = clock::read_late();
        let mut state = STATE.lock();
        for stream in streams {
            // SAFETY: streams are freed only once they are marked as retired, here.
            let Some(stream) = (unsafe { stream.as_ref() }) else { continue };
            let_go(&mut state, stream, now);
        }
        let helper = state.helper.clone().filter(|_| state.is_urgent());
        drop(state);
        if let Some(helper) = helper {
            helper.unpark();
        }
        cursor.end_work(before);
    });
}

/// The stream's thread has ended, at `now` or with its last record, whichever is later.
fn let_go(state: &mut State, stream: &Stream, now: u64) {
    let end = now.max(stream.latest());
    seal(state, stream);
    if let Some(entry) = state.entry(stream.index).filter(|entry| !entry.cursor.is_null()) {
        entry.cursor = std::ptr::null();
        entry.end_at(end);
        state.alive -= 1;
    }
}

/// Lets go of the streams of threads that ended without a word: those that had no key destructor left to call. Nobody knows when: they end with
/// their last records.
pub(crate) fn let_go_of_the_gone(state: &mut State) {
    let gone: Vec<u32> = state
        .entries
        .iter()
        .filter(|entry| !entry.cursor.is_null() && elsewhere::is_gone(entry.tid))
        .map(|entry| entry.stream.index)
        .collect();
    gone.into_iter().for_each(|stream| let_go_of(state, stream));
}

/// The same, before this thread has a new stream, as the system gives numbers again: whose number is ours and is none of ours.
fn let_go_of_namesakes(state: &mut State, cursor: &Cursor, tid: u64) {
    let is_own = |stream: *const Stream| cursor.streams.iter().any(|own| std::ptr::eq(own.get(), stream));
    let gone: Vec<u32> = state
        .entries
        .iter()
        .filter(|entry| entry.tid == tid && !entry.cursor.is_null() && !is_own(&raw const *entry.stream))
        .map(|entry| entry.stream.index)
        .collect();
    gone.into_iter().for_each(|stream| let_go_of(state, stream));
}

fn let_go_of(state: &mut State, stream: u32) {
    let stream = state.entry(stream).map_or(std::ptr::null(), |entry| &raw const *entry.stream);
    // SAFETY: it lives as long as its entry, which nothing here takes away.
    if let Some(stream) = unsafe { stream.as_ref() } {
        let_go(state, stream, 0);
    }
}

/// After a `fork`, in the child: the thread begins anew.
pub(crate) fn forget_stream() {
    CURSOR.with(|cursor| {
        [KEPT, RING, NESTED].into_iter().for_each(|class| cursor.point_nowhere(class));
        cursor.streams.iter().for_each(|stream| stream.set(std::ptr::null()));
    });
}

/// Bytes of a name that a program gives; the rest is cut, as the C recorder does.
const MAX_NAME_BYTES: usize = 47;

/// Names the calling thread in the trace; without it, the name is that of its `std::thread`. At most 47 bytes are kept.
pub fn set_thread_name(name: &str) {
    rename(name, |cursor| &cursor.name, |names| &mut names.thread);
}

/// Labels what the calling thread records: `"io"`, `"GPU 0"`, whatever its streams are to the program. Rules know it as
/// `stream_label`, and can group threads by it. A later label takes the place of an earlier one, for the whole run. At most 47 bytes are kept.
pub fn set_stream_label(label: &str) {
    rename(label, |cursor| &cursor.label, |names| &mut names.label);
}

fn rename(text: &str, kept: fn(&Cursor) -> &Cell<Option<&'static str>>, of: fn(&mut Names) -> &mut Option<String>) {
    let text = crate::intern::cut(text, MAX_NAME_BYTES);
    session::unnested(|| {
        CURSOR.with(|cursor| {
            if cursor.streams.iter().all(|stream| stream.get().is_null()) {
                // Kept for a thread that may never record: too small to track.
                return kept(cursor).set(Some(Box::leak(text.into())));
            }
            let mut state = STATE.lock();
            for entry in state.entries.iter_mut().filter(|entry| std::ptr::eq(entry.cursor, cursor)) {
                *of(&mut entry.names) = Some(text.to_owned());
                entry.told = false;
                // Best effort: records do not depend on it, and it is written soon.
                entry.log();
            }
        });
    });
}

pub(crate) fn thread_id() -> u64 {
    // SAFETY: takes nothing, touches nothing.
    let tid = unsafe { libc::syscall(libc::SYS_gettid) };
    tid.cast_unsigned()
}

/// The thread's name in Rust. Asking for it in a destructor that runs after Rust's own makes `std` panic: avoided where the
/// recorder knows that it is late, and caught where a thread records for the very first time there.
fn default_name(ending: bool) -> Option<String> {
    if ending {
        return None;
    }
    std::panic::catch_unwind(|| std::thread::current().name().map(str::to_owned)).ok().flatten()
}
