//! Reads files at a position. There is no shared cursor, and no mapping, because the access to a
//! mapped file that shrinks raises a signal.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

/// Opens a file that several streams read from.
pub(crate) fn open_shared(path: &Path) -> io::Result<Arc<File>> {
    File::open(path).map(Arc::new)
}

/// Fills as much of `buffer` as the file has at `offset`. Returns the number of bytes.
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut byte_count = 0;
    while byte_count < buffer.len() {
        match file.read_at(&mut buffer[byte_count..], offset + byte_count as u64) {
            Ok(0) => break,
            Ok(count) => byte_count += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(byte_count)
}
