//! The first bytes of a file.

use crate::error::FormatError;
use crate::format_constants::{FILE_MAGIC, FORMAT_VERSION, PREAMBLE_BYTES};

/// The first bytes of a file of this version.
#[must_use]
pub fn preamble() -> [u8; PREAMBLE_BYTES] {
    let mut bytes = [0; PREAMBLE_BYTES];
    bytes[..8].copy_from_slice(&FILE_MAGIC);
    bytes[8..10].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
    bytes
}

/// Checks the first bytes of a file and returns its format version.
///
/// # Errors
/// If the magic is wrong, or the version is newer than this crate.
pub fn check_preamble(bytes: &[u8]) -> Result<u16, FormatError> {
    let Some(head) = bytes.first_chunk::<PREAMBLE_BYTES>() else {
        return Err(FormatError::Truncated { needed_bytes: PREAMBLE_BYTES, available_bytes: bytes.len() });
    };
    if head[..8] != FILE_MAGIC {
        return Err(FormatError::NotARun);
    }
    let version = u16::from_le_bytes([head[8], head[9]]);
    if version > FORMAT_VERSION || version == 0 {
        return Err(FormatError::Version { version, supported: FORMAT_VERSION });
    }
    Ok(version)
}
