//! Pictures as files: SVG as text, PNG and HTML from the same scene.

pub mod html;
mod pack;
pub mod page_files;
pub mod png;
mod raster;
pub mod svg;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tumit_converter::run::output_permissions;

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
    /// What takes the picture does not.
    #[error("the picture cannot be written")]
    Send {
        /// Why.
        source: io::Error,
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

impl ExportError {
    /// The same, and which file takes the picture.
    #[must_use]
    pub fn in_file(self, path: &Path) -> Self {
        match self {
            Self::Send { source } => Self::Write { path: path.to_owned(), source },
            other => other,
        }
    }
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
    let mut bytes = Vec::new();
    draw(scene, format, scale, &mut bytes)?;
    Ok(bytes)
}

/// Draws a picture into `out`; a part of its text or pixels is in memory at a time. `scale` is pixels per unit, for PNG.
///
/// # Errors
/// See [`ExportError`].
pub fn draw(scene: &Scene, format: Format, scale: f32, out: &mut dyn Write) -> Result<(), ExportError> {
    let sent = |source| ExportError::Send { source };
    match format {
        Format::Svg => svg::write(scene, out).map_err(sent),
        Format::Html => html::write(scene, out).map_err(sent),
        Format::Png => png::write(scene, scale, out),
    }
}

/// Draws a picture into a file, whole or not at all.
///
/// # Errors
/// See [`ExportError`].
pub fn save(scene: &Scene, format: Format, scale: f32, path: &Path) -> Result<(), ExportError> {
    replace(path, |out| draw(scene, format, scale, out))
}

/// Writes a file whole or not at all.
///
/// # Errors
/// When the folder is missing, full, or may not be written to.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), ExportError> {
    replace(path, |out| out.write_all(bytes).map_err(|source| ExportError::Send { source }))
}

/// Makes a file under a temporary name, and gives it its own when it is whole.
fn replace(path: &Path, fill: impl FnOnce(&mut dyn Write) -> Result<(), ExportError>) -> Result<(), ExportError> {
    let error = |source| ExportError::Write { path: path.to_owned(), source };
    let there = std::fs::metadata(path).map(|there| there.permissions()).ok();
    let (mut file, temporary) = output_permissions::create_temporary(path).map_err(error)?;
    let result = fill(&mut file)
        .and_then(|()| file.set_permissions(output_permissions::permissions_of_file(there.as_ref())).map_err(error))
        .and_then(|()| std::fs::rename(&temporary, path).map_err(error));
    if result.is_err() {
        // What was written so far is of no use to anyone.
        let _ = std::fs::remove_file(&temporary);
    }
    result.map_err(|error| error.in_file(path))
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
