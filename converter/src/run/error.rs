//! Errors of reading files.

use std::path::PathBuf;

/// An error of reading a file. Damage in the contents is not an error.
#[derive(Debug, thiserror::Error)]
#[error("{}: {}{source}", file.display(), at_byte(*offset))]
#[non_exhaustive]
pub struct RunReadError {
    /// The path as opened.
    pub file: PathBuf,
    /// The byte.
    pub offset: u64,
    /// The error of the system.
    pub source: std::io::Error,
}

/// The byte of the error as text. Empty at byte 0, as for a missing file.
fn at_byte(offset: u64) -> String {
    if offset == 0 { String::new() } else { format!("cannot read at byte {offset}: ") }
}
