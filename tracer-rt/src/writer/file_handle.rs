//! The process's file, known by more than the number of its descriptor: a program may close all descriptors, as daemons do, and the system
//! then gives the number to the next file that it opens. So before anything is done by the number, it is compared which file that is. If it
//! is another one, it is the program's: it is neither written to, nor cut, nor closed, and ours is opened again by its path.

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};

use crate::files::{above_standard, create};
use crate::{fault_injection, locks};

/// The number of the file that is written, or was, and which file that is: for a forked child, which can wait for no lock.
static NUMBER: AtomicI32 = AtomicI32::new(-1);
static IDENTITY: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];
static LENGTH: AtomicU64 = AtomicU64::new(0);
/// In a forked child which has not begun anew yet: what has the number is no file, so what is written goes nowhere.
static NOWHERE: AtomicBool = AtomicBool::new(false);

/// In a forked child, at once: what is written to the parent's file from now on goes nowhere.
pub(crate) fn detach() {
    let file = NUMBER.swap(-1, Ordering::Relaxed);
    let identity = [0, 1, 2, 3].map(|at| IDENTITY[at].load(Ordering::Relaxed));
    if file < 0 || !is(file, identity, LENGTH.load(Ordering::Relaxed)) {
        return;
    }
    // SAFETY: the path ends with a zero.
    let nowhere = unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC) };
    if nowhere < 0 {
        return; // what is to be written is then refused
    }
    // SAFETY: takes numbers; only the child's own table of files changes.
    unsafe { libc::dup3(nowhere, file, libc::O_CLOEXEC) };
    // SAFETY: it was opened above.
    unsafe { libc::close(nowhere) };
    NOWHERE.store(true, Ordering::Relaxed);
}

/// Which file it is: device, inode, and when it was made, as the system gives a removed file's inode to the next one. All zero where the file
/// system does not tell.
type Identity = [u64; 4];

/// Which file a descriptor stands for, and how long it is. Also for signal handlers.
fn identity_of(file: libc::c_int) -> Option<(Identity, u64)> {
    let mut about = std::mem::MaybeUninit::<libc::statx>::zeroed();
    let wanted = libc::STATX_INO | libc::STATX_SIZE | libc::STATX_BTIME;
    // SAFETY: the path ends with a zero; the pointer is to a local of the right type.
    let failed = unsafe { libc::statx(file, c"".as_ptr(), libc::AT_EMPTY_PATH, wanted, about.as_mut_ptr()) };
    // SAFETY: all of its fields may be zero.
    let about = unsafe { about.assume_init() };
    if failed != 0 {
        return plain_identity_of(file);
    }
    let device = libc::makedev(about.stx_dev_major, about.stx_dev_minor);
    let made = if about.stx_mask & libc::STATX_BTIME == 0 {
        (0, 0)
    } else {
        (about.stx_btime.tv_sec, about.stx_btime.tv_nsec)
    };
    Some(([device, about.stx_ino, made.0.cast_unsigned(), u64::from(made.1)], about.stx_size))
}

/// For systems that do not allow the call.
fn plain_identity_of(file: libc::c_int) -> Option<(Identity, u64)> {
    let mut about = std::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the pointer is to a local of the right type.
    let failed = unsafe { libc::fstat(file, about.as_mut_ptr()) };
    // SAFETY: all of its fields may be zero.
    let about = unsafe { about.assume_init() };
    (failed == 0).then_some(([about.st_dev, about.st_ino, 0, 0], about.st_size.cast_unsigned()))
}

/// Whether a descriptor stands for this file, of which so much was written.
fn is(file: libc::c_int, identity: Identity, length: u64) -> bool {
    identity_of(file).is_some_and(|(found, bytes)| found == identity && bytes >= length)
}

/// The file.
#[derive(Debug)]
pub(super) struct OwnFile {
    /// To be used only by [`Self::ours`]. Never closed unseen.
    file: ManuallyDrop<File>,
    path: PathBuf,
    identity: Identity,
    /// Its path is another file's.
    given_up: bool,
}

impl OwnFile {
    /// Makes the file.
    ///
    /// # Errors
    /// When it exists, or cannot be made.
    pub(super) fn create(path: PathBuf) -> io::Result<Self> {
        let file = create(&path)?;
        Self::new(file, path, 0)
    }

    fn new(file: File, path: PathBuf, length: u64) -> io::Result<Self> {
        let (identity, _) = identity_of(file.as_raw_fd()).ok_or_else(io::Error::last_os_error)?;
        let own = Self { file: ManuallyDrop::new(file), path, identity, given_up: false };
        own.publish(length);
        Ok(own)
    }

    fn publish(&self, length: u64) {
        NUMBER.store(-1, Ordering::Relaxed);
        for (at, part) in self.identity.into_iter().enumerate() {
            IDENTITY[at].store(part, Ordering::Relaxed);
        }
        LENGTH.store(length, Ordering::Relaxed);
        NUMBER.store(self.file.as_raw_fd(), Ordering::Relaxed);
    }

    /// The file, of which so much was written.
    ///
    /// # Errors
    /// When the descriptor stands for another file by now, and ours is not to be had by its path.
    pub(super) fn ours(&mut self, length: u64) -> io::Result<&File> {
        if locks::is_unsettled() {
            // The path is the parent's.
            return if NOWHERE.load(Ordering::Relaxed) {
                Ok(&self.file)
            } else {
                Err(io::ErrorKind::Interrupted.into())
            };
        }
        if fault_injection::injected("numbers are believed") || is(self.file.as_raw_fd(), self.identity, length) {
            return Ok(&self.file);
        }
        if self.given_up {
            return Err(io::ErrorKind::NotConnected.into());
        }
        let again = above_standard(File::options().read(true).write(true).open(&self.path)?)?;
        let again = ManuallyDrop::new(again);
        if !is(again.as_raw_fd(), self.identity, length) {
            // Not closed either: another thread may just be closing all descriptors, and the number be its next file's.
            self.given_up = true;
            return Err(io::Error::other("the program closed the trace's file, and another one has its name"));
        }
        // What the number stands for is the program's, and stays open.
        self.file = again;
        self.publish(length);
        Ok(&self.file)
    }

    /// Appends behind what was written.
    ///
    /// # Errors
    /// As [`Self::ours`], or when it cannot be written.
    pub(super) fn write(&mut self, bytes: &[u8], length: u64) -> io::Result<()> {
        if locks::is_unsettled() {
            return self.ours(length).map(|_| ());
        }
        self.ours(length)?.write_all_at(bytes, length)?;
        LENGTH.store(length + bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Cuts off what stands behind so much: a block that was written in part, or room that was kept.
    pub(super) fn cut(&mut self, length: u64) {
        // Should this fail, readers find the next block by its magic.
        if let Ok(file) = self.ours(length) {
            let _ = file.set_len(length);
        }
    }

    /// Whether the file has no name any more.
    pub(super) fn is_removed(&mut self, length: u64) -> bool {
        self.ours(length).and_then(File::metadata).is_ok_and(|about| about.nlink() == 0)
    }

    /// Makes another file with the same start.
    ///
    /// # Errors
    /// When it cannot be read, made, or written.
    pub(super) fn copy_to(&mut self, path: PathBuf, length: u64) -> io::Result<Self> {
        const STEP: u64 = 1 << 20;
        let own = self.ours(length)?;
        let copy = create(&path)?;
        let mut bytes = vec![0; STEP.min(length) as usize];
        let mut at = 0;
        while at < length {
            let step = (STEP.min(length - at)) as usize;
            own.read_exact_at(&mut bytes[..step], at)?;
            copy.write_all_at(&bytes[..step], at)?;
            at += step as u64;
        }
        Self::new(copy, path, length)
    }
}

impl Drop for OwnFile {
    fn drop(&mut self) {
        let number = self.file.as_raw_fd();
        if NOWHERE.swap(false, Ordering::Relaxed) || is(number, self.identity, LENGTH.load(Ordering::Relaxed)) {
            // SAFETY: it is ours, and not used behind this. By the number alone: `std` ends the program when that is not open.
            unsafe { libc::close(number) };
        }
    }
}
