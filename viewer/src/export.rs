//! Images as files: SVG as text, and PNG and HTML from the same scene.
//!
//! ```
//! use std::path::Path;
//!
//! use tumit_viewer::export::{ImageFormat, encode};
//!
//! # use tumit_viewer::layout::{ContainerOutline, LayoutOptions};
//! # use tumit_viewer::query::TimelineSource;
//! # use tumit_viewer::scene::{DocumentOptions, document};
//! # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/header.paje"));
//! # let body = "0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n6 0 t 0 T main\n\
//! #             11 0 t S w\n14 2 t S\n7 3 T t\n";
//! # let trace = format!("{header}{body}");
//! # let store = tumit_viewer::store::TraceStore::from_paje("example", trace.as_bytes())?;
//! # let outline = ContainerOutline::new(&store)?;
//! # let time_range = store.extent();
//! # let (width, resolution) = (600.0, 1.0);
//! # let of = DocumentOptions { time_range, width, height: None, resolution, titles: true };
//! # let scene = document(&store, &outline, &LayoutOptions::default(), of)?;
//! let format = ImageFormat::of(Path::new("trace.svg"))?;
//! let bytes = encode(&scene, format, 1.0)?;
//! assert!(bytes.starts_with(b"<svg "));
//! assert!(encode(&scene, ImageFormat::Png, 2.0)?.starts_with(b"\x89PNG"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
pub mod html;
pub mod page_files;
pub mod png;
mod png_encoder;
mod raster;
pub mod svg;

use std::io::Write;
use std::path::Path;

use tumit_converter::run::output_permissions;

use crate::scene::Scene;
pub use error::ExportError;

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImageFormat {
    /// Scalable Vector Graphics.
    Svg,
    /// Portable Network Graphics.
    Png,
    /// A self-contained page with zoom.
    Html,
}

impl ImageFormat {
    /// The format for a file's extension.
    ///
    /// # Errors
    /// If the extension is not `.svg`, `.png`, `.html` or `.htm`.
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

/// Encodes an image. For PNG, `scale` is in pixels per scene unit.
///
/// # Errors
/// See [`ExportError`].
pub fn encode(scene: &Scene, format: ImageFormat, scale: f32) -> Result<Vec<u8>, ExportError> {
    let mut bytes = Vec::new();
    draw(scene, format, scale, &mut bytes)?;
    Ok(bytes)
}

/// Draws an image to `out`, with only a part of its text or pixels in memory at a time. For PNG,
/// `scale` is in pixels per scene unit.
///
/// # Errors
/// See [`ExportError`].
pub fn draw(scene: &Scene, format: ImageFormat, scale: f32, out: &mut dyn Write) -> Result<(), ExportError> {
    let sent = |source| ExportError::Send { source };
    match format {
        ImageFormat::Svg => svg::write(scene, out).map_err(sent),
        ImageFormat::Html => html::write(scene, out).map_err(sent),
        ImageFormat::Png => png::write(scene, scale, out),
    }
}

/// Draws an image to a file. The file appears only when complete.
///
/// # Errors
/// See [`ExportError`].
pub fn save(scene: &Scene, format: ImageFormat, scale: f32, path: &Path) -> Result<(), ExportError> {
    replace(path, |out| draw(scene, format, scale, out))
}

/// Writes a file. It appears only when complete.
///
/// # Errors
/// If the folder is missing, full or not writable.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), ExportError> {
    replace(path, |out| out.write_all(bytes).map_err(|source| ExportError::Send { source }))
}

/// Creates a file under a temporary name, and renames it when it is complete.
fn replace(path: &Path, fill: impl FnOnce(&mut dyn Write) -> Result<(), ExportError>) -> Result<(), ExportError> {
    let error = |source| ExportError::Write { path: path.to_owned(), source };
    let permissions = std::fs::metadata(path).map(|metadata| metadata.permissions()).ok();
    let (mut file, temporary) = output_permissions::create_temporary(path).map_err(error)?;
    let result = fill(&mut file)
        .and_then(|()| {
            file.set_permissions(output_permissions::permissions_of_file(permissions.as_ref())).map_err(error)
        })
        .and_then(|()| std::fs::rename(&temporary, path).map_err(error));
    if result.is_err() {
        // An incomplete file is useless.
        let _ = std::fs::remove_file(&temporary);
    }
    result.map_err(|error| error.in_file(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_selects_the_format() {
        assert_eq!(ImageFormat::of(Path::new("a/b.SVG")).unwrap(), ImageFormat::Svg);
        assert_eq!(ImageFormat::of(Path::new("b.html")).unwrap(), ImageFormat::Html);
        assert_eq!(ImageFormat::of(Path::new("b.png")).unwrap(), ImageFormat::Png);
        assert!(ImageFormat::of(Path::new("b.pdf")).unwrap_err().to_string().contains(".svg, .png or .html"));
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
