//! The vertical extent of elements: a part of an image is written without the elements outside of it.

use crate::scene::Item;

/// Antialiasing and ends of lines reach beyond the shapes.
const SLACK: f32 = 2.0;

/// Whether an element may be seen between two heights, in the coordinates of its group. Groups always may.
pub(crate) fn is_within(item: &Item, (top, bottom): (f32, f32)) -> bool {
    let (low, high) = extent(item);
    high >= top && low <= bottom
}

/// From the least height that an element may reach to the largest.
fn extent(item: &Item) -> (f32, f32) {
    let around = |heights: &mut dyn Iterator<Item = f32>, margin: f32| {
        let (low, high) = heights.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), y| (low.min(y), high.max(y)));
        (low - margin - SLACK, high + margin + SLACK)
    };
    match item {
        Item::Group(_) => (f32::NEG_INFINITY, f32::INFINITY),
        Item::Rect(rect) => around(&mut [rect.frame.y, rect.frame.y + rect.frame.height].into_iter(), 0.0),
        Item::Cells(cells) => around(&mut [cells.frame.y, cells.frame.y + cells.frame.height].into_iter(), 0.0),
        Item::Line(line) => around(&mut [line.from.1, line.to.1].into_iter(), line.width),
        Item::Curve(curve) => {
            let width = curve.stroke.map_or(0.0, |stroke| stroke.1);
            around(&mut curve.points.iter().map(|point| point.1).chain(curve.floor), width)
        }
        Item::Band(band) => around(&mut band.columns.iter().flatten().copied().chain([band.floor]), band.line.1),
        Item::Arrow(arrow) => {
            let heights = arrow.head().map(|point| point.1).into_iter().chain([arrow.from.1, arrow.to.1]);
            around(&mut heights.into_iter(), arrow.width + 2.0)
        }
        Item::Mark(mark) => around(&mut [mark.at.1 - mark.height(), mark.at.1].into_iter(), mark.half_width()),
        Item::Text(text) => around(&mut [text.at.1 - text.size, text.at.1].into_iter(), text.size),
    }
}
