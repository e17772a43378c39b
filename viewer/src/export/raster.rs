//! Mixtures of many values as an image. One path per value and step would produce a document of a
//! hundred megabytes.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use resvg::tiny_skia::{Pixmap, PremultipliedColorU8};
use tumit_paje::RgbColor;

use super::png_encoder::{PngEffort, pack};
use crate::scene::SceneCells;

/// Types with more values than this are drawn as an image, if they also have more than [`PARTS`]
/// parts.
const VALUES: usize = 16;
/// Types with fewer parts are drawn as areas, which stay sharp at any size.
const PARTS: usize = 2_000;

/// Whether there are too many parts for areas.
pub(crate) fn is_better(cells: &SceneCells) -> bool {
    cells.palette.len() > VALUES && cells.columns.parts().len() > PARTS
}

/// A PNG as a `data:` address, with one pixel per column and unit of height; `None` if there are no
/// pixels.
pub(crate) fn address(cells: &SceneCells) -> Option<String> {
    let bytes = pack(&image(cells)?, PngEffort::Least).ok()?;
    Some(format!("data:image/png;base64,{}", BASE64_STANDARD.encode(bytes)))
}

/// Each pixel has the mean colour of its contents, so that even the thinnest share contributes.
/// O(pixels + parts).
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "numbers of pixels, and shares of pixels"
)]
fn image(cells: &SceneCells) -> Option<Pixmap> {
    let (width, height) = (cells.columns.len(), cells.frame.height.ceil().max(0.0) as usize);
    let mut image = Pixmap::new(u32::try_from(width).ok()?, u32::try_from(height).ok()?)?;
    let pixels = image.pixels_mut();
    let mut column = vec![[0.0_f32; 4]; height];
    let channels = |color: &RgbColor| [color.red, color.green, color.blue, u8::MAX].map(f32::from);
    let palette: Vec<[f32; 4]> = cells.palette.iter().map(channels).collect();
    for (x, parts) in cells.columns.iter().enumerate() {
        column.fill([0.0; 4]);
        let mut height_below = 0.0;
        for &(place, share) in parts {
            let Some(color) = palette.get(usize::from(place)) else { continue };
            let top = f32::min(height_below + share, 1.0);
            let (from, to) = (height_below * height as f32, top * height as f32);
            // Visits the pixels from the share's lower to its upper edge; usually a single one.
            let mut step = from as usize;
            while step < height && (step as f32) < to {
                let part = to.min(step as f32 + 1.0) - from.max(step as f32);
                column[height - 1 - step].iter_mut().zip(color).for_each(|(sum, channel)| *sum += channel * part);
                step += 1;
            }
            height_below = top;
        }
        for (y, &[red, green, blue, alpha]) in column.iter().enumerate() {
            // All channels are rounded in the same way, so no colour exceeds the opacity.
            let [red, green, blue, alpha] = [red, green, blue, alpha].map(|sum| (sum + 0.5) as u8);
            if let Some(color) = PremultipliedColorU8::from_rgba(red, green, blue, alpha) {
                pixels[y * width + x] = color;
            }
        }
    }
    Some(image)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::OutlineRect;

    fn gray(level: u8) -> RgbColor {
        RgbColor { red: level, green: level, blue: level }
    }

    fn cells(height: f32, columns: Vec<Vec<(u16, f32)>>) -> SceneCells {
        let palette: Vec<RgbColor> = (0..200).map(gray).collect();
        SceneCells {
            frame: OutlineRect::new(0.0, 0.0, 40.0, height),
            values: Vec::new(),
            palette,
            columns: columns.into_iter().collect(),
        }
    }

    #[test]
    fn pixels_have_the_mean_colour_of_what_is_in_them() {
        let cells = cells(4.0, vec![vec![(100, 0.5), (60, 0.125), (20, 0.125)], vec![(7, 1.0)], Vec::new()]);
        let image = image(&cells).expect("the cells become an image");
        let pixel_at = |x, y| image.pixel(x, y).map(|pixel| (pixel.red(), pixel.alpha())).expect("inside");
        assert_eq!(
            [pixel_at(0, 3), pixel_at(0, 2), pixel_at(0, 1), pixel_at(0, 0)],
            [(100, 255), (100, 255), (40, 255), (0, 0)]
        );
        assert_eq!([pixel_at(1, 0), pixel_at(1, 3), pixel_at(2, 2)], [(7, 255), (7, 255), (0, 0)]);
    }

    #[test]
    fn thin_shapes_are_drawn_and_none_leave_the_frame() {
        let thin: Vec<(u16, f32)> = (0..200).map(|place| (place, 0.01)).collect();
        let image = image(&cells(2.0, vec![thin])).expect("the cells become an image");
        // The first hundred shares fill the height. The lower pixel contains the first fifty of
        // them.
        let lower = image.pixel(0, 1).expect("inside");
        assert!((24..=25).contains(&lower.red()) && lower.alpha() == 255, "{lower:?}");
        assert!((74..=75).contains(&image.pixel(0, 0).expect("inside").red()));
        assert!(address(&cells(0.0, vec![Vec::new()])).is_none(), "the image has no pixels");
    }

    #[test]
    fn only_many_parts_of_many_values_are_an_image() {
        let many: Vec<Vec<(u16, f32)>> =
            (0..700).map(|column| (0..3).map(|part| ((column + part) % 200, 0.3)).collect()).collect();
        assert!(is_better(&cells(10.0, many.clone())) && !is_better(&cells(10.0, many[..100].to_vec())));
        let mut few = cells(10.0, many);
        few.palette.truncate(4);
        assert!(!is_better(&few));
    }
}
