//! Files that the recorder creates or reads, and texts of limited length for them.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::path::Path;

/// Creates a file.
/// Its descriptor is not one of the standard streams. A program may have closed these and still
/// write to them.
///
/// # Errors
/// If the file exists or cannot be created.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    above_standard(File::options().read(true).write(true).create_new(true).open(path)?)
}

pub(crate) fn above_standard(file: File) -> io::Result<File> {
    if file.as_raw_fd() > 2 {
        return Ok(file);
    }
    // SAFETY: the call takes numbers.
    let above = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, 3) };
    if above < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just made, and no other code uses it.
    Ok(unsafe { File::from_raw_fd(above) })
}

/// Reads the start of a file and returns the number of bytes. 0 if it cannot be read.
/// Allocates no memory, because an allocator that records may call it.
pub(crate) fn read_start(path: &CStr, buffer: &mut [u8]) -> usize {
    // SAFETY: the path ends with a zero.
    let file = unsafe { libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    if file < 0 {
        return 0;
    }
    // SAFETY: pointer and length are those of one live slice.
    let read = unsafe { libc::read(file, buffer.as_mut_ptr().cast(), buffer.len()) };
    // SAFETY: the descriptor was opened above.
    unsafe { libc::close(file) };
    usize::try_from(read).unwrap_or(0)
}

/// The first `bytes` bytes of a text, without an incomplete character at the end.
pub(crate) fn cut(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text.get(..end.unwrap_or(0)).filter(|_| text.len() > bytes).unwrap_or(text)
}
