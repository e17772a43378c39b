//! The items of a scene without groups. A message for the page has no groups, and a document has
//! groups with their own coordinates.

use tumit_viewer::scene::SceneItem;

/// The items in drawing order, in the coordinates of the scene.
pub(super) fn flat_items(items: Vec<SceneItem>) -> Vec<SceneItem> {
    let mut flat = Vec::with_capacity(items.len());
    add(items, (0.0, 0.0), &mut flat);
    flat
}

fn add(items: Vec<SceneItem>, (x, y): (f32, f32), flat: &mut Vec<SceneItem>) {
    for item in items {
        match item {
            SceneItem::Group(group) => add(group.items, (x + group.x, y + group.y), flat),
            item => flat.push(translate(item, (x, y))),
        }
    }
}

fn translate(mut item: SceneItem, (x, y): (f32, f32)) -> SceneItem {
    let shift = |point: &mut (f32, f32)| *point = (point.0 + x, point.1 + y);
    match &mut item {
        SceneItem::Group(group) => (group.x, group.y) = (group.x + x, group.y + y),
        SceneItem::Rect(rect) => (rect.frame.x, rect.frame.y) = (rect.frame.x + x, rect.frame.y + y),
        SceneItem::Cells(cells) => (cells.frame.x, cells.frame.y) = (cells.frame.x + x, cells.frame.y + y),
        SceneItem::Line(line) => [&mut line.from, &mut line.to].into_iter().for_each(shift),
        SceneItem::Curve(curve) => {
            curve.points.iter_mut().for_each(shift);
            curve.floor = curve.floor.map(|floor| floor + y);
        }
        SceneItem::Band(band) => {
            band.columns.iter_mut().flatten().for_each(|height| *height += y);
            (band.x, band.floor) = (band.x + x, band.floor + y);
        }
        SceneItem::Arrow(arrow) => [&mut arrow.from, &mut arrow.to].into_iter().for_each(shift),
        SceneItem::Mark(mark) => shift(&mut mark.position),
        SceneItem::Text(text) => shift(&mut text.position),
    }
    item
}
