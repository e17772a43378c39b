//! A scene as PNG: its SVG, drawn by resvg with the embedded typeface, so that every machine makes the same pixels.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use super::pack::{Effort, pack};
use super::{ExportError, svg};
use crate::scene::{MOST_PIXELS, Scene};
use crate::theme::font;

/// Pixels of the largest picture that is packed well: of larger ones that takes seconds, and saves an eighth.
const PACKED_WELL: u32 = 8_000_000;

static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(font::REGULAR.to_vec());
    fonts.load_font_data(font::SEMI_BOLD.to_vec());
    fonts.set_sans_serif_family(font::FAMILY);
    Arc::new(fonts)
});

/// The bytes of the file; `scale` is pixels per unit.
///
/// # Errors
/// When it is too large, or cannot be drawn.
pub fn encode(scene: &Scene, scale: f32) -> Result<Vec<u8>, ExportError> {
    let (width, height) = (f64::from(scene.width * scale).ceil(), f64::from(scene.height * scale).ceil());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
    let (columns, lines) = (width as u32, height as u32);
    if width * height > MOST_PIXELS.into() {
        return Err(ExportError::TooLarge { width: columns.into(), height: lines.into() });
    }
    let drawing = |reason: String| ExportError::Drawing { reason };
    let options = Options { fontdb: FONTS.clone(), font_family: font::FAMILY.to_owned(), ..Options::default() };
    let tree = Tree::from_str(&svg::untitled(scene), &options).map_err(|error| drawing(error.to_string()))?;
    let mut pixels =
        Pixmap::new(columns, lines).ok_or(ExportError::TooLarge { width: columns.into(), height: lines.into() })?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    let effort = if columns.saturating_mul(lines) > PACKED_WELL { Effort::Least } else { Effort::Usual };
    pack(&pixels, effort).map_err(|error| drawing(error.to_string()))
}
