//! Space reserved for the end of the file, which reports drops.
//! It is kept below the limit of the file size and allocated on the disk after the end of the file,
//! so that other programs cannot use it.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use crate::{fault_injection, live_file};

/// The stage of writing. Each stage reserves space for the later ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReserveStage {
    Records,
    /// Names and reports of drops, at the end.
    Reports,
    /// The end block.
    End,
}

impl ReserveStage {
    const fn reserved_bytes(self) -> u64 {
        match self {
            Self::Records => 16 << 10,
            Self::Reports => 512,
            Self::End => 0,
        }
    }
}

/// The disk space that is known to be allocated.
#[derive(Debug)]
pub(super) struct DiskReserve {
    /// Whether space is allocated on the disk.
    /// Not if the slots are in a live file, which reports drops as well, nor after the file system
    /// has refused it.
    allocates: bool,
    /// End of the allocated space, as an offset in bytes.
    end: u64,
}

impl DiskReserve {
    pub(super) const fn new(allocates: bool) -> Self {
        Self { allocates, end: 0 }
    }

    /// Makes sure that the file may grow to `end`, with space for the later stages.
    ///
    /// # Errors
    /// If a limit or the disk does not allow it.
    pub(super) fn grow(&mut self, file: &File, end: u64, stage: ReserveStage) -> io::Result<()> {
        let end = end + stage.reserved_bytes();
        live_file::within_limit(end)?;
        while self.allocates && end > self.end && !fault_injection::is_injected("no space is reserved") {
            let (from, more) = (self.end as libc::off_t, (end - self.end) as libc::off_t);
            // SAFETY: the call takes numbers. The descriptor is open.
            if unsafe { libc::fallocate(file.as_raw_fd(), libc::FALLOC_FL_KEEP_SIZE, from, more) } == 0 {
                self.end = end;
                continue;
            }
            let error = io::Error::last_os_error();
            match error.raw_os_error() {
                Some(libc::ENOSPC | libc::EDQUOT) => return Err(error),
                Some(libc::EINTR) => {}
                _ => self.allocates = false,
            }
        }
        Ok(())
    }

    /// The file was cut to this length, which frees the space after it, or it is another file.
    pub(super) const fn cut(&mut self, length: u64) {
        self.end = length;
    }

    /// Whether space is allocated after this length.
    pub(super) const fn is_beyond(&self, length: u64) -> bool {
        self.end > length
    }
}
