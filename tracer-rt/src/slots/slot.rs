//! The head of a slot: the words that a thread and the writer thread share without a lock.
//! The tests check them under every memory order that two processors allow.

// Miri cannot run the model checker.
#[cfg(all(test, not(miri)))]
mod tests;

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

pub(crate) const ONE_RECORD: u64 = 1 << 32;

/// The atomic accesses to a shared word. Tests use the words of a model checker.
pub(crate) trait SharedWord {
    fn load(&self, order: Ordering) -> u64;
    fn store(&self, value: u64, order: Ordering);
}

impl SharedWord for AtomicU64 {
    #[inline(always)]
    fn load(&self, order: Ordering) -> u64 {
        Self::load(self, order)
    }

    #[inline(always)]
    fn store(&self, value: u64, order: Ordering) {
        Self::store(self, value, order);
    }
}

/// The head of a slot.
/// The owner uses no read-modify-write operations: its atomic accesses compile to ordinary moves.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct SlotHeader<Word = AtomicU64> {
    /// Bytes of the payload in the low half, number of records in the high half.
    /// Stored last: all records that it counts are complete.
    pub(crate) state: Word,
    /// Timestamp of the last record.
    pub(crate) last: Word,
    /// Timestamp from which the first delta counts. It is that of the first record.
    pub(crate) first: Word,
    /// The part of the payload that is already in the file, as [`FlushMark`].
    /// Stored under the session's lock, after the write.
    pub(crate) flush_mark: Word,
    /// Timestamp of the last record that is already in the file.
    pub(crate) flushed_last: Word,
    /// Sequence number of the first block with records of this slot.
    pub(crate) sequence: Word,
    /// Number of records that the stream dropped before this slot was taken.
    /// When the slot is given up: before that moment.
    pub(crate) dropped: Word,
    /// Index of the stream.
    pub(crate) stream: AtomicU32,
    /// Use of the slot, a value of `tracer_format::live_file::slot_use`. Readers of the live file
    /// see the whole head.
    pub(crate) is_taken: AtomicU32,
}

impl<Word: SharedWord> SlotHeader<Word> {
    /// Number of records that are not in the file.
    pub(crate) fn unwritten_records(&self) -> u32 {
        records(self.state.load(Ordering::Acquire)) - self.flush_mark().records
    }

    /// Publishes a record. Its bytes and all earlier ones are written.
    #[inline(always)]
    pub(crate) fn publish(&self, state: u64, timestamp: u64) {
        // A thread that reads this timestamp also sees that the owner is busy.
        self.last.store(timestamp, Ordering::Release);
        self.state.store(state, Ordering::Release);
    }

    /// The records so far, at a moment between two records.
    /// Returns `None` if the owner writes a record during the call. The order of the reads matters:
    /// state and timestamp, then those of `is_busy`, then the state again.
    pub(crate) fn read_between_records(&self, is_busy: impl FnOnce() -> bool) -> Option<SlotProgress> {
        let state = self.state.load(Ordering::Acquire);
        let last = self.last.load(Ordering::Acquire);
        (!is_busy() && self.state.load(Ordering::Acquire) == state).then_some(SlotProgress { state, last })
    }

    /// Stores that `flush_mark` is in the file, up to the timestamp `last`.
    /// The caller has written the block.
    /// The commit is one store. If the process is killed before it, readers recognise the duplicate
    /// block by its number.
    pub(crate) fn commit(&self, flush_mark: FlushMark, last: u64) {
        self.flushed_last.store(last, Ordering::Relaxed);
        self.flush_mark.store(flush_mark.pack(), Ordering::Release);
    }

    /// The part of the slot that is in the file.
    pub(crate) fn flush_mark(&self) -> FlushMark {
        FlushMark::unpack(self.flush_mark.load(Ordering::Acquire))
    }
}

/// The records that a slot contains at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotProgress {
    /// Bytes and number of the records, as in the head.
    pub(crate) state: u64,
    /// Timestamp of the last record.
    pub(crate) last: u64,
}

/// The part of a slot that is in the file, packed into one word, because the commit is one store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FlushMark {
    pub(crate) bytes: usize,
    pub(crate) records: u32,
    /// Number of blocks made from the slot.
    pub(crate) blocks: u32,
}

impl FlushMark {
    /// Packs the three numbers.
    /// A slot has fewer than 2^16 records, and each block has at least one record or reports a
    /// loss.
    pub(crate) const fn pack(self) -> u64 {
        self.bytes as u64 | (self.records as u64 & 0xFFFF) << 32 | (self.blocks as u64) << 48
    }

    pub(crate) const fn unpack(word: u64) -> Self {
        Self { bytes: used_bytes(word), records: (word >> 32) as u32 & 0xFFFF, blocks: (word >> 48) as u32 }
    }
}

/// Bytes of the payload.
#[inline(always)]
pub(crate) const fn used_bytes(state: u64) -> usize {
    (state & 0xFFFF_FFFF) as usize
}

pub(crate) const fn records(state: u64) -> u32 {
    (state >> 32) as u32
}
