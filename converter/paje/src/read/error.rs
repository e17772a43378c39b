//! The errors of reading, and the recognition of other file formats.

use std::io;
use std::path::Path;

use crate::other_formats::{OtherFormat, foreign_format};

/// The reason why nothing could be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PajeReadError {
    /// The expected event definition was not found.
    #[error("this is not a Pajé file: expected `%EventDef` at its start, found {looks_like}")]
    NotPaje {
        /// A description by the first bytes.
        looks_like: String,
    },
    /// Another known format.
    #[error("This is {name}. {advice}")]
    Foreign {
        /// The name of the format, with its article.
        name: &'static str,
        /// Advice for the user.
        advice: &'static str,
    },
    /// The input failed.
    #[error("cannot read line {line}: {source}")]
    Input {
        /// The line after the last one that was read.
        line: u64,
        /// The error of the system.
        source: io::Error,
    },
    /// The sink failed.
    #[error("cannot process the contents of line {line}: {source}")]
    Sink {
        /// The number of the line.
        line: u64,
        /// The error that the sink returned.
        source: io::Error,
    },
}

/// The error for a text without event definitions, or for data that are not text.
#[must_use]
pub fn not_paje(first: &[u8]) -> PajeReadError {
    if let Some(OtherFormat { name, advice }) = foreign_format(first, Path::new("")) {
        return PajeReadError::Foreign { name, advice };
    }
    let text = first.trim_ascii_start();
    let looks_like = match first {
        [] => "an empty file",
        [0x1f, 0x8b, ..] => "a gzip file; unpack it with `gunzip`",
        [b'B', b'Z', b'h', ..] => "a bzip2 file; unpack it with `bunzip2`",
        [0xfd, b'7', b'z', b'X', b'Z', ..] => "an xz file; unpack it with `unxz`",
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "a zstd file; unpack it with `unzstd`",
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "text in UTF-16; save it as UTF-8",
        _ if first.starts_with(&tracer_format::FILE_MAGIC) => {
            "one process of a Tumit run; name the run's folder, not a file of it"
        }
        _ if first.iter().all(|&byte| byte == 0) => "only NUL bytes",
        _ if first.contains(&0) => "binary data",
        _ if text.is_empty() => "a file of blank lines",
        _ => "",
    };
    if !looks_like.is_empty() {
        return PajeReadError::NotPaje { looks_like: looks_like.to_owned() };
    }
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let start: String = String::from_utf8_lossy(line).chars().filter(|c| !c.is_control()).take(60).collect();
    PajeReadError::NotPaje { looks_like: format!("text that starts with `{start}`") }
}
