//! The layout of the live file, to which a process records before its blocks are written.
//! `FORMAT.md` describes it.
//! This module has the numbers.
//!
//! ```
//! use tracer_format::live_file::{LIVE_HEAD_BYTES, LiveLayout};
//!
//! let (process_id, bytes) = ([7; 16], 1 << 16);
//! let layout = LiveLayout { process_id, slot_bytes: bytes, slots: 4, log_bytes: bytes };
//! let mut file = vec![0; LIVE_HEAD_BYTES];
//! file[..72].copy_from_slice(&layout.encode());
//! assert_eq!(LiveLayout::decode(&file), Some(layout));
//! ```

use crate::bytes::{u32_at, u64_at};

/// First bytes of a live file.
pub const LIVE_MAGIC: [u8; 8] = *b"\xB1TLIVE\r\n";
/// Version of the layout.
pub const LIVE_VERSION: u16 = 1;
/// Size of the head in bytes. The log of names follows.
pub const LIVE_HEAD_BYTES: usize = 4096;
/// Largest text of a request, in bytes.
pub const REQUEST_BYTES: usize = 1024;
/// Number of counters of dropped records.
pub const DROP_COUNTERS: usize = 256;
/// Size of the head of an entry in the log of names.
pub const LOG_ENTRY_BYTES: usize = 16;
/// Size of a slot's head in bytes.
pub const SLOT_HEAD_BYTES: usize = 64;
/// Size in bytes of a part of a divided slot, with its head.
pub const PART_BYTES: usize = 4096;

/// Offsets in the head.
#[expect(missing_docs, reason = "FORMAT.md has the table")]
pub mod head {
    pub const VERSION: usize = 8;
    pub const PROCESS_ID: usize = 16;
    pub const SLOT_BYTES: usize = 32;
    pub const SLOTS: usize = 36;
    pub const LOG_OFFSET: usize = 40;
    pub const LOG_BYTES: usize = 44;
    pub const SLOTS_OFFSET: usize = 48;
    pub const LOG_USED: usize = 56;
    pub const LOG_WRITTEN: usize = 64;
    pub const OVERWRITTEN: usize = 72;
    pub const TRUNCATED: usize = 80;
    pub const PROCESS_END: usize = 88;
    pub const LAST_READING: usize = 96;
    pub const REQUEST: usize = 128;
    pub const REQUEST_LENGTH: usize = 132;
    pub const REQUEST_TEXT: usize = 136;
    pub const REQUEST_DONE: usize = 1280;
    pub const REQUEST_RESULT: usize = 1284;
    pub const DROP_COUNTERS: usize = 2048;
}

/// Offsets in the head of a slot.
#[expect(missing_docs, reason = "FORMAT.md has the table")]
pub mod slot {
    pub const STATE: usize = 0;
    pub const LAST: usize = 8;
    pub const FIRST: usize = 16;
    pub const FLUSHED: usize = 24;
    pub const FLUSHED_LAST: usize = 32;
    pub const SEQUENCE: usize = 40;
    pub const DROPPED: usize = 48;
    pub const STREAM: usize = 56;
    pub const TAKEN: usize = 60;
}

/// The use of a slot: the word [`slot::TAKEN`].
pub mod slot_use {
    /// Free.
    pub const NO: u32 = 0;
    /// Owned by a stream.
    pub const YES: u32 = 1;
    /// Owned by a stream with slots that are overwritten.
    /// Missing sequence numbers before its blocks are not missing blocks.
    pub const OVERWRITES: u32 = 2;
    /// Its records are being overwritten and counted as dropped.
    pub const BEING_OVERWRITTEN: u32 = 3;
    /// Divided into parts of [`super::PART_BYTES`] bytes.
    /// Each part except the first has its own head.
    pub const DIVIDED: u32 = 4;
}

/// The sizes of the parts of a live file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveLayout {
    /// The random id that the process file also has.
    pub process_id: [u8; 16],
    /// Size in bytes of a slot with its head.
    pub slot_bytes: u32,
    /// Number of slots.
    pub slots: u32,
    /// Size in bytes of the log of names, which begins after the head.
    pub log_bytes: u32,
}

impl LiveLayout {
    /// Byte at which the first slot begins, after the head and the log of names.
    #[must_use]
    pub const fn slots_offset(&self) -> u64 {
        (LIVE_HEAD_BYTES as u64 + self.log_bytes as u64).next_multiple_of(LIVE_HEAD_BYTES as u64)
    }

    /// Size of the file in bytes.
    #[must_use]
    pub const fn file_bytes(&self) -> u64 {
        self.slots_offset() + self.slots as u64 * self.slot_bytes as u64
    }

    /// The first bytes of the head. All others are zero.
    #[must_use]
    pub fn encode(&self) -> [u8; 72] {
        let mut bytes = [0; 72];
        bytes[..8].copy_from_slice(&LIVE_MAGIC);
        bytes[head::VERSION..][..2].copy_from_slice(&LIVE_VERSION.to_le_bytes());
        bytes[head::PROCESS_ID..][..16].copy_from_slice(&self.process_id);
        let words = [
            (head::SLOT_BYTES, self.slot_bytes),
            (head::SLOTS, self.slots),
            (head::LOG_OFFSET, LIVE_HEAD_BYTES as u32),
            (head::LOG_BYTES, self.log_bytes),
        ];
        for (offset, word) in words {
            bytes[offset..offset + 4].copy_from_slice(&word.to_le_bytes());
        }
        bytes[head::SLOTS_OFFSET..][..8].copy_from_slice(&self.slots_offset().to_le_bytes());
        bytes
    }

    /// Reads the layout from the bytes of a head.
    /// `None` if it is not a live file of this version, or if its sizes are impossible. The caller
    /// checks that the file is [large enough](Self::file_bytes).
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.first_chunk::<72>()?;
        let layout = Self {
            process_id: bytes[head::PROCESS_ID..][..16].try_into().ok()?,
            slot_bytes: u32_at(bytes, head::SLOT_BYTES),
            slots: u32_at(bytes, head::SLOTS),
            log_bytes: u32_at(bytes, head::LOG_BYTES),
        };
        let version = u16::from_le_bytes([bytes[8], bytes[9]]);
        let good = bytes[..8] == LIVE_MAGIC
            && version == LIVE_VERSION
            && layout.slot_bytes.is_power_of_two()
            && (4096..=65536).contains(&layout.slot_bytes)
            && u32_at(bytes, head::LOG_OFFSET) == LIVE_HEAD_BYTES as u32
            && u64_at(bytes, head::SLOTS_OFFSET) == layout.slots_offset();
        good.then_some(layout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_encoded_and_checked() {
        let layout = LiveLayout { process_id: [7; 16], slot_bytes: 1 << 16, slots: 3, log_bytes: 100_000 };
        let bytes = layout.encode();
        assert_eq!(LiveLayout::decode(&bytes), Some(layout));
        assert_eq!(layout.slots_offset() % 4096, 0);
        assert_eq!(layout.file_bytes(), 4096 + 102_400 + 3 * 65_536);
        for byte in [0, 8, 34, 40, 45, 48] {
            let mut bad = bytes;
            bad[byte] ^= 0x55;
            assert_eq!(LiveLayout::decode(&bad), None, "byte {byte}");
        }
        assert_eq!(LiveLayout::decode(&bytes[..71]), None);
    }
}
