//! The log of names of a live file, entry by entry. It holds losses, too, of which the process file could not tell.

use std::fs::File;

use tracer_format::live::LOG_ENTRY_BYTES;
use tracer_format::{BlockKind, MAX_PAYLOAD_BYTES};

use super::layout::{Header, LiveError, u32_at};
use crate::run::read_at::read_at;

/// An entry: kind and payload are those of a block.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) kind: BlockKind,
    pub(crate) stream: u32,
    pub(crate) entries: u32,
    /// The process file has it, too.
    pub(crate) in_file: bool,
    pub(crate) payload: Vec<u8>,
}

/// Reads the entries; the first that cannot be one is an error, and the last.
#[derive(Debug)]
pub(in crate::run) struct Names<'f> {
    file: &'f File,
    start: u64,
    at: u64,
    end: u64,
    in_file: u64,
}

impl<'f> Names<'f> {
    pub(super) fn new(file: &'f File, header: &Header) -> Self {
        // What was published after the header was read counts, too: a record that was read later may need it.
        let complete = Header::read(file).map_or(header.log_complete, |now| now.log_complete.max(header.log_complete));
        let start = u64::from(header.log_offset);
        Self { file, start, at: start, end: start + complete, in_file: header.log_in_file }
    }

    fn read(&self) -> Option<(Entry, u64)> {
        let mut head = [0; LOG_ENTRY_BYTES];
        if read_at(self.file, &mut head, self.at).ok()? < LOG_ENTRY_BYTES {
            return None;
        }
        let kind = BlockKind::from_number(u8::try_from(u32_at(&head, 0)).ok()?)?;
        let expected = !matches!(kind, BlockKind::Sync | BlockKind::Anchors | BlockKind::End);
        let length = u32_at(&head, 12) as usize;
        let next = self.at + (LOG_ENTRY_BYTES + length).next_multiple_of(8) as u64;
        if !expected || length > MAX_PAYLOAD_BYTES || next > self.end {
            return None;
        }
        let mut payload = vec![0; length];
        if read_at(self.file, &mut payload, self.at + LOG_ENTRY_BYTES as u64).ok()? < length {
            return None;
        }
        let in_file = next - self.start <= self.in_file;
        Some((Entry { kind, stream: u32_at(&head, 4), entries: u32_at(&head, 8), in_file, payload }, next))
    }
}

impl Iterator for Names<'_> {
    type Item = Result<Entry, LiveError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.end {
            return None;
        }
        let Some((entry, next)) = self.read() else {
            let offset = self.at;
            self.at = self.end;
            return Some(Err(LiveError::Log { offset }));
        };
        self.at = next;
        Some(Ok(entry))
    }
}
