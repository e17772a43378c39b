//! The interface of a recorder under test, and the counters that outlive a killed process.

use std::os::fd::AsRawFd as _;
use std::sync::atomic::AtomicU64;

/// A recorder under test.
pub trait Recorder {
    /// Records an event with two numbers.
    fn pair(&mut self, first: u64, second: u64);
    /// Records both ends of a span.
    fn span(&mut self);
    /// Passes the records on, between bursts.
    fn flush(&mut self) {}
    /// Ends the recording normally.
    fn end(&mut self) {
        self.flush();
    }
}

/// Counters outside the process: recorded events and, for a tool without files, the events that it
/// passed on.
pub struct WitnessCounters(pub &'static [AtomicU64; 2]);

impl WitnessCounters {
    pub fn open(path: &str) -> Self {
        let file = std::fs::File::options().read(true).write(true).open(path).expect("the parent made it");
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping of a file that is a page long.
        let page = unsafe { libc::mmap(std::ptr::null_mut(), 4096, protection, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        assert_ne!(page, libc::MAP_FAILED);
        // SAFETY: the mapping has room for the counters and is never taken away.
        Self(unsafe { &*page.cast() })
    }
}
