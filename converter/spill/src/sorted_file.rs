//! [`SortedFile`]: sorted entries of a [`SpillMap`](crate::map::SpillMap) in a file. One read finds
//! an entry.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use crate::temporary_space::temporary_file;

/// A key, and its words. `None` marks a removed entry.
pub(super) type SortedEntry<const N: usize> = (u128, Option<[u64; N]>);

/// Number of entries that are read at once in a search.
const PAGE: usize = 32;
/// Number of bytes that are written at once, or read at once in order.
const PORTION_BYTES: usize = 1 << 17;

/// Size of an entry in bytes: its key, whether it exists, its words.
const fn entry_bytes<const N: usize>() -> usize {
    16 + 1 + 8 * N
}

fn put<const N: usize>((key, words): &SortedEntry<N>, out: &mut impl Write) -> io::Result<()> {
    out.write_all(&key.to_le_bytes())?;
    out.write_all(&[u8::from(words.is_some())])?;
    words.unwrap_or([0; N]).iter().try_for_each(|word| out.write_all(&word.to_le_bytes()))
}

fn get<const N: usize>(bytes: &[u8]) -> SortedEntry<N> {
    let key = u128::from_le_bytes(*bytes.first_chunk().unwrap_or(&[0; 16]));
    let word = |index: usize| {
        let bytes = bytes.get(17 + 8 * index..).and_then(<[u8]>::first_chunk);
        bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    };
    (key, (bytes.get(16) == Some(&1)).then(|| std::array::from_fn(word)))
}

/// The half of a key that orders entries.
fn high(key: u128) -> u64 {
    (key >> 64) as u64
}

/// A filter that excludes most absent keys without a read. It is a Bloom filter in blocks of a
/// cache line (Putze, Sanders, Singler: Cache-, Hash- and Space-Efficient Bloom Filters, 2007,
/// section 2).
#[derive(Debug)]
struct BloomFilter(Vec<[u64; 8]>);

impl BloomFilter {
    /// Number of bits per entry. One in a hundred absent keys is not excluded.
    const BITS: u64 = 10;
    /// Maximum number of blocks, 16 MiB. Beyond it, the filter becomes less precise instead of
    /// larger.
    const MAX_BLOCKS: u64 = 1 << 18;

    fn of(entries: u64) -> Self {
        let blocks = (entries * Self::BITS / 512 + 1).min(Self::MAX_BLOCKS);
        Self(vec![[0; 8]; blocks as usize])
    }

    /// The block of a key, and the bits of the key in it.
    fn filter_bits(&self, key: u128) -> (usize, impl Iterator<Item = (usize, u64)> + use<>) {
        let low = key as u64;
        let block = ((low >> 32) * self.0.len() as u64) >> 32;
        let bits = (0..4).map(move |bit| {
            let bit = (low.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (9 * bit)) & 511;
            ((bit >> 6) as usize, 1_u64 << (bit & 63))
        });
        (block as usize, bits)
    }

    fn insert(&mut self, key: u128) {
        let (block, bits) = self.filter_bits(key);
        bits.for_each(|(word, bit)| self.0[block][word] |= bit);
    }

    fn may_have(&self, key: u128) -> bool {
        let (block, mut bits) = self.filter_bits(key);
        let block = &self.0[block];
        bits.all(|(word, bit)| block[word] & bit != 0)
    }
}

/// Entries in a file without a name. Takes about 12 bits of memory per entry.
#[derive(Debug)]
pub(super) struct SortedFile<const N: usize> {
    file: File,
    pub(super) count: u64,
    /// Number of merges of its entries.
    pub(super) level: u32,
    /// The upper half of the first key of each page.
    firsts: Vec<u64>,
    filter: BloomFilter,
}

impl<const N: usize> SortedFile<N> {
    /// The entry of a key in this file, if there is one.
    pub(super) fn find(&self, key: u128, page: &mut Vec<u8>) -> io::Result<Option<SortedEntry<N>>> {
        if !self.filter.may_have(key) {
            return Ok(None);
        }
        let first = self.firsts.partition_point(|&first| first < high(key)).saturating_sub(1);
        let end = self.firsts.partition_point(|&first| first <= high(key));
        for index in first..end {
            let from = (index * PAGE) as u64;
            let entries = (self.count - from).min(PAGE as u64) as usize;
            page.resize(entries * entry_bytes::<N>(), 0);
            self.file.read_exact_at(page, from * entry_bytes::<N>() as u64)?;
            let entry = page.chunks_exact(entry_bytes::<N>()).map(get).find(|entry: &SortedEntry<N>| entry.0 == key);
            if entry.is_some() {
                return Ok(entry);
            }
        }
        Ok(None)
    }

    pub(super) fn read(&self) -> SortedFileReader<'_, N> {
        SortedFileReader { entries: self, offset: 0, portion: Vec::new(), next: 0 }
    }
}

/// Reads the entries of a file in order.
#[derive(Debug)]
pub(super) struct SortedFileReader<'r, const N: usize> {
    entries: &'r SortedFile<N>,
    /// Index of the first entry that was not read yet.
    offset: u64,
    portion: Vec<u8>,
    /// Number of bytes of the portion that were returned already.
    next: usize,
}

impl<const N: usize> SortedFileReader<'_, N> {
    pub(super) fn next(&mut self) -> io::Result<Option<SortedEntry<N>>> {
        let bytes = entry_bytes::<N>();
        if self.next == self.portion.len() {
            let some = (self.entries.count - self.offset).min((PORTION_BYTES / bytes) as u64);
            self.portion.resize(some as usize * bytes, 0);
            self.entries.file.read_exact_at(&mut self.portion, self.offset * bytes as u64)?;
            (self.offset, self.next) = (self.offset + some, 0);
        }
        let entry = self.portion.get(self.next..self.next + bytes).map(get);
        self.next += if entry.is_some() { bytes } else { 0 };
        Ok(entry)
    }
}

#[derive(Debug)]
pub(super) struct SortedFileWriter<const N: usize> {
    out: BufWriter<File>,
    count: u64,
    firsts: Vec<u64>,
    filter: BloomFilter,
}

impl<const N: usize> SortedFileWriter<N> {
    /// A file of at most `max_entries` entries, in a folder.
    pub(super) fn new(folder: &Path, max_entries: u64) -> io::Result<Self> {
        let file = temporary_file(folder)?;
        let out = BufWriter::with_capacity(PORTION_BYTES, file);
        Ok(Self { out, count: 0, firsts: Vec::new(), filter: BloomFilter::of(max_entries) })
    }

    /// Appends an entry. Keys have to increase.
    pub(super) fn push(&mut self, entry: &SortedEntry<N>) -> io::Result<()> {
        if self.count.is_multiple_of(PAGE as u64) {
            self.firsts.push(high(entry.0));
        }
        self.filter.insert(entry.0);
        self.count += 1;
        put(entry, &mut self.out)
    }

    pub(super) fn finish(self, level: u32) -> io::Result<SortedFile<N>> {
        let Self { out, count, mut firsts, filter } = self;
        firsts.shrink_to_fit();
        Ok(SortedFile { file: out.into_inner().map_err(io::IntoInnerError::into_error)?, count, level, firsts, filter })
    }
}
