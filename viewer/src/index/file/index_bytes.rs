//! [`IndexBytes`]: the bytes of an index. A page is used only after its checksum was verified.
//!
//! Small files are read and checked as a whole. A page of a large file is checked when it is first
//! used. So opening costs only the header, the checksums and the requested pages.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read as _};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use twox_hash::XxHash3_64;

use super::file_layout::{IndexHeader, IndexKey, IndexRefusal, PAGE, page_checksum};
use super::guarded_map::GuardedMap;

/// Bytes of a cache line.
const LINE: usize = 64;

enum IndexByteStorage {
    Read(Vec<u8>),
    Mapped(GuardedMap),
}

impl Deref for IndexByteStorage {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Read(bytes) => bytes,
            Self::Mapped(map) => map,
        }
    }
}

pub(crate) struct IndexBytes {
    data: IndexByteStorage,
    pub(crate) header: IndexHeader,
    path: PathBuf,
    /// One bit per page: whether its checksum was verified.
    verified: Vec<AtomicU64>,
    is_damaged: AtomicBool,
}

thread_local! {
    /// Number of blocks and sums that this thread has read: the cost of queries, independent of the
    /// machine. A counter shared by threads would cost more than the counted reads.
    static TOUCHED: Cell<u64> = const { Cell::new(0) };
}

/// Counts one block.
#[inline]
pub(crate) fn touch() {
    TOUCHED.set(TOUCHED.get() + 1);
}

/// Number of blocks that this thread has read.
pub(crate) fn blocks_read() -> u64 {
    TOUCHED.get()
}

impl std::fmt::Debug for IndexBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IndexBytes").field("path", &self.path).field("bytes", &self.data.len()).finish_non_exhaustive()
    }
}

/// The reason why an index cannot be opened.
#[derive(Debug)]
pub(crate) enum IndexOpenError {
    Io(io::Error),
    Refused(IndexRefusal),
}

impl From<IndexRefusal> for IndexOpenError {
    fn from(refusal: IndexRefusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<io::Error> for IndexOpenError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl IndexBytes {
    /// Opens the index at `path` of the trace that `key` identifies. Files of more than
    /// `read_up_to` bytes are mapped.
    pub(crate) fn open(path: &Path, key: IndexKey, read_up_to: u64) -> Result<Self, IndexOpenError> {
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(IndexRefusal::Foreign.into());
        }
        let mut page = Vec::new();
        (&mut file).take(PAGE as u64).read_to_end(&mut page)?;
        let header = IndexHeader::decode(&page, metadata.len(), key)?;
        let data = if metadata.len() <= read_up_to {
            let mut bytes = page;
            // Reads one byte more than expected, to reject a file that grows.
            file.take(metadata.len() + 1 - bytes.len() as u64).read_to_end(&mut bytes)?;
            IndexByteStorage::Read(bytes)
        } else {
            IndexByteStorage::Mapped(GuardedMap::new(&file)?)
        };
        if data.len() as u64 != header.length {
            return Err(IndexRefusal::Damaged.into());
        }
        let pages = header.checksums.len / 4 + 1;
        let verified: Vec<AtomicU64> = (0..pages.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        let index_bytes = Self { data, header, path: path.to_owned(), verified, is_damaged: AtomicBool::new(false) };
        let checksums = &index_bytes.data[header.checksums.offset as usize..];
        if XxHash3_64::oneshot(checksums) != header.checksums_hash {
            return Err(IndexRefusal::Damaged.into());
        }
        if matches!(index_bytes.data, IndexByteStorage::Read(_)) && !(1..pages).all(|page| index_bytes.verify(page)) {
            return Err(IndexRefusal::Damaged.into());
        }
        Ok(index_bytes)
    }

    /// Whether all pages are undamaged. Reads the whole file.
    pub(crate) fn is_whole(&self) -> bool {
        let is_whole = (1..=self.header.checksums.len / 4).all(|page| self.is_right(page));
        if !is_whole {
            self.damage();
        }
        is_whole
    }

    /// Whether a page is undamaged.
    #[inline]
    fn is_right(&self, page: u64) -> bool {
        let verified_bits = self.verified.get((page / 64) as usize).map_or(0, |bits| bits.load(Ordering::Relaxed));
        verified_bits >> (page % 64) & 1 == 1 || self.verify(page)
    }

    #[cold]
    fn verify(&self, page: u64) -> bool {
        let (offset, sum_offset) =
            (page as usize * PAGE, self.header.checksums.offset as usize + (page as usize).wrapping_sub(1) * 4);
        let file_sum = self.data.get(sum_offset..).and_then(<[u8]>::first_chunk).map(|sum| u32::from_le_bytes(*sum));
        let page_sum = self.data.get(offset..offset + PAGE).map(page_checksum);
        let is_equal = file_sum.is_some() && file_sum == page_sum;
        if is_equal && let Some(bits) = self.verified.get((page / 64) as usize) {
            bits.fetch_or(1 << (page % 64), Ordering::Relaxed);
        }
        is_equal
    }

    /// `len` bytes at `offset`. If the file lacks them, or if they are damaged, it returns no
    /// bytes, and [`Self::is_damaged`] is true from then on.
    #[inline]
    pub(crate) fn slice(&self, offset: u64, len: usize) -> &[u8] {
        let end = offset.saturating_add(len as u64);
        if offset >= PAGE as u64 && end <= self.header.checksums.offset {
            let (first, last) = (offset / PAGE as u64, end.saturating_sub(1).max(offset) / PAGE as u64);
            // Most ranges are within one page.
            if self.is_right(first) && (first == last || (first + 1..=last).all(|page| self.is_right(page))) {
                return self.data.get(offset as usize..end as usize).unwrap_or(&[]);
            }
        }
        self.damage();
        &[]
    }

    /// Prefetches some bytes that will be read soon. It has no other effect, for any position.
    #[inline]
    #[cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "the hint takes a pointer; see SAFETY"))]
    pub(crate) fn prefetch(&self, offset: u64, len: usize) {
        let end = (offset as usize).saturating_add(len);
        let Some(bytes) = self.data.get(offset as usize..end) else { return };
        for line in bytes.chunks(LINE) {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a prefetch hint has no effect that the program can observe, and is allowed
            // for any address. This address is that of existing bytes.
            unsafe {
                use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
                _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast());
            }
            #[cfg(not(target_arch = "x86_64"))]
            let _ = line;
        }
    }

    #[cold]
    fn damage(&self) {
        if !self.is_damaged.swap(true, Ordering::Relaxed) {
            // Removes the file, so that the next opening makes a new one. An error is ignored,
            // because the file may already be gone.
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// Whether any read failed.
    pub(crate) fn is_damaged(&self) -> bool {
        if let IndexByteStorage::Mapped(map) = &self.data
            && map.is_truncated()
        {
            self.damage();
        }
        self.is_damaged.load(Ordering::Relaxed)
    }

    /// The word at `offset`; 0 if it cannot be read.
    #[inline]
    pub(crate) fn word(&self, offset: u64) -> u64 {
        self.slice(offset, 8).first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
    }
}
