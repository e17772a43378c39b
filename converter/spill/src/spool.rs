//! [`Spool`]: bytes that are appended to a temporary file and read at their offsets.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::temporary_space::temporary_file;

/// Bytes in an unlinked temporary file. Several threads may append and read. The file is
/// created at the first use, and is removed with its last user.
///
/// ```
/// use tumit_spill::spool::Spool;
///
/// # fn main() -> std::io::Result<()> {
/// let spool = Spool::default();
/// spool.append(b"first")?;
/// let offset = spool.append(b"second")?;
/// let mut bytes = [0; 6];
/// spool.read_exact_at(&mut bytes, offset)?;
/// assert_eq!(&bytes, b"second");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Spool {
    folder: PathBuf,
    file: Mutex<Option<Arc<File>>>,
    length: AtomicU64,
}

impl Default for Spool {
    /// In the system's folder for temporary files.
    fn default() -> Self {
        Self { folder: std::env::temp_dir(), file: Mutex::default(), length: AtomicU64::new(0) }
    }
}

impl Spool {
    /// Appends bytes. Returns their offset. The bytes are contiguous.
    ///
    /// # Errors
    /// If the file cannot be created or written. The bytes are then missing, but the offsets of
    /// later ones are right.
    pub fn append(&self, bytes: &[u8]) -> io::Result<u64> {
        let file = {
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            match &*file {
                Some(file) => Arc::clone(file),
                None => Arc::clone(file.insert(Arc::new(temporary_file(&self.folder)?))),
            }
        };
        let offset = self.length.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        file.write_all_at(bytes, offset)?;
        Ok(offset)
    }

    /// Number of bytes so far. It is the offset of the next bytes, if no other thread appends.
    pub fn len(&self) -> u64 {
        self.length.load(Ordering::Relaxed)
    }

    /// Whether nothing was appended.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `buffer` with the bytes from `offset` on.
    ///
    /// # Errors
    /// If the file cannot be read or has fewer bytes.
    pub fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        match self.file() {
            Some(file) => file.read_exact_at(buffer, offset),
            None if buffer.is_empty() => Ok(()),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// The file, if anything was appended.
    pub fn file(&self) -> Option<Arc<File>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_append_without_overlap() {
        let spool = Spool::default();
        let offsets: Vec<(u8, u64)> = std::thread::scope(|scope| {
            let append = |byte: u8| {
                let spool = &spool;
                scope.spawn(move || {
                    (0..100).map(|_| (byte, spool.append(&[byte; 10]).expect("the file can be written"))).collect()
                })
            };
            let threads: Vec<std::thread::ScopedJoinHandle<'_, Vec<(u8, u64)>>> = (0..4).map(append).collect();
            threads.into_iter().flat_map(|thread| thread.join().expect("the thread ends")).collect()
        });
        assert_eq!(spool.len(), 4000);
        for (byte, offset) in offsets {
            let mut bytes = [0; 10];
            spool.read_exact_at(&mut bytes, offset).expect("the file can be read");
            assert_eq!(bytes, [byte; 10]);
        }
    }

    #[test]
    fn reading_more_than_was_appended_is_an_error() {
        let spool = Spool::default();
        assert!(spool.read_exact_at(&mut [0], 0).is_err());
        spool.append(b"ab").expect("the file can be written");
        assert!(spool.read_exact_at(&mut [0; 3], 0).is_err());
    }
}
