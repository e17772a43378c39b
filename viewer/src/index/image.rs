//! [`Image`]: the bytes of an index, of which no page is believed before its checksum is right.
//!
//! Small files are read and checked as a whole. Of large ones a page is checked when it is first touched: opening costs no more
//! than the header, the checksums and what is asked for.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read as _};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use twox_hash::XxHash3_64;

use super::format::{Header, Key, PAGE, Refused, page_checksum};
use super::guarded_map::GuardedMap;

/// Bytes that come from memory at once.
const LINE: usize = 64;

enum Data {
    Read(Vec<u8>),
    Mapped(GuardedMap),
}

impl Deref for Data {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Read(bytes) => bytes,
            Self::Mapped(map) => map,
        }
    }
}

/// The bytes of an index.
pub(crate) struct Image {
    data: Data,
    pub(crate) header: Header,
    path: PathBuf,
    /// A bit per page: whether its checksum was found right.
    verified: Vec<AtomicU64>,
    damaged: AtomicBool,
}

thread_local! {
    /// Blocks and sums that this thread has looked into: what queries cost, whatever the machine. A number that threads shared
    /// would cost more than what it counts.
    static TOUCHED: Cell<u64> = const { Cell::new(0) };
}

/// Counts a block.
#[inline]
pub(crate) fn touch() {
    TOUCHED.set(TOUCHED.get() + 1);
}

/// Blocks that this thread has looked into.
pub(crate) fn touched() -> u64 {
    TOUCHED.get()
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Image").field("path", &self.path).field("bytes", &self.data.len()).finish_non_exhaustive()
    }
}

/// Why there is no image.
#[derive(Debug)]
pub(crate) enum ImageError {
    Io(io::Error),
    Refused(Refused),
}

impl From<Refused> for ImageError {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl From<io::Error> for ImageError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Image {
    /// Opens the index at `path` of what `key` stands for. Files beyond `read_up_to` bytes are mapped.
    pub(crate) fn open(path: &Path, key: Key, read_up_to: u64) -> Result<Self, ImageError> {
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(Refused::Foreign.into());
        }
        let mut page = Vec::new();
        (&mut file).take(PAGE as u64).read_to_end(&mut page)?;
        let header = Header::decode(&page, metadata.len(), key)?;
        let data = if metadata.len() <= read_up_to {
            let mut bytes = page;
            // One byte more than there should be: a file that grows is none of ours.
            file.take(metadata.len() + 1 - bytes.len() as u64).read_to_end(&mut bytes)?;
            Data::Read(bytes)
        } else {
            Data::Mapped(GuardedMap::new(&file)?)
        };
        if data.len() as u64 != header.length {
            return Err(Refused::Damaged.into());
        }
        let pages = header.checksums.len / 4 + 1;
        let verified: Vec<AtomicU64> = (0..pages.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        let image = Self { data, header, path: path.to_owned(), verified, damaged: AtomicBool::new(false) };
        let checksums = &image.data[header.checksums.at as usize..];
        if XxHash3_64::oneshot(checksums) != header.checksums_hash {
            return Err(Refused::Damaged.into());
        }
        if matches!(image.data, Data::Read(_)) && !(1..pages).all(|page| image.verify(page)) {
            return Err(Refused::Damaged.into());
        }
        Ok(image)
    }

    /// Whether all pages are as they were written. Reads the whole file.
    pub(crate) fn is_whole(&self) -> bool {
        let is_whole = (1..=self.header.checksums.len / 4).all(|page| self.is_right(page));
        if !is_whole {
            self.damage();
        }
        is_whole
    }

    /// Whether a page is as it was written.
    #[inline]
    fn is_right(&self, page: u64) -> bool {
        let known = self.verified.get((page / 64) as usize).map_or(0, |bits| bits.load(Ordering::Relaxed));
        known >> (page % 64) & 1 == 1 || self.verify(page)
    }

    #[cold]
    fn verify(&self, page: u64) -> bool {
        let (at, sum) = (page as usize * PAGE, self.header.checksums.at as usize + (page as usize).wrapping_sub(1) * 4);
        let stored = self.data.get(sum..).and_then(<[u8]>::first_chunk).map(|sum| u32::from_le_bytes(*sum));
        let computed = self.data.get(at..at + PAGE).map(page_checksum);
        let right = stored.is_some() && stored == computed;
        if right && let Some(bits) = self.verified.get((page / 64) as usize) {
            bits.fetch_or(1 << (page % 64), Ordering::Relaxed);
        }
        right
    }

    /// `len` bytes at `at`. Where there are none, or they are not as they were written: no bytes, and [`Self::is_damaged`] from
    /// then on.
    #[inline]
    pub(crate) fn bytes(&self, at: u64, len: usize) -> &[u8] {
        let end = at.saturating_add(len as u64);
        if at >= PAGE as u64 && end <= self.header.checksums.at {
            let (first, last) = (at / PAGE as u64, end.saturating_sub(1).max(at) / PAGE as u64);
            // Most are within a page.
            if self.is_right(first) && (first == last || (first + 1..=last).all(|page| self.is_right(page))) {
                return self.data.get(at as usize..end as usize).unwrap_or(&[]);
            }
        }
        self.damage();
        &[]
    }

    /// Tells the processor that some bytes will be asked for soon. It does nothing else, wherever they are.
    #[inline]
    #[cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "the hint takes a pointer; see SAFETY"))]
    pub(crate) fn prefetch(&self, at: u64, len: usize) {
        let end = (at as usize).saturating_add(len);
        let Some(bytes) = self.data.get(at as usize..end) else { return };
        for line in bytes.chunks(LINE) {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a hint reads nothing that the program could see, and is allowed for any address; this one is of bytes that are there.
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
        if !self.damaged.swap(true, Ordering::Relaxed) {
            // So that the next opening makes a new one. That it may already be gone is no matter.
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// Whether anything that was asked for could not be given.
    pub(crate) fn is_damaged(&self) -> bool {
        if let Data::Mapped(map) = &self.data
            && map.is_truncated()
        {
            self.damage();
        }
        self.damaged.load(Ordering::Relaxed)
    }

    /// The word at `at`; 0 where there is none.
    #[inline]
    pub(crate) fn word(&self, at: u64) -> u64 {
        self.bytes(at, 8).first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
    }
}
