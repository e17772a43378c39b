//! Room that is kept for the end of the file, which tells of losses: below a limit of the file's size, and on the disk, behind the end of the
//! file, so that it is there whoever else fills the disk.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use crate::{fault_injection, live_file};

/// What is still to be written: so much room is left for what comes after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Records,
    /// Names and losses, at the end.
    News,
    /// The end block.
    End,
}

impl Stage {
    const fn kept_bytes(self) -> u64 {
        match self {
            Self::Records => 16 << 10,
            Self::News => 512,
            Self::End => 0,
        }
    }
}

/// What of a file's room on the disk is known to be there.
#[derive(Debug)]
pub(super) struct Reserve {
    /// The disk is asked. Not where slots lie in a live file, which tells of losses as well; nor again where the file system cannot do it.
    asks: bool,
    /// Up to here.
    end: u64,
}

impl Reserve {
    pub(super) const fn new(asks: bool) -> Self {
        Self { asks, end: 0 }
    }

    /// Makes sure that the file may grow up to `end`, and that there is room for all that comes then.
    ///
    /// # Errors
    /// When a limit or the disk does not allow it.
    pub(super) fn grow(&mut self, file: &File, end: u64, stage: Stage) -> io::Result<()> {
        let end = end + stage.kept_bytes();
        live_file::within_limit(end)?;
        while self.asks && end > self.end && !fault_injection::injected("nothing is reserved") {
            let (from, more) = (self.end as libc::off_t, (end - self.end) as libc::off_t);
            // SAFETY: takes numbers; the descriptor is open.
            if unsafe { libc::fallocate(file.as_raw_fd(), libc::FALLOC_FL_KEEP_SIZE, from, more) } == 0 {
                self.end = end;
                continue;
            }
            let error = io::Error::last_os_error();
            match error.raw_os_error() {
                Some(libc::ENOSPC | libc::EDQUOT) => return Err(error),
                Some(libc::EINTR) => {}
                _ => self.asks = false,
            }
        }
        Ok(())
    }

    /// The file was cut to this length, which gives back what lay behind it; or it is another file.
    pub(super) const fn cut(&mut self, length: u64) {
        self.end = length;
    }

    /// Whether something lies behind this length.
    pub(super) const fn is_beyond(&self, length: u64) -> bool {
        self.end > length
    }
}
