//! [`ExportError`]: the reason why an image was not written.

use std::io;
use std::path::{Path, PathBuf};

/// The reason why an image was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The file's name has no known extension.
    #[error("`{path}` has no known extension: use .svg, .png or .html")]
    UnknownFormat {
        /// The name.
        path: PathBuf,
    },
    /// The image is too large to be drawn in memory.
    #[error(
        "an image of {width} × {height} pixels is too large; choose a smaller --width, --height or --scale, or combine rows: --filter 'group * into All'"
    )]
    TooLarge {
        /// Width in pixels.
        width: u64,
        /// Height in pixels.
        height: u64,
    },
    /// Drawing failed.
    #[error("the image cannot be drawn: {reason}")]
    Drawing {
        /// The message of the drawing library.
        reason: String,
    },
    /// The receiver of the image failed.
    #[error("the image cannot be written")]
    Send {
        /// The cause.
        source: io::Error,
    },
    /// Writing failed.
    #[error("cannot write `{path}`")]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl ExportError {
    /// Adds the path of the file that receives the image.
    #[must_use]
    pub fn in_file(self, path: &Path) -> Self {
        match self {
            Self::Send { source } => Self::Write { path: path.to_owned(), source },
            other => other,
        }
    }
}
