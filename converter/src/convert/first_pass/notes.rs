//! Notes of the first pass about single actions, sorted by place.
//!
//! They are in memory up to a budget, and beyond it in temporary files. Each stream looks them up
//! nearly in order, so one page per stream is kept of a file.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};

use rustc_hash::FxHashMap;

use crate::run::read_at;

/// The position of an action: its record, and its number in the record's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ActionPosition {
    pub(crate) stream: u32,
    /// The position of the record in the stream.
    pub(crate) ordinal: u64,
    pub(crate) action: u16,
}

/// Number of entries per page.
const PAGE: usize = 256;
/// Size of an entry in a file, in bytes.
const BYTES: usize = 16;
/// Maximum number of pages in memory.
const PAGES: usize = 4096;
/// Buffer size for reading and writing a file, in bytes.
const BUFFER: usize = 1 << 16;

/// The position of an action, and the note. The fields are in the order of comparison, and those of
/// [`ActionPosition`] are not nested, because the entry would be larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct NoteEntry {
    stream: u32,
    ordinal: u64,
    action: u16,
    note: u16,
}

impl NoteEntry {
    const fn place(&self) -> ActionPosition {
        ActionPosition { stream: self.stream, ordinal: self.ordinal, action: self.action }
    }
}

/// Collects notes in any order.
#[derive(Debug)]
pub(crate) struct NoteWriter {
    entries: Vec<NoteEntry>,
    /// Maximum number of entries in memory.
    limit: usize,
    /// Files with the entries that exceeded the limit. Each file is sorted.
    runs: Vec<File>,
    failed: Option<io::Error>,
}

/// Notes that can be looked up.
#[derive(Debug, Default)]
pub(crate) struct NoteTable {
    entries: Vec<NoteEntry>,
    /// For each stream, the index at which its last lookup ended. Nearly all lookups end close to
    /// the one before.
    hints: Vec<usize>,
    paged: Option<PagedNotes>,
}

#[derive(Debug)]
struct PagedNotes {
    file: File,
    /// The first entry of each page.
    firsts: Vec<NoteEntry>,
    /// For each stream, the last page that was read, with its number.
    recent: FxHashMap<u32, (usize, Vec<NoteEntry>)>,
}

impl NoteWriter {
    /// Keeps at most about this number of bytes in memory.
    pub(crate) fn with_memory(bytes: usize) -> Self {
        let limit = (bytes / size_of::<NoteEntry>()).max(PAGE);
        Self { entries: Vec::new(), limit, runs: Vec::new(), failed: None }
    }

    /// Adds a note. Each place may have only one.
    pub(crate) fn note(&mut self, place: ActionPosition, note: u16) {
        if self.entries.len() >= self.limit && self.failed.is_none() {
            self.failed = self.spill().err();
        }
        let ActionPosition { stream, ordinal, action } = place;
        self.entries.push(NoteEntry { stream, ordinal, action, note });
    }

    fn spill(&mut self) -> io::Result<()> {
        self.entries.sort_unstable();
        let mut file = BufWriter::with_capacity(BUFFER, tempfile::tempfile()?);
        for entry in self.entries.drain(..) {
            file.write_all(&encode(entry))?;
        }
        self.runs.push(file.into_inner().map_err(io::IntoInnerError::into_error)?);
        Ok(())
    }

    /// Sorts the notes. O(n log n).
    ///
    /// # Errors
    /// If a temporary file cannot be written or read.
    pub(crate) fn finish(mut self) -> io::Result<NoteTable> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if self.runs.is_empty() {
            self.entries.sort_unstable();
            return Ok(NoteTable { entries: self.entries, ..NoteTable::default() });
        }
        self.spill()?;
        drop(self.entries);
        let (mut inputs, mut heap) = (Vec::new(), BinaryHeap::new());
        for mut run in self.runs {
            run.rewind()?;
            let mut input = BufReader::with_capacity(BUFFER, run);
            heap.extend(next(&mut input)?.map(|entry| Reverse((entry, inputs.len()))));
            inputs.push(input);
        }
        let mut out = BufWriter::with_capacity(BUFFER, tempfile::tempfile()?);
        let (mut firsts, mut count) = (Vec::new(), 0usize);
        while let Some(Reverse((entry, from))) = heap.pop() {
            if count.is_multiple_of(PAGE) {
                firsts.push(entry);
            }
            count += 1;
            out.write_all(&encode(entry))?;
            heap.extend(next(&mut inputs[from])?.map(|entry| Reverse((entry, from))));
        }
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(NoteTable { paged: Some(PagedNotes { file, firsts, recent: FxHashMap::default() }), ..NoteTable::default() })
    }
}

impl NoteTable {
    /// The note of a place. O(log n), and O(1) if a stream looks up its places in order.
    ///
    /// # Errors
    /// If the temporary file cannot be read.
    pub(crate) fn find(&mut self, place: ActionPosition) -> io::Result<Option<u16>> {
        match &mut self.paged {
            Some(paged) => paged.find(place),
            None => Ok(self.find_near(place)),
        }
    }

    fn find_near(&mut self, place: ActionPosition) -> Option<u16> {
        /// Number of steps that are cheaper than a binary search.
        const NEAR: usize = 4;
        if self.entries.is_empty() {
            return None;
        }
        let stream = place.stream as usize;
        if stream >= self.hints.len() {
            self.hints.resize(stream + 1, 0);
        }
        let hint = self.hints[stream];
        let is_before = |at: usize| self.entries.get(at).is_some_and(|entry| entry.place() < place);
        let is_behind = hint == 0 || is_before(hint - 1);
        let near = (hint..=hint + NEAR).find(|at| !is_before(*at)).filter(|_| is_behind);
        let at = near.unwrap_or_else(|| self.entries.partition_point(|entry| entry.place() < place));
        self.hints[stream] = at;
        self.entries.get(at).filter(|entry| entry.place() == place).map(|entry| entry.note)
    }
}

impl PagedNotes {
    fn find(&mut self, place: ActionPosition) -> io::Result<Option<u16>> {
        let after = self.firsts.partition_point(|entry| entry.place() <= place);
        let Some(page) = after.checked_sub(1) else { return Ok(None) };
        if let Some((number, entries)) = self.recent.get(&place.stream)
            && *number == page
        {
            return Ok(find_note(entries, place));
        }
        let mut bytes = vec![0; PAGE * BYTES];
        let filled = read_at(&self.file, &mut bytes, (page * PAGE * BYTES) as u64)?;
        let entries: Vec<NoteEntry> = bytes[..filled].chunks_exact(BYTES).map(decode).collect();
        let found = find_note(&entries, place);
        if self.recent.len() >= PAGES && !self.recent.contains_key(&place.stream) {
            self.recent.clear();
        }
        self.recent.insert(place.stream, (page, entries));
        Ok(found)
    }
}

fn find_note(entries: &[NoteEntry], place: ActionPosition) -> Option<u16> {
    let at = entries.binary_search_by_key(&place, NoteEntry::place).ok()?;
    Some(entries[at].note)
}

fn encode(NoteEntry { stream, ordinal, action, note }: NoteEntry) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    bytes[..4].copy_from_slice(&stream.to_le_bytes());
    bytes[4..12].copy_from_slice(&ordinal.to_le_bytes());
    bytes[12..14].copy_from_slice(&action.to_le_bytes());
    bytes[14..].copy_from_slice(&note.to_le_bytes());
    bytes
}

fn decode(bytes: &[u8]) -> NoteEntry {
    let part =
        |at: usize, size: usize| bytes[at..at + size].iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    let short = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let stream = u32::try_from(part(0, 4)).unwrap_or(u32::MAX);
    NoteEntry { stream, ordinal: part(4, 8), action: short(12), note: short(14) }
}

/// The next entry of a file. `None` at its end.
fn next(input: &mut impl Read) -> io::Result<Option<NoteEntry>> {
    let mut bytes = [0; BYTES];
    match input.read_exact(&mut bytes) {
        Ok(()) => Ok(Some(decode(&bytes))),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn place((stream, ordinal, action): (u32, u64, u16)) -> ActionPosition {
        ActionPosition { stream, ordinal, action }
    }

    proptest! {
        #[test]
        fn notes_are_found_with_any_memory(
            noted in prop::collection::btree_map((0u32..4, 0u64..2000, 0u16..3), any::<u16>(), 0..1500)
                .prop_map(|noted| noted.into_iter().map(|(at, what)| (place(at), what)).collect::<Vec<_>>())
                .prop_shuffle(),
            asked in prop::collection::vec((0u32..5, 0u64..2001, 0u16..3).prop_map(place), 0..200),
            memory in 0usize..20_000,
        ) {
            let mut noting = NoteWriter::with_memory(memory);
            for (place, what) in &noted {
                noting.note(*place, *what);
            }
            let mut places = noting.finish().unwrap();
            prop_assert_eq!(places.paged.is_some(), noted.len() > (memory / size_of::<NoteEntry>()).max(PAGE));
            let expected: BTreeMap<ActionPosition, u16> = noted.iter().copied().collect();
            for place in asked.iter().chain(noted.iter().map(|(place, _)| place)) {
                prop_assert_eq!(places.find(*place).unwrap(), expected.get(place).copied());
            }
        }
    }
}
