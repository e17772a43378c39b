//! Where the program began: what its environment names is meant from there, though it may be elsewhere at its first record, as daemons are.

use std::cell::UnsafeCell;
use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

const ROOM: usize = 4096;

/// A path that ends with a zero; empty while nobody knows it.
struct Place(UnsafeCell<[u8; ROOM]>);

// SAFETY: written before `main`, when there is one thread, and only read after that.
unsafe impl Sync for Place {}

static BEGAN_IN: Place = Place(UnsafeCell::new([0; ROOM]));

/// The system calls it before `main`. It asks for no memory: an allocator that records is not ready yet.
extern "C" fn note() {
    let place = BEGAN_IN.0.get().cast::<libc::c_char>();
    // SAFETY: one thread, and a buffer of that size, of which the last byte stays zero.
    if unsafe { libc::getcwd(place, ROOM - 1) }.is_null() {
        // SAFETY: as above.
        unsafe { place.write(0) };
    }
}

#[used]
// SAFETY: a function as the system calls those of this section.
#[unsafe(link_section = ".init_array")]
static NOTE: extern "C" fn() = note;

/// A path, from where the program began.
pub(crate) fn path(path: &Path) -> PathBuf {
    // SAFETY: nobody writes any more, and the last byte is a zero.
    let began_in = unsafe { CStr::from_ptr(BEGAN_IN.0.get().cast::<libc::c_char>()) };
    Path::new(OsStr::from_bytes(began_in.to_bytes())).join(path)
}

/// A folder that an environment variable names; not where the program has rights that who calls it has not (`AT_SECURE`).
pub(crate) fn folder_of(variable: &str) -> Option<PathBuf> {
    // SAFETY: it takes a number and touches nothing.
    let raised = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    let given = std::env::var_os(variable).filter(|given| !raised && !given.is_empty())?;
    Some(path(Path::new(&given)))
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
