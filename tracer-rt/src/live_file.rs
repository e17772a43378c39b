//! The live file: slots that outlive their process, and the names that their records use.
//!
//! It is mapped shared, so that what a thread has published is in the file at that moment, without any call. Nothing
//! here is on the hot path: a slot is a slot, wherever it lies. Layout: `FORMAT.md`.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};

use tracer_format::BlockKind;
use tracer_format::live::{LIVE_HEAD_BYTES, LOG_ENTRY_BYTES, LOSS_COUNTERS, LiveLayout, REQUEST_BYTES, head, taken};

use crate::diagnostics::report;
use crate::fault_injection;
use crate::files::create;
use crate::locks::{self, Lock, bit};
use crate::slots::Slot;

/// Where slots lie: the value of the tag `BUFFERS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Buffers {
    /// In memory of the process: what is not yet written dies with it.
    Private = 0,
    /// In a live file, which a killed process leaves behind.
    Mapped = 1,
}

/// The mapped head of this process's live file, or null.
static HEAD: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());

/// A live file that is mapped for as long as the process lives.
#[derive(Debug)]
pub(crate) struct Live {
    path: PathBuf,
    base: *mut u8,
    layout: LiveLayout,
}

// SAFETY: the pointer is to a mapping of the whole process.
unsafe impl Send for Live {}

impl Live {
    /// Makes the file for `slots` slots, allocates all of it, and maps it: at `at`, if that is a mapping of the same size
    /// that is not needed any more.
    ///
    /// # Errors
    /// When the folder cannot be written, has no room, or cannot be mapped. No file is left then.
    pub(crate) fn make(path: PathBuf, layout: LiveLayout, at: Option<&Region>) -> io::Result<Self> {
        let bytes = layout.file_bytes();
        locks::refuse_unsettled()?;
        within_limit(bytes)?;
        let file = create(&path)?;
        let mapped = allocate(&file, bytes).and_then(|()| map_shared(&file, bytes as usize, at));
        match mapped {
            Ok(base) => {
                let live = Self { path, base, layout };
                live.write_head();
                Ok(live)
            }
            Err(error) => {
                let _ = std::fs::remove_file(&path);
                Err(error)
            }
        }
    }

    fn write_head(&self) {
        let bytes = self.layout.encode();
        // The magic last: a file that has it is complete.
        for range in [8..bytes.len(), 0..8] {
            let (from, to) = (bytes[range.clone()].as_ptr(), self.base.wrapping_add(range.start));
            // SAFETY: the head is mapped, new, and nobody else's.
            unsafe { std::ptr::copy_nonoverlapping(from, to, range.len()) };
        }
    }

    /// The file's path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The first slot.
    pub(crate) fn slots(&self) -> *mut u8 {
        self.base.wrapping_add(self.layout.slots_offset() as usize)
    }

    /// From now on names and losses go here.
    pub(crate) fn publish(&self) {
        let mut log = LOG.lock();
        *log = Log { used: 0, capacity: self.layout.log_bytes as usize };
        HEAD_BYTES.store(self.layout.file_bytes() as usize, Ordering::Relaxed);
        HEAD.store(self.base, Ordering::Release);
    }

    /// Removes the file: all that it holds is in the other one. Its memory stays, for threads that do not know yet.
    pub(crate) fn remove(&self) {
        if locks::is_unsettled() {
            return; // the parent's
        }
        if let Err(error) = std::fs::remove_file(&self.path)
            && error.kind() != io::ErrorKind::NotFound
        {
            report(&format!("cannot remove `{}`: {error}", self.path.display()));
        }
    }

    /// After a `fork`, in the child: the file is the parent's. Its place in memory becomes the child's own, so that a
    /// record that a signal handler had interrupted goes nowhere.
    pub(crate) fn disown(self) -> Option<Region> {
        HEAD.store(std::ptr::null_mut(), Ordering::Relaxed);
        let region = Region { base: self.base, bytes: self.layout.file_bytes() as usize };
        map_private(region.bytes, Some(&region)).ok().map(|_| region)
    }
}

/// Bytes of what is mapped at `HEAD`.
static HEAD_BYTES: AtomicUsize = AtomicUsize::new(0);

/// In a forked child, at once: what is written to the parent's live file from now on goes nowhere.
pub(crate) fn detach() {
    let base = HEAD.swap(std::ptr::null_mut(), Ordering::Relaxed);
    if !base.is_null() {
        let bytes = HEAD_BYTES.load(Ordering::Relaxed);
        let _ = map_private(bytes, Some(&Region { base, bytes }));
    }
}

/// An address range that belongs to the recorder.
#[derive(Debug)]
pub(crate) struct Region {
    pub(crate) base: *mut u8,
    pub(crate) bytes: usize,
}

// SAFETY: the pointer is to a mapping of the whole process.
unsafe impl Send for Region {}

/// Maps private memory: in the region if it is of that size.
pub(crate) fn map_private(bytes: usize, at: Option<&Region>) -> io::Result<*mut u8> {
    // Miri knows no others.
    let more = if cfg!(miri) { 0 } else { libc::MAP_NORESERVE };
    map(bytes, at, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | more, -1)
}

/// Whether the system would give so much memory now.
pub(crate) fn is_room_for(bytes: usize) -> bool {
    // Miri knows no memory that cannot be read.
    if cfg!(miri) {
        return true;
    }
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: the system chooses a place where nothing is.
    let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_NONE, flags, -1, 0) };
    let is_room = base != libc::MAP_FAILED;
    if is_room {
        // SAFETY: it was mapped right now, and nobody knows of it.
        unsafe { libc::munmap(base, bytes) };
    }
    is_room
}

fn map_shared(file: &File, bytes: usize, at: Option<&Region>) -> io::Result<*mut u8> {
    map(bytes, at, libc::MAP_SHARED, file.as_raw_fd())
}

fn map(bytes: usize, at: Option<&Region>, flags: libc::c_int, file: libc::c_int) -> io::Result<*mut u8> {
    let at = at.filter(|region| region.bytes == bytes);
    let (place, fixed) = at.map_or((std::ptr::null_mut(), 0), |region| (region.base, libc::MAP_FIXED));
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the system chooses a place where nothing is, or it is a region of the recorder's own.
    let base = unsafe { libc::mmap(place.cast(), bytes, protection, flags | fixed, file, 0) };
    if base == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(base.cast()) }
}

/// Blocks of the file system for the whole file: a full disk is then an error here, not a signal later.
fn allocate(file: &File, bytes: u64) -> io::Result<()> {
    let bytes = libc::off_t::try_from(bytes).map_err(io::Error::other)?;
    loop {
        // SAFETY: the descriptor is open.
        match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, bytes) } {
            0 => return Ok(()),
            libc::EINTR => {}
            code => return Err(io::Error::from_raw_os_error(code)),
        }
    }
}

/// Whether a file may become so large. To pass the limit would not only fail: it sends a signal that ends the program.
pub(crate) fn within_limit(bytes: u64) -> io::Result<()> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a local of the right type.
    let failed = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) };
    if failed == 0 && bytes > limit.rlim_cur { Err(io::Error::from_raw_os_error(libc::EFBIG)) } else { Ok(()) }
}

/// Where the live file of a run goes: beside the run's file, unless that is far away.
pub(crate) fn folder_for(run: &Path) -> &Path {
    let near = Path::new("/dev/shm");
    if is_remote(run) && near.is_dir() { near } else { run }
}

/// Whether a folder lies on a network's file system, or on one that a program serves: mapping is slow there, or not
/// coherent.
fn is_remote(folder: &Path) -> bool {
    // NFS, Lustre, GPFS, CIFS, SMB2, FUSE, Ceph, BeeGFS, AFS.
    const REMOTE: [u32; 9] = [
        0x6969,
        0x0BD0_0BD0,
        0x4750_4653,
        0xFF53_4D42,
        0xFE53_4D42,
        0x6573_5546,
        0x00C3_6400,
        0x1983_0326,
        0x5346_414F,
    ];
    let Ok(path) = CString::new(folder.as_os_str().as_bytes()) else { return false };
    let mut about = std::mem::MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: the path ends with a zero, and the pointer is to a local of the right type.
    let failed = unsafe { libc::statfs(path.as_ptr(), about.as_mut_ptr()) };
    // SAFETY: all of its fields may be zero.
    let about = unsafe { about.assume_init() };
    failed == 0 && REMOTE.contains(&(about.f_type as u32))
}

/// How much of the log is used.
#[derive(Debug)]
pub(crate) struct Log {
    used: usize,
    capacity: usize,
}

/// Taken last of all locks, and only under that of the session or of the names.
pub(crate) static LOG: Lock<Log> = Lock::new(bit::LOG, Log { used: 0, capacity: 0 });

/// Appends names to the log. False when it is full: then they must be written to the file before they are used. True
/// where there is no live file: then nobody reads names before they are in the file.
pub(crate) fn log(kind: BlockKind, stream: u32, entries: u32, payload: &[u8]) -> bool {
    LOG.lock().append(kind, stream, entries, payload)
}

/// As [`log`], but false also when another thread is just using the log.
pub(crate) fn try_log(kind: BlockKind, stream: u32, entries: u32, payload: &[u8]) -> bool {
    LOG.try_lock().is_some_and(|mut log| log.append(kind, stream, entries, payload))
}

impl Log {
    fn append(&mut self, kind: BlockKind, stream: u32, entries: u32, payload: &[u8]) -> bool {
        let log = self;
        let base = HEAD.load(Ordering::Acquire);
        if base.is_null() || fault_injection::injected("names come late") {
            return true;
        }
        let bytes = entry_bytes(payload.len());
        if bytes > log.capacity - log.used {
            return false;
        }
        let at = base.wrapping_add(LIVE_HEAD_BYTES + log.used);
        let mut start = [0; LOG_ENTRY_BYTES];
        for (place, word) in [(0, kind as u32), (4, stream), (8, entries), (12, payload.len() as u32)] {
            start[place..place + 4].copy_from_slice(&word.to_le_bytes());
        }
        // SAFETY: the log has room for the entry, which nobody reads yet.
        unsafe { at.cast::<[u8; LOG_ENTRY_BYTES]>().write_unaligned(start) };
        let body = at.wrapping_add(LOG_ENTRY_BYTES);
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(payload.as_ptr(), body, payload.len()) };
        log.used += bytes;
        word(base, head::LOG_USED).store(log.used as u64, Ordering::Release);
        true
    }
}

/// Size of an entry with its head and padding.
pub(crate) const fn entry_bytes(payload: usize) -> usize {
    LOG_ENTRY_BYTES + payload.next_multiple_of(8)
}

/// Bytes of the log so far; to be given to [`log_written`] when all that was known by then is in the file.
pub(crate) fn log_used() -> u64 {
    let base = HEAD.load(Ordering::Acquire);
    if base.is_null() { 0 } else { word(base, head::LOG_USED).load(Ordering::Acquire) }
}

/// Notes that so much of the log is in the file, too.
pub(crate) fn log_written(bytes: u64) {
    let base = HEAD.load(Ordering::Acquire);
    if !base.is_null() {
        word(base, head::LOG_WRITTEN).store(bytes, Ordering::Release);
    }
}

/// Counts dropped records where they survive the process.
pub(crate) fn count_lost(stream: u32, records: u64) {
    let base = HEAD.load(Ordering::Acquire);
    if !base.is_null() && !fault_injection::injected("losses are silent") {
        let counter = stream as usize % LOSS_COUNTERS;
        word(base, head::LOSSES + 8 * counter).fetch_add(records, Ordering::Relaxed);
    }
}

/// Counts a truncated record where it survives the process.
pub(crate) fn count_truncated() {
    let base = HEAD.load(Ordering::Acquire);
    if !base.is_null() {
        word(base, head::TRUNCATED).fetch_add(1, Ordering::Relaxed);
    }
}

/// Notes that the process ended in order: where its file cannot take all, the live file stays.
pub(crate) fn note_process_end(end: u64) {
    let base = HEAD.load(Ordering::Acquire);
    if !base.is_null() {
        word(base, head::PROCESS_END).store(end, Ordering::Release);
    }
}

/// Stores a reading of the clock. A killed process ends at the later of its last reading and its
/// last record.
pub(crate) fn note_reading(ticks: u64) {
    let base = HEAD.load(Ordering::Acquire);
    if !base.is_null() {
        word(base, head::LAST_READING).store(ticks, Ordering::Relaxed);
    }
}

/// Counts the records of a slot as overwritten, so that at any moment it can be told whether they are counted: the slot says
/// what the count was before. Under the session's lock.
pub(crate) fn count_overwritten(slot: &Slot, records: u64) {
    let base = HEAD.load(Ordering::Acquire);
    if base.is_null() {
        return;
    }
    let count = word(base, head::OVERWRITTEN);
    let before = count.load(Ordering::Relaxed);
    slot.flushed_last.store(before, Ordering::Relaxed);
    slot.taken.store(taken::BEING_OVERWRITTEN, Ordering::Release);
    fence(Ordering::SeqCst);
    count.store(before + records, Ordering::Release);
}

/// The text of a request that was not carried out yet, and its number.
pub(crate) fn request() -> Option<(u32, String)> {
    let base = HEAD.load(Ordering::Acquire);
    if base.is_null() {
        return None;
    }
    let number = half(base, head::REQUEST).load(Ordering::Acquire);
    if number == half(base, head::REQUEST_DONE).load(Ordering::Relaxed) {
        return None;
    }
    let bytes = half(base, head::REQUEST_LENGTH).load(Ordering::Relaxed) as usize;
    let mut text = vec![0; bytes.min(REQUEST_BYTES)];
    for (at, byte) in text.iter_mut().enumerate() {
        let place = base.wrapping_add(head::REQUEST_TEXT + at);
        // SAFETY: within the mapped head. Another process may be writing: then its number changes again.
        *byte = unsafe { place.read_volatile() };
    }
    Some((number, String::from_utf8_lossy(&text).into_owned()))
}

/// Answers a request.
pub(crate) fn answer(number: u32, result: u32) {
    let base = HEAD.load(Ordering::Acquire);
    if !base.is_null() {
        half(base, head::REQUEST_RESULT).store(result, Ordering::Relaxed);
        half(base, head::REQUEST_DONE).store(number, Ordering::Release);
    }
}

fn word<'a>(base: *mut u8, offset: usize) -> &'a AtomicU64 {
    // SAFETY: `base` is the head of a live file, page-aligned and mapped as long as the process lives; offsets are those of
    // its words.
    unsafe { &*base.wrapping_add(offset).cast::<AtomicU64>() }
}

fn half<'a>(base: *mut u8, offset: usize) -> &'a AtomicU32 {
    // SAFETY: as in `word`.
    unsafe { &*base.wrapping_add(offset).cast::<AtomicU32>() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> LiveLayout {
        LiveLayout { process_id: [3; 16], slot_bytes: 1 << 16, slots: 2, log_bytes: 100 }
    }

    #[test]
    #[cfg_attr(miri, ignore = "files are not mapped there")]
    fn a_file_is_made_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.live");
        let live = Live::make(path.clone(), layout(), None).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len() as u64, layout().file_bytes());
        assert_eq!(LiveLayout::decode(&bytes), Some(layout()));
        // SAFETY: the slots are mapped.
        unsafe { live.slots().write_volatile(77) };
        assert_eq!(std::fs::read(&path).unwrap()[layout().slots_offset() as usize], 77);
        assert!(Live::make(path.clone(), layout(), None).is_err(), "it exists");
        live.remove();
        let huge = LiveLayout { slots: u32::MAX, ..layout() };
        assert!(Live::make(path.clone(), huge, None).is_err(), "256 TiB");
        assert!(!path.exists());
        assert!(!is_remote(folder.path()));
    }
}
