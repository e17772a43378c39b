//! Reads the log of names of a live file, entry by entry. The log also contains dropped records
//! that the process file could not report.

use std::fs::File;

use tracer_format::live_file::LOG_ENTRY_BYTES;
use tracer_format::{BlockKind, MAX_PAYLOAD_BYTES};

use super::file_layout::{LiveError, LiveHeader, u32_at};
use crate::run::read_at::read_at;

/// An entry of the log. Its kind and payload are those of a block.
#[derive(Debug)]
pub(crate) struct LiveLogEntry {
    pub(crate) kind: BlockKind,
    pub(crate) stream: u32,
    pub(crate) entries: u32,
    /// Whether the process file has the entry, too.
    pub(crate) in_file: bool,
    pub(crate) payload: Vec<u8>,
}

/// Reads the entries. The first invalid entry is an error and ends the iteration.
#[derive(Debug)]
pub(in crate::run) struct LiveLogReader<'f> {
    file: &'f File,
    start: u64,
    offset: u64,
    end: u64,
    in_file: u64,
}

impl<'f> LiveLogReader<'f> {
    pub(super) fn new(file: &'f File, header: &LiveHeader) -> Self {
        // Includes entries that were published after the header was read, because a record that is
        // read later may need them.
        let complete =
            LiveHeader::read(file).map_or(header.log_complete, |now| now.log_complete.max(header.log_complete));
        let start = u64::from(header.log_offset);
        Self { file, start, offset: start, end: start + complete, in_file: header.log_in_file }
    }

    fn read(&self) -> Option<(LiveLogEntry, u64)> {
        let mut head = [0; LOG_ENTRY_BYTES];
        if read_at(self.file, &mut head, self.offset).ok()? < LOG_ENTRY_BYTES {
            return None;
        }
        let kind = BlockKind::from_number(u8::try_from(u32_at(&head, 0)).ok()?)?;
        let expected = !matches!(kind, BlockKind::Sync | BlockKind::Anchors | BlockKind::End);
        let length = u32_at(&head, 12) as usize;
        let next = self.offset + (LOG_ENTRY_BYTES + length).next_multiple_of(8) as u64;
        if !expected || length > MAX_PAYLOAD_BYTES || next > self.end {
            return None;
        }
        let mut payload = vec![0; length];
        if read_at(self.file, &mut payload, self.offset + LOG_ENTRY_BYTES as u64).ok()? < length {
            return None;
        }
        let in_file = next - self.start <= self.in_file;
        Some((LiveLogEntry { kind, stream: u32_at(&head, 4), entries: u32_at(&head, 8), in_file, payload }, next))
    }
}

impl Iterator for LiveLogReader<'_> {
    type Item = Result<LiveLogEntry, LiveError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.offset >= self.end {
            return None;
        }
        let Some((entry, next)) = self.read() else {
            let offset = self.offset;
            self.offset = self.end;
            return Some(Err(LiveError::Log { offset }));
        };
        self.offset = next;
        Some(Ok(entry))
    }
}
