//! What a process that did not end in order still had in memory: a copy of its live file's slots.
//!
//! The process may still be running. A copy is of one moment all the same, because the slots are read *before* the process
//! file is: a slot that is given away while it is read is in the process file by then, which has more of it.

pub(super) mod layout;
mod log;

pub use layout::LiveError;
pub(crate) use log::Entry;
pub(super) use log::Names;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use layout::{Header, Place, SlotHead};
use tracer_format::live::SLOT_HEAD_BYTES;

use super::read_at::read_at;
use tumit_spill::spool::Spool;

/// How often a slot that changes while it is read is read again: what it held is in the process file then.
const ATTEMPTS: usize = 4;

/// A live file, copied.
#[derive(Debug)]
pub(super) struct Snapshot {
    file: File,
    pub(super) header: Header,
    pub(super) pieces: Vec<Piece>,
    /// What could not be used, and its size in bytes.
    pub(super) faults: Vec<(u64, LiveError)>,
    /// Records that each stream has dropped, whether it has any that are not in the file or not.
    pub(super) dropped: BTreeMap<u32, u64>,
    /// Where the payloads are.
    pub(super) spooled: Option<Arc<File>>,
}

/// What one slot had that the process file did not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// Offset of the slot.
    pub(super) slot_offset: u64,
    pub(super) stream: u32,
    pub(super) sequence: u64,
    /// Date from which the first delta counts.
    pub(super) first: u64,
    /// No record is later.
    pub(super) last: u64,
    pub(super) dropped: u64,
    /// Numbers before its block's may be left out.
    pub(super) overwrites: bool,
    /// Where the payload was copied to, and its size.
    pub(super) offset: u64,
    pub(super) bytes: u32,
    /// Records that the slot claims.
    pub(super) records: u32,
}

impl Snapshot {
    /// Copies what the slots of a live file hold.
    pub(super) fn take(path: &Path, spool: &mut Spool) -> Result<Self, LiveError> {
        let unreadable = |error: std::io::Error| LiveError::Unreadable(error.to_string());
        // Opening a pipe or a device could wait for ever.
        if !std::fs::metadata(path).map_err(unreadable)?.is_file() {
            return Err(LiveError::NotLive);
        }
        let file = File::open(path).map_err(unreadable)?;
        let header = Header::read(&file)?;
        let (pieces, faults, dropped) = (Vec::new(), Vec::new(), BTreeMap::new());
        let mut snapshot = Self { file, header, pieces, faults, dropped, spooled: None };
        let mut last: BTreeMap<u32, u64> = BTreeMap::new();
        for place in snapshot.places()? {
            snapshot.count_uncounted(place)?;
            if let Some(piece) = snapshot.slot(place, spool, &|_| true)? {
                let sequence = last.entry(piece.stream).or_default();
                *sequence = piece.sequence.max(*sequence);
                snapshot.pieces.push(piece);
            }
        }
        // A stream may have taken a slot that was passed already, and gone on to one that was not yet: what such a slot
        // holds now, or the process file, closes the gap.
        let mut known: BTreeSet<(u32, u64)> = snapshot.pieces.iter().map(|p| (p.stream, p.sequence)).collect();
        let missing = |known: &BTreeSet<_>, head: &SlotHead| {
            let before = last.get(&head.stream).is_some_and(|last| head.sequence < *last);
            before && !known.contains(&(head.stream, head.sequence))
        };
        let faults = snapshot.faults.len();
        for place in snapshot.places()? {
            if let Some(piece) = snapshot.slot(place, spool, &|head| missing(&known, head))? {
                known.insert((piece.stream, piece.sequence));
                snapshot.pieces.push(piece);
            }
        }
        // Those that cannot be true were told the first time.
        snapshot.faults.truncate(faults);
        if header.cut_slots > 0 {
            let what = format!("{} slots more than the file is long enough for", header.cut_slots);
            snapshot.faults.push((0, LiveError::Header { what }));
        }
        snapshot.spooled = spool.file();
        Ok(snapshot)
    }

    /// Whether its process said nothing at all, not even which it is.
    pub(super) fn is_empty(&self) -> bool {
        self.header.log_complete == 0 && self.header.dropped == 0 && self.pieces.is_empty() && self.faults.is_empty()
    }

    /// The slots, and the parts of those that are divided.
    fn places(&self) -> Result<Vec<Place>, LiveError> {
        let mut places = Vec::new();
        for slot in 0..self.header.slots {
            let whole = self.header.place(slot, 0);
            let divided = self.head(whole.offset)?.is_some_and(|head| head.divided);
            places.push(whole);
            places.extend((1..self.header.pieces()).filter(|_| divided).map(|piece| self.header.place(slot, piece)));
        }
        Ok(places)
    }

    /// What a slot holds, if it is wanted.
    fn slot(
        &mut self,
        place: Place,
        spool: &mut Spool,
        wanted: &dyn Fn(&SlotHead) -> bool,
    ) -> Result<Option<Piece>, LiveError> {
        let offset = place.offset;
        for _ in 0..ATTEMPTS {
            let Some(head) = self.head(offset)?.filter(|head| head.taken && wanted(head)) else { return Ok(None) };
            if let Some(what) = impossible(&head, place.bytes) {
                self.faults.push((u64::from(place.bytes), LiveError::Slot { offset, what }));
                return Ok(None);
            }
            let dropped = self.dropped.entry(head.stream).or_default();
            *dropped = head.dropped.max(*dropped);
            if head.used == head.flushed {
                return Ok(None);
            }
            fence(Ordering::Acquire);
            let mut payload = vec![0; (head.used - head.flushed) as usize];
            let at = offset + SLOT_HEAD_BYTES as u64 + u64::from(head.flushed);
            let filled = read_at(&self.file, &mut payload, at).map_err(|e| LiveError::Unreadable(e.to_string()))?;
            payload.truncate(filled);
            fence(Ordering::Acquire);
            let Some(after) = self.head(offset)?.filter(|after| head.same_block(after)) else { continue };
            let kept = spool.append(&payload).map_err(|error| LiveError::Spool(error.to_string()))?;
            return Ok(Some(piece(offset, &head, &after, kept, filled)));
        }
        Ok(None)
    }

    /// The process may have ended when it had given up the records of a slot, and not yet counted them.
    fn count_uncounted(&mut self, place: Place) -> Result<(), LiveError> {
        if let Some(head) = self.head(place.offset)?
            && head.uncounted == Some(self.header.overwritten)
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

    /// The names that the log holds.
    pub(super) fn names(&self) -> Names<'_> {
        Names::new(&self.file, &self.header)
    }
}

/// What is wrong with the head of a slot that was taken.
fn impossible(head: &SlotHead, bytes: u32) -> Option<String> {
    let room = bytes - SLOT_HEAD_BYTES as u32;
    if head.used > room {
        return Some(format!("{} bytes where there is room for {room}", head.used));
    }
    if head.flushed > head.used || head.flushed_records > head.records {
        return Some(format!("{} bytes in the file of {}", head.flushed, head.used));
    }
    (head.stream == tracer_format::PROCESS_STREAM).then(|| "no stream".to_owned())
}

/// The names that the log of a live file holds, as far as it is good.
pub(crate) fn entries_of(path: &Path) -> Result<Vec<Entry>, LiveError> {
    let file = File::open(path).map_err(|error| LiveError::Unreadable(error.to_string()))?;
    let header = Header::read(&file)?;
    Ok(Names::new(&file, &header).map_while(Result::ok).collect())
}

fn piece(slot_offset: u64, head: &SlotHead, after: &SlotHead, offset: u64, filled: usize) -> Piece {
    #[expect(clippy::cast_possible_truncation, reason = "no more than `head.used`, which has 32 bits")]
    let bytes = filled as u32;
    Piece {
        slot_offset,
        stream: head.stream,
        sequence: head.sequence,
        first: if head.flushed > 0 { head.flushed_last } else { head.first },
        last: after.last,
        dropped: after.dropped,
        overwrites: head.overwrites,
        offset,
        bytes,
        records: head.records.saturating_sub(head.flushed_records),
    }
}
