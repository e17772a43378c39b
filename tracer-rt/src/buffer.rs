//! A thread's buffer: reserve, write, commit. The hot path, nothing else.
//!
//! A thread writes into one *slot* at a time. The slot's head holds one word `{records, bytes}` which is both the cursor
//! and the publication: another thread that reads it may read so many bytes, at any time. A thread without a slot points
//! at [`FULL`], which is always full, so that one bounds check decides all: a full slot, the first record of a thread,
//! and clocks that are not read inline.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, compiler_fence};

use tracer_format::record::Lost;
use tracer_format::{ID_WIDE_DATE, RECORD_HEAD_BYTES};

use crate::clock;
use crate::fields::Fields;
use crate::thread::{self, Stream};

/// Size of a slot with its head.
pub(crate) const SLOT_BYTES: usize = 1 << 16;
/// Size of a slot's head; the payload follows.
pub(crate) const HEAD_BYTES: usize = size_of::<Slot>();
/// Size of a record that sets the date.
const WIDE_BYTES: usize = RECORD_HEAD_BYTES + 8;
/// Size of a record that tells of a loss.
pub(crate) const LOST_BYTES: usize = RECORD_HEAD_BYTES + Lost::BYTES;
/// A slot is full when its payload would pass this. A record that sets the date always fits behind it, so that the
/// check needs not know whether one is due.
pub(crate) const ROOM_BYTES: usize = SLOT_BYTES - HEAD_BYTES - WIDE_BYTES;
/// The largest record: a `lost` record may stand before it.
pub(crate) const MAX_RECORD_BYTES: usize = ROOM_BYTES - LOST_BYTES;

const ONE_RECORD: u64 = 1 << 32;

/// The head of a slot. Whoever owns the slot writes plainly: the atomics compile to ordinary moves.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Slot {
    /// Bytes of the payload in the low half, records in the high half. Stored last: what it covers is complete.
    pub(crate) state: AtomicU64,
    /// Date of the last record.
    pub(crate) last: AtomicU64,
    /// Date from which the first delta counts; the first record has it.
    pub(crate) first: AtomicU64,
    /// What of the payload is in the file already, as [`Flushed`]; stored once it is, under the session's lock.
    pub(crate) flushed: AtomicU64,
    /// Date of the last record that is in the file already.
    pub(crate) flushed_last: AtomicU64,
    /// Sequence number of the first block that is made of this slot.
    pub(crate) sequence: AtomicU64,
    /// Records of the stream dropped before this slot was taken; then, before it was given up.
    pub(crate) dropped: AtomicU64,
    /// The stream.
    pub(crate) stream: AtomicU32,
    /// 1 while the slot is a stream's. The whole head is what readers of the live file see.
    pub(crate) taken: AtomicU32,
}

impl Slot {
    const fn with_state(state: u64) -> Self {
        Self {
            state: AtomicU64::new(state),
            last: AtomicU64::new(0),
            first: AtomicU64::new(0),
            flushed: AtomicU64::new(0),
            flushed_last: AtomicU64::new(0),
            sequence: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            stream: AtomicU32::new(0),
            taken: AtomicU32::new(0),
        }
    }

    /// Records that are not in the file.
    pub(crate) fn unwritten(&self) -> u32 {
        records(self.state.load(Ordering::Acquire)) - self.flushed().records
    }

    /// What is in the file.
    pub(crate) fn flushed(&self) -> Flushed {
        Flushed::unpack(self.flushed.load(Ordering::Acquire))
    }
}

const _: () = assert!(HEAD_BYTES == tracer_format::live::SLOT_HEAD_BYTES);

/// What of a slot is in the file, packed into one word: to store it is the commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flushed {
    pub(crate) bytes: usize,
    pub(crate) records: u32,
    /// Blocks that were made of the slot.
    pub(crate) blocks: u32,
}

impl Flushed {
    /// A slot holds fewer than 2^16 records, and each block has at least one, or the news of a loss.
    pub(crate) const fn pack(self) -> u64 {
        self.bytes as u64 | (self.records as u64 & 0xFFFF) << 32 | (self.blocks as u64) << 48
    }

    pub(crate) const fn unpack(word: u64) -> Self {
        Self { bytes: used(word), records: (word >> 32) as u32 & 0xFFFF, blocks: (word >> 48) as u32 }
    }
}

/// The slot of threads that have none.
pub(crate) static FULL: Slot = Slot::with_state(ROOM_BYTES as u64);

/// Bytes of the payload.
#[inline(always)]
pub(crate) const fn used(state: u64) -> usize {
    (state & 0xFFFF_FFFF) as usize
}

/// Number of records.
pub(crate) const fn records(state: u64) -> u32 {
    (state >> 32) as u32
}

/// What a thread knows of itself. It has no destructor: it works as long as the thread does.
#[derive(Debug)]
pub(crate) struct Cursor {
    /// The slot that is written, or [`FULL`].
    pub(crate) slot: Cell<*const Slot>,
    /// A record is being written: a signal handler finds this set, and drops its own. Atomic because the flushing
    /// thread looks at it too; plain moves all the same.
    pub(crate) busy: AtomicBool,
    /// The thread's stream, once it has one.
    pub(crate) stream: Cell<*const Stream>,
    /// A name given before the stream existed.
    pub(crate) name: Cell<Option<&'static str>>,
    /// The thread was retired once: what it records from now on comes from late destructors.
    pub(crate) ending: Cell<bool>,
}

thread_local! {
    pub(crate) static CURSOR: Cursor = const {
        Cursor {
            slot: Cell::new(&raw const FULL),
            busy: AtomicBool::new(false),
            stream: Cell::new(std::ptr::null()),
            name: Cell::new(None),
            ending: Cell::new(false),
        }
    };
}

/// Where a record may be written, and its date.
#[derive(Clone, Copy)]
pub(crate) struct Room {
    pub(crate) slot: *const Slot,
    pub(crate) now: u64,
}

/// Writes a record. Never fails: what finds no place is dropped and counted.
#[inline(always)]
pub fn record<F: Fields>(id: u16, fields: F) {
    // The address alone: a closure with all of the work in it would not always be inlined.
    let cursor = CURSOR.with(std::ptr::from_ref);
    // SAFETY: the variable has no destructor: it is there as long as the thread.
    let cursor = unsafe { &*cursor };
    let bytes = RECORD_HEAD_BYTES + fields.bytes();
    if cursor.busy.load(Ordering::Relaxed) {
        return thread::lose_nested(cursor, bytes);
    }
    cursor.busy.store(true, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
    let mut now = clock::native();
    let mut slot = cursor.slot.get();
    // SAFETY: a cursor's slot is `FULL` or a slot of the pool, which is never unmapped.
    let mut head = unsafe { &*slot };
    let mut state = head.state.load(Ordering::Relaxed);
    if used(state) + bytes > ROOM_BYTES {
        let Some(room) = thread::make_room(cursor, bytes, now) else {
            return cursor.busy.store(false, Ordering::Release);
        };
        Room { slot, now } = room;
        // SAFETY: `make_room` gives a slot of the pool.
        head = unsafe { &*slot };
        state = head.state.load(Ordering::Relaxed);
    }
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
    head.last.store(now, Ordering::Relaxed);
    head.state.store(state + (ONE_RECORD | bytes as u64), Ordering::Release);
    cursor.busy.store(false, Ordering::Release);
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

/// A date that does not fit 32 bits after the last: sets the date anew, or, when the clock went back, keeps the last.
/// Returns the date and state to go on with.
#[cold]
#[inline(never)]
fn far(slot: *const Slot, now: u64) -> (u64, u64) {
    // SAFETY: `record` passes a slot of the pool, its own.
    let head = unsafe { &*slot };
    let state = head.state.load(Ordering::Relaxed);
    let last = head.last.load(Ordering::Relaxed);
    if now < last {
        return (last, state);
    }
    let at = payload(slot, used(state));
    // SAFETY: behind `ROOM_BYTES` there is always room for one such record.
    unsafe { write_head(at, ID_WIDE_DATE, 0) };
    let date = at.wrapping_add(RECORD_HEAD_BYTES);
    // SAFETY: as above.
    unsafe { date.cast::<[u8; 8]>().write(now.to_le_bytes()) };
    // Not published alone: the state of the record that follows covers it.
    (now, state + WIDE_BYTES as u64)
}
