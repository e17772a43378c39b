//! A stream: the records of one thread of one kind, and what of them was lost.

pub(crate) mod drops;

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::live_file;
use crate::slots::Slot;
use drops::Losses;

/// What a thread shares with the helper.
#[derive(Debug)]
pub(crate) struct Stream {
    /// Its number in the file.
    pub(crate) index: u32,
    /// Which of its thread's streams it is.
    pub(crate) class: usize,
    /// The slot being written, or null; changed under the session's lock only.
    pub(crate) slot: AtomicPtr<Slot>,
    /// What was dropped.
    pub(crate) losses: Losses,
    /// Records that were overwritten: where, its entry knows.
    pub(crate) overwritten: AtomicU64,
}

impl Stream {
    pub(crate) fn new(index: u32, class: usize) -> Self {
        let slot = AtomicPtr::new(std::ptr::null_mut());
        Self { index, class, slot, losses: Losses::default(), overwritten: AtomicU64::new(0) }
    }

    /// Counts lost records.
    pub(crate) fn lose(&self, count: u64, bytes: u64, dates: (u64, u64), cause: u32) {
        self.losses.add(count, bytes, dates.0, dates.1, cause);
        live_file::count_lost(self.index, count);
    }

    /// The latest date that it knows.
    pub(crate) fn latest(&self) -> u64 {
        // SAFETY: a stream's slot is null or one of the pool, which is never unmapped.
        let head = unsafe { self.slot.load(Ordering::Relaxed).as_ref() };
        head.map_or(0, |head| head.last.load(Ordering::Relaxed)).max(self.losses.latest())
    }

    /// Records dropped and overwritten so far.
    pub(crate) fn dropped(&self) -> u64 {
        self.losses.total() + self.overwritten.load(Ordering::Relaxed)
    }
}

/// Losses of threads that had no stream yet, or have none any more.
pub(crate) static STRAYS: AtomicU64 = AtomicU64::new(0);

/// Counts a record that no stream can be charged with.
pub(crate) fn lose_stray() {
    STRAYS.fetch_add(1, Ordering::Relaxed);
    live_file::count_lost(0, 1);
}
