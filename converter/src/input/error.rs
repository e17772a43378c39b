//! Errors of reading files.

use std::path::PathBuf;

/// Reading a file failed, which is not the same as finding damage in it.
#[derive(Debug, thiserror::Error)]
#[error("{}: {}{source}", file.display(), at_byte(*offset))]
pub struct ReadError {
    /// The file.
    pub file: PathBuf,
    /// Where.
    pub offset: u64,
    /// What the system said.
    pub source: std::io::Error,
}

/// Where it failed; nothing when it failed at the start, as when the file is not there.
fn at_byte(offset: u64) -> String {
    if offset == 0 { String::new() } else { format!("cannot read at byte {offset}: ") }
}
