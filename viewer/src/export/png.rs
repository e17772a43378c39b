//! A scene as PNG: resvg draws its SVG with the embedded typeface, so that all machines produce the
//! same pixels.
//!
//! The image is drawn in slices, each from the elements visible in it. So memory grows with the
//! scene, not with the number of pixels.

use std::io::Write;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use super::error::ExportError;
use super::png_encoder::{self, PixelSize, PngEffort};
use super::svg::{self, HeightRange};
use crate::parallel_map::map_in_order;
use crate::scene::{MAX_PIXELS, Scene};
use crate::style::theme::font;

/// Maximum number of pixels with the usual compression effort. For larger images, this takes
/// seconds and saves only an eighth of the bytes.
const PACKED_WELL: u32 = 8_000_000;
/// Number of pixels of a slice. An image with fewer is drawn as a whole.
const PIXELS_PER_SLICE: u32 = 1_000_000;
/// Number of slices that are drawn in parallel, by one thread each. A slice needs memory for its
/// pixels, and for up to five times as many if links extend far beyond it.
const SLICES_AT_ONCE: usize = 2;
/// Height in scene units of the neighbouring area that is drawn with each slice. Elements up to
/// this height are not cut at an edge, so their pixels are the same as in a whole image. Edges of
/// taller links may differ by a shade.
const MARGIN: f32 = 64.0;

static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(font::REGULAR.to_vec());
    fonts.load_font_data(font::SEMI_BOLD.to_vec());
    fonts.set_sans_serif_family(font::FAMILY);
    Arc::new(fonts)
});

/// Writes the file. `scale` is the number of pixels per scene unit.
///
/// ```
/// use tumit_viewer::export::png;
/// use tumit_viewer::scene::Scene;
///
/// let mut image = Vec::new();
/// png::write(&Scene { width: 4.0, height: 3.0, ..Scene::default() }, 2.0, &mut image)?;
/// assert!(image.starts_with(b"\x89PNG"));
/// # Ok::<(), tumit_viewer::export::ExportError>(())
/// ```
///
/// # Errors
/// If the image is too large, or cannot be drawn or written.
pub fn write(scene: &Scene, scale: f32, out: &mut dyn Write) -> Result<(), ExportError> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
    let (width, margin) = ((scene.width * scale).ceil().max(1.0) as u32, (MARGIN * scale) as u32);
    // The size of a slice does not depend on the machine, as all pixels must be the same.
    write_slices(scene, scale, (PIXELS_PER_SLICE / width).max(margin), out)
}

/// Draws the image in slices of `lines` lines.
fn write_slices(scene: &Scene, scale: f32, lines: u32, out: &mut dyn Write) -> Result<(), ExportError> {
    let (width, height) = (f64::from(scene.width * scale).ceil(), f64::from(scene.height * scale).ceil());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
    let size = PixelSize { width: width as u32, height: height as u32 };
    let too_large = || ExportError::TooLarge { width: size.width.into(), height: size.height.into() };
    if width * height > MAX_PIXELS.into() || size.width == 0 || size.height == 0 {
        return Err(too_large());
    }
    let effort = if size.width.saturating_mul(size.height) > PACKED_WELL { PngEffort::Least } else { PngEffort::Usual };
    // The background covers all pixels if width and height are whole numbers of pixels.
    #[expect(clippy::float_cmp, reason = "both are whole numbers, or both are not")]
    let is_whole = f64::from(scene.width * scale) == width && f64::from(scene.height * scale) == height;
    let is_opaque = scene.background.is_some() && is_whole;
    let slices = (0..size.height).step_by(lines as usize).map(|top| top..top.saturating_add(lines).min(size.height));
    let slices: Vec<Range<u32>> = slices.collect();
    png_encoder::write(out, size, is_opaque, effort, |append| {
        for batch in slices.chunks(SLICES_AT_ONCE) {
            for slice in map_in_order(batch.to_vec(), SLICES_AT_ONCE, |lines| draw_slice(scene, scale, size, lines)) {
                let (pixels, lines) = slice?.ok_or_else(too_large)?;
                append(&pixels, lines)?;
            }
        }
        Ok(())
    })
}

/// Draws some lines of pixels with a margin. Returns the pixels, and the range of the lines in
/// them; `None` if there is not enough memory.
fn draw_slice(
    scene: &Scene,
    scale: f32,
    PixelSize { width, height }: PixelSize,
    lines: Range<u32>,
) -> Result<Option<(Pixmap, Range<u32>)>, ExportError> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
    let margin = (MARGIN * scale) as u32;
    let drawn = lines.start.saturating_sub(margin)..lines.end.saturating_add(margin).min(height);
    #[expect(clippy::cast_precision_loss, reason = "below 2²⁴; larger images are rejected")]
    let (top, bottom) = (drawn.start as f32, drawn.end as f32);
    let options = Options { fontdb: FONTS.clone(), font_family: font::FAMILY.to_owned(), ..Options::default() };
    let text = svg::slice_document(scene, HeightRange { top: top / scale, bottom: bottom / scale });
    let tree = Tree::from_str(&text, &options).map_err(|error| ExportError::Drawing { reason: error.to_string() })?;
    drop(text);
    let Some(mut pixels) = Pixmap::new(width, drawn.end - drawn.start) else { return Ok(None) };
    let transform = Transform::from_scale(scale, scale).post_translate(0.0, -top);
    resvg::render(&tree, transform, &mut pixels.as_mut());
    Ok(Some((pixels, lines.start - drawn.start..lines.end - drawn.start)))
}

#[cfg(test)]
mod tests;
