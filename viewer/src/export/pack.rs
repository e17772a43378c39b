//! Pixels as the bytes of a PNG: without opacity where all of it is opaque, and with as much effort as is worth it.

use std::io::Write;
use std::ops::Range;

use png::{BitDepth, ColorType, Compression, Encoder, EncodingError};
use resvg::tiny_skia::{Pixmap, PremultipliedColorU8};

use super::ExportError;

/// How hard to look for what can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// An eighth more bytes in a twentieth of the time.
    Least,
    Usual,
}

/// The bytes of a file.
///
/// # Errors
/// If there are no pixels.
pub(crate) fn pack(pixels: &Pixmap, effort: Effort) -> Result<Vec<u8>, ExportError> {
    let is_opaque = pixels.pixels().iter().all(|pixel| pixel.alpha() == u8::MAX);
    let mut bytes = Vec::new();
    write(&mut bytes, (pixels.width(), pixels.height()), is_opaque, effort, |append| {
        append(pixels, 0..pixels.height())
    })?;
    Ok(bytes)
}

/// Takes lines of pixels as wide as the image.
pub(crate) type Append<'a> = dyn FnMut(&Pixmap, Range<u32>) -> Result<(), ExportError> + 'a;

/// Writes a file from bands of pixels, which `fill` appends from top to bottom. Without opacity, all pixels must be
/// opaque.
///
/// # Errors
/// If there are no pixels, more or fewer than the image has, or `out` or `fill` fails.
pub(crate) fn write(
    out: &mut dyn Write,
    (width, height): (u32, u32),
    is_opaque: bool,
    effort: Effort,
    fill: impl FnOnce(&mut Append<'_>) -> Result<(), ExportError>,
) -> Result<(), ExportError> {
    let mut encoder = Encoder::new(out, width, height);
    encoder.set_color(if is_opaque { ColorType::Rgb } else { ColorType::Rgba });
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(match effort {
        Effort::Least => Compression::Fast,
        Effort::Usual => Compression::Balanced,
    });
    let mut writer = encoder.write_header().map_err(failure)?;
    let mut lines = writer.stream_writer().map_err(failure)?;
    let mut line = Vec::with_capacity(width as usize * 4);
    fill(&mut |band, range| {
        let all = band.pixels().chunks(width as usize);
        for pixels in all.take(range.end as usize).skip(range.start as usize) {
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

    /// As any reader has them: the number of channels, and the colours.
    fn unpacked(bytes: &[u8]) -> (usize, Vec<u8>) {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut data = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut data).unwrap();
        (info.color_type.samples(), data)
    }

    #[test]
    fn opaque_pixels_come_back_without_opacity() {
        let mut pixels = Pixmap::new(70, 30).unwrap();
        pixels.fill(Color::from_rgba8(1, 2, 3, 255));
        pixels.pixels_mut()[71] = PremultipliedColorU8::from_rgba(200, 100, 0, 255).unwrap();
        for effort in [Effort::Least, Effort::Usual] {
            let (channels, data) = unpacked(&pack(&pixels, effort).unwrap());
            assert_eq!((channels, data.len()), (3, 70 * 30 * 3), "{effort:?}");
            assert_eq!((&data[..3], &data[71 * 3..72 * 3]), (&[1, 2, 3][..], &[200, 100, 0][..]));
        }
    }

    #[test]
    fn what_lets_through_keeps_its_opacity() {
        let mut pixels = Pixmap::new(3, 2).unwrap();
        pixels.pixels_mut()[4] = PremultipliedColorU8::from_rgba(64, 32, 0, 128).unwrap();
        let (channels, data) = unpacked(&pack(&pixels, Effort::Least).unwrap());
        assert_eq!((channels, &data[..4]), (4, &[0, 0, 0, 0][..]));
        assert_eq!(&data[16..20], &[128, 64, 0, 128], "colours are not those that were multiplied by it");
    }
}
