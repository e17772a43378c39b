//! Permissions of output files: files derived from a private trace are private.
//!
//! Every function that opens a trace calls [`note_input`]. A file that the process creates later
//! (output, index, notes, saved filters) is readable by the group and by others only if all inputs
//! are.
//!
//! ```
//! use std::os::unix::fs::PermissionsExt as _;
//! use tumit_converter::run::output_permissions;
//!
//! let folder = tempfile::tempdir()?;
//! let input = folder.path().join("private");
//! std::fs::write(&input, "")?;
//! std::fs::set_permissions(&input, std::fs::Permissions::from_mode(0o600))?;
//! output_permissions::note_input(&input);
//! assert_eq!(output_permissions::restrict_mode(0o644), 0o600);
//! # Ok::<(), std::io::Error>(())
//! ```

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The permission bits that new files may have.
static LEFT: AtomicU32 = AtomicU32::new(0o777);

/// Notes that the file or folder at this path is an input.
pub fn note_input(path: &Path) {
    // The mode of a pipe is unrelated to the data.
    if let Ok(about) = fs::metadata(path)
        && (about.is_file() || about.is_dir())
    {
        LEFT.fetch_and(left_by(about.permissions().mode()), Ordering::Relaxed);
    }
}

/// The permission bits that files derived from an input with this mode may have.
fn left_by(mode: u32) -> u32 {
    let of_class = |read: u32, all: u32| if mode & read == 0 { 0 } else { all };
    0o700 | of_class(0o040, 0o070) | of_class(0o004, 0o007)
}

/// Removes the bits that the inputs do not allow from a mode.
#[must_use]
pub fn restrict_mode(mode: u32) -> u32 {
    mode & LEFT.load(Ordering::Relaxed)
}

/// The permissions of a finished output file: those of the file that it replaces, or 0666 without
/// the umask; in both cases without the bits that the inputs do not allow.
#[must_use]
pub fn permissions_of_file(replaced_file: Option<&Permissions>) -> Permissions {
    let mode = replaced_file.map_or_else(|| 0o666 & !umask(), |permissions| permissions.mode() & 0o7777);
    Permissions::from_mode(restrict_mode(mode))
}

/// The permissions of a finished output folder.
#[must_use]
pub fn permissions_of_folder() -> Permissions {
    Permissions::from_mode(restrict_mode(0o777 & !umask()))
}

/// The umask of the process. `umask(2)` can read it only by changing it, so it is read from
/// `/proc`.
fn umask() -> u32 {
    /// For systems without this file: new files are private.
    const UNKNOWN: u32 = 0o077;
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    mask.and_then(|mask| u32::from_str_radix(mask.trim(), 8).ok()).unwrap_or(UNKNOWN)
}

/// Creates an output file under its final name.
///
/// # Errors
/// If a file of this name exists, or the file cannot be created.
pub fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(restrict_mode(0o666)).open(path)
}

/// Creates an output file, or empties an existing one.
///
/// # Errors
/// If the file cannot be created.
pub fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(restrict_mode(0o666)).open(path)
}

/// Creates a temporary file in the folder of `target`, exclusively and readable by its owner only.
/// Its name is short, so that the name of the target may have the maximum length.
///
/// # Errors
/// If the file cannot be created.
pub fn create_temporary(target: &Path) -> io::Result<(File, PathBuf)> {
    create_unique(target, |path| OpenOptions::new().write(true).create_new(true).mode(0o600).open(path))
}

/// Creates a temporary folder in the same way.
///
/// # Errors
/// If the folder cannot be created.
pub fn create_temporary_folder(target: &Path) -> io::Result<PathBuf> {
    use std::os::unix::fs::DirBuilderExt as _;
    Ok(create_unique(target, |path| fs::DirBuilder::new().mode(0o700).create(path))?.1)
}

fn create_unique<T>(target: &Path, create: impl Fn(&Path) -> io::Result<T>) -> io::Result<(T, PathBuf)> {
    /// A killed process with the same id may have left temporary files.
    const MAX_TRIES: u32 = 1000;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    for _ in 0..MAX_TRIES {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = target.with_file_name(format!(".tumit-{}-{number}.part", std::process::id()));
        match create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            result => return result.map(|result| (result, path)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_follow_the_inputs() {
        for (mode, left) in [(0o644, 0o777), (0o600, 0o700), (0o640, 0o770), (0o750, 0o770), (0o604, 0o707)] {
            assert_eq!(left_by(mode), left, "{mode:o}");
        }
    }

    #[test]
    fn temporary_files_are_new_and_private() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("x".repeat(255));
        let (_file, first_path) = create_temporary(&target).unwrap();
        let (_file, other) = create_temporary(&target).unwrap();
        assert_ne!(first_path, other);
        assert_eq!(fs::metadata(&first_path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::rename(&first_path, &target).unwrap();
        assert!(create_new(&target).is_err());
        let inner = create_temporary_folder(&target).unwrap();
        assert_eq!(fs::metadata(inner).unwrap().permissions().mode() & 0o777, 0o700);
    }
}
