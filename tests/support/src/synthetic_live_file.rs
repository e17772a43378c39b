//! Writes live files with known contents, in the same form as recorders.

use std::path::Path;

use tracer_format::entries::append_string;
use tracer_format::tags::{append_integer, append_tag, tag};
use tracer_format::{BlockKind, Schema};

use crate::synthetic_run::SyntheticRecords;

/// Size of a slot.
pub const SLOT_BYTES: usize = 4096;
/// Size of the head of a slot.
pub const HEAD_BYTES: usize = 64;
/// Size of the header of a live file.
pub const HEADER_BYTES: usize = 4096;
const LOG_BYTES: usize = 4096;

/// A live file that is being written.
#[derive(Debug)]
pub struct SyntheticLiveFile {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    log: usize,
}

/// The contents of a slot.
#[derive(Clone, Debug, Default)]
pub struct SyntheticSlot {
    /// The stream of the records.
    pub stream: u32,
    /// Sequence number of the block.
    pub sequence: u64,
    /// All records of the block.
    pub records: SyntheticRecords,
    /// Bytes and records that the file already has, and the timestamp of the last of them.
    pub flushed: (u32, u32, u64),
    /// Number of dropped records of the stream.
    pub dropped: u64,
}

impl SyntheticLiveFile {
    /// A live file of a process with this number of unused slots.
    #[must_use]
    pub fn new(id: [u8; 16], slots: usize) -> Self {
        let mut bytes = vec![0; HEADER_BYTES + LOG_BYTES + slots * SLOT_BYTES];
        bytes[..8].copy_from_slice(b"\xB1TLIVE\r\n");
        let mut live = Self { bytes: std::mem::take(&mut bytes), log: 0 };
        live.put(8, &1u16.to_le_bytes());
        live.put(16, &id);
        for (index, word) in [(32, SLOT_BYTES), (36, slots), (40, HEADER_BYTES), (44, LOG_BYTES)] {
            live.put(index, &u32::try_from(word).unwrap().to_le_bytes());
        }
        live.put(48, &((HEADER_BYTES + LOG_BYTES) as u64).to_le_bytes());
        live
    }

    /// Overwrites bytes of the file.
    pub fn put(&mut self, offset: usize, bytes: &[u8]) {
        self.bytes[offset..offset + bytes.len()].copy_from_slice(bytes);
    }

    /// The byte at which a slot starts.
    #[must_use]
    pub fn slot_at(slot: usize) -> usize {
        HEADER_BYTES + LOG_BYTES + slot * SLOT_BYTES
    }

    /// Fills a slot.
    pub fn slot(&mut self, number: usize, slot: &SyntheticSlot) {
        let offset = Self::slot_at(number);
        let state = |bytes: u32, records: u32| u64::from(bytes) | u64::from(records) << 32;
        let used = u32::try_from(slot.records.payload.len()).unwrap();
        let (flushed, flushed_records, flushed_last) = slot.flushed;
        let words = [
            state(used, slot.records.count),
            slot.records.last,
            slot.records.first,
            state(flushed, flushed_records),
            flushed_last,
            slot.sequence,
            slot.dropped,
            u64::from(slot.stream) | 1 << 32,
        ];
        for (word, value) in words.into_iter().enumerate() {
            self.put(offset + 8 * word, &value.to_le_bytes());
        }
        self.put(offset + HEAD_BYTES, &slot.records.payload);
    }

    /// Appends an entry to the log.
    pub fn entry(&mut self, kind: BlockKind, stream: u32, payload: &[u8]) {
        let length = u32::try_from(payload.len()).unwrap();
        let mut entry: Vec<u8> = [kind as u32, stream, 1, length].iter().flat_map(|word| word.to_le_bytes()).collect();
        entry.extend_from_slice(payload);
        entry.resize(entry.len().next_multiple_of(8), 0);
        self.put(HEADER_BYTES + self.log, &entry);
        self.log += entry.len();
        self.put(56, &(self.log as u64).to_le_bytes());
    }

    /// Marks the current contents of the log as written to the process file.
    pub fn log_is_in_file(&mut self) {
        self.put(64, &(self.log as u64).to_le_bytes());
    }

    /// Appends an interned string to the log.
    pub fn string(&mut self, id: u32, text: &str) {
        let mut payload = Vec::new();
        append_string(&mut payload, id, text.as_bytes());
        self.entry(BlockKind::Strings, u32::MAX, &payload);
    }

    /// Appends a schema to the log.
    pub fn schema(&mut self, schema: &Schema) {
        let mut payload = 1u32.to_le_bytes().to_vec();
        payload.extend(u32::try_from(schema.records.len()).unwrap().to_le_bytes());
        payload.extend(schema.encode());
        self.entry(BlockKind::Schema, u32::MAX, &payload);
    }

    /// Appends the description of a stream to the log.
    pub fn thread(&mut self, stream: u32, tid: u64, name: &str) {
        let mut tags = Vec::new();
        append_integer(&mut tags, tag::TID, tid);
        append_tag(&mut tags, tag::THREAD_NAME, name.as_bytes());
        self.entry(BlockKind::Stream, stream, &tags);
    }

    /// Writes the file into a folder.
    pub fn save(&self, folder: &Path, name: &str) {
        std::fs::write(folder.join(name), &self.bytes).unwrap();
    }
}
