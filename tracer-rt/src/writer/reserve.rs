//! The writer keeps space for the last blocks free, so that drops can be reported on a full disk.
//! The space is below the limit of the file size (`RLIMIT_FSIZE`). It is allocated beyond the end
//! of the file, so that other programs cannot use it.

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
    /// False if the slots are in a live file, which reports drops as well. False after the file
    /// system has refused an allocation.
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
            let (from, length) = (self.end as libc::off_t, (end - self.end) as libc::off_t);
            // SAFETY: `fallocate` takes no pointer. The descriptor is open.
            if unsafe { libc::fallocate(file.as_raw_fd(), libc::FALLOC_FL_KEEP_SIZE, from, length) } == 0 {
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

    /// Notes that the file was cut to this length, which frees the space after it, or that it is
    /// another file.
    pub(super) const fn note_truncation(&mut self, length: u64) {
        self.end = length;
    }

    /// Whether space is allocated after this length.
    pub(super) const fn has_space_after(&self, length: u64) -> bool {
        self.end > length
    }
}
