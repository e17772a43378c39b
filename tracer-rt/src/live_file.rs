//! The live file: slots that outlive their process, and the names that their records use.
//!
//! The file is mapped shared, so that a published record is in the file immediately, without a
//! system call. Nothing here is on the hot path: threads use mapped and private slots in the same
//! way. Layout: `FORMAT.md`.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};

use tracer_format::BlockKind;
use tracer_format::live_file::{
    DROP_COUNTERS, LIVE_HEAD_BYTES, LOG_ENTRY_BYTES, LiveLayout, REQUEST_BYTES, head, slot_use,
};

use crate::fault_injection;
use crate::files::create;
use crate::locks::{self, RecorderLock, bit};
use crate::slots::SlotHeader;
use crate::user_messages::report;

/// The place of the slots: the value of the tag `BUFFERS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SlotLocation {
    /// In memory of the process. Records that are not yet in the file are dropped with the process.
    Private = 0,
    /// In a live file, which remains after the process is killed.
    Mapped = 1,
}

/// The mapped head of this process's live file, or null.
static HEAD: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());

/// A live file that stays mapped until the process ends.
#[derive(Debug)]
pub(crate) struct LiveFile {
    path: PathBuf,
    base: *mut u8,
    layout: LiveLayout,
}

// SAFETY: the pointer is to a mapping of the whole process.
unsafe impl Send for LiveFile {}

impl LiveFile {
    /// Creates the file for `layout.slots` slots, allocates all of it, and maps it.
    /// The mapping replaces `region`, if that has the same size. The caller does not use
    /// `region` any more.
    ///
    /// # Errors
    /// If the folder is not writable or has no space, or if the file cannot be mapped. No file is
    /// left then.
    pub(crate) fn create(path: PathBuf, layout: LiveLayout, region: Option<&MappedRegion>) -> io::Result<Self> {
        let bytes = layout.file_bytes();
        locks::refuse_unsettled()?;
        within_limit(bytes)?;
        let file = create(&path)?;
        let mapped = allocate(&file, bytes).and_then(|()| map_shared(&file, bytes as usize, region));
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
        // The magic is written last, so that a file with a magic is complete.
        for range in [8..bytes.len(), 0..8] {
            let (from, to) = (bytes[range.clone()].as_ptr(), self.base.wrapping_add(range.start));
            // SAFETY: the head is mapped and new, and no other code uses it.
            unsafe { std::ptr::copy_nonoverlapping(from, to, range.len()) };
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The address of the first slot.
    pub(crate) fn slots(&self) -> *mut u8 {
        self.base.wrapping_add(self.layout.slots_offset() as usize)
    }

    /// Makes this file the target of names and loss counters from now on.
    pub(crate) fn publish(&self) {
        let mut log = LOG.lock();
        *log = LiveLogState { used_bytes: 0, capacity: self.layout.log_bytes as usize };
        HEAD_BYTES.store(self.layout.file_bytes() as usize, Ordering::Relaxed);
        HEAD.store(self.base, Ordering::Release);
    }

    /// Removes the file, because its contents are in the file of the process.
    /// The mapping stays, because threads may still use it.
    pub(crate) fn remove(&self) {
        if locks::is_unsettled() {
            return; // the file of the parent
        }
        if let Err(error) = std::fs::remove_file(&self.path)
            && error.kind() != io::ErrorKind::NotFound
        {
            report(&format!("cannot remove `{}`: {error}", self.path.display()));
        }
    }

    /// Gives the file up in a forked child, because it belongs to the parent.
    /// Private memory replaces the mapping, so that a record that a signal handler interrupted does
    /// not reach the parent's file.
    pub(crate) fn release_in_child(self) -> Option<MappedRegion> {
        HEAD.store(std::ptr::null_mut(), Ordering::Relaxed);
        let region = MappedRegion { base: self.base, bytes: self.layout.file_bytes() as usize };
        map_private(region.bytes, Some(&region)).ok().map(|_| region)
    }
}

/// Size in bytes of the mapping at `HEAD`.
static HEAD_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Detaches a forked child from the live file of its parent.
/// Later writes to the mapping do not reach the file.
pub(crate) fn detach() {
    let base = HEAD.swap(std::ptr::null_mut(), Ordering::Relaxed);
    if !base.is_null() {
        let bytes = HEAD_BYTES.load(Ordering::Relaxed);
        let _ = map_private(bytes, Some(&MappedRegion { base, bytes }));
    }
}

/// An address range that belongs to the recorder.
#[derive(Debug)]
pub(crate) struct MappedRegion {
    pub(crate) base: *mut u8,
    pub(crate) bytes: usize,
}

// SAFETY: the pointer is to a mapping of the whole process.
unsafe impl Send for MappedRegion {}

/// Maps private memory, in place of `region` if that has this size.
pub(crate) fn map_private(bytes: usize, region: Option<&MappedRegion>) -> io::Result<*mut u8> {
    // Miri supports no other flags.
    let more = if cfg!(miri) { 0 } else { libc::MAP_NORESERVE };
    map(bytes, region, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | more, -1)
}

/// Whether the system would provide this amount of memory now.
pub(crate) fn is_room_for(bytes: usize) -> bool {
    // Miri does not support unreadable mappings.
    if cfg!(miri) {
        return true;
    }
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: the system chooses a free address range.
    let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_NONE, flags, -1, 0) };
    let is_room = base != libc::MAP_FAILED;
    if is_room {
        // SAFETY: the range was mapped just now, and no other code knows its address.
        unsafe { libc::munmap(base, bytes) };
    }
    is_room
}

fn map_shared(file: &File, bytes: usize, region: Option<&MappedRegion>) -> io::Result<*mut u8> {
    map(bytes, region, libc::MAP_SHARED, file.as_raw_fd())
}

fn map(bytes: usize, region: Option<&MappedRegion>, flags: libc::c_int, file: libc::c_int) -> io::Result<*mut u8> {
    let region = region.filter(|region| region.bytes == bytes);
    let (address, fixed) = region.map_or((std::ptr::null_mut(), 0), |region| (region.base, libc::MAP_FIXED));
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the system chooses a free address range, or the range is a region of the recorder.
    let base = unsafe { libc::mmap(address.cast(), bytes, protection, flags | fixed, file, 0) };
    if base == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(base.cast()) }
}

/// Allocates disk blocks for the whole file.
/// A full disk is then an error here, not a signal later.
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

/// Checks that the limit of the process allows a file of this size.
/// A write beyond the limit does not only fail: it sends a signal that ends the program.
pub(crate) fn within_limit(bytes: u64) -> io::Result<()> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a local of the right type.
    let failed = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) };
    if failed == 0 && bytes > limit.rlim_cur { Err(io::Error::from_raw_os_error(libc::EFBIG)) } else { Ok(()) }
}

/// The folder of the live file: the run folder, or `/dev/shm` if the run folder is remote.
pub(crate) fn folder_for(run: &Path) -> &Path {
    let memory_folder = Path::new("/dev/shm");
    if is_remote(run) && memory_folder.is_dir() { memory_folder } else { run }
}

/// Whether a folder is on a network file system or a file system served by a program (FUSE).
/// Mapped files are slow or not coherent there.
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
    let mut file_status = std::mem::MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: the path ends with a zero, and the pointer is to a local of the right type.
    let failed = unsafe { libc::statfs(path.as_ptr(), file_status.as_mut_ptr()) };
    // SAFETY: all fields of the structure may be zero.
    let file_status = unsafe { file_status.assume_init() };
    failed == 0 && REMOTE.contains(&(file_status.f_type as u32))
}

/// The used and total bytes of the log.
#[derive(Debug)]
pub(crate) struct LiveLogState {
    used_bytes: usize,
    capacity: usize,
}

/// The log of names. Last in the lock order.
/// It is taken only while the lock of the session or of the names is held.
pub(crate) static LOG: RecorderLock<LiveLogState> =
    RecorderLock::new(bit::LOG, LiveLogState { used_bytes: 0, capacity: 0 });

/// Appends names to the log.
/// Returns false if the log is full: the names must then be written to the file before they are
/// used. Returns true without a live file, because no reader then needs names before they are in
/// the file.
pub(crate) fn log(kind: BlockKind, stream: u32, entries: u32, payload: &[u8]) -> bool {
    LOG.lock().append(kind, stream, entries, payload)
}

/// Like [`log`], but returns false also if another thread holds the lock of the log.
pub(crate) fn try_log(kind: BlockKind, stream: u32, entries: u32, payload: &[u8]) -> bool {
    LOG.try_lock().is_some_and(|mut log| log.append(kind, stream, entries, payload))
}

impl LiveLogState {
    fn append(&mut self, kind: BlockKind, stream: u32, entries: u32, payload: &[u8]) -> bool {
        let log = self;
        let base = HEAD.load(Ordering::Acquire);
        if base.is_null() || fault_injection::is_injected("names are not logged") {
            return true;
        }
        let bytes = entry_bytes(payload.len());
        if bytes > log.capacity - log.used_bytes {
            return false;
        }
        let log_end = base.wrapping_add(LIVE_HEAD_BYTES + log.used_bytes);
        let mut start = [0; LOG_ENTRY_BYTES];
        for (offset, word) in [(0, kind as u32), (4, stream), (8, entries), (12, payload.len() as u32)] {
            start[offset..offset + 4].copy_from_slice(&word.to_le_bytes());
        }
        // SAFETY: the log has room for the entry, and no reader reads it yet.
        unsafe { log_end.cast::<[u8; LOG_ENTRY_BYTES]>().write_unaligned(start) };
        let body = log_end.wrapping_add(LOG_ENTRY_BYTES);
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(payload.as_ptr(), body, payload.len()) };
        log.used_bytes += bytes;
        word(base, head::LOG_USED).store(log.used_bytes as u64, Ordering::Release);
        true
    }
}

/// Size in bytes of an entry with its head and padding.
pub(crate) const fn entry_bytes(payload: usize) -> usize {
    LOG_ENTRY_BYTES + payload.next_multiple_of(8)
}

/// Bytes of the log in use.
/// The caller passes them to [`log_written`] when the names known at this moment are in the file.
pub(crate) fn used_log_bytes() -> u64 {
    let base = HEAD.load(Ordering::Acquire);
    if base.is_null() { 0 } else { word(base, head::LOG_USED).load(Ordering::Acquire) }
}

/// Stores that the first `bytes` bytes of the log are also in the file.
pub(crate) fn log_written(bytes: u64) {
    let base = HEAD.load(Ordering::Acquire);
    if !base.is_null() {
        word(base, head::LOG_WRITTEN).store(bytes, Ordering::Release);
    }
}

/// Counts dropped records in the live file, where the count survives the process.
pub(crate) fn count_dropped(stream: u32, records: u64) {
    let base = HEAD.load(Ordering::Acquire);
    if !base.is_null() && !fault_injection::is_injected("drops are not counted") {
        let counter = stream as usize % DROP_COUNTERS;
        word(base, head::DROP_COUNTERS + 8 * counter).fetch_add(records, Ordering::Relaxed);
    }
}

/// Counts a truncated record in the live file, where the count survives the process.
pub(crate) fn count_truncated() {
    let base = HEAD.load(Ordering::Acquire);
    if !base.is_null() {
        word(base, head::TRUNCATED).fetch_add(1, Ordering::Relaxed);
    }
}

/// Stores the timestamp of the orderly end of the process.
/// The live file remains if the process's file could not take all records.
pub(crate) fn store_process_end(end: u64) {
    let base = HEAD.load(Ordering::Acquire);
    if !base.is_null() {
        word(base, head::PROCESS_END).store(end, Ordering::Release);
    }
}

/// Stores a reading of the clock.
/// A killed process ends at the later of its last reading and its last record.
pub(crate) fn store_clock_reading(ticks: u64) {
    let base = HEAD.load(Ordering::Acquire);
    if !base.is_null() {
        word(base, head::LAST_READING).store(ticks, Ordering::Relaxed);
    }
}

/// Counts the records of a slot as overwritten. The caller holds the session's lock.
/// The slot first stores the previous count, so that a reader can see at any moment whether its
/// records are counted.
pub(crate) fn count_overwritten(slot: &SlotHeader, records: u64) {
    let base = HEAD.load(Ordering::Acquire);
    if base.is_null() {
        return;
    }
    let count = word(base, head::OVERWRITTEN);
    let before = count.load(Ordering::Relaxed);
    slot.flushed_last.store(before, Ordering::Relaxed);
    slot.is_taken.store(slot_use::BEING_OVERWRITTEN, Ordering::Release);
    fence(Ordering::SeqCst);
    count.store(before + records, Ordering::Release);
}

/// The number and text of a request that is not carried out yet.
pub(crate) fn request() -> Option<(u32, String)> {
    let base = HEAD.load(Ordering::Acquire);
    if base.is_null() {
        return None;
    }
    let number = half_word(base, head::REQUEST).load(Ordering::Acquire);
    if number == half_word(base, head::REQUEST_DONE).load(Ordering::Relaxed) {
        return None;
    }
    let bytes = half_word(base, head::REQUEST_LENGTH).load(Ordering::Relaxed) as usize;
    let mut text = vec![0; bytes.min(REQUEST_BYTES)];
    for (index, byte) in text.iter_mut().enumerate() {
        let address = base.wrapping_add(head::REQUEST_TEXT + index);
        // SAFETY: within the mapped head. If another process writes at the same time, it changes
        // the number again.
        *byte = unsafe { address.read_volatile() };
    }
    Some((number, String::from_utf8_lossy(&text).into_owned()))
}

/// Stores the result of a request.
pub(crate) fn answer(number: u32, result: u32) {
    let base = HEAD.load(Ordering::Acquire);
    if !base.is_null() {
        half_word(base, head::REQUEST_RESULT).store(result, Ordering::Relaxed);
        half_word(base, head::REQUEST_DONE).store(number, Ordering::Release);
    }
}

fn word<'a>(base: *mut u8, offset: usize) -> &'a AtomicU64 {
    // SAFETY: `base` is the head of a live file, page-aligned and mapped as long as the process
    // lives. The offsets are those of its words.
    unsafe { &*base.wrapping_add(offset).cast::<AtomicU64>() }
}

fn half_word<'a>(base: *mut u8, offset: usize) -> &'a AtomicU32 {
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
    #[cfg_attr(miri, ignore = "Miri maps no files")]
    fn a_live_file_is_created_completely_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.live");
        let live = LiveFile::create(path.clone(), layout(), None).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len() as u64, layout().file_bytes());
        assert_eq!(LiveLayout::decode(&bytes), Some(layout()));
        // SAFETY: the slots are mapped.
        unsafe { live.slots().write_volatile(77) };
        assert_eq!(std::fs::read(&path).unwrap()[layout().slots_offset() as usize], 77);
        assert!(LiveFile::create(path.clone(), layout(), None).is_err(), "the file exists");
        live.remove();
        let huge = LiveLayout { slots: u32::MAX, ..layout() };
        assert!(LiveFile::create(path.clone(), huge, None).is_err(), "256 TiB");
        assert!(!path.exists());
        assert!(!is_remote(folder.path()));
    }
}
