//! Copies the slots of a live file: records of a process without an orderly end that are not in its
//! process file.
//!
//! The process may still run. The copy is consistent nevertheless, because the slots are read
//! *before* the process file. If the process releases a slot during the read, the process file
//! already has its records, and more.

pub(super) mod file_layout;
mod name_log;

pub use file_layout::{LiveError, LiveFault};
pub(crate) use name_log::LiveLogEntry;
pub(super) use name_log::LiveLogReader;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use file_layout::{LiveHeader, SlotHead, SlotRange};
use tracer_format::live_file::SLOT_HEAD_BYTES;

use super::read_at::read_at;
use tumit_spill::spool::Spool;

/// Maximum number of attempts to read a slot that changes during the read. After these, its records
/// are in the process file.
const ATTEMPTS: usize = 4;

/// A copy of a live file.
#[derive(Debug)]
pub(super) struct LiveSnapshot {
    file: File,
    pub(super) header: LiveHeader,
    pub(super) pieces: Vec<RecoveredPiece>,
    /// The unusable parts.
    pub(super) faults: Vec<LiveFault>,
    /// Number of dropped records of each stream, even if all its records are in the file.
    pub(super) drops: BTreeMap<u32, u64>,
    /// The file with the payloads.
    pub(super) spooled: Option<Arc<File>>,
}

/// The records of one slot that the process file does not have.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecoveredPiece {
    /// Offset of the slot in bytes.
    pub(super) slot_offset: u64,
    pub(super) stream: u32,
    pub(super) sequence: u64,
    /// The timestamp to which the first delta is added.
    pub(super) first: u64,
    /// The timestamp of the last record.
    pub(super) last: u64,
    pub(super) drops: u64,
    /// Whether sequence numbers before its block may be skipped.
    pub(super) overwrites: bool,
    /// The offset of the payload in the spool, and its size in bytes.
    pub(super) offset: u64,
    pub(super) bytes: u32,
    /// Number of records by the head of the slot.
    pub(super) records: u32,
}

impl LiveSnapshot {
    /// Copies the contents of the slots of a live file.
    pub(super) fn copy(path: &Path, spool: &mut Spool) -> Result<Self, LiveError> {
        let unreadable = |error: std::io::Error| LiveError::Unreadable(error.to_string());
        // Opening a pipe or a device could block forever.
        if !std::fs::metadata(path).map_err(unreadable)?.is_file() {
            return Err(LiveError::NotLive);
        }
        let file = File::open(path).map_err(unreadable)?;
        let header = LiveHeader::read(&file)?;
        let (pieces, faults, dropped) = (Vec::new(), Vec::new(), BTreeMap::new());
        let mut snapshot = Self { file, header, pieces, faults, drops: dropped, spooled: None };
        let mut last: BTreeMap<u32, u64> = BTreeMap::new();
        for range in snapshot.slot_ranges()? {
            snapshot.count_uncounted(range)?;
            if let Some(piece) = snapshot.slot(range, spool, &|_| true)? {
                let sequence = last.entry(piece.stream).or_default();
                *sequence = piece.sequence.max(*sequence);
                snapshot.pieces.push(piece);
            }
        }
        // A stream may have taken a slot that was already passed, and continued in one that was
        // not. The contents of the passed slot, or the process file, then close the gap.
        let mut sequences: BTreeSet<(u32, u64)> = snapshot.pieces.iter().map(|p| (p.stream, p.sequence)).collect();
        let missing = |sequences: &BTreeSet<_>, head: &SlotHead| {
            let is_earlier = last.get(&head.stream).is_some_and(|last| head.sequence < *last);
            is_earlier && !sequences.contains(&(head.stream, head.sequence))
        };
        let faults = snapshot.faults.len();
        for range in snapshot.slot_ranges()? {
            if let Some(piece) = snapshot.slot(range, spool, &|head| missing(&sequences, head))? {
                sequences.insert((piece.stream, piece.sequence));
                snapshot.pieces.push(piece);
            }
        }
        // The first round has already reported the invalid heads.
        snapshot.faults.truncate(faults);
        if header.cut_slots > 0 {
            let problem = format!("{} slots beyond the end of the file", header.cut_slots);
            snapshot.faults.push(LiveFault { bytes: 0, reason: LiveError::Header { problem } });
        }
        snapshot.spooled = spool.file();
        Ok(snapshot)
    }

    /// Whether the process wrote nothing at all, not even its description.
    pub(super) fn is_empty(&self) -> bool {
        self.header.log_complete == 0 && self.header.dropped == 0 && self.pieces.is_empty() && self.faults.is_empty()
    }

    /// The slots, and the parts of divided slots.
    fn slot_ranges(&self) -> Result<Vec<SlotRange>, LiveError> {
        let mut slot_ranges = Vec::new();
        for slot in 0..self.header.slots {
            let slot_range = self.header.slot_range(slot, 0);
            let divided = self.head(slot_range.offset)?.is_some_and(|head| head.divided);
            slot_ranges.push(slot_range);
            slot_ranges
                .extend((1..self.header.pieces()).filter(|_| divided).map(|piece| self.header.slot_range(slot, piece)));
        }
        Ok(slot_ranges)
    }

    /// The contents of a slot, if it is wanted.
    fn slot(
        &mut self,
        range: SlotRange,
        spool: &mut Spool,
        selects: &dyn Fn(&SlotHead) -> bool,
    ) -> Result<Option<RecoveredPiece>, LiveError> {
        let offset = range.offset;
        for _ in 0..ATTEMPTS {
            let Some(head) = self.head(offset)?.filter(|head| head.is_taken && selects(head)) else { return Ok(None) };
            if let Some(problem) = invalid_head(&head, range.bytes) {
                let reason = LiveError::Slot { offset, problem };
                self.faults.push(LiveFault { bytes: u64::from(range.bytes), reason });
                return Ok(None);
            }
            let dropped = self.drops.entry(head.stream).or_default();
            *dropped = head.dropped.max(*dropped);
            if head.used_bytes == head.flushed_bytes {
                return Ok(None);
            }
            fence(Ordering::Acquire);
            let mut payload = vec![0; (head.used_bytes - head.flushed_bytes) as usize];
            let position = offset + SLOT_HEAD_BYTES as u64 + u64::from(head.flushed_bytes);
            let filled =
                read_at(&self.file, &mut payload, position).map_err(|e| LiveError::Unreadable(e.to_string()))?;
            payload.truncate(filled);
            fence(Ordering::Acquire);
            let Some(later_head) = self.head(offset)?.filter(|later_head| head.same_block(later_head)) else {
                continue;
            };
            let position = spool.append(&payload).map_err(|error| LiveError::Spool(error.to_string()))?;
            return Ok(Some(piece(offset, &head, &later_head, position, filled)));
        }
        Ok(None)
    }

    /// Counts the records of a slot that the process discarded, but did not count before it ended.
    fn count_uncounted(&mut self, range: SlotRange) -> Result<(), LiveError> {
        if let Some(head) = self.head(range.offset)?
            && head.uncounted == Some(self.header.overwrites)
        {
            let records = head.records.saturating_sub(head.flushed_records);
            self.header.dropped = self.header.dropped.saturating_add(u64::from(records));
        }
        Ok(())
    }

    fn head(&self, offset: u64) -> Result<Option<SlotHead>, LiveError> {
        let mut bytes = [0; SLOT_HEAD_BYTES];
        let filled = read_at(&self.file, &mut bytes, offset).map_err(|e| LiveError::Unreadable(e.to_string()))?;
        Ok((filled == SLOT_HEAD_BYTES).then(|| SlotHead::decode(&bytes)))
    }

    /// The entries of the log of names.
    pub(super) fn names(&self) -> LiveLogReader<'_> {
        LiveLogReader::new(&self.file, &self.header)
    }
}

/// The reason why the head of a slot in use is invalid.
fn invalid_head(head: &SlotHead, bytes: u32) -> Option<String> {
    let room = bytes - SLOT_HEAD_BYTES as u32;
    if head.used_bytes > room {
        return Some(format!("{} bytes in use, but the slot has space for {room}", head.used_bytes));
    }
    if head.flushed_bytes > head.used_bytes || head.flushed_records > head.records {
        return Some(format!("{} bytes already written, but only {} in use", head.flushed_bytes, head.used_bytes));
    }
    (head.stream == tracer_format::PROCESS_STREAM).then(|| "a number that no stream has".to_owned())
}

/// The valid entries at the start of the log of names of a live file.
pub(crate) fn entries_of(path: &Path) -> Result<Vec<LiveLogEntry>, LiveError> {
    let file = File::open(path).map_err(|error| LiveError::Unreadable(error.to_string()))?;
    let header = LiveHeader::read(&file)?;
    Ok(LiveLogReader::new(&file, &header).map_while(Result::ok).collect())
}

fn piece(slot_offset: u64, head: &SlotHead, later_head: &SlotHead, offset: u64, filled_bytes: usize) -> RecoveredPiece {
    #[expect(clippy::cast_possible_truncation, reason = "at most `head.used`, which has 32 bits")]
    let bytes = filled_bytes as u32;
    RecoveredPiece {
        slot_offset,
        stream: head.stream,
        sequence: head.sequence,
        first: if head.flushed_bytes > 0 { head.flushed_last } else { head.first },
        last: later_head.last,
        drops: later_head.dropped,
        overwrites: head.overwrites,
        offset,
        bytes,
        records: head.records.saturating_sub(head.flushed_records),
    }
}
