//! [`SpillMap`]: a map that may exceed memory.
//!
//! Recently used entries are in memory. When memory is full, all of them become a sorted file in a
//! temporary file, and files of one level are merged (O'Neil et al., The Log-Structured Merge-Tree,
//! 1996, with the tiers of Cassandra's). Most entries are short-lived and never written to a file.
//! An operation on an entry in a file needs a read of some KB. An operation on an absent key needs
//! almost nothing.
//!
//! ```
//! use tumit_spill::map::{OverflowStore, SpillMap};
//!
//! # fn main() -> std::io::Result<()> {
//! // More than two entries go to temporary files.
//! let mut ages = SpillMap::<1>::new(OverflowStore { max_entries: 2, ..OverflowStore::default() });
//! for key in [7, 3, 9] {
//!     ages.change(key, |_before| (Some([key as u64 * 10]), ()))?;
//! }
//! let age = ages.change(9, |before| (None, before))?; // removes the entry
//! assert_eq!((age, ages.len()), (Some([90]), 2));
//! let mut keys = Vec::new();
//! ages.for_each(|key, _age| Ok(keys.push(key)))?;
//! assert_eq!(keys, [3, 7]);
//! # Ok(())
//! # }
//! ```

use std::collections::HashMap;
use std::collections::hash_map::Entry as MapEntry;
use std::hash::{BuildHasherDefault, Hasher};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::sorted_file::{SortedEntry, SortedFile, SortedFileReader, SortedFileWriter};

/// Number of files of one level that are merged.
const ALIKE: usize = 4;

/// The destination of entries that exceed memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverflowStore {
    /// The folder of the temporary files. They are unlinked, so the system removes them when the
    /// process ends in any way.
    pub folder: PathBuf,
    /// Maximum number of entries in memory.
    pub max_entries: usize,
}

impl Default for OverflowStore {
    /// The system's folder for temporary files, and the number of entries that fills a hash table
    /// of 2^16 places: about 4 MB.
    fn default() -> Self {
        Self { folder: std::env::temp_dir(), max_entries: 57_344 }
    }
}

/// A hasher that does nothing, because keys are well mixed already. See [`spread`].
#[derive(Clone, Copy, Debug, Default)]
struct MixedHasher(u64);

impl Hasher for MixedHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u128(&mut self, key: u128) {
        self.0 = key as u64;
    }
}

/// A bijective hash of a number. Similar numbers give unrelated results.
#[must_use]
pub fn spread(mut key: u128) -> u128 {
    const FIRST: u128 = 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835;
    const SECOND: u128 = 0xDA94_2042_E4DD_58B5_94D0_49BB_1331_11EB;
    key ^= key >> 67;
    key = key.wrapping_mul(FIRST);
    key ^= key >> 61;
    key = key.wrapping_mul(SECOND);
    key ^ (key >> 64)
}

#[derive(Clone, Copy, Debug)]
struct MemoryEntry<const N: usize> {
    /// `None` if the entry was removed. The entries of the files for its key are void.
    words: Option<[u64; N]>,
    /// Whether the files have an entry for its key.
    is_over: bool,
}

type MemoryMap<const N: usize> = HashMap<u128, MemoryEntry<N>, BuildHasherDefault<MixedHasher>>;

/// Words by key. Keys have to be results of [`spread`], or good hashes.
#[derive(Clone, Debug, Default)]
pub struct SpillMap<const N: usize> {
    overflow: OverflowStore,
    in_memory: MemoryMap<N>,
    /// Older files first. The entry of a later file replaces those of earlier ones.
    files: Vec<Arc<SortedFile<N>>>,
    count: u64,
    page: Vec<u8>,
}

impl<const N: usize> SpillMap<N> {
    /// An empty map.
    #[must_use]
    pub fn new(overflow: OverflowStore) -> Self {
        Self { overflow, ..Self::default() }
    }

    /// Number of entries.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Calls `change` with the value of the key, if there is one. The result replaces the value.
    /// `None` removes it.
    ///
    /// # Errors
    /// When a temporary file cannot be written or read.
    #[inline]
    pub fn change<R>(
        &mut self,
        key: u128,
        change: impl FnOnce(Option<[u64; N]>) -> (Option<[u64; N]>, R),
    ) -> io::Result<R> {
        let (old_words, new_words, result) = match self.in_memory.entry(key) {
            MapEntry::Occupied(mut entry) => {
                let MemoryEntry { words: old_words, is_over } = *entry.get();
                let (new_words, result) = change(old_words);
                if new_words.is_some() || is_over {
                    entry.insert(MemoryEntry { words: new_words, is_over });
                } else {
                    entry.remove();
                }
                (old_words, new_words, result)
            }
            MapEntry::Vacant(entry) => {
                let old_words = if self.files.is_empty() { None } else { find(&self.files, key, &mut self.page)? };
                let (new_words, result) = change(old_words);
                if old_words.is_some() || new_words.is_some() {
                    entry.insert(MemoryEntry { words: new_words, is_over: old_words.is_some() });
                }
                (old_words, new_words, result)
            }
        };
        self.count = self.count + u64::from(new_words.is_some()) - u64::from(old_words.is_some());
        if self.count == 0 && !self.files.is_empty() {
            // All entries of the files are void.
            self.clear();
        } else if self.in_memory.len() >= self.overflow.max_entries.max(1) {
            self.spill()?;
        }
        Ok(result)
    }

    /// Writes the entries in memory as a file, and merges files if there are enough of a level.
    #[cold]
    fn spill(&mut self) -> io::Result<()> {
        let entries = self.memory_entries();
        let mut file = SortedFileWriter::new(&self.overflow.folder, entries.len() as u64)?;
        entries.iter().try_for_each(|entry| file.push(entry))?;
        self.files.push(Arc::new(file.finish(0)?));
        drop(entries);
        self.in_memory.clear();
        while let Some(from) = self.mergeable_runs() {
            self.merge(from)?;
        }
        let entries: u64 = self.files.iter().map(|file| file.count).sum();
        // A removed entry exists twice in the files: as an entry and as its removal. A merge of all
        // files drops both.
        if entries > ALIKE as u64 * self.count.max(self.overflow.max_entries as u64) { self.merge(0) } else { Ok(()) }
    }

    /// The index of the first of the last files of equal level, if they are enough for a merge.
    fn mergeable_runs(&self) -> Option<usize> {
        let level = self.files.last()?.level;
        let same = self.files.iter().rev().take_while(|file| file.level == level).count();
        (same >= ALIKE).then(|| self.files.len() - same)
    }

    /// Merges all files from this index on.
    fn merge(&mut self, from: usize) -> io::Result<()> {
        let files = self.files.get(from..).unwrap_or_default();
        let level = files.iter().map(|file| file.level).max().unwrap_or(0) + 1;
        let mut out = SortedFileWriter::new(&self.overflow.folder, files.iter().map(|file| file.count).sum())?;
        let mut left = 0;
        merge_files(files, &[], |key, words| {
            // A removal is needed only if older files may have the entry.
            if from > 0 || words.is_some() {
                left += 1;
                out.push(&(key, words))?;
            }
            Ok(())
        })?;
        self.files.truncate(from);
        if left > 0 {
            self.files.push(Arc::new(out.finish(level)?));
        }
        Ok(())
    }

    /// Gives all entries, by increasing key.
    ///
    /// # Errors
    /// As [`Self::change`], and those of `visit`.
    pub fn for_each(&self, mut visit: impl FnMut(u128, [u64; N]) -> io::Result<()>) -> io::Result<()> {
        merge_files(&self.files, &self.memory_entries(), |key, words| words.map_or(Ok(()), |words| visit(key, words)))
    }

    /// The entries in memory, by increasing key.
    fn memory_entries(&self) -> Vec<SortedEntry<N>> {
        let mut in_memory: Vec<SortedEntry<N>> =
            self.in_memory.iter().map(|(key, entry)| (*key, entry.words)).collect();
        in_memory.sort_unstable_by_key(|(key, _)| *key);
        in_memory
    }

    /// All entries as words.
    fn words(&self) -> io::Result<Vec<u64>> {
        let mut entries = Vec::new();
        self.for_each(|key, words| {
            entries.extend([(key >> 64) as u64, key as u64]);
            entries.extend(words);
            Ok(())
        })?;
        Ok(entries)
    }

    /// A map from the words of all entries.
    fn of_words(all: &[u64]) -> io::Result<Self> {
        let mut far = Self::default();
        let entries = all.chunks_exact(2 + N);
        if !entries.remainder().is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "words of an entry are missing"));
        }
        for entry in entries {
            let key = u128::from(entry[0]) << 64 | u128::from(entry[1]);
            let words = std::array::from_fn(|index| entry[2 + index]);
            far.change(key, |_| (Some(words), ()))?;
        }
        Ok(far)
    }

    /// Changes the destination of entries that exceed memory.
    pub(super) fn overflow_to(&mut self, overflow: OverflowStore) {
        self.overflow = overflow;
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        *self = Self::new(std::mem::take(&mut self.overflow));
    }
}

/// The value of a key in the files.
fn find<const N: usize>(files: &[Arc<SortedFile<N>>], key: u128, page: &mut Vec<u8>) -> io::Result<Option<[u64; N]>> {
    for file in files.iter().rev() {
        if let Some((_, words)) = file.find(key, page)? {
            return Ok(words);
        }
    }
    Ok(None)
}

/// Gives each key of the files and of `in_memory` once, with its latest value. `in_memory` is later
/// than all files.
fn merge_files<const N: usize>(
    files: &[Arc<SortedFile<N>>],
    in_memory: &[SortedEntry<N>],
    mut visit: impl FnMut(u128, Option<[u64; N]>) -> io::Result<()>,
) -> io::Result<()> {
    let mut readings: Vec<SortedFileReader<'_, N>> = files.iter().map(|file| file.read()).collect();
    let mut in_memory = in_memory.iter().copied();
    let mut heads: Vec<Option<SortedEntry<N>>> = Vec::new();
    for reading in &mut readings {
        heads.push(reading.next()?);
    }
    heads.push(in_memory.next());
    // There are a dozen files at most.
    while let Some(key) = heads.iter().flatten().map(|(key, _)| *key).min() {
        let mut last = None;
        for (index, head) in heads.iter_mut().enumerate() {
            if let Some((_, words)) = head.filter(|(of, _)| *of == key) {
                last = words;
                *head = match readings.get_mut(index) {
                    Some(reading) => reading.next()?,
                    None => in_memory.next(),
                };
            }
        }
        visit(key, last)?;
    }
    Ok(())
}

impl<const N: usize> Serialize for SpillMap<N> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.words().map_err(S::Error::custom)?.serialize(to)
    }
}

impl<'d, const N: usize> Deserialize<'d> for SpillMap<N> {
    fn deserialize<D: Deserializer<'d>>(from: D) -> Result<Self, D::Error> {
        Self::of_words(&Vec::deserialize(from)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn small(max_entries: usize) -> OverflowStore {
        OverflowStore { max_entries, ..OverflowStore::default() }
    }

    proptest! {
        #[test]
        fn the_map_equals_a_map_in_memory(steps in prop::collection::vec((0_u128..40, prop::option::of(any::<u64>())), 0..400), max_entries in 1_usize..20) {
            let (mut far, mut model) = (SpillMap::<1>::new(small(max_entries)), BTreeMap::new());
            for (key, value) in steps {
                let before = far.change(spread(key), |before| (value.map(|value| [value]), before)).unwrap();
                let expected = match value {
                    Some(value) => model.insert(spread(key), value),
                    None => model.remove(&spread(key)),
                };
                prop_assert_eq!(before, expected.map(|value| [value]));
                prop_assert_eq!(far.len(), model.len() as u64);
                prop_assert!(far.in_memory.len() < max_entries);
            }
            let mut all = Vec::new();
            far.for_each(|key, [value]| { all.push((key, value)); Ok(()) }).unwrap();
            let expected: Vec<_> = model.into_iter().collect();
            prop_assert_eq!(&all, &expected);
            let mut copy: SpillMap<1> = SpillMap::of_words(&far.words().unwrap()).unwrap();
            for (key, value) in expected {
                prop_assert_eq!(copy.change(key, |value| (None, value)).unwrap(), Some([value]));
            }
            prop_assert!(copy.is_empty());
        }
    }

    #[test]
    fn missing_words_are_reported() {
        assert!(SpillMap::<1>::of_words(&[1, 2, 3, 4]).is_err());
    }

    #[test]
    fn many_are_found_in_few_runs() {
        let mut far = SpillMap::<2>::new(small(1000));
        for key in 0..100_000_u64 {
            far.change(spread(key.into()), |_| (Some([key, 1]), ())).unwrap();
        }
        // Levels of 1,000, 4,000, 16,000, 64,000: three of each at most.
        assert!(far.files.len() <= 12, "{} files", far.files.len());
        for key in (0..100_000_u64).step_by(7) {
            assert_eq!(far.change(spread(key.into()), |value| (value, value)).unwrap(), Some([key, 1]), "{key}");
        }
        assert_eq!(far.change(spread(100_000), |value| (None, value)).unwrap(), None);
    }

    #[test]
    fn removed_entries_leave_no_data() {
        let mut far = SpillMap::<1>::new(small(100));
        let turn = |far: &mut SpillMap<1>, key: u64| {
            far.change(spread(key.into()), |before| (before.map_or(Some([key]), |_| None), ())).unwrap();
        };
        for round in 0..4 {
            (0..1_000).for_each(|key| turn(&mut far, key));
            assert_eq!((far.len(), far.files.is_empty()), if round % 2 == 0 { (1_000, false) } else { (0, true) });
        }
        // An entry that stays does not keep removed entries in the files.
        turn(&mut far, 1_000_000);
        (0..20_000).for_each(|key| turn(&mut far, key));
        (0..20_000).for_each(|key| turn(&mut far, key));
        assert_eq!(far.len(), 1);
        let entries: u64 = far.files.iter().map(|file| file.count).sum();
        assert!(entries <= 400, "{entries} entries");
    }

    #[test]
    fn keys_of_one_order_lie_on_several_pages() {
        // All keys have the same upper half, which orders the pages.
        let mut far = SpillMap::<1>::new(small(300));
        for key in 0..300_u64 {
            far.change(7 << 64 | u128::from(key), |_| (Some([key]), ())).unwrap();
        }
        assert_eq!(far.files.len(), 1);
        for key in 0..300_u64 {
            let value = find(&far.files, 7 << 64 | u128::from(key), &mut Vec::new()).unwrap();
            assert_eq!(value, Some([key]));
        }
    }

    #[test]
    fn a_missing_folder_is_named() {
        let overflow = OverflowStore { folder: "/nowhere/at/all".into(), max_entries: 2 };
        let mut far = SpillMap::<1>::new(overflow);
        far.change(1, |_| (Some([1]), ())).unwrap();
        let error = far.change(2, |_| (Some([2]), ())).unwrap_err().to_string();
        assert!(error.contains("/nowhere/at/all") && !error.contains("TMPDIR"), "{error}");
    }
}
