//! The layout of a live file: the positions of its parts, and the validation of its header.

use std::fs::File;
use std::io;

use tracer_format::live_file::{
    DROP_COUNTERS, LIVE_HEAD_BYTES, LIVE_MAGIC, LIVE_VERSION, PART_BYTES, SLOT_HEAD_BYTES, head, slot, slot_use,
};

use crate::run::read_at::read_at;

/// Valid sizes of a slot in bytes.
const SLOT_SIZES: std::ops::RangeInclusive<u32> = 4096..=65536;
/// Maximum number of slots. A header with more slots is invalid.
const MAX_SLOTS: u32 = 1 << 20;

/// An unusable part of a live file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LiveFault {
    /// Its size in bytes. 0 if unknown.
    pub bytes: u64,
    /// The reason why the part is not used.
    pub reason: LiveError,
}

/// The reason why a live file or a part of it is not used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LiveError {
    /// The system could not read it.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// The file does not start with the magic of a live file.
    #[error("not a live file (its first bytes are not `±TLIVE`)")]
    NotLive,
    /// The process ended before the file had contents.
    #[error("its process ended before it recorded anything: the file can be removed without loss")]
    Empty,
    /// The file has a later version.
    #[error("version {version}, but this program reads version {LIVE_VERSION}")]
    Version {
        /// Its version.
        version: u16,
    },
    /// The header is invalid.
    #[error("its header contains an impossible value: {problem}")]
    Header {
        /// The invalid contents.
        problem: String,
    },
    /// The file belongs to another process than the process file of the same name.
    #[error("it belongs to another process, perhaps an earlier one of this name")]
    OtherProcess,
    /// The process file names a live file that does not exist.
    #[error("it does not exist: it is on another machine, or was removed")]
    Missing,
    /// The records could not be stored in the spool.
    #[error("its records cannot be stored in a temporary file: {0}; set TMPDIR to another folder")]
    Spool(String),
    /// The log of names is damaged.
    #[error("the log of names cannot be read from byte {offset}")]
    Log {
        /// Offset in the file.
        offset: u64,
    },
    /// A schema of the log cannot be decoded.
    #[error("a schema in its log of names is damaged: {0}")]
    Schema(String),
    /// The head of a slot is invalid.
    #[error("the slot at byte {offset} contains an impossible value: {problem}")]
    Slot {
        /// Offset in the file.
        offset: u64,
        /// The invalid contents.
        problem: String,
    },
    /// The records of a slot cannot be decoded to the end.
    #[error("the records of the slot at byte {offset} are damaged after {valid_bytes} of {bytes} bytes: {error}")]
    Records {
        /// Offset of the slot in the file.
        offset: u64,
        /// Number of valid bytes.
        valid_bytes: u64,
        /// Number of bytes in the slot.
        bytes: u64,
        /// The error.
        error: String,
    },
}

/// The header, checked against the size of the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LiveHeader {
    pub(crate) process_id: [u8; 16],
    pub(crate) slot_bytes: u32,
    pub(crate) slots: u32,
    pub(crate) log_offset: u32,
    /// Bytes of the log that are complete.
    pub(crate) log_complete: u64,
    /// Bytes of the log that are in the process file, too.
    pub(crate) log_in_file: u64,
    pub(crate) slots_offset: u64,
    /// Number of slots in the header for which the file is too short.
    pub(crate) cut_slots: u32,
    /// Number of records that the process dropped or overwrote.
    pub(crate) dropped: u64,
    /// Number of overwritten records among these.
    pub(crate) overwrites: u64,
    /// Records with truncated texts, bytes or arrays.
    pub(crate) truncated_records: u64,
    /// Timestamp of the orderly end of the process; 0 if the process did not end in order.
    pub(crate) process_end: u64,
    /// Timestamp of the writer thread's last reading of the clock; 0 if there is none.
    pub(crate) last_reading: u64,
}

/// Whether all bytes of a file are 0: its process created the file, and ended before it wrote a
/// header.
fn is_zero(file: &File) -> io::Result<bool> {
    let mut bytes = vec![0; 1 << 16];
    let mut offset = 0;
    loop {
        let byte_count = read_at(file, &mut bytes, offset)?;
        if byte_count == 0 || bytes[..byte_count].iter().any(|&byte| byte != 0) {
            return Ok(byte_count == 0);
        }
        offset += byte_count as u64;
    }
}

impl LiveHeader {
    pub(crate) fn read(file: &File) -> Result<Self, LiveError> {
        let mut bytes = [0; LIVE_HEAD_BYTES];
        let unreadable = |error: io::Error| LiveError::Unreadable(error.to_string());
        let length = file.metadata().map_err(unreadable)?.len();
        let filled = read_at(file, &mut bytes, 0).map_err(unreadable)?;
        let is_empty = || Ok(bytes == [0; LIVE_HEAD_BYTES] && is_zero(file)?);
        match Self::decode(&bytes[..filled], length) {
            Err(LiveError::NotLive) if is_empty().map_err(unreadable)? => Err(LiveError::Empty),
            header => header,
        }
    }

    fn decode(bytes: &[u8], length: u64) -> Result<Self, LiveError> {
        if !bytes.starts_with(&LIVE_MAGIC) {
            return Err(LiveError::NotLive);
        }
        let Some(bytes) = bytes.first_chunk::<LIVE_HEAD_BYTES>() else {
            return Err(LiveError::Header { problem: format!("a file of {} bytes", bytes.len()) });
        };
        let version = u16::from_le_bytes([bytes[head::VERSION], bytes[head::VERSION + 1]]);
        if version != LIVE_VERSION {
            return Err(LiveError::Version { version });
        }
        let mut process_id = [0; 16];
        process_id.copy_from_slice(&bytes[head::PROCESS_ID..head::PROCESS_ID + 16]);
        let header = Self {
            process_id,
            slot_bytes: u32_at(bytes, head::SLOT_BYTES),
            slots: u32_at(bytes, head::SLOTS),
            log_offset: u32_at(bytes, head::LOG_OFFSET),
            log_complete: u64_at(bytes, head::LOG_USED),
            log_in_file: u64_at(bytes, head::LOG_WRITTEN),
            slots_offset: u64_at(bytes, head::SLOTS_OFFSET),
            cut_slots: 0,
            dropped: (0..DROP_COUNTERS)
                .map(|counter| u64_at(bytes, head::DROP_COUNTERS + counter * 8))
                .fold(u64_at(bytes, head::OVERWRITTEN), u64::saturating_add),
            overwrites: u64_at(bytes, head::OVERWRITTEN),
            truncated_records: u64_at(bytes, head::TRUNCATED),
            process_end: u64_at(bytes, head::PROCESS_END),
            last_reading: u64_at(bytes, head::LAST_READING),
        };
        header.check(u32_at(bytes, head::LOG_BYTES), length)
    }

    fn check(mut self, log_bytes: u32, length: u64) -> Result<Self, LiveError> {
        let wrong = |problem: String| Err(LiveError::Header { problem });
        if !self.slot_bytes.is_power_of_two() || !SLOT_SIZES.contains(&self.slot_bytes) {
            return wrong(format!("slots of {} bytes", self.slot_bytes));
        }
        if self.slots > MAX_SLOTS {
            return wrong(format!("{} slots", self.slots));
        }
        let log_end = u64::from(self.log_offset) + u64::from(log_bytes);
        if (self.log_offset as usize) < LIVE_HEAD_BYTES || self.slots_offset < log_end {
            return wrong(format!("names at bytes {}..{log_end}, slots at {}", self.log_offset, self.slots_offset));
        }
        if self.log_complete > u64::from(log_bytes) {
            return wrong(format!("{} of {log_bytes} bytes of names", self.log_complete));
        }
        // The number is damaged, so the file may have none of these bytes.
        if self.log_in_file > self.log_complete {
            self.log_in_file = 0;
        }
        let room = length.saturating_sub(self.slots_offset) / u64::from(self.slot_bytes);
        let slots_in_file = u32::try_from(room).unwrap_or(u32::MAX).min(self.slots);
        self.cut_slots = self.slots - slots_in_file;
        self.slots = slots_in_file;
        Ok(self)
    }

    /// The position and size of a slot, or of a part of it.
    pub(crate) fn slot_range(&self, slot: u32, piece: u32) -> SlotRange {
        let bytes = if piece == 0 { self.slot_bytes } else { PART };
        SlotRange { offset: self.slot_offset(slot) + u64::from(piece) * u64::from(PART), bytes }
    }

    /// Number of parts of a divided slot. The first part contains the head of the slot.
    pub(crate) fn pieces(&self) -> u32 {
        self.slot_bytes / PART
    }

    fn slot_offset(&self, slot: u32) -> u64 {
        self.slots_offset + u64::from(slot) * u64::from(self.slot_bytes)
    }
}

/// The position of a slot or a part of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotRange {
    pub(crate) offset: u64,
    /// Its size in bytes, including its head.
    pub(crate) bytes: u32,
}

#[expect(clippy::cast_possible_truncation, reason = "a page")]
const PART: u32 = PART_BYTES as u32;

/// The bookkeeping of the recorder at the start of each slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotHead {
    /// Number of payload bytes.
    pub(crate) used_bytes: u32,
    /// Number of records in the payload.
    pub(crate) records: u32,
    /// Timestamp of the last record.
    pub(crate) last: u64,
    /// The timestamp to which the first delta is added.
    pub(crate) first: u64,
    /// Number of payload bytes that are in the process file.
    pub(crate) flushed_bytes: u32,
    /// Number of records in these bytes.
    pub(crate) flushed_records: u32,
    /// Timestamp of the last of these records.
    pub(crate) flushed_last: u64,
    /// Sequence number of the block that consists of the other bytes.
    pub(crate) sequence: u64,
    /// Number of dropped records of the stream.
    pub(crate) dropped: u64,
    pub(crate) stream: u32,
    /// Whether the slot belongs to a stream.
    pub(crate) is_taken: bool,
    /// Whether the stream overwrites its slots.
    pub(crate) overwrites: bool,
    /// Set while the records of the slot are overwritten. They are counted as soon as the process
    /// has overwritten more records than this number.
    pub(crate) uncounted: Option<u64>,
    /// Whether the slot is divided.
    pub(crate) divided: bool,
}

impl SlotHead {
    pub(crate) fn decode(bytes: &[u8; SLOT_HEAD_BYTES]) -> Self {
        let half = |offset: usize| u16::from_le_bytes([bytes[offset], bytes[offset + 1]]);
        let blocks = half(slot::FLUSHED + 6);
        let use_word = u32_at(bytes, slot::TAKEN);
        Self {
            used_bytes: u32_at(bytes, slot::STATE),
            records: u32_at(bytes, slot::STATE + 4),
            last: u64_at(bytes, slot::LAST),
            first: u64_at(bytes, slot::FIRST),
            flushed_bytes: u32_at(bytes, slot::FLUSHED),
            flushed_records: u32::from(half(slot::FLUSHED + 4)),
            flushed_last: u64_at(bytes, slot::FLUSHED_LAST),
            sequence: u64_at(bytes, slot::SEQUENCE).saturating_add(u64::from(blocks)),
            dropped: u64_at(bytes, slot::DROPPED),
            stream: u32_at(bytes, slot::STREAM),
            is_taken: use_word == slot_use::YES || use_word == slot_use::OVERWRITES,
            overwrites: use_word == slot_use::OVERWRITES,
            divided: use_word == slot_use::DIVIDED,
            uncounted: (use_word == slot_use::BEING_OVERWRITTEN).then(|| u64_at(bytes, slot::FLUSHED_LAST)),
        }
    }

    /// Whether `later_head`, a head that was read later, describes the same block with the same or
    /// more records.
    pub(crate) fn same_block(&self, later_head: &Self) -> bool {
        let block = |head: &Self| (head.is_taken, head.stream, head.sequence, head.first, head.flushed_bytes);
        block(self) == block(later_head) && later_head.used_bytes >= self.used_bytes
    }
}

pub(crate) fn u32_at(bytes: &[u8], offset: usize) -> u32 {
    bytes.get(offset..).and_then(<[u8]>::first_chunk).map_or(0, |chunk| u32::from_le_bytes(*chunk))
}

fn u64_at(bytes: &[u8], offset: usize) -> u64 {
    bytes.get(offset..).and_then(<[u8]>::first_chunk).map_or(0, |chunk| u64::from_le_bytes(*chunk))
}
