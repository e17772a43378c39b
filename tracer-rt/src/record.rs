//! A thread's buffer: reserve, write, commit. The hot path, nothing else.
//!
//! A thread writes into one *slot* at a time. The slot's head holds one word `{records, bytes}` which is both the cursor
//! and the publication: another thread that reads it may read so many bytes, at any time. A thread without a slot points
//! at [`FULL`], which is always full, so that one bounds check decides all: a full slot, the first record of a thread,
//! and clocks that are not read inline.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, compiler_fence};

use tracer_format::record::Lost;
use tracer_format::{ID_LOST, ID_WIDE_DATE, RECORD_HEAD_BYTES};

use crate::clock;
use crate::fields::{Fields, Truncated};
use crate::handler;
use crate::live;
use crate::nested;
use crate::own;
use crate::pool::slot_bytes;
use crate::stream::Stream;
use crate::thread;

/// Size of a slot with its head.
pub(crate) const SLOT_BYTES: usize = 1 << 16;
/// Size of a slot's head; the payload follows.
pub(crate) const HEAD_BYTES: usize = size_of::<Slot>();
/// Size of a record that sets the date.
const WIDE_BYTES: usize = RECORD_HEAD_BYTES + 8;
/// Size of a record that tells of a loss.
pub(crate) const LOST_BYTES: usize = RECORD_HEAD_BYTES + Lost::BYTES;
/// The largest record: a `lost` record may stand before it.
pub(crate) const MAX_RECORD_BYTES: usize = room_bytes(SLOT_BYTES) - LOST_BYTES;

/// A slot of so many bytes is full when its payload would pass this. A record that sets the date always fits behind it, so
/// that the check needs not know whether one is due.
pub(crate) const fn room_bytes(slot_bytes: usize) -> usize {
    slot_bytes - HEAD_BYTES - WIDE_BYTES
}

pub(crate) use crate::slot::{Flushed, ONE_RECORD, Slot, records, used};

const _: () = assert!(HEAD_BYTES == tracer_format::live::SLOT_HEAD_BYTES);

/// The slot of threads that have none: it has no room.
pub(crate) static FULL: Slot = Slot {
    state: AtomicU64::new(0),
    last: AtomicU64::new(0),
    first: AtomicU64::new(0),
    flushed: AtomicU64::new(0),
    flushed_last: AtomicU64::new(0),
    sequence: AtomicU64::new(0),
    dropped: AtomicU64::new(0),
    stream: AtomicU32::new(0),
    taken: AtomicU32::new(0),
};

/// Streams of a thread for records whose level is told to keep what comes first, or wait.
pub(crate) const KEPT: usize = 0;
/// For records of levels that overwrite the oldest.
pub(crate) const RING: usize = 1;
/// For records of signal handlers that interrupted a record.
pub(crate) const NESTED: usize = 2;
/// Where a record's stream stands in what is passed as its id.
pub(crate) const CLASS_SHIFT: u32 = 16;

/// What a thread knows of itself. It has no destructor: it works as long as the thread does.
#[derive(Debug)]
pub(crate) struct Cursor {
    /// The slots that are written, by stream, or [`FULL`].
    pub(crate) slots: [Cell<*const Slot>; 3],
    /// Their room in bytes, 0 for [`FULL`].
    pub(crate) rooms: [Cell<usize>; 3],
    /// What the thread is about, as [`busy`] names it: a signal handler finds it, and writes its records to another stream.
    /// Atomic because the flushing thread looks at it too; plain moves all the same.
    pub(crate) busy: AtomicU32,
    /// A record of a signal handler is being written: a second handler finds this set, and drops its own.
    pub(crate) nested: AtomicBool,
    /// The thread's streams, once it has them.
    pub(crate) streams: [Cell<*const Stream>; 3],
    /// A name and a label given before the stream existed.
    pub(crate) name: Cell<Option<&'static str>>,
    pub(crate) label: Cell<Option<&'static str>>,
    /// The program's own clock runs, for the recorder.
    pub(crate) asking: Cell<bool>,
    /// The locks of the recorder that it holds.
    pub(crate) held: Cell<u8>,
    /// The thread was retired once: what it records from now on comes from late destructors.
    pub(crate) ending: Cell<bool>,
}

/// What a thread is about.
pub(crate) mod busy {
    /// Nothing of the recorder's.
    pub(crate) const IDLE: u32 = 0;
    /// It writes a record.
    pub(crate) const RECORDING: u32 = 1;
    /// It is in a slow path: it may hold locks, and whatever it calls may record, too.
    pub(crate) const WORKING: u32 = 2;
}

impl Cursor {
    /// From now on the thread is in a slow path. Returns what it was about before, for [`Self::end_work`].
    pub(crate) fn begin_work(&self) -> u32 {
        let before = self.busy.swap(busy::WORKING, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        before
    }

    /// Ends what [`Self::begin_work`] began.
    pub(crate) fn end_work(&self, before: u32) {
        self.busy.store(before, Ordering::Release);
    }

    /// From now on records of this stream go to the slot.
    pub(crate) fn point(&self, class: usize, slot: *const Slot) {
        // A signal handler that comes in between meets the old slot with no room.
        self.rooms[class].set(0);
        compiler_fence(Ordering::SeqCst);
        self.slots[class].set(slot);
        compiler_fence(Ordering::SeqCst);
        self.rooms[class].set(room_bytes(slot_bytes(slot)));
    }

    /// From now on they need a slot first.
    pub(crate) fn point_nowhere(&self, class: usize) {
        self.rooms[class].set(0);
        compiler_fence(Ordering::SeqCst);
        self.slots[class].set(&raw const FULL);
    }
}

thread_local! {
    pub(crate) static CURSOR: Cursor = const {
        Cursor {
            slots: [const { Cell::new(&raw const FULL) }; 3],
            rooms: [const { Cell::new(0) }; 3],
            busy: AtomicU32::new(busy::IDLE),
            nested: AtomicBool::new(false),
            streams: [const { Cell::new(std::ptr::null()) }; 3],
            name: Cell::new(None),
            label: Cell::new(None),
            asking: Cell::new(false),
            held: Cell::new(0),
            ending: Cell::new(false),
        }
    };
}

/// Where a record may be written, and its date.
#[derive(Clone, Copy)]
pub(crate) struct Room {
    pub(crate) slot: *const Slot,
    pub(crate) now: u64,
    pub(crate) after: After,
    /// If the record is too long: the size to which it is to be truncated, with its mark.
    pub(crate) limit: Option<usize>,
}

/// What is to be done when the record is written.
#[derive(Clone, Copy)]
pub(crate) enum After {
    Nothing,
    /// It is in the thread's stream for handlers, which is taken meanwhile.
    Handler,
    /// The thread stood still until this date.
    Waited(own::Cause, u64),
}

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
        let Some(room) = thread::make_room(cursor, id, bytes, now) else {
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
    if handler::left_a_record(cursor) {
        if let Some(room) = thread::begin_again(cursor, id, bytes) {
            record_and_more(cursor, room, id, fields);
        }
        return;
    }
    if cursor.nested.load(Ordering::Relaxed) {
        return thread::lose_nested(cursor, bytes);
    }
    cursor.nested.store(true, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
    if let Some(room) = nested::make_room(cursor, bytes) {
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
        After::Waited(why, until) => own::waited(room, why, until),
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
        return thread::lose_uncut(cursor, class, RECORD_HEAD_BYTES + whole, room.now);
    };
    let mark = Lost::of_truncated((whole - cut.bytes()) as u64, room.now).encode();
    // Published together, so that no block ends between them. The record has the date of its mark: its delta is 0.
    let both = (mark, id as u16, 0u32, cut);
    // SAFETY: as in `record`: the mark and the record are within the limit, for which there is room.
    unsafe { write(room.slot, state, ID_LOST, room.now, both) };
    TRUNCATED.fetch_add(1, Ordering::Relaxed);
    live::count_truncated();
}

/// Records that were truncated.
pub(crate) static TRUNCATED: AtomicU64 = AtomicU64::new(0);

/// The stream that a record goes to, unless it is nested.
#[inline(always)]
pub(crate) const fn class_of(id: u32) -> usize {
    (id >> CLASS_SHIFT) as usize & 1
}

/// # Safety
/// The slot must be the thread's own, in this state, with room for the record.
#[inline(always)]
pub(crate) unsafe fn write<F: Fields>(slot: *const Slot, mut state: u64, id: u16, mut now: u64, fields: F) {
    // SAFETY: the caller's promise; slots are never unmapped.
    let head = unsafe { &*slot };
    let bytes = RECORD_HEAD_BYTES + fields.bytes();
    let mut delta = now.wrapping_sub(head.last.load(Ordering::Relaxed));
    if delta > u64::from(u32::MAX) {
        (now, state) = far(slot, now);
        delta = 0;
    }
    let at = payload(slot, used(state));
    // SAFETY: `used(state) + bytes` is within the slot's room, and this thread alone writes there.
    unsafe { write_head(at, id, delta as u32) };
    // SAFETY: as above; the head's six bytes are part of `bytes`.
    let body = unsafe { at.add(RECORD_HEAD_BYTES) };
    // SAFETY: the room behind the head is what `fields.bytes()` asked for.
    unsafe { fields.store(body) };
    head.publish(state + (ONE_RECORD | bytes as u64), now);
}

/// The payload of a slot from byte `offset` on.
#[inline(always)]
pub(crate) fn payload(slot: *const Slot, offset: usize) -> *mut u8 {
    slot.cast_mut().cast::<u8>().wrapping_add(HEAD_BYTES + offset)
}

/// # Safety
/// Six bytes at `at` must be the caller's to write.
#[inline(always)]
pub(crate) unsafe fn write_head(at: *mut u8, id: u16, delta: u32) {
    let head = u64::from(id) | u64::from(delta) << 16;
    let [a, b, c, d, e, f, ..] = head.to_le_bytes();
    // SAFETY: the caller's promise; byte arrays have no alignment.
    unsafe { at.cast::<[u8; RECORD_HEAD_BYTES]>().write([a, b, c, d, e, f]) };
}

/// Records that have the date of the one before, as the clock went back.
pub(crate) static REPEATED: AtomicU64 = AtomicU64::new(0);

/// A date that does not fit 32 bits after the last: sets the date anew, or, when the clock went back, keeps the last.
/// Returns the date and state to go on with.
#[cold]
#[inline(never)]
fn far(slot: *const Slot, now: u64) -> (u64, u64) {
    // SAFETY: `write` passes a slot of the pool, the thread's own.
    let head = unsafe { &*slot };
    let state = head.state.load(Ordering::Relaxed);
    let last = head.last.load(Ordering::Relaxed);
    if now < last {
        REPEATED.fetch_add(1, Ordering::Relaxed);
        return (last, state);
    }
    let at = payload(slot, used(state));
    // SAFETY: behind the slot's room there is always some for one such record.
    unsafe { write_head(at, ID_WIDE_DATE, 0) };
    let date = at.wrapping_add(RECORD_HEAD_BYTES);
    // SAFETY: as above.
    unsafe { date.cast::<[u8; 8]>().write(now.to_le_bytes()) };
    // Not published alone: the state of the record that follows covers it.
    (now, state + WIDE_BYTES as u64)
}
