//! The vertical extent of elements. If a part of an image is written, elements outside of it are
//! omitted.

use crate::scene::SceneItem;

/// Margin in scene units, because antialiasing and line ends extend beyond the shapes.
const SLACK: f32 = 2.0;

/// A range of y coordinates, which increase downward.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeightRange {
    pub(crate) top: f32,
    pub(crate) bottom: f32,
}

/// Whether an element may be visible between two heights, in the coordinates of its group. It is
/// always true for groups.
pub(crate) fn is_within(item: &SceneItem, window: HeightRange) -> bool {
    let range = height_range(item);
    range.bottom >= window.top && range.top <= window.bottom
}

/// The heights that an element may touch.
fn height_range(item: &SceneItem) -> HeightRange {
    let around = |heights: &mut dyn Iterator<Item = f32>, margin: f32| {
        let (top, bottom) =
            heights.fold((f32::INFINITY, f32::NEG_INFINITY), |(top, bottom), y| (top.min(y), bottom.max(y)));
        HeightRange { top: top - margin - SLACK, bottom: bottom + margin + SLACK }
    };
    match item {
        SceneItem::Group(_) => HeightRange { top: f32::NEG_INFINITY, bottom: f32::INFINITY },
        SceneItem::Rect(rect) => around(&mut [rect.frame.y, rect.frame.y + rect.frame.height].into_iter(), 0.0),
        SceneItem::Cells(cells) => around(&mut [cells.frame.y, cells.frame.y + cells.frame.height].into_iter(), 0.0),
        SceneItem::Line(line) => around(&mut [line.from.1, line.to.1].into_iter(), line.width),
        SceneItem::Curve(curve) => {
            let width = curve.stroke.map_or(0.0, |stroke| stroke.width);
            around(&mut curve.points.iter().map(|point| point.1).chain(curve.floor), width)
        }
        SceneItem::Band(band) => {
            around(&mut band.columns.iter().flatten().copied().chain([band.floor]), band.line.width)
        }
        SceneItem::Arrow(arrow) => {
            let heights = arrow.head().map(|point| point.1).into_iter().chain([arrow.from.1, arrow.to.1]);
            around(&mut heights.into_iter(), arrow.width + 2.0)
        }
        SceneItem::Mark(mark) => {
            around(&mut [mark.position.1 - mark.height(), mark.position.1].into_iter(), mark.half_width())
        }
        SceneItem::Text(text) => around(&mut [text.position.1 - text.size, text.position.1].into_iter(), text.size),
    }
}
