//! Pictures as files: SVG as text, PNG and HTML from the same scene.

pub mod html;
mod pack;
pub mod png;
mod raster;
pub mod svg;

use std::io;
use std::path::{Path, PathBuf};

use crate::scene::Scene;

/// What kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Scalable Vector Graphics.
    Svg,
    /// Portable Network Graphics.
    Png,
    /// One page that zooms, and needs nothing else.
    Html,
}

/// Why a picture was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The name does not say what to write.
    #[error("`{path}` names no format: end it with .svg, .png or .html")]
    UnknownFormat {
        /// The name.
        path: PathBuf,
    },
    /// The picture is larger than can be drawn in memory.
    #[error(
        "a picture of {width} × {height} pixels is too large; choose a smaller --width, --height or --scale, or gather rows: --filter 'group * into All'"
    )]
    TooLarge {
        /// Pixels.
        width: u64,
        /// Pixels.
        height: u64,
    },
    /// Drawing failed.
    #[error("the picture cannot be drawn: {reason}")]
    Drawing {
        /// What the drawing library says.
        reason: String,
    },
    /// Writing failed.
    #[error("cannot write `{path}`")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Format {
    /// The format that a file's name asks for.
    ///
    /// # Errors
    /// When it ends in none of `.svg`, `.png` and `.html`.
    pub fn of(path: &Path) -> Result<Self, ExportError> {
        let extension = path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase);
        match extension.as_deref() {
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            Some("html" | "htm") => Ok(Self::Html),
            _ => Err(ExportError::UnknownFormat { path: path.to_owned() }),
        }
    }
}

/// The bytes of a picture; `scale` is pixels per unit, for PNG.
///
/// # Errors
/// See [`ExportError`].
pub fn encode(scene: &Scene, format: Format, scale: f32) -> Result<Vec<u8>, ExportError> {
    match format {
        Format::Svg => Ok(svg::to_string(scene).into_bytes()),
        Format::Html => Ok(html::to_string(scene).into_bytes()),
        Format::Png => png::encode(scene, scale),
    }
}

/// Writes a file whole or not at all: under a temporary name first.
///
/// # Errors
/// When the folder is missing, full, or may not be written to.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), ExportError> {
    let error = |source| ExportError::Write { path: path.to_owned(), source };
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let temporary = path.with_file_name(name);
    let result = std::fs::write(&temporary, bytes).and_then(|()| std::fs::rename(&temporary, path));
    if result.is_err() {
        // What was written so far is of no use to anyone.
        let _ = std::fs::remove_file(&temporary);
    }
    result.map_err(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_the_format() {
        assert_eq!(Format::of(Path::new("a/b.SVG")).unwrap(), Format::Svg);
        assert_eq!(Format::of(Path::new("b.html")).unwrap(), Format::Html);
        assert_eq!(Format::of(Path::new("b.png")).unwrap(), Format::Png);
        assert!(Format::of(Path::new("b.pdf")).unwrap_err().to_string().contains(".svg, .png or .html"));
    }

    #[test]
    fn a_failed_write_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("is-a-folder.svg");
        std::fs::create_dir(&target).unwrap();
        assert!(write(&target, b"x").is_err());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        let file = dir.path().join("a.svg");
        write(&file, b"x").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"x");
    }
}
