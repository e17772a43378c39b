//! The part of a slot that becomes the next block of records.

use std::sync::atomic::Ordering;

use tracer_format::record::DroppedRecords;
use tracer_format::{ID_WIDE_TIMESTAMP, RECORD_HEAD_BYTES};

use crate::cursor::CURSOR;
use crate::slots::record_bytes::payload;
use crate::slots::{FlushMark, SlotHeader, SlotProgress, records, used_bytes};
use crate::state::stream_entry::{PendingBlock, StreamEntry};
use crate::stream::drops;
use crate::threads;

/// A block of records, not yet written.
#[derive(Debug)]
pub(crate) struct SealedBlock {
    pub(crate) stream: u32,
    pub(crate) records: u32,
    pub(crate) sequence: u64,
    pub(crate) dropped: u64,
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// Flags of the block header.
    pub(crate) flags: u8,
    /// The part of the slot that is in the file after this piece is written.
    end_mark: FlushMark,
    bytes: BlockBytes,
}

#[derive(Debug)]
enum BlockBytes {
    /// In a slot that is not given back before the piece is written.
    InSlot(*const u8, usize),
    Own(Vec<u8>),
}

impl SealedBlock {
    /// The rest of a full slot, or the `block` part of it. `None` if all of it is in the file.
    pub(crate) fn of_sealed(slot: *const SlotHeader, block: Option<PendingBlock>) -> Option<Self> {
        // SAFETY: slots are never unmapped.
        let head = unsafe { &*slot };
        let (state, last) = (head.state.load(Ordering::Acquire), head.last.load(Ordering::Relaxed));
        let (state, last) = block.map_or((state, last), |block| {
            (block.end_mark.bytes as u64 | u64::from(block.end_mark.records) << 32, block.last)
        });
        let dropped = head.dropped.load(Ordering::Relaxed);
        Self::from_marks(slot, head.flush_mark(), state, last).map(|piece| Self { dropped, ..piece })
    }

    /// Whether the stream's slot has records that are not in the file yet.
    ///
    /// The caller holds the session's lock.
    pub(crate) fn is_due(entry: &StreamEntry) -> bool {
        let slot = entry.stream.slot.load(Ordering::Relaxed).cast_const();
        // SAFETY: a stream's slot is null or one of the pool.
        let head = unsafe { slot.as_ref() };
        head.is_some_and(|head| used_bytes(head.state.load(Ordering::Relaxed)) != head.flush_mark().bytes)
    }

    /// The records that a thread has published in its slot so far.
    ///
    /// While the thread writes a record, its last timestamp is uncertain. The function then returns
    /// `None`, unless this is the last chance (`at_end`). The caller holds the session's lock, and
    /// the writer's lock keeps the slot from being given back. The caller calls [`Self::commit`]
    /// after the write.
    pub(crate) fn of_live(entry: &mut StreamEntry, at_end: bool) -> Option<(*const SlotHeader, Self)> {
        const TRIES: usize = 100;
        let slot = entry.stream.slot.load(Ordering::Relaxed).cast_const();
        // SAFETY: a stream's slot is null or one of the pool.
        let head = unsafe { slot.as_ref() }?;
        let cursor = entry.cursor;
        // The thread is busy with this call, not with a record.
        let is_own_thread = CURSOR.with(|current| std::ptr::eq(current, cursor));
        let is_busy = || !is_own_thread && threads::is_busy(cursor);
        let between_records = (0..TRIES).find_map(|_| {
            let between_records = head.read_between_records(is_busy);
            between_records.or_else(|| {
                std::hint::spin_loop();
                None
            })
        });
        let uncertain = || {
            at_end.then(|| SlotProgress {
                state: head.state.load(Ordering::Acquire),
                last: head.last.load(Ordering::Acquire),
            })
        };
        let SlotProgress { state, last } = between_records.or_else(uncertain)?;
        let piece = Self::from_marks(slot, head.flush_mark(), state, last)?;
        entry.pending_block = Some(PendingBlock { slot, end_mark: piece.end_mark, last });
        Some((slot, Self { dropped: entry.stream.dropped_records(), ..piece }))
    }

    /// Stores that the piece, a part of this slot, is in the file.
    pub(crate) fn commit(&self, slot: *const SlotHeader) {
        // SAFETY: slots are never unmapped.
        let head = unsafe { &*slot };
        head.commit(self.end_mark, self.last);
    }

    /// A block that only reports drops. It comes before all records later than its timestamp.
    pub(crate) fn of_report(entry: &StreamEntry, drops: &DroppedRecords, sequence: u64, ticks: u64, flags: u8) -> Self {
        Self {
            stream: entry.stream.index,
            records: 0,
            sequence,
            dropped: entry.stream.dropped_records(),
            first: ticks,
            last: ticks,
            flags,
            end_mark: FlushMark::default(),
            bytes: BlockBytes::Own(drops::encode_report(drops)),
        }
    }

    /// The payload of the block.
    pub(crate) fn payload(&self) -> &[u8] {
        match &self.bytes {
            // SAFETY: these bytes are published and not written any more, and the slot is not given
            // back yet.
            BlockBytes::InSlot(start, length) => unsafe { std::slice::from_raw_parts(*start, *length) },
            BlockBytes::Own(bytes) => bytes,
        }
    }

    fn from_marks(slot: *const SlotHeader, from: FlushMark, to: u64, last: u64) -> Option<Self> {
        // The counts are lower in a child forked by a signal handler meanwhile, because its slots
        // are empty.
        if used_bytes(to) <= from.bytes || records(to) < from.records {
            return None;
        }
        // SAFETY: slots are never unmapped.
        let head = unsafe { &*slot };
        let bytes = BlockBytes::InSlot(payload(slot, from.bytes), used_bytes(to) - from.bytes);
        let mut piece = Self {
            stream: head.stream.load(Ordering::Relaxed),
            records: records(to) - from.records,
            sequence: head.sequence.load(Ordering::Relaxed) + u64::from(from.blocks),
            dropped: 0,
            first: head.first.load(Ordering::Relaxed),
            last,
            flags: 0,
            end_mark: FlushMark { bytes: used_bytes(to), records: records(to), blocks: from.blocks + 1 },
            bytes,
        };
        if from.bytes > 0 {
            piece.start_after(head.flushed_last.load(Ordering::Relaxed));
        }
        Some(piece)
    }

    /// Makes the first record the start of a block: its delta becomes 0.
    /// The delta counts from `last`, the timestamp of the previous block. This changes a copy,
    /// because the slot must stay unchanged until the block is written.
    fn start_after(&mut self, last: u64) {
        let mut bytes = self.payload().to_vec();
        let Some((head, body)) = bytes.split_first_chunk_mut::<RECORD_HEAD_BYTES>() else { return };
        let delta = u32::from_le_bytes([head[2], head[3], head[4], head[5]]);
        self.first = last + u64::from(delta);
        if u16::from_le_bytes([head[0], head[1]]) == ID_WIDE_TIMESTAMP {
            self.first = body.first_chunk::<8>().map_or(last, |ticks| u64::from_le_bytes(*ticks));
        }
        head[2..].fill(0);
        self.bytes = BlockBytes::Own(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cursor::KEPT;
    use crate::state::stream_entry::StreamNames;
    use crate::stream::ThreadStream;

    fn slot() -> *const SlotHeader {
        crate::live_file::map_private(1 << 16, None).unwrap().cast::<SlotHeader>().cast_const()
    }

    #[test]
    fn blocks_of_a_continued_slot_have_their_own_timestamps() {
        let slot = slot();
        // SAFETY: the slot was just made.
        let head = unsafe { &*slot };
        head.first.store(1000, Ordering::Relaxed);
        for (offset, delta) in [(0, 0), (6, 7), (12, 5)] {
            // SAFETY: within the slot.
            unsafe { crate::slots::record_bytes::write_head(payload(slot, offset), 1, delta) };
        }
        let block = SealedBlock::from_marks(slot, FlushMark::default(), 3 << 32 | 18, 1012).unwrap();
        assert_eq!((block.first, block.records, block.payload().len()), (1000, 3, 18));
        head.flushed_last.store(1000, Ordering::Relaxed);
        head.sequence.store(40, Ordering::Relaxed);
        let once = FlushMark { bytes: 6, records: 1, blocks: 1 };
        let second_block = SealedBlock::from_marks(slot, once, 3 << 32 | 18, 1012).unwrap();
        assert_eq!(
            (second_block.sequence, second_block.end_mark),
            (41, FlushMark { bytes: 18, records: 3, blocks: 2 })
        );
        assert_eq!(FlushMark::unpack(second_block.end_mark.pack()), second_block.end_mark);
        assert_eq!((second_block.first, second_block.last, second_block.records), (1007, 1012, 2));
        assert_eq!(second_block.payload(), [1, 0, 0, 0, 0, 0, 1, 0, 5, 0, 0, 0]);
        assert!(SealedBlock::from_marks(slot, second_block.end_mark, 3 << 32 | 18, 0).is_none());
    }

    #[test]
    fn only_unwritten_records_are_due() {
        let (slot, another) = (slot(), slot());
        let mut entry =
            StreamEntry::new(Box::new(ThreadStream::new(0, KEPT)), std::ptr::null(), 1, StreamNames::default());
        assert!(!SealedBlock::is_due(&entry), "no slot");
        entry.stream.slot.store(slot.cast_mut(), Ordering::Relaxed);
        assert!(!SealedBlock::is_due(&entry), "an empty slot");
        // SAFETY: the slot was just made.
        let head = unsafe { &*slot };
        head.state.store(1 << 32 | 6, Ordering::Relaxed);
        assert!(SealedBlock::is_due(&entry));
        let (slot, piece) = SealedBlock::of_live(&mut entry, false).unwrap();
        assert_eq!(piece.records, 1);
        assert!(SealedBlock::is_due(&entry), "not yet written");
        // The slot and the next one become full while the piece is on its way to the file.
        entry.close_slot(head);
        assert_eq!(entry.next_sequence, 1);
        let next = another;
        // SAFETY: the slot was just made.
        let next = unsafe { &*next };
        next.sequence.store(1, Ordering::Relaxed);
        next.state.store(1 << 32 | 6, Ordering::Relaxed);
        entry.close_slot(next);
        assert_eq!(entry.next_sequence, 2);
        piece.commit(slot);
        assert!(!SealedBlock::is_due(&entry) && SealedBlock::of_live(&mut entry, false).is_none());
    }
}
