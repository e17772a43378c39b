//! Writes the library into a run folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::recorder_library::LIBRARY_NAME;

/// Characters that the dynamic loader does not accept in a path of `LD_PRELOAD`: separators, and
/// `$` of its own variables.
const SPECIAL: [char; 7] = [':', ' ', '\t', '\n', '\u{b}', '\u{c}', '$'];

/// The path of the library in a folder.
#[must_use]
pub fn path_in(folder: &Path) -> PathBuf {
    folder.join(LIBRARY_NAME)
}

/// The first character of a path that the dynamic loader does not accept in `LD_PRELOAD`.
#[must_use]
pub fn special_character(path: &Path) -> Option<char> {
    path.to_string_lossy().chars().find(|character| SPECIAL.contains(character))
}

/// Writes the library into a folder and returns its path. A program that uses an older file with
/// this name keeps it.
///
/// # Errors
/// If the file cannot be written.
pub fn write(folder: &Path, library: &[u8]) -> io::Result<PathBuf> {
    let path = path_in(folder);
    let new = path.with_extension(format!("new-{}", std::process::id()));
    fs::write(&new, library)?;
    fs::rename(&new, &path)?;
    Ok(path)
}
