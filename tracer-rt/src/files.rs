//! Files that the recorder makes or reads, and texts of a limited length for them.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::path::Path;

/// Makes a file. Its number is none of those of the standard streams, which a program may have closed, and writes to all the same.
///
/// # Errors
/// When it exists, or cannot be made.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    above_standard(File::options().read(true).write(true).create_new(true).open(path)?)
}

pub(crate) fn above_standard(file: File) -> io::Result<File> {
    if file.as_raw_fd() > 2 {
        return Ok(file);
    }
    // SAFETY: takes numbers.
    let above = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, 3) };
    if above < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it was just made, and is nobody else's.
    Ok(unsafe { File::from_raw_fd(above) })
}

/// Reads the start of a file; 0 when it cannot be read. Without any memory: an allocator that records may have brought us here.
pub(crate) fn read_start(path: &CStr, into: &mut [u8]) -> usize {
    // SAFETY: the path ends with a zero.
    let file = unsafe { libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    if file < 0 {
        return 0;
    }
    // SAFETY: pointer and length are of one live slice.
    let read = unsafe { libc::read(file, into.as_mut_ptr().cast(), into.len()) };
    // SAFETY: it was opened above.
    unsafe { libc::close(file) };
    usize::try_from(read).unwrap_or(0)
}

/// At most so many bytes, without a part of a character at the end.
pub(crate) fn cut(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text.get(..end.unwrap_or(0)).filter(|_| text.len() > bytes).unwrap_or(text)
}
