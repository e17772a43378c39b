//! A slot's head: the words by which a thread and the helper understand each other without a lock. `tests/hand_over.rs` has
//! them checked under every order in which two processors may see them.

use super::atomic::{AtomicU32, AtomicU64, Ordering};

pub(crate) const ONE_RECORD: u64 = 1 << 32;

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
    /// Records that are not in the file.
    pub(crate) fn unwritten(&self) -> u32 {
        records(self.state.load(Ordering::Acquire)) - self.flushed().records
    }

    /// Makes a record known: its bytes are written, and all before them.
    #[inline(always)]
    pub(crate) fn publish(&self, state: u64, date: u64) {
        // Whoever sees the date sees that the thread is busy.
        self.last.store(date, Ordering::Release);
        self.state.store(state, Ordering::Release);
    }

    /// State and last date at a moment between two records; `None` when the thread, which is busy while it writes one, was seen
    /// doing so. What `is_busy` reads, it must read in this order among all else here.
    pub(crate) fn settled(&self, is_busy: impl FnOnce() -> bool) -> Option<(u64, u64)> {
        let state = self.state.load(Ordering::Acquire);
        let last = self.last.load(Ordering::Acquire);
        (!is_busy() && self.state.load(Ordering::Acquire) == state).then_some((state, last))
    }

    /// Notes that so much is in the file, up to a date. One store, after the block is written: a process that is killed in
    /// between leaves a block that readers recognise by its number.
    pub(crate) fn commit(&self, flushed: Flushed, last: u64) {
        self.flushed_last.store(last, Ordering::Relaxed);
        self.flushed.store(flushed.pack(), Ordering::Release);
    }

    /// What is in the file.
    pub(crate) fn flushed(&self) -> Flushed {
        Flushed::unpack(self.flushed.load(Ordering::Acquire))
    }
}

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

/// Bytes of the payload.
#[inline(always)]
pub(crate) const fn used(state: u64) -> usize {
    (state & 0xFFFF_FFFF) as usize
}

/// Number of records.
pub(crate) const fn records(state: u64) -> u32 {
    (state >> 32) as u32
}
