//! Compressed inputs: their formats, and a limit of the bytes after decompression.
//!
//! ```
//! use tumit_paje::compression::Compression;
//!
//! assert_eq!(Compression::of(b"\x1f\x8b\x08\0"), Some(Compression::Gzip));
//! assert_eq!(Compression::of(b"%EventDef PajeSetState 5\n"), None);
//! ```

use std::io::{self, Read};
use std::sync::OnceLock;

static LIMIT: OnceLock<u64> = OnceLock::new();

/// Sets the maximum size of an input after decompression. Call it before the first [`limit`]: later
/// calls have no effect.
pub fn limit_to(bytes: u64) {
    let _ = LIMIT.set(bytes);
}

/// Maximum size of an input after decompression, in bytes. 4 GiB unless [`limit_to`] was called.
#[must_use]
pub fn limit() -> u64 {
    *LIMIT.get_or_init(|| 4 << 30)
}

/// The format of a compressed file. The first bytes determine it, not the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compression {
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstd,
    /// The format of bzip2.
    Bzip2,
    /// The format of xz.
    Xz,
}

impl Compression {
    /// The format of a file with these first bytes.
    #[must_use]
    pub fn of(first: &[u8]) -> Option<Self> {
        Some(match first {
            [0x1f, 0x8b, 8, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Self::Bzip2,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            _ => return None,
        })
    }

    /// The name of the format, for messages about damage.
    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
        }
    }

    /// Decompresses an input. Errors in its data are for [`split_off_damage`].
    pub fn reader(self, input: impl io::BufRead + Send + 'static) -> impl Read + Send {
        let reader: Box<dyn Read + Send> = match self {
            Self::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(input)),
            Self::Zstd => Box::new(ZstdFrames { input: Some(input), frame: None }),
            Self::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(input)),
            Self::Xz => Box::new(lzma_rust2::XzReader::new(input, true)),
        };
        NamedDecoder(reader, self.name())
    }
}

/// Adds the name of the format to errors.
struct NamedDecoder(Box<dyn Read + Send>, &'static str);

impl Read for NamedDecoder {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Self(reader, name) = self;
        let damaged = |error: io::Error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            // The errors of the zstd decoder are dumps of its data structures.
            kind if *name == Compression::Zstd.name() => {
                io::Error::new(kind, DecompressionError(format!("its {name} data are damaged or cut short")))
            }
            kind => {
                io::Error::new(kind, DecompressionError(format!("its {name} data are damaged or cut short: {error}")))
            }
        };
        reader.read(buffer).map_err(damaged)
    }
}

/// Decompression failed: the data are damaged, truncated or unreadable. The text before is valid.
#[derive(Debug)]
struct DecompressionError(String);

impl std::fmt::Display for DecompressionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DecompressionError {}

/// The message of a decompression error. `None` if there was no error.
///
/// # Errors
/// All errors other than decompression errors.
pub fn split_off_damage(result: io::Result<()>) -> io::Result<Option<String>> {
    match result {
        Ok(()) => Ok(None),
        Err(error) if error.get_ref().and_then(|inner| inner.downcast_ref::<DecompressionError>()).is_some() => {
            Ok(Some(error.to_string()))
        }
        Err(error) => Err(error),
    }
}

/// The frames of a zstd file, one after the other.
struct ZstdFrames<R: io::BufRead> {
    input: Option<R>,
    frame: Option<Box<ruzstd::decoding::StreamingDecoder<R, ruzstd::decoding::FrameDecoder>>>,
}

impl<R: io::BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(frame) = &mut self.frame {
                let read = frame.read(buffer)?;
                if read > 0 || buffer.is_empty() {
                    return Ok(read);
                }
            }
            if let Some(frame) = self.frame.take() {
                self.input = Some(frame.into_inner());
            }
            let Some(input) = &mut self.input else { return Ok(0) };
            if input.fill_buf()?.is_empty() {
                return Ok(0);
            }
            let Some(input) = self.input.take() else { return Ok(0) };
            let frame = ruzstd::decoding::StreamingDecoder::new(input).map_err(io::Error::other)?;
            self.frame = Some(Box::new(frame));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Compression;

    #[test]
    fn compression_is_known_by_its_first_bytes() {
        assert_eq!(Compression::of(b"\x1f\x8b\x08\0"), Some(Compression::Gzip));
        assert_eq!(Compression::of(b"BZh91AY"), Some(Compression::Bzip2));
        assert_eq!(Compression::of(b"BZh is text"), None);
        assert_eq!(Compression::of(b"%EventDef"), None);
    }
}
