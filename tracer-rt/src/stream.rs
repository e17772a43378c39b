//! A stream: the records of one kind of one thread, and the counts of its dropped records.

pub(crate) mod drops;

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::live_file;
use crate::slots::SlotHeader;
use drops::DropCounts;

/// The part of a stream that the thread shares with the writer thread.
#[derive(Debug)]
pub(crate) struct ThreadStream {
    /// Index of the stream in the file.
    pub(crate) index: u32,
    /// Class of the stream: one of the thread's streams.
    pub(crate) class: usize,
    /// The current slot, or null. Changed only under the session's lock.
    pub(crate) slot: AtomicPtr<SlotHeader>,
    /// The dropped records.
    pub(crate) drops: DropCounts,
    /// Number of overwritten records. The stream's entry has their places.
    pub(crate) overwrites: AtomicU64,
}

impl ThreadStream {
    pub(crate) fn new(index: u32, class: usize) -> Self {
        let slot = AtomicPtr::new(std::ptr::null_mut());
        Self { index, class, slot, drops: DropCounts::default(), overwrites: AtomicU64::new(0) }
    }

    /// Counts `count` records of `bytes` bytes as dropped between two timestamps.
    pub(crate) fn count_dropped(&self, count: u64, bytes: u64, ticks: (u64, u64), cause: u32) {
        self.drops.add(count, bytes, ticks.0, ticks.1, cause);
        live_file::count_dropped(self.index, count);
    }

    /// The latest timestamp of the stream.
    pub(crate) fn latest_timestamp(&self) -> u64 {
        // SAFETY: a stream's slot is null or a slot of the pool, which is never unmapped.
        let head = unsafe { self.slot.load(Ordering::Relaxed).as_ref() };
        head.map_or(0, |head| head.last.load(Ordering::Relaxed)).max(self.drops.latest_timestamp())
    }

    /// Records dropped and overwritten so far.
    pub(crate) fn dropped_records(&self) -> u64 {
        self.drops.total() + self.overwrites.load(Ordering::Relaxed)
    }
}

/// Number of records dropped by threads that had no stream yet, or no longer have one.
pub(crate) static STRAYS: AtomicU64 = AtomicU64::new(0);

/// Counts a dropped record that belongs to no stream.
pub(crate) fn count_stray_drop() {
    STRAYS.fetch_add(1, Ordering::Relaxed);
    live_file::count_dropped(0, 1);
}
