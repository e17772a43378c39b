//! What becomes one block of records: the part of a slot that is not in the file yet.

use std::sync::atomic::Ordering;

use tracer_format::{ID_LOST, ID_WIDE_DATE, RECORD_HEAD_BYTES};

use crate::buffer::{self, Slot, records, used};
use crate::session::Entry;

/// A block of records, not yet written.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) stream: u32,
    pub(crate) records: u32,
    pub(crate) sequence: u64,
    pub(crate) dropped: u64,
    pub(crate) first: u64,
    pub(crate) last: u64,
    bytes: Bytes,
}

#[derive(Debug)]
enum Bytes {
    /// Of a slot that is not given back before the piece is written.
    InSlot(*const u8, usize),
    Own(Vec<u8>),
}

impl Piece {
    /// What is left of a slot that its thread gave away; `None` when all of it is in the file.
    pub(crate) fn of_sealed(slot: *const Slot) -> Option<Self> {
        // SAFETY: slots are never unmapped.
        let head = unsafe { &*slot };
        let (state, last) = (head.state.load(Ordering::Acquire), head.last.load(Ordering::Relaxed));
        let dropped = head.dropped.load(Ordering::Relaxed);
        Self::between(slot, head.flushed.load(Ordering::Relaxed), state, last).map(|piece| Self { dropped, ..piece })
    }

    /// Whether the stream's slot has something that is not in the file yet.
    ///
    /// Under the session's lock.
    pub(crate) fn is_due(entry: &Entry) -> bool {
        let slot = entry.stream.slot.load(Ordering::Relaxed).cast_const();
        // SAFETY: a stream's slot is null or one of the pool.
        let head = unsafe { slot.as_ref() };
        head.is_some_and(|head| head.state.load(Ordering::Relaxed) != head.flushed.load(Ordering::Relaxed))
    }

    /// What a thread has published in its slot so far. While the thread stands in the midst of a record its last date is
    /// uncertain: then `None`, unless this is the last chance (`at_end`).
    ///
    /// Under the session's lock; the sink's lock keeps the slot from being given back.
    pub(crate) fn of_live(entry: &mut Entry, at_end: bool) -> Option<Self> {
        const TRIES: usize = 100;
        let slot = entry.stream.slot.load(Ordering::Relaxed).cast_const();
        // SAFETY: a stream's slot is null or one of the pool.
        let head = unsafe { slot.as_ref() }?;
        // SAFETY: the cursor of a thread that has not been retired; retiring takes the session's lock.
        let cursor = unsafe { entry.cursor.as_ref() };
        let (mut state, mut last, mut settled) = (0, 0, false);
        for _ in 0..TRIES {
            state = head.state.load(Ordering::Acquire);
            last = head.last.load(Ordering::Acquire);
            settled = cursor.is_none_or(|cursor| !cursor.busy.load(Ordering::Acquire))
                && head.state.load(Ordering::Acquire) == state;
            if settled {
                break;
            }
            std::hint::spin_loop();
        }
        if !settled && !at_end && !is_own(entry) {
            return None;
        }
        let flushed = head.flushed.swap(state, Ordering::Relaxed);
        let piece = Self::between(slot, flushed, state, last)?;
        head.flushed_last.store(last, Ordering::Relaxed);
        let sequence = entry.next_sequence;
        entry.next_sequence += 1;
        head.sequence.store(entry.next_sequence, Ordering::Relaxed);
        Some(Self { sequence, dropped: entry.stream.losses.total(), ..piece })
    }

    /// A block that holds nothing but the news of a loss.
    pub(crate) fn of_losses(entry: &mut Entry) -> Option<Self> {
        let lost = entry.stream.losses.tell()?;
        let mut bytes = vec![0; RECORD_HEAD_BYTES];
        bytes[..2].copy_from_slice(&ID_LOST.to_le_bytes());
        bytes.extend(lost.encode());
        let sequence = entry.next_sequence;
        entry.next_sequence += 1;
        Some(Self {
            stream: entry.stream.index,
            records: 0,
            sequence,
            dropped: entry.stream.losses.total(),
            first: lost.last_ticks,
            last: lost.last_ticks,
            bytes: Bytes::Own(bytes),
        })
    }

    /// The payload of the block.
    pub(crate) fn payload(&self) -> &[u8] {
        match &self.bytes {
            // SAFETY: these bytes were published, are written no more, and the slot is not given back yet.
            Bytes::InSlot(start, length) => unsafe { std::slice::from_raw_parts(*start, *length) },
            Bytes::Own(bytes) => bytes,
        }
    }

    fn between(slot: *const Slot, from: u64, to: u64, last: u64) -> Option<Self> {
        if used(from) == used(to) {
            return None;
        }
        // SAFETY: slots are never unmapped.
        let head = unsafe { &*slot };
        let first = if used(from) == 0 {
            head.first.load(Ordering::Relaxed)
        } else {
            start_anew(slot, used(from), head.flushed_last.load(Ordering::Relaxed))
        };
        Some(Self {
            stream: head.stream.load(Ordering::Relaxed),
            records: records(to) - records(from),
            sequence: head.sequence.load(Ordering::Relaxed),
            dropped: 0,
            first,
            last,
            bytes: Bytes::InSlot(buffer::payload(slot, used(from)), used(to) - used(from)),
        })
    }
}

/// The date of the record at `offset`, whose delta counts from `last`. It now begins a block: its delta becomes 0, in
/// place; its own thread never looks at it again.
fn start_anew(slot: *const Slot, offset: usize, last: u64) -> u64 {
    let at = buffer::payload(slot, offset);
    // SAFETY: a published record starts here, with at least its head.
    let head = unsafe { at.cast::<[u8; RECORD_HEAD_BYTES]>().read() };
    let id = u16::from_le_bytes([head[0], head[1]]);
    let delta = u32::from_le_bytes([head[2], head[3], head[4], head[5]]);
    if id == ID_WIDE_DATE {
        let date = at.wrapping_add(RECORD_HEAD_BYTES);
        // SAFETY: the record's date follows its head.
        return u64::from_le_bytes(unsafe { date.cast::<[u8; 8]>().read() });
    }
    // SAFETY: as for the reading; nobody else reads or writes these bytes.
    unsafe { buffer::write_head(at, id, 0) };
    last + u64::from(delta)
}

/// Whether the entry is of the calling thread: it is busy with this very call, not with a record.
fn is_own(entry: &Entry) -> bool {
    buffer::CURSOR.with(|cursor| std::ptr::eq(cursor, entry.cursor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicPtr;

    use crate::pool::Pool;
    use crate::thread::{Losses, Stream};

    #[test]
    fn a_continued_slot_dates_its_blocks_alone() {
        let mut pool = Pool::empty();
        pool.map(0).unwrap();
        let slot = pool.take().unwrap();
        // SAFETY: a slot just taken.
        let head = unsafe { &*slot };
        head.first.store(1000, Ordering::Relaxed);
        for (offset, delta) in [(0, 0), (6, 7), (12, 5)] {
            // SAFETY: within the slot.
            unsafe { buffer::write_head(buffer::payload(slot, offset), 1, delta) };
        }
        let whole = Piece::between(slot, 0, 3 << 32 | 18, 1012).unwrap();
        assert_eq!((whole.first, whole.records, whole.payload().len()), (1000, 3, 18));
        head.flushed_last.store(1000, Ordering::Relaxed);
        let rest = Piece::between(slot, 1 << 32 | 6, 3 << 32 | 18, 1012).unwrap();
        assert_eq!((rest.first, rest.last, rest.records), (1007, 1012, 2));
        assert_eq!(rest.payload(), [1, 0, 0, 0, 0, 0, 1, 0, 5, 0, 0, 0]);
        assert!(Piece::between(slot, 5, 5, 0).is_none());
    }

    #[test]
    fn only_news_are_due() {
        let mut pool = Pool::empty();
        pool.map(0).unwrap();
        let slot = pool.take().unwrap();
        let stream = Stream { index: 0, slot: AtomicPtr::default(), losses: Losses::default() };
        let (stream, cursor) = (Box::new(stream), std::ptr::null());
        let mut entry = Entry { stream, cursor, tid: 1, name: None, told: true, next_sequence: 0 };
        assert!(!Piece::is_due(&entry), "no slot");
        entry.stream.slot.store(slot.cast_mut(), Ordering::Relaxed);
        assert!(!Piece::is_due(&entry), "an empty slot");
        // SAFETY: a slot just taken.
        unsafe { &*slot }.state.store(1 << 32 | 6, Ordering::Relaxed);
        assert!(Piece::is_due(&entry));
        assert_eq!(Piece::of_live(&mut entry, false).map(|piece| piece.records), Some(1));
        assert!(!Piece::is_due(&entry) && Piece::of_live(&mut entry, false).is_none());
    }
}
