//! Notes of the first pass about single actions, sorted by place.
//!
//! They are in memory up to a budget, and beyond it in temporary files. Each stream looks them up
//! nearly in order, so one page per stream is kept of a file.

use std::io;

use rustc_hash::FxHashMap;
use tumit_spill::row_sorter::RowSorter;
use tumit_spill::spool::Spool;
use tumit_spill::temporary_space::TemporarySpace;

/// The position of an action: its record, and its number in the record's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ActionPosition {
    pub(crate) stream: u32,
    /// The position of the record in the stream.
    pub(crate) ordinal: u64,
    pub(crate) action: u16,
}

/// Number of notes per page.
const PAGE: usize = 256;
const BYTES: usize = size_of::<PackedNote>();
/// Maximum number of pages in memory.
const PAGES: usize = 4096;
/// Number of bytes of a temporary file that are written at once.
const PORTION: usize = 1 << 16;

/// From the highest bit to the lowest: 32 bits of the stream, 64 of the record's position, 16 of
/// the action, 16 of the note. Numbers and arrays have the order of the positions.
type PackedNote = [u64; 2];

fn pack(ActionPosition { stream, ordinal, action }: ActionPosition, note: u16) -> PackedNote {
    [u64::from(stream) << 32 | ordinal >> 32, ordinal << 32 | u64::from(action) << 16 | u64::from(note)]
}

/// The note, without its position.
const fn note_of(note: &PackedNote) -> u16 {
    (note[1] & 0xFFFF) as u16
}

/// The position of a note in a form that can be compared with [`pack`] of a position and 0.
const fn position_bits(note: &PackedNote) -> PackedNote {
    [note[0], note[1] & !0xFFFF]
}

/// Collects notes in any order.
#[derive(Debug)]
pub(crate) struct NoteWriter {
    sorter: RowSorter<2, 2>,
    failure: Option<io::Error>,
}

/// Notes that can be looked up.
#[derive(Debug, Default)]
pub(crate) struct NoteTable {
    /// The notes in order, if they fit in memory.
    notes: Vec<PackedNote>,
    /// For each stream, the index at which its last lookup ended. Nearly all lookups end close to
    /// the one before.
    hints: Vec<usize>,
    paged: Option<PagedNotes>,
}

#[derive(Debug)]
struct PagedNotes {
    spool: Spool,
    /// The position of the first note of each page.
    firsts: Vec<PackedNote>,
    count: usize,
    /// For each stream, the last page that was read, with its number.
    recent: FxHashMap<u32, (usize, Vec<PackedNote>)>,
}

impl NoteWriter {
    /// Keeps at most about this number of bytes in memory.
    pub(crate) fn with_memory(bytes: usize) -> Self {
        let space = TemporarySpace::in_system_folder(bytes.max(PAGE * BYTES));
        Self { sorter: RowSorter::new(&space), failure: None }
    }

    /// Adds a note. Each place may have only one.
    pub(crate) fn note(&mut self, position: ActionPosition, note: u16) {
        self.sorter.push(pack(position, note));
        if self.failure.is_none() {
            self.failure = self.sorter.flush().err();
        }
    }

    /// Sorts the notes. O(n log n).
    ///
    /// # Errors
    /// If a temporary file cannot be written or read.
    pub(crate) fn finish(self) -> io::Result<NoteTable> {
        if let Some(error) = self.failure {
            return Err(error);
        }
        match self.sorter.into_rows() {
            Ok(notes) => Ok(NoteTable { notes, ..NoteTable::default() }),
            Err(sorter) => Ok(NoteTable { paged: Some(PagedNotes::write(sorter)?), ..NoteTable::default() }),
        }
    }
}

impl NoteTable {
    /// The note of a place. O(log n), and O(1) if a stream looks up its places in order.
    ///
    /// # Errors
    /// If the temporary file cannot be read.
    pub(crate) fn find(&mut self, position: ActionPosition) -> io::Result<Option<u16>> {
        match &mut self.paged {
            Some(paged) => paged.find(position),
            None => Ok(self.find_near(position)),
        }
    }

    fn find_near(&mut self, position: ActionPosition) -> Option<u16> {
        /// Number of steps that are cheaper than a binary search.
        const LINEAR_STEPS: usize = 4;
        if self.notes.is_empty() {
            return None;
        }
        let stream = position.stream as usize;
        if stream >= self.hints.len() {
            self.hints.resize(stream + 1, 0);
        }
        let (hint, key) = (self.hints[stream], pack(position, 0));
        let is_before = |index: usize| self.notes.get(index).is_some_and(|note| *note < key);
        let is_after_previous = hint == 0 || is_before(hint - 1);
        let found_near = (hint..=hint + LINEAR_STEPS).find(|index| !is_before(*index)).filter(|_| is_after_previous);
        let index = found_near.unwrap_or_else(|| self.notes.partition_point(|note| *note < key));
        self.hints[stream] = index;
        self.notes.get(index).filter(|note| position_bits(note) == key).map(note_of)
    }
}

impl PagedNotes {
    /// Writes all notes to a file, in order.
    fn write(sorter: RowSorter<2, 2>) -> io::Result<Self> {
        let mut table = Self { spool: Spool::default(), firsts: Vec::new(), count: 0, recent: FxHashMap::default() };
        let (mut sorted, mut portion) = (sorter.finish()?, Vec::with_capacity(PORTION));
        while let Some(note) = sorted.next()? {
            if table.count.is_multiple_of(PAGE) {
                table.firsts.push(position_bits(&note));
            }
            table.count += 1;
            portion.extend(note.iter().flat_map(|word| word.to_le_bytes()));
            if portion.len() >= PORTION {
                table.spool.append(&portion)?;
                portion.clear();
            }
        }
        table.spool.append(&portion)?;
        Ok(table)
    }

    fn find(&mut self, position: ActionPosition) -> io::Result<Option<u16>> {
        let key = pack(position, 0);
        let after = self.firsts.partition_point(|first| *first <= key);
        let Some(page) = after.checked_sub(1) else { return Ok(None) };
        if let Some((number, notes)) = self.recent.get(&position.stream)
            && *number == page
        {
            return Ok(find_note(notes, key));
        }
        let notes = self.read(page)?;
        let note = find_note(&notes, key);
        if self.recent.len() >= PAGES && !self.recent.contains_key(&position.stream) {
            self.recent.clear();
        }
        self.recent.insert(position.stream, (page, notes));
        Ok(note)
    }

    fn read(&self, page: usize) -> io::Result<Vec<PackedNote>> {
        let mut bytes = vec![0; (self.count - page * PAGE).min(PAGE) * BYTES];
        self.spool.read_exact_at(&mut bytes, (page * PAGE * BYTES) as u64)?;
        let word = |bytes: &[u8]| bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        Ok(bytes.chunks_exact(BYTES).map(|bytes| [word(bytes), word(&bytes[8..])]).collect())
    }
}

fn find_note(notes: &[PackedNote], key: PackedNote) -> Option<u16> {
    let index = notes.binary_search_by_key(&key, position_bits).ok()?;
    Some(note_of(&notes[index]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn position((stream, ordinal, action): (u32, u64, u16)) -> ActionPosition {
        ActionPosition { stream, ordinal, action }
    }

    proptest! {
        #[test]
        fn notes_are_found_with_any_memory(
            notes in prop::collection::btree_map((0u32..4, prop_oneof![0u64..2000, any::<u64>()], 0u16..3), any::<u16>(), 0..1500)
                .prop_map(|notes| notes.into_iter().map(|(bits, note)| (position(bits), note)).collect::<Vec<_>>())
                .prop_shuffle(),
            asked in prop::collection::vec((0u32..5, 0u64..2001, 0u16..3).prop_map(position), 0..200),
            memory in 0usize..20_000,
        ) {
            let mut writer = NoteWriter::with_memory(memory);
            for (position, note) in &notes {
                writer.note(*position, *note);
            }
            let mut places = writer.finish().unwrap();
            prop_assert_eq!(places.paged.is_some(), notes.len() >= (memory / BYTES).max(PAGE));
            let expected: BTreeMap<ActionPosition, u16> = notes.iter().copied().collect();
            for position in asked.iter().chain(notes.iter().map(|(position, _)| position)) {
                prop_assert_eq!(places.find(*position).unwrap(), expected.get(position).copied());
            }
        }
    }
}
