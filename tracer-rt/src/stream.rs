//! A stream: the records of one thread of one kind, and what of them was lost.

use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use tracer_format::BlockKind;
use tracer_format::record::Lost;
use tracer_format::tags::{append_integer, append_tag, tag};

use crate::buffer::{Cursor, Flushed, NESTED, RING, Slot, used};
use crate::live;

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
    /// What was overwritten: older than all that the stream still has in memory.
    pub(crate) overwritten: Losses,
}

impl Stream {
    pub(crate) fn new(index: u32, class: usize) -> Self {
        let slot = AtomicPtr::new(std::ptr::null_mut());
        Self { index, class, slot, losses: Losses::default(), overwritten: Losses::default() }
    }

    /// Counts lost records.
    pub(crate) fn lose(&self, count: u64, bytes: u64, dates: (u64, u64), cause: u32) {
        self.losses.add(count, bytes, dates.0, dates.1, cause);
        live::count_lost(self.index, count);
    }

    /// Records dropped and overwritten so far.
    pub(crate) fn dropped(&self) -> u64 {
        self.losses.total() + self.overwritten.total()
    }

    /// Whether there are losses that no block tells of.
    pub(crate) fn has_untold(&self) -> bool {
        self.losses.untold() || self.overwritten.untold()
    }
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
    pub(crate) fn add(&self, count: u64, bytes: u64, first: u64, last: u64, cause: u32) {
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

    /// The block that told of this is no more.
    pub(crate) fn tell_again(&self, lost: &Lost) {
        self.told.fetch_sub(lost.count, Ordering::Relaxed);
        self.bytes.fetch_add(lost.bytes, Ordering::Relaxed);
        let _ = self.last.compare_exchange(0, lost.last_ticks, Ordering::Relaxed, Ordering::Relaxed);
        // What it told of was before all that is untold.
        self.first.store(lost.first_ticks, Ordering::Relaxed);
        self.cause.fetch_or(lost.cause, Ordering::Relaxed);
    }

    /// Whether [`Self::tell`] would tell something.
    pub(crate) fn untold(&self) -> bool {
        self.total() != self.told.load(Ordering::Relaxed)
    }
}

/// A stream, as the session sees it.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) stream: Box<Stream>,
    /// The thread's cursor, or null when the thread has ended.
    pub(crate) cursor: *const Cursor,
    pub(crate) tid: u64,
    pub(crate) name: Option<String>,
    /// Thread id and name are in the file.
    pub(crate) told: bool,
    pub(crate) next_sequence: u64,
    /// A part of a slot that is being written just now. The stream may have gone on to another slot meanwhile.
    pub(crate) pending: Option<Pending>,
}

/// A part of a slot that becomes a block. Numbers of later blocks count on it, once its stream has gone on to another slot: when it could not be
/// written, it is the same part again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    pub(crate) slot: *const Slot,
    /// What of it is in the file then, and the date of the last record there.
    pub(crate) after: Flushed,
    pub(crate) last: u64,
}

impl Entry {
    /// The tagged fields of its `stream` block.
    pub(crate) fn tags(&self) -> Vec<u8> {
        let mut tags = Vec::new();
        append_integer(&mut tags, tag::TID, self.tid);
        if let Some(name) = &self.name {
            append_tag(&mut tags, tag::THREAD_NAME, name.as_bytes());
        }
        if self.stream.class == NESTED {
            append_integer(&mut tags, tag::SIGNAL_STREAM, 1);
        }
        if self.stream.class == RING {
            append_integer(&mut tags, tag::OVERWRITTEN, 1);
        }
        tags
    }

    pub(crate) const fn new(stream: Box<Stream>, cursor: *const Cursor, tid: u64, name: Option<String>) -> Self {
        Self { stream, cursor, tid, name, told: false, next_sequence: 0, pending: None }
    }

    /// Notes the stream in the live file; false when that has no room.
    pub(crate) fn log(&self) -> bool {
        live::log(BlockKind::Stream, self.stream.index, 1, &self.tags())
    }

    /// The part of this slot that is being written, or that could not be.
    pub(crate) fn pending_of(&self, slot: *const Slot) -> Option<Pending> {
        self.pending.filter(|pending| std::ptr::eq(pending.slot, slot))
    }

    /// The stream's slot is complete: the next one's blocks follow those that are made of it.
    pub(crate) fn close_slot(&mut self, head: &Slot) {
        let done = self.pending_of(head).map_or_else(|| head.flushed(), |pending| pending.after);
        let rest = done.bytes < used(head.state.load(Ordering::Relaxed));
        self.next_sequence = head.sequence.load(Ordering::Relaxed) + u64::from(done.blocks) + u64::from(rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use tracer_format::cause;

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
        losses.tell_again(&lost);
        assert_eq!(losses.tell().map(|lost| (lost.count, lost.bytes, lost.first_ticks)), Some((3, 66, 100)));
        assert_eq!(losses.total(), 4);
    }
}
