//! The working directory at the start of the program.
//! Paths in its environment are relative to this directory. The program may have left it before its
//! first record, as daemons do.

use std::cell::UnsafeCell;
use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

const ROOM: usize = 4096;

/// A path that ends with a zero. Empty if it is unknown.
struct PathCell(UnsafeCell<[u8; ROOM]>);

// SAFETY: written before `main`, when there is one thread, and only read after that.
unsafe impl Sync for PathCell {}

static START_DIR: PathCell = PathCell(UnsafeCell::new([0; ROOM]));

/// Stores the directory.
/// The system calls this before `main`. It allocates no memory, because an allocator that records
/// is not ready yet.
extern "C" fn store_start_dir() {
    let buffer = START_DIR.0.get().cast::<libc::c_char>();
    // SAFETY: there is one thread, and the buffer has the given size plus a last byte that stays
    // zero.
    if unsafe { libc::getcwd(buffer, ROOM - 1) }.is_null() {
        // SAFETY: as above.
        unsafe { buffer.write(0) };
    }
}

#[used]
// SAFETY: the function has the type that the system expects in this section.
#[unsafe(link_section = ".init_array")]
static STORE_AT_LOAD: extern "C" fn() = store_start_dir;

/// A path relative to the directory.
pub(crate) fn path(path: &Path) -> PathBuf {
    // SAFETY: no code writes it any more, and the last byte is zero.
    let start_dir = unsafe { CStr::from_ptr(START_DIR.0.get().cast::<libc::c_char>()) };
    Path::new(OsStr::from_bytes(start_dir.to_bytes())).join(path)
}

/// The folder in an environment variable.
/// `None` if the program has more rights than its caller (`AT_SECURE`).
pub(crate) fn folder_of(variable: &str) -> Option<PathBuf> {
    // SAFETY: the call takes a number and touches nothing.
    let is_privileged = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    let text = std::env::var_os(variable).filter(|text| !is_privileged && !text.is_empty())?;
    Some(path(Path::new(&text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_from_where_the_program_began() {
        assert_eq!(path(Path::new("/a/b")), Path::new("/a/b"));
        let from = path(Path::new("b"));
        assert!(from.is_absolute() && from.ends_with("b"), "{}", from.display());
    }
}
