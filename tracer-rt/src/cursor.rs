//! The state of the recorder in one thread: its slots, its streams, and its current activity.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering, compiler_fence};

use crate::fault_injection;
use crate::slots::pool::slot_bytes;
use crate::slots::{FULL, Slot, room_bytes};
use crate::stream::Stream;

/// Streams of a thread for records whose level is told to keep what comes first, or wait.
pub(crate) const KEPT: usize = 0;
/// For records of levels that overwrite the oldest.
pub(crate) const RING: usize = 1;
/// For records of signal handlers that interrupted a record.
pub(crate) const NESTED: usize = 2;
/// Where a record's stream stands in what is passed as its id.
pub(crate) const CLASS_SHIFT: u32 = 16;

/// The stream that a record goes to, unless it is nested.
#[inline(always)]
pub(crate) const fn class_of(id: u32) -> usize {
    (id >> CLASS_SHIFT) as usize & 1
}

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
    /// After a `fork`, in the child: the thread has no stream yet.
    pub(crate) fn forget_streams(&self) {
        [KEPT, RING, NESTED].into_iter().for_each(|class| self.point_nowhere(class));
        self.streams.iter().for_each(|stream| stream.set(std::ptr::null()));
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
            ending: Cell::new(false),
        }
    };
}

thread_local! {
    /// The thread takes no signals.
    static SPARED: Cell<bool> = const { Cell::new(false) };
}

/// The calling thread takes no signals: [`signal`] leaves it alone.
pub(crate) fn spare() {
    SPARED.set(true);
}

/// A signal comes just here, where the thread holds the lock of this, for once: with the fault `signal at NAME`, and when the program
/// has set [`fault_injection::ARMED`].
pub(crate) fn raise_test_signal(place: &str) {
    let busy = CURSOR.with(|cursor| cursor.busy.load(Ordering::Relaxed)) != busy::IDLE && !SPARED.get();
    if cfg!(debug_assertions)
        && busy
        && fault_injection::ARMED.load(Ordering::Relaxed)
        && fault_injection::injected(&format!("signal at {place}"))
    {
        fault_injection::ARMED.store(false, Ordering::Relaxed);
        // SAFETY: takes a number.
        unsafe { libc::raise(libc::SIGUSR1) };
    }
}
