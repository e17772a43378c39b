//! The state of the recorder in one thread: its slots, its streams, and its current activity.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering, compiler_fence};

use crate::fault_injection;
use crate::slots::pool::slot_bytes;
use crate::slots::{FULL, SlotHeader, room_bytes};
use crate::stream::ThreadStream;

/// Class of the stream for records of levels that drop the newest records or wait.
pub(crate) const KEPT: usize = 0;
/// Class of the stream for records of levels that overwrite the oldest records.
pub(crate) const RING: usize = 1;
/// Class of the stream for records of signal handlers that interrupted a record.
pub(crate) const NESTED: usize = 2;
/// Position of the class in the combined record id.
pub(crate) const CLASS_SHIFT: u32 = 16;

/// The class of the stream for a record, unless the record is nested.
#[inline(always)]
pub(crate) const fn class_of(id: u32) -> usize {
    (id >> CLASS_SHIFT) as usize & 1
}

/// The recorder's state of one thread.
/// Without a destructor, so that it works until the thread ends.
#[derive(Debug)]
pub(crate) struct ThreadCursor {
    /// The current slot of each stream, or [`FULL`].
    pub(crate) slots: [Cell<*const SlotHeader>; 3],
    /// The room of each slot in bytes. 0 for [`FULL`].
    pub(crate) rooms: [Cell<usize>; 3],
    /// The current activity of the thread, one of [`work_state`].
    /// A signal handler reads it and then writes its records to another stream.
    /// Atomic because the flushing thread reads it, too. The accesses still compile to plain moves.
    pub(crate) work_state: AtomicU32,
    /// A signal handler is writing a record. A second handler then drops its own record.
    pub(crate) is_nested: AtomicBool,
    /// The thread's streams, or null.
    pub(crate) streams: [Cell<*const ThreadStream>; 3],
    /// The name of the thread, if the program set it before the stream existed.
    pub(crate) name: Cell<Option<&'static str>>,
    /// The label of the thread's streams, if the program set it before the stream existed.
    pub(crate) label: Cell<Option<&'static str>>,
    /// The recorder is calling the program's own clock.
    pub(crate) asking: Cell<bool>,
    /// The thread was retired before. Its later records come from late destructors.
    pub(crate) is_ending: Cell<bool>,
}

/// Activities of a thread.
pub(crate) mod work_state {
    /// The thread does not run the recorder.
    pub(crate) const IDLE: u32 = 0;
    /// The thread writes a record.
    pub(crate) const RECORDING: u32 = 1;
    /// The thread is in a slow path: it may hold locks, and the functions that it calls may record,
    /// too.
    pub(crate) const WORKING: u32 = 2;
}

impl ThreadCursor {
    /// Marks the thread as in a slow path. Returns the previous activity, for [`Self::end_work`].
    pub(crate) fn begin_work(&self) -> u32 {
        let before = self.work_state.swap(work_state::WORKING, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        before
    }

    /// Restores the activity that [`Self::begin_work`] returned.
    pub(crate) fn end_work(&self, previous_state: u32) {
        self.work_state.store(previous_state, Ordering::Release);
    }

    /// Makes `slot` the target of the stream's records.
    pub(crate) fn point(&self, class: usize, slot: *const SlotHeader) {
        // A signal handler at this moment finds the old slot with no room.
        self.rooms[class].set(0);
        compiler_fence(Ordering::SeqCst);
        self.slots[class].set(slot);
        compiler_fence(Ordering::SeqCst);
        self.rooms[class].set(room_bytes(slot_bytes(slot)));
    }

    /// Removes the stream's slot. The next record needs a new one.
    pub(crate) fn point_nowhere(&self, class: usize) {
        self.rooms[class].set(0);
        compiler_fence(Ordering::SeqCst);
        self.slots[class].set(&raw const FULL);
    }
    /// Removes the streams in a forked child, where the thread has none yet.
    pub(crate) fn forget_streams(&self) {
        [KEPT, RING, NESTED].into_iter().for_each(|class| self.point_nowhere(class));
        self.streams.iter().for_each(|stream| stream.set(std::ptr::null()));
    }
}

thread_local! {
    pub(crate) static CURSOR: ThreadCursor = const {
        ThreadCursor {
            slots: [const { Cell::new(&raw const FULL) }; 3],
            rooms: [const { Cell::new(0) }; 3],
            work_state: AtomicU32::new(work_state::IDLE),
            is_nested: AtomicBool::new(false),
            streams: [const { Cell::new(std::ptr::null()) }; 3],
            name: Cell::new(None),
            label: Cell::new(None),
            asking: Cell::new(false),
            is_ending: Cell::new(false),
        }
    };
}

thread_local! {
    /// The thread blocks all signals.
    static SPARED: Cell<bool> = const { Cell::new(false) };
}

/// Excludes the calling thread from [`raise_test_signal`], because it blocks all signals.
pub(crate) fn exclude_from_test_signals() {
    SPARED.set(true);
}

/// Raises a test signal while the thread holds the lock at `place`.
/// Only with the fault `signal at NAME`, once, after the program has set
/// [`fault_injection::ARMED`].
pub(crate) fn raise_test_signal(place: &str) {
    let busy = CURSOR.with(|cursor| cursor.work_state.load(Ordering::Relaxed)) != work_state::IDLE && !SPARED.get();
    if cfg!(debug_assertions)
        && busy
        && fault_injection::ARMED.load(Ordering::Relaxed)
        && fault_injection::is_injected(&format!("signal at {place}"))
    {
        fault_injection::ARMED.store(false, Ordering::Relaxed);
        // SAFETY: `raise` takes no pointer and has no preconditions.
        unsafe { libc::raise(libc::SIGUSR1) };
    }
}
