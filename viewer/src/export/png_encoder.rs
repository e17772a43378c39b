//! Encodes pixels as PNG: without an alpha channel if all pixels are opaque, and with a suitable
//! compression effort.

use std::io::Write;
use std::ops::Range;

use png::{BitDepth, ColorType, Compression, Encoder, EncodingError};
use resvg::tiny_skia::{Pixmap, PremultipliedColorU8};

use super::error::ExportError;

/// The compression effort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PngEffort {
    /// About 1/8 more bytes in 1/20 of the time.
    Least,
    Usual,
}

/// Encodes pixels as the bytes of a PNG file.
///
/// # Errors
/// If there are no pixels.
pub(crate) fn pack(pixels: &Pixmap, effort: PngEffort) -> Result<Vec<u8>, ExportError> {
    let is_opaque = pixels.pixels().iter().all(|pixel| pixel.alpha() == u8::MAX);
    let mut bytes = Vec::new();
    let size = PixelSize { width: pixels.width(), height: pixels.height() };
    write(&mut bytes, size, is_opaque, effort, |append| append(pixels, 0..pixels.height()))?;
    Ok(bytes)
}

/// The size of an image in pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PixelSize {
    pub(crate) width: u32,
    pub(crate) height: u32,
}

/// Appends some lines of a slice of pixels. The slice must be as wide as the image.
pub(crate) type AppendRows<'a> = dyn FnMut(&Pixmap, Range<u32>) -> Result<(), ExportError> + 'a;

/// Writes a file from slices of pixels, which `fill` appends from top to bottom. If `is_opaque` is
/// true, all pixels must be opaque.
///
/// # Errors
/// If there are no pixels, if their number differs from that of the image, or if `out` or `fill`
/// fails.
pub(crate) fn write(
    out: &mut dyn Write,
    size: PixelSize,
    is_opaque: bool,
    effort: PngEffort,
    fill: impl FnOnce(&mut AppendRows<'_>) -> Result<(), ExportError>,
) -> Result<(), ExportError> {
    let PixelSize { width, height } = size;
    let mut encoder = Encoder::new(out, width, height);
    encoder.set_color(if is_opaque { ColorType::Rgb } else { ColorType::Rgba });
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(match effort {
        PngEffort::Least => Compression::Fast,
        PngEffort::Usual => Compression::Balanced,
    });
    let mut writer = encoder.write_header().map_err(failure)?;
    let mut lines = writer.stream_writer().map_err(failure)?;
    let mut line = Vec::with_capacity(width as usize * 4);
    fill(&mut |slice, range| {
        let pixel_rows = slice.pixels().chunks(width as usize);
        for pixels in pixel_rows.take(range.end as usize).skip(range.start as usize) {
            line.clear();
            let colors = pixels.iter().map(PremultipliedColorU8::demultiply);
            if is_opaque {
                line.extend(colors.flat_map(|color| [color.red(), color.green(), color.blue()]));
            } else {
                line.extend(colors.flat_map(|color| [color.red(), color.green(), color.blue(), color.alpha()]));
            }
            lines.write_all(&line).map_err(|source| ExportError::Send { source })?;
        }
        Ok(())
    })?;
    lines.finish().map_err(failure)?;
    writer.finish().map_err(failure)
}

fn failure(error: EncodingError) -> ExportError {
    match error {
        EncodingError::IoError(source) => ExportError::Send { source },
        other => ExportError::Drawing { reason: other.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use resvg::tiny_skia::Color;

    use super::*;

    /// Decodes a file as any reader does: the number of channels, and the colours.
    fn unpack(bytes: &[u8]) -> (usize, Vec<u8>) {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut data = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut data).unwrap();
        (info.color_type.samples(), data)
    }

    #[test]
    fn opaque_pixels_are_written_without_opacity() {
        let mut pixels = Pixmap::new(70, 30).unwrap();
        pixels.fill(Color::from_rgba8(1, 2, 3, 255));
        pixels.pixels_mut()[71] = PremultipliedColorU8::from_rgba(200, 100, 0, 255).unwrap();
        for effort in [PngEffort::Least, PngEffort::Usual] {
            let (channels, data) = unpack(&pack(&pixels, effort).unwrap());
            assert_eq!((channels, data.len()), (3, 70 * 30 * 3), "{effort:?}");
            assert_eq!((&data[..3], &data[71 * 3..72 * 3]), (&[1, 2, 3][..], &[200, 100, 0][..]));
        }
    }

    #[test]
    fn translucent_pixels_keep_their_opacity() {
        let mut pixels = Pixmap::new(3, 2).unwrap();
        pixels.pixels_mut()[4] = PremultipliedColorU8::from_rgba(64, 32, 0, 128).unwrap();
        let (channels, data) = unpack(&pack(&pixels, PngEffort::Least).unwrap());
        assert_eq!((channels, &data[..4]), (4, &[0, 0, 0, 0][..]));
        assert_eq!(&data[16..20], &[128, 64, 0, 128], "the colours are not multiplied by the opacity");
    }
}
