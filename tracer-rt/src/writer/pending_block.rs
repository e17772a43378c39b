//! What becomes one block of records: the part of a slot that is not in the file yet.

use std::sync::atomic::Ordering;

use tracer_format::record::Lost;
use tracer_format::{ID_WIDE_DATE, RECORD_HEAD_BYTES};

use crate::cursor::CURSOR;
use crate::slots::write::payload;
use crate::slots::{Flushed, Slot, records, used};
use crate::state::stream_entry::{Entry, Pending};
use crate::stream::drops;
use crate::threads;

/// A block of records, not yet written.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) stream: u32,
    pub(crate) records: u32,
    pub(crate) sequence: u64,
    pub(crate) dropped: u64,
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// Of its header.
    pub(crate) flags: u8,
    /// What of the slot is in the file with this piece.
    after: Flushed,
    bytes: Bytes,
}

#[derive(Debug)]
enum Bytes {
    /// Of a slot that is not given back before the piece is written.
    InSlot(*const u8, usize),
    Own(Vec<u8>),
}

impl Piece {
    /// What is left of a slot that its thread gave away, up to what was to become a block before; `None` when all of it is in the file.
    pub(crate) fn of_sealed(slot: *const Slot, pending: Option<Pending>) -> Option<Self> {
        // SAFETY: slots are never unmapped.
        let head = unsafe { &*slot };
        let (state, last) = (head.state.load(Ordering::Acquire), head.last.load(Ordering::Relaxed));
        let (state, last) = pending.map_or((state, last), |pending| {
            (pending.after.bytes as u64 | u64::from(pending.after.records) << 32, pending.last)
        });
        let dropped = head.dropped.load(Ordering::Relaxed);
        Self::between(slot, head.flushed(), state, last).map(|piece| Self { dropped, ..piece })
    }

    /// Whether the stream's slot has something that is not in the file yet.
    ///
    /// Under the session's lock.
    pub(crate) fn is_due(entry: &Entry) -> bool {
        let slot = entry.stream.slot.load(Ordering::Relaxed).cast_const();
        // SAFETY: a stream's slot is null or one of the pool.
        let head = unsafe { slot.as_ref() };
        head.is_some_and(|head| used(head.state.load(Ordering::Relaxed)) != head.flushed().bytes)
    }

    /// What a thread has published in its slot so far. While the thread stands in the midst of a record its last date is
    /// uncertain: then `None`, unless this is the last chance (`at_end`).
    ///
    /// Under the session's lock; the sink's lock keeps the slot from being given back. To be told of by [`Self::commit`]
    /// when it is written.
    pub(crate) fn of_live(entry: &mut Entry, at_end: bool) -> Option<(*const Slot, Self)> {
        const TRIES: usize = 100;
        let slot = entry.stream.slot.load(Ordering::Relaxed).cast_const();
        // SAFETY: a stream's slot is null or one of the pool.
        let head = unsafe { slot.as_ref() }?;
        let cursor = entry.cursor;
        // It is busy with this very call, not with a record.
        let own = CURSOR.with(|own| std::ptr::eq(own, cursor));
        let is_busy = || !own && threads::is_busy(cursor);
        let settled = (0..TRIES).find_map(|_| {
            let settled = head.settled(is_busy);
            settled.or_else(|| {
                std::hint::spin_loop();
                None
            })
        });
        let uncertain = || at_end.then(|| (head.state.load(Ordering::Acquire), head.last.load(Ordering::Acquire)));
        let (state, last) = settled.or_else(uncertain)?;
        let piece = Self::between(slot, head.flushed(), state, last)?;
        entry.pending = Some(Pending { slot, after: piece.after, last });
        Some((slot, Self { dropped: entry.stream.dropped(), ..piece }))
    }

    /// Notes that the piece, which is a part of this slot, is in the file.
    pub(crate) fn commit(&self, slot: *const Slot) {
        // SAFETY: slots are never unmapped.
        let head = unsafe { &*slot };
        head.commit(self.after, self.last);
    }

    /// A block that holds nothing but the news of a loss, which comes before all that is later than `date`.
    pub(crate) fn of_news(entry: &Entry, lost: &Lost, sequence: u64, date: u64, flags: u8) -> Self {
        Self {
            stream: entry.stream.index,
            records: 0,
            sequence,
            dropped: entry.stream.dropped(),
            first: date,
            last: date,
            flags,
            after: Flushed::default(),
            bytes: Bytes::Own(drops::news(lost)),
        }
    }

    /// The payload of the block.
    pub(crate) fn payload(&self) -> &[u8] {
        match &self.bytes {
            // SAFETY: these bytes were published, are written no more, and the slot is not given back yet.
            Bytes::InSlot(start, length) => unsafe { std::slice::from_raw_parts(*start, *length) },
            Bytes::Own(bytes) => bytes,
        }
    }

    fn between(slot: *const Slot, from: Flushed, to: u64, last: u64) -> Option<Self> {
        // Less where a signal handler forked meanwhile, in the child: its slots are empty.
        if used(to) <= from.bytes || records(to) < from.records {
            return None;
        }
        // SAFETY: slots are never unmapped.
        let head = unsafe { &*slot };
        let bytes = Bytes::InSlot(payload(slot, from.bytes), used(to) - from.bytes);
        let mut piece = Self {
            stream: head.stream.load(Ordering::Relaxed),
            records: records(to) - from.records,
            sequence: head.sequence.load(Ordering::Relaxed) + u64::from(from.blocks),
            dropped: 0,
            first: head.first.load(Ordering::Relaxed),
            last,
            flags: 0,
            after: Flushed { bytes: used(to), records: records(to), blocks: from.blocks + 1 },
            bytes,
        };
        if from.bytes > 0 {
            piece.start_anew(head.flushed_last.load(Ordering::Relaxed));
        }
        Some(piece)
    }

    /// The first record's delta counts from `last`, of a block before. Now it begins a block: its delta becomes 0, in a
    /// copy, for the slot must stay as it is until the block is written.
    fn start_anew(&mut self, last: u64) {
        let mut bytes = self.payload().to_vec();
        let Some((head, body)) = bytes.split_first_chunk_mut::<RECORD_HEAD_BYTES>() else { return };
        let delta = u32::from_le_bytes([head[2], head[3], head[4], head[5]]);
        self.first = last + u64::from(delta);
        if u16::from_le_bytes([head[0], head[1]]) == ID_WIDE_DATE {
            self.first = body.first_chunk::<8>().map_or(last, |date| u64::from_le_bytes(*date));
        }
        head[2..].fill(0);
        self.bytes = Bytes::Own(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cursor::KEPT;
    use crate::state::stream_entry::Names;
    use crate::stream::Stream;

    fn slot() -> *const Slot {
        crate::live_file::map_private(1 << 16, None).unwrap().cast::<Slot>().cast_const()
    }

    #[test]
    fn a_continued_slot_dates_its_blocks_alone() {
        let slot = slot();
        // SAFETY: a slot just made.
        let head = unsafe { &*slot };
        head.first.store(1000, Ordering::Relaxed);
        for (offset, delta) in [(0, 0), (6, 7), (12, 5)] {
            // SAFETY: within the slot.
            unsafe { crate::slots::write::write_head(payload(slot, offset), 1, delta) };
        }
        let whole = Piece::between(slot, Flushed::default(), 3 << 32 | 18, 1012).unwrap();
        assert_eq!((whole.first, whole.records, whole.payload().len()), (1000, 3, 18));
        head.flushed_last.store(1000, Ordering::Relaxed);
        head.sequence.store(40, Ordering::Relaxed);
        let once = Flushed { bytes: 6, records: 1, blocks: 1 };
        let rest = Piece::between(slot, once, 3 << 32 | 18, 1012).unwrap();
        assert_eq!((rest.sequence, rest.after), (41, Flushed { bytes: 18, records: 3, blocks: 2 }));
        assert_eq!(Flushed::unpack(rest.after.pack()), rest.after);
        assert_eq!((rest.first, rest.last, rest.records), (1007, 1012, 2));
        assert_eq!(rest.payload(), [1, 0, 0, 0, 0, 0, 1, 0, 5, 0, 0, 0]);
        assert!(Piece::between(slot, rest.after, 3 << 32 | 18, 0).is_none());
    }

    #[test]
    fn only_news_are_due() {
        let (slot, another) = (slot(), slot());
        let mut entry = Entry::new(Box::new(Stream::new(0, KEPT)), std::ptr::null(), 1, Names::default());
        assert!(!Piece::is_due(&entry), "no slot");
        entry.stream.slot.store(slot.cast_mut(), Ordering::Relaxed);
        assert!(!Piece::is_due(&entry), "an empty slot");
        // SAFETY: a slot just taken.
        let head = unsafe { &*slot };
        head.state.store(1 << 32 | 6, Ordering::Relaxed);
        assert!(Piece::is_due(&entry));
        let (slot, piece) = Piece::of_live(&mut entry, false).unwrap();
        assert_eq!(piece.records, 1);
        assert!(Piece::is_due(&entry), "not yet written");
        // The slot and the next one fill up while the piece is on its way to the file.
        entry.close_slot(head);
        assert_eq!(entry.next_sequence, 1);
        let next = another;
        // SAFETY: a slot just made.
        let next = unsafe { &*next };
        next.sequence.store(1, Ordering::Relaxed);
        next.state.store(1 << 32 | 6, Ordering::Relaxed);
        entry.close_slot(next);
        assert_eq!(entry.next_sequence, 2);
        piece.commit(slot);
        assert!(!Piece::is_due(&entry) && Piece::of_live(&mut entry, false).is_none());
    }
}
