//! A thread's slow path: it gets a stream at its first record, a slot when the last one is full, and is retired when it
//! ends.

use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use tracer_format::record::Lost;
use tracer_format::{ID_LOST, RECORD_HEAD_BYTES, cause};

use crate::buffer::{self, CURSOR, Cursor, FULL, LOST_BYTES, MAX_RECORD_BYTES, ROOM_BYTES, Room, Slot, used};
use crate::clock;
use crate::live;
use crate::pool;
use crate::session::{self, STATE, State};

/// What a thread shares with the helper.
#[derive(Debug)]
pub(crate) struct Stream {
    /// Its number in the file.
    pub(crate) index: u32,
    /// The slot being written, or null; changed under the session's lock only.
    pub(crate) slot: AtomicPtr<Slot>,
    /// What was dropped.
    pub(crate) losses: Losses,
}

impl Stream {
    /// Counts lost records.
    pub(crate) fn lose(&self, count: u64, bytes: u64, dates: (u64, u64), cause: u32) {
        self.losses.add(count, bytes, dates.0, dates.1, cause);
        live::count_lost(self.index, count);
    }
}

/// Counts a record that no stream can be charged with.
fn lose_stray() {
    STRAYS.fetch_add(1, Ordering::Relaxed);
    live::count_lost(0, 1);
}

/// What a stream lost: how much in all, and what no block has told of yet.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    count: AtomicU64,
    told: AtomicU64,
    bytes: AtomicU64,
    first: AtomicU64,
    last: AtomicU64,
    cause: AtomicU32,
}

impl Losses {
    /// Counts lost records. Only losing threads pay for the locked instructions.
    fn add(&self, count: u64, bytes: u64, first: u64, last: u64, cause: u32) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        let _ = self.first.compare_exchange(0, first, Ordering::Relaxed, Ordering::Relaxed);
        self.last.store(last, Ordering::Relaxed);
        self.cause.fetch_or(cause, Ordering::Relaxed);
        self.count.fetch_add(count, Ordering::Release);
    }

    /// Records lost so far.
    pub(crate) fn total(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// What was lost since the last call, if anything.
    pub(crate) fn tell(&self) -> Option<Lost> {
        let total = self.total();
        let count = total - self.told.swap(total, Ordering::Relaxed);
        (count > 0).then(|| Lost {
            count,
            bytes: self.bytes.swap(0, Ordering::Relaxed),
            first_ticks: self.first.swap(0, Ordering::Relaxed),
            last_ticks: self.last.load(Ordering::Relaxed),
            cause: self.cause.swap(0, Ordering::Relaxed),
        })
    }

    /// Whether [`Self::tell`] would tell something.
    pub(crate) fn untold(&self) -> bool {
        self.total() != self.told.load(Ordering::Relaxed)
    }
}

/// Losses of threads that had no stream yet, or have none any more.
pub(crate) static STRAYS: AtomicU64 = AtomicU64::new(0);

/// A record inside a record: a signal handler interrupted its own thread.
#[cold]
#[inline(never)]
pub(crate) fn lose_nested(cursor: &Cursor, bytes: usize) {
    // SAFETY: a stream lives as long as its thread's cursor points to it.
    match unsafe { cursor.stream.get().as_ref() } {
        Some(stream) => {
            let now = clock::read();
            stream.lose(1, bytes as u64, (now, now), cause::NESTED);
        }
        None => lose_stray(),
    }
}

/// Finds room for a record of so many bytes, which was made at `now` of the native clock. Counts the loss if there is
/// none.
#[cold]
#[inline(never)]
pub(crate) fn make_room(cursor: &Cursor, bytes: usize, now: u64) -> Option<Room> {
    if cursor.stream.get().is_null() && !attach(cursor) {
        lose_stray();
        return None;
    }
    // SAFETY: a stream lives as long as its thread's cursor points to it.
    let stream = unsafe { &*cursor.stream.get() };
    let native = clock::is_native();
    let now = if native { now } else { clock::read() };
    if bytes > MAX_RECORD_BYTES {
        stream.lose(1, bytes as u64, (now, now), cause::OVERSIZE);
        return None;
    }
    let current = stream.slot.load(Ordering::Relaxed).cast_const();
    if !native && !current.is_null() {
        // SAFETY: a stream's slot is one of the pool.
        let state = unsafe { &*current }.state.load(Ordering::Relaxed);
        if used(state) + bytes <= ROOM_BYTES {
            return Some(Room { slot: current, now });
        }
    }
    match exchange(stream, now) {
        Some(slot) => {
            // With a clock that is not read inline, every record comes this way: the thread's own slot stays `FULL`.
            cursor.slot.set(if native { slot } else { &raw const FULL });
            Some(Room { slot, now })
        }
        None => {
            cursor.slot.set(&raw const FULL);
            stream.lose(1, bytes as u64, (now, now), cause::NO_BUFFER);
            None
        }
    }
}

/// Gives the full slot to the helper and takes a free one.
fn exchange(stream: &Stream, now: u64) -> Option<*const Slot> {
    if stream.slot.load(Ordering::Relaxed).is_null() && !pool::seems_available() {
        return None;
    }
    let mut state = STATE.lock();
    seal(&mut state, stream);
    let helper = state.helper.clone();
    let slot = if state.is_recording() { state.pool.take() } else { None };
    if let Some(slot) = slot {
        let sequence = state.entry(stream.index).map_or(0, |entry| entry.next_sequence);
        start_slot(slot, stream, sequence, now);
        stream.slot.store(slot.cast_mut(), Ordering::Release);
    }
    let urgent = state.is_urgent();
    drop(state);
    match helper {
        Some(helper) if urgent => helper.unpark(),
        Some(_) => {}
        None => session::write_here(),
    }
    slot
}

/// Takes the stream's slot away from it and queues it for the helper.
fn seal(state: &mut State, stream: &Stream) {
    let slot = stream.slot.swap(std::ptr::null_mut(), Ordering::Relaxed).cast_const();
    if slot.is_null() {
        return;
    }
    // SAFETY: a stream's slot is one of the pool.
    let head = unsafe { &*slot };
    head.dropped.store(stream.losses.total(), Ordering::Relaxed);
    if let Some(entry) = state.entry(stream.index) {
        entry.close_slot(head);
    }
    state.full.push_back(slot);
}

fn start_slot(slot: *const Slot, stream: &Stream, sequence: u64, now: u64) {
    // SAFETY: the slot was just taken from the pool.
    let head = unsafe { &*slot };
    for (word, value) in [(&head.first, now), (&head.last, now), (&head.flushed, 0), (&head.sequence, sequence)] {
        word.store(value, Ordering::Relaxed);
    }
    head.stream.store(stream.index, Ordering::Relaxed);
    head.dropped.store(stream.losses.total(), Ordering::Relaxed);
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
    head.taken.store(1, Ordering::Release);
}

/// Gives the thread a stream, and starts the session when this is the first one.
fn attach(cursor: &Cursor) -> bool {
    let name = cursor.name.get().map_or_else(|| default_name(cursor.ending.get()), |name| Some(name.to_owned()));
    if !session::begin() {
        return false;
    }
    let mut state = STATE.lock();
    let (stream, logged) = state.add_stream(cursor, thread_id(), name);
    let key = state.thread_key;
    drop(state);
    if !logged {
        session::write_names();
    }
    cursor.stream.set(stream);
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
        if cursor.busy.swap(true, Ordering::Relaxed) {
            return;
        }
        let stream = cursor.stream.replace(std::ptr::null());
        cursor.slot.set(&raw const FULL);
        cursor.ending.set(true);
        // SAFETY: streams are freed only once they are marked as retired, below.
        if let Some(stream) = unsafe { stream.as_ref() } {
            let mut state = STATE.lock();
            seal(&mut state, stream);
            if let Some(entry) = state.entry(stream.index) {
                entry.cursor = std::ptr::null();
            }
            let helper = state.helper.clone().filter(|_| state.is_urgent());
            drop(state);
            if let Some(helper) = helper {
                helper.unpark();
            }
        }
        cursor.busy.store(false, Ordering::Release);
    });
}

/// After a `fork`, in the child: the thread begins anew.
pub(crate) fn forget_stream() {
    CURSOR.with(|cursor| {
        cursor.slot.set(&raw const FULL);
        cursor.stream.set(std::ptr::null());
    });
}

/// Bytes of a name that a program gives; the rest is cut, as the C recorder does.
const MAX_NAME_BYTES: usize = 47;

/// Names the calling thread in the trace; without it, the name is that of its `std::thread`. At most 47 bytes are kept.
pub fn set_thread_name(name: &str) {
    let name = crate::intern::cut(name, MAX_NAME_BYTES);
    session::unnested(|| {
        CURSOR.with(|cursor| {
            // SAFETY: a stream lives as long as its thread's cursor points to it.
            match unsafe { cursor.stream.get().as_ref() } {
                Some(stream) => {
                    if let Some(entry) = STATE.lock().entry(stream.index) {
                        entry.name = Some(name.to_owned());
                        entry.told = false;
                        // Best effort: records do not depend on it, and it is written soon.
                        entry.log();
                    }
                }
                // Kept for a thread that may never record: too small to track.
                None => cursor.name.set(Some(Box::leak(name.into()))),
            }
        });
    });
}

fn thread_id() -> u64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_told_once() {
        let losses = Losses::default();
        assert!(losses.tell().is_none());
        losses.add(1, 22, 100, 100, cause::NO_BUFFER);
        losses.add(2, 44, 200, 300, cause::NESTED);
        let lost = Lost { count: 3, bytes: 66, first_ticks: 100, last_ticks: 300, cause: 5 };
        assert_eq!(losses.tell(), Some(lost));
        assert!(losses.tell().is_none() && !losses.untold());
        losses.add(1, 1, 400, 400, cause::OVERSIZE);
        assert_eq!(losses.tell().map(|lost| (lost.count, lost.first_ticks, lost.cause)), Some((1, 400, 2)));
        assert_eq!(losses.total(), 4);
    }
}
