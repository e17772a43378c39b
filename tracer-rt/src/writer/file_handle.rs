//! The process's file, identified by more than the number of its descriptor.
//!
//! A program may close all descriptors, as daemons do, and the system then gives the number to the
//! next file that it opens. Before each use of the descriptor, the identity of the file is
//! compared. If the descriptor refers to another file, that file belongs to the program: it is not
//! written, cut or closed. The recorder opens its own file again by its path.

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};

use crate::files::{above_standard, create};
use crate::{fault_injection, locks};

/// Descriptor number of the current or last file, for a forked child, which cannot wait for a lock.
static NUMBER: AtomicI32 = AtomicI32::new(-1);
/// Identity of that file.
static IDENTITY: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];
/// Length of that file in bytes.
static LENGTH: AtomicU64 = AtomicU64::new(0);
/// True in a forked child that has not restarted yet: the descriptor refers to `/dev/null`.
static IS_DETACHED: AtomicBool = AtomicBool::new(false);

/// Detaches a forked child from the file of its parent. Later writes do not reach the file.
pub(crate) fn detach() {
    let file = NUMBER.swap(-1, Ordering::Relaxed);
    let identity = [0, 1, 2, 3].map(|index| IDENTITY[index].load(Ordering::Relaxed));
    if file < 0 || !is(file, identity, LENGTH.load(Ordering::Relaxed)) {
        return;
    }
    // SAFETY: the path ends with a zero.
    let null_device = unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC) };
    if null_device < 0 {
        // Writes are then refused.
        return;
    }
    // SAFETY: the call takes numbers. Only the child's own table of files changes.
    unsafe { libc::dup3(null_device, file, libc::O_CLOEXEC) };
    // SAFETY: it was opened above.
    unsafe { libc::close(null_device) };
    IS_DETACHED.store(true, Ordering::Relaxed);
}

/// Identity of a file: device, inode, and time of creation in seconds and nanoseconds.
/// The time distinguishes the file from a removed one, because the system reuses inodes. It is zero
/// if the file system does not provide it.
type OpenFileIdentity = [u64; 4];

/// Identity of a file, and its length in bytes.
struct FileStatus {
    identity: OpenFileIdentity,
    bytes: u64,
}

/// Identity and length of the file of a descriptor. Signal handlers may call it.
fn status_of(file: libc::c_int) -> Option<FileStatus> {
    let mut status = std::mem::MaybeUninit::<libc::statx>::zeroed();
    let mask = libc::STATX_INO | libc::STATX_SIZE | libc::STATX_BTIME;
    // SAFETY: the path ends with a zero; the pointer is to a local of the right type.
    let failed = unsafe { libc::statx(file, c"".as_ptr(), libc::AT_EMPTY_PATH, mask, status.as_mut_ptr()) };
    // SAFETY: all fields of the structure may be zero.
    let status = unsafe { status.assume_init() };
    if failed != 0 {
        return plain_status_of(file);
    }
    let device = libc::makedev(status.stx_dev_major, status.stx_dev_minor);
    let created = if status.stx_mask & libc::STATX_BTIME == 0 {
        (0, 0)
    } else {
        (status.stx_btime.tv_sec, status.stx_btime.tv_nsec)
    };
    let identity = [device, status.stx_ino, created.0.cast_unsigned(), u64::from(created.1)];
    Some(FileStatus { identity, bytes: status.stx_size })
}

/// Like [`status_of`], for systems that do not allow `statx`.
fn plain_status_of(file: libc::c_int) -> Option<FileStatus> {
    let mut about = std::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the pointer is to a local of the right type.
    let failed = unsafe { libc::fstat(file, about.as_mut_ptr()) };
    // SAFETY: all fields of the structure may be zero.
    let about = unsafe { about.assume_init() };
    let identity = [about.st_dev, about.st_ino, 0, 0];
    (failed == 0).then_some(FileStatus { identity, bytes: about.st_size.cast_unsigned() })
}

/// Whether a descriptor refers to this file, and the file has at least `length` bytes.
fn is(file: libc::c_int, identity: OpenFileIdentity, length: u64) -> bool {
    status_of(file).is_some_and(|status| status.identity == identity && status.bytes >= length)
}

#[derive(Debug)]
pub(super) struct ProcessFileHandle {
    /// Used only through [`Self::checked_file`]. It is closed only after a comparison of the
    /// identity.
    file: ManuallyDrop<File>,
    path: PathBuf,
    identity: OpenFileIdentity,
    /// Another file has the path of this one.
    is_replaced: bool,
}

impl ProcessFileHandle {
    /// Creates the file.
    ///
    /// # Errors
    /// If the file exists or cannot be created.
    pub(super) fn create(path: PathBuf) -> io::Result<Self> {
        let file = create(&path)?;
        Self::new(file, path, 0)
    }

    fn new(file: File, path: PathBuf, length: u64) -> io::Result<Self> {
        let identity = status_of(file.as_raw_fd()).ok_or_else(io::Error::last_os_error)?.identity;
        let handle = Self { file: ManuallyDrop::new(file), path, identity, is_replaced: false };
        handle.publish(length);
        Ok(handle)
    }

    fn publish(&self, length: u64) {
        NUMBER.store(-1, Ordering::Relaxed);
        for (index, part) in self.identity.into_iter().enumerate() {
            IDENTITY[index].store(part, Ordering::Relaxed);
        }
        LENGTH.store(length, Ordering::Relaxed);
        NUMBER.store(self.file.as_raw_fd(), Ordering::Relaxed);
    }

    /// Returns the file after a check of its identity. `length` bytes were written to it.
    ///
    /// # Errors
    /// If the descriptor refers to another file and the path does not lead to this one.
    pub(super) fn checked_file(&mut self, length: u64) -> io::Result<&File> {
        if locks::is_unsettled() {
            // The path belongs to the parent.
            return if IS_DETACHED.load(Ordering::Relaxed) {
                Ok(&self.file)
            } else {
                Err(io::ErrorKind::Interrupted.into())
            };
        }
        if fault_injection::is_injected("descriptors are not checked")
            || is(self.file.as_raw_fd(), self.identity, length)
        {
            return Ok(&self.file);
        }
        if self.is_replaced {
            return Err(io::ErrorKind::NotConnected.into());
        }
        let reopened = above_standard(File::options().read(true).write(true).open(&self.path)?)?;
        let reopened = ManuallyDrop::new(reopened);
        if !is(reopened.as_raw_fd(), self.identity, length) {
            // Not closed: another thread may be closing all descriptors, and its next file may get
            // the number.
            self.is_replaced = true;
            return Err(io::Error::other("the program closed the trace's file, and another file has its name now"));
        }
        // The old descriptor now refers to a file of the program, which stays open.
        self.file = reopened;
        self.publish(length);
        Ok(&self.file)
    }

    /// Writes `bytes` at offset `length`, the end of the file.
    ///
    /// # Errors
    /// As [`Self::checked_file`], or if the file cannot be written.
    pub(super) fn write(&mut self, bytes: &[u8], length: u64) -> io::Result<()> {
        if locks::is_unsettled() {
            return self.checked_file(length).map(|_| ());
        }
        self.checked_file(length)?.write_all_at(bytes, length)?;
        LENGTH.store(length + bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Cuts the file to `length` bytes. Removes an incomplete block or reserved space.
    pub(super) fn cut(&mut self, length: u64) {
        // If this fails, readers find the next block by its magic.
        if let Ok(file) = self.checked_file(length) {
            let _ = file.set_len(length);
        }
    }

    /// Whether the file was removed: it has no name any more.
    pub(super) fn is_removed(&mut self, length: u64) -> bool {
        self.checked_file(length).and_then(File::metadata).is_ok_and(|about| about.nlink() == 0)
    }

    /// Creates another file with the first `length` bytes of this one.
    ///
    /// # Errors
    /// If this file cannot be read, or the other one cannot be created or written.
    pub(super) fn copy_to(&mut self, path: PathBuf, length: u64) -> io::Result<Self> {
        const STEP: u64 = 1 << 20;
        let source = self.checked_file(length)?;
        let copy = create(&path)?;
        let mut bytes = vec![0; STEP.min(length) as usize];
        let mut position = 0;
        while position < length {
            let step = (STEP.min(length - position)) as usize;
            source.read_exact_at(&mut bytes[..step], position)?;
            copy.write_all_at(&bytes[..step], position)?;
            position += step as u64;
        }
        Self::new(copy, path, length)
    }
}

impl Drop for ProcessFileHandle {
    fn drop(&mut self) {
        let number = self.file.as_raw_fd();
        if IS_DETACHED.swap(false, Ordering::Relaxed) || is(number, self.identity, LENGTH.load(Ordering::Relaxed)) {
            // SAFETY: the descriptor refers to this file and is not used after this. Closed by its
            // number, because `std` ends the program if the number is not open.
            unsafe { libc::close(number) };
        }
    }
}
