//! A scene as a message for the page.
//!
//! The head is JSON, for items that occur by the hundreds. Byte sections contain items that occur
//! by the hundred thousands: mixtures and bands. The message has only the resolution of the screen.
//! The page queries the exact contents of a mixture when the pointer is on it.
//!
//! Most images have a few kilobytes when compressed. 52 rows of 1,600 columns that are entirely
//! noise, with 1,000 values, have 130 kB. This is halved if two columns are sent as one
//! ([`ColumnDetail`]).
//!
//! The page's `net/wire.js` and `view/scene.js` read it. Coordinates have two decimals.
//!
//! ```
//! use tumit_viewer::query::EntityId;
//! use tumit_viewer::scene::Scene;
//! use tumit_viewer::scene::wire::{SceneMessage, ColumnDetail, entity, parse_entity};
//!
//! assert_eq!(entity(EntityId::State(7)), "s7");
//! assert_eq!(parse_entity("s7"), Some(EntityId::State(7)));
//! let message = SceneMessage::new(&Scene::default(), 1.0, ColumnDetail::ALL[0], true).bytes();
//! // The length of the head comes first.
//! assert_eq!(message[4], b'{');
//! ```

mod wire_sections;

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use tumit_paje::{MarkShape, RgbColor};

use super::primitives::{
    FilledRect, Scene, SceneArrow, SceneCells, SceneCurve, SceneItem, SceneMark, SceneText, TextAnchor, VariableBand,
};
use crate::query::EntityId;
use crate::style::theme::ColorWithOpacity;
use crate::style::theme::font::FontWeight;
use wire_sections::{ColumnScale, WireSections};

pub use wire_sections::ColumnDetail;

/// A scene in the form in which the page receives it.
#[derive(Debug)]
pub struct SceneMessage {
    head: Vec<u8>,
    sections: WireSections,
}

impl SceneMessage {
    /// Encodes a scene for a screen with `resolution` pixels per scene unit.
    ///
    /// The head is `{width, height, notes, resolution, columns, isWhole, sections: [length…],
    /// paints: [["#rrggbb", alpha]…], runs: [[kind, rows]…], tables: {kind: [[column…], [column…],
    /// [text…]]…}}`.
    ///
    /// - `resolution` is in pixels per scene unit.
    /// - `columns` is the number of pixel columns that mixtures and bands combine into one.
    /// - `isWhole` is true if each pixel column of the screen is separate.
    /// - `runs` are sequences of items of one kind, in drawing order. Their data are in the table
    ///   of their kind, run after run.
    /// - The columns of a table are lists of integers: the first group unchanged, the second group
    ///   as differences to the number before, except for the first number.
    /// - Lengths are in hundredths of a unit.
    /// - A paint is its index in `paints` plus one; 0 is none.
    /// - An entity is its number times 8 plus its kind plus one; 0 is none.
    /// - The left edge of a rectangle or mixture is relative to the right edge of the previous
    ///   rectangle or mixture.
    #[must_use]
    pub fn new(scene: &Scene, resolution: f32, detail: ColumnDetail, is_whole: bool) -> Self {
        let mut writer = SceneWriter {
            paints: PaintTable::default(),
            runs: Vec::new(),
            tables: BTreeMap::new(),
            sections: WireSections::default(),
            column_scale: ColumnScale { detail, resolution },
            pen: 0,
            curve_end: (0, 0),
        };
        for item in &scene.items {
            writer.item(item);
        }
        let tables: BTreeMap<&str, Value> =
            writer.tables.into_iter().map(|(kind, table)| (kind, table.finish())).collect();
        let paints: Vec<Value> =
            writer.paints.list.iter().map(|(color, alpha)| json!([color.to_string(), alpha])).collect();
        let head = json!({
            "width": scene.width,
            "height": scene.height,
            "notes": scene.notes,
            "resolution": resolution,
            "columns": detail.columns,
            "isWhole": is_whole,
            "sections": writer.sections.all().map(<[u8]>::len),
            "paints": paints,
            "runs": writer.runs,
            "tables": tables,
        });
        Self { head: head.to_string().into_bytes(), sections: writer.sections }
    }

    /// Estimates its compressed size in bytes, with an error of about a tenth, more often too low.
    #[must_use]
    pub fn compressed_size(&self) -> usize {
        // Differences in decimal digits are mostly zeros and small numbers.
        self.head.len() / 6 + self.sections.compressed_size()
    }

    /// Its bytes: the length of the head in four bytes, little-endian, then the head, then the
    /// sections.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let length = u32::try_from(self.head.len()).unwrap_or(u32::MAX).to_le_bytes();
        let parts = [&length[..], &self.head].into_iter().chain(self.sections.all());
        parts.collect::<Vec<_>>().concat()
    }
}

/// The text form of an entity's id: a letter and a number.
#[must_use]
pub fn entity(id: EntityId) -> String {
    let (kind, number) = parts(id);
    format!("{}{number}", char::from(KINDS[kind]))
}

/// Parses the text form of an entity's id.
#[must_use]
pub fn parse_entity(text: &str) -> Option<EntityId> {
    let kind = text.chars().next()?;
    let number: u32 = text[kind.len_utf8()..].parse().ok()?;
    Some(match kind {
        'c' => EntityId::Container(tumit_paje::ContainerId(number)),
        's' => EntityId::State(number),
        'e' => EntityId::Event(number),
        'l' => EntityId::Link(number),
        'v' => EntityId::Sample(number),
        'o' => EntityId::OpenLink(number),
        _ => return None,
    })
}

/// Letters of the kinds of entities. The page has the same order.
const KINDS: &[u8; 6] = b"cselvo";

fn parts(id: EntityId) -> (usize, u32) {
    match id {
        EntityId::Container(id) => (0, id.0),
        EntityId::State(id) => (1, id),
        EntityId::Event(id) => (2, id),
        EntityId::Link(id) => (3, id),
        EntityId::Sample(id) => (4, id),
        EntityId::OpenLink(id) => (5, id),
    }
}

/// The list of paints, without repetition.
#[derive(Default)]
struct PaintTable {
    places: FxHashMap<([u8; 3], i64), i64>,
    list: Vec<(RgbColor, f64)>,
}

impl PaintTable {
    fn place(&mut self, paint: Option<ColorWithOpacity>) -> i64 {
        let Some(ColorWithOpacity { color, alpha }) = paint else { return 0 };
        let alpha = to_hundredths(alpha);
        *self.places.entry(([color.red, color.green, color.blue], alpha)).or_insert_with(|| {
            #[expect(clippy::cast_precision_loss, reason = "0 to 100")]
            self.list.push((color, alpha as f64 / 100.0));
            i64::try_from(self.list.len()).unwrap_or(0)
        })
    }
}

/// All items of one kind.
#[derive(Default)]
struct ItemTable {
    /// Columns that are sent unchanged.
    direct_columns: Vec<Vec<i64>>,
    /// Columns that are sent as differences.
    deltas: Vec<Vec<i64>>,
    /// A last column that does not contain numbers.
    last: Vec<Value>,
}

impl ItemTable {
    fn finish(self) -> Value {
        let differences: Vec<Vec<i64>> = self.deltas.iter().map(|column| delta_encoded(column)).collect();
        json!([self.direct_columns, differences, self.last])
    }
}

/// The first number, followed by the differences.
fn delta_encoded(column: &[i64]) -> Vec<i64> {
    let before = std::iter::once(0).chain(column.iter().copied());
    column.iter().zip(before).map(|(now, before)| now - before).collect()
}

/// The width of the head of an arrow to each side of its line, relative to its length.
const HEAD_WIDTH: f32 = 0.42;

/// The largest error in units of the corners of a head.
const HEAD_ERROR: f32 = 0.35;

/// Whether a triangle is the head of an arrow whose line ends in the middle of the head. `tip` is
/// relative to this end. The page computes the corners in the same way.
#[expect(clippy::cast_precision_loss, reason = "lengths within an image are small")]
fn is_arrow_head(points: &[(f32, f32)], end: (i64, i64), tip: (i64, i64)) -> bool {
    let &[_, left, right] = points else { return false };
    let (x, y) = (tip.0 as f32 / 10.0, tip.1 as f32 / 10.0);
    let (base_x, base_y) = (end.0 as f32 / 10.0 - x, end.1 as f32 / 10.0 - y);
    let (side_x, side_y) = (2.0 * HEAD_WIDTH * y, 2.0 * HEAD_WIDTH * x);
    let is_near = |point: (f32, f32), x: f32, y: f32| (point.0 - x).hypot(point.1 - y) <= HEAD_ERROR;
    is_near(left, base_x - side_x, base_y + side_y) && is_near(right, base_x + side_x, base_y - side_y)
}

/// The largest error in units of a curve that is sent as a parabola.
const PARABOLA_ERROR: f32 = 0.1;
/// The least number of points of a parabola. Fewer points are as short as a list.
const LEAST_PARABOLA: usize = 6;

/// The coordinates of a curve in tenths: lists of x and y as differences. The number 2 after them
/// means differences of differences, which are small for a smooth curve. The number 3 means a
/// parabola by its first, middle and last point.
/// The number 4 means the head of an arrow, with its tip relative to the end of the curve before.
fn curve_json(points: &[(f32, f32)]) -> Value {
    let axes = [points.iter().map(|point| point.0).collect(), points.iter().map(|point| point.1).collect()];
    let axes: [Vec<f32>; 2] = axes;
    if let [Some(x), Some(y)] = axes.each_ref().map(|axis| parabola(axis)) {
        return json!([x, y, 3]);
    }
    let [x, y] = axes.map(|axis| delta_encoded(&axis.into_iter().map(to_tenths).collect::<Vec<_>>()));
    let (first, second) = (json!([x, y]), json!([delta_encoded(&x), delta_encoded(&y), 2]));
    if second.to_string().len() < first.to_string().len() { second } else { first }
}

/// The first, middle and last value of a parabola in tenths, as differences. `None` if the values
/// differ from a parabola.
#[expect(clippy::cast_precision_loss, reason = "numbers of points and lengths are small")]
fn parabola(values: &[f32]) -> Option<Vec<i64>> {
    let last = values.len().checked_sub(1).filter(|_| values.len() >= LEAST_PARABOLA)?;
    let value_at = |[first, middle, end]: [f32; 3], share: f32| {
        first * (1.0 - share) * (1.0 - 2.0 * share)
            + 4.0 * middle * share * (1.0 - share)
            + end * share * (2.0 * share - 1.0)
    };
    let share = |index: usize| index as f32 / last as f32;
    // The middle of a parabola through the first, the last and a value near the middle.
    let (near, ends) = (share(last / 2), [values[0], 0.0, values[last]]);
    let middle = (values[last / 2] - value_at(ends, near)) / (4.0 * near * (1.0 - near));
    let tenths = [values[0], middle, values[last]].map(to_tenths);
    let rounded = tenths.map(|number| number as f32 / 10.0);
    let fits = |(index, value): (usize, &f32)| (value_at(rounded, share(index)) - value).abs() <= PARABOLA_ERROR;
    values.iter().enumerate().all(fits).then(|| delta_encoded(&tenths))
}

struct SceneWriter {
    paints: PaintTable,
    /// Kinds of consecutive items, and their numbers.
    runs: Vec<(&'static str, usize)>,
    tables: BTreeMap<&'static str, ItemTable>,
    sections: WireSections,
    column_scale: ColumnScale,
    /// The right edge of the previous rectangle or mixture.
    pen: i64,
    /// The last point of the previous curve, in tenths.
    curve_end: (i64, i64),
}

impl SceneWriter {
    /// Adds a row to the table of a kind.
    fn row<const P: usize, const N: usize>(
        &mut self,
        kind: &'static str,
        (direct_numbers, deltas): ([i64; P], [i64; N]),
        last: Option<Value>,
    ) {
        match self.runs.last_mut() {
            Some(run) if run.0 == kind => run.1 += 1,
            _ => self.runs.push((kind, 1)),
        }
        let table = self.tables.entry(kind).or_default();
        table.direct_columns.resize_with(P, Vec::new);
        table.deltas.resize_with(N, Vec::new);
        let columns = table.direct_columns.iter_mut().chain(&mut table.deltas);
        columns.zip(direct_numbers.into_iter().chain(deltas)).for_each(|(column, number)| column.push(number));
        table.last.extend(last);
    }

    /// Returns the distance of an item from the right edge of the previous item, and makes it the
    /// previous one.
    fn distance_from_previous(&mut self, x: i64, width: i64) -> i64 {
        x - std::mem::replace(&mut self.pen, x + width)
    }

    fn item(&mut self, item: &SceneItem) {
        let id = |id: Option<EntityId>| {
            id.map_or(0, |id| {
                let (kind, number) = parts(id);
                i64::from(number) * 8 + i64::try_from(kind).unwrap_or(0) + 1
            })
        };
        match item {
            SceneItem::Group(group) => group.items.iter().for_each(|item| self.item(item)),
            SceneItem::Rect(FilledRect { frame: f, fill, radius, id: of, .. }) => {
                let fill = self.paints.place(Some(*fill));
                // Edges are stored, not sizes, because an edge is often the next item's edge.
                let numbers = [f.x, f.right(), f.y, f.height, *radius].map(to_hundredths);
                let [x, right, y, height, radius] = numbers;
                let gap = self.distance_from_previous(x, right - x);
                self.row("r", ([gap, right - x], [y, height, radius, fill, id(*of)]), None);
            }
            SceneItem::Cells(cells) => self.cells(cells),
            SceneItem::Band(band) => self.band(band),
            SceneItem::Line(line) => {
                let paint = self.paints.place(Some(line.paint));
                let [a, b, c, d, width] =
                    [line.from.0, line.from.1, line.to.0, line.to.1, line.width].map(to_hundredths);
                self.row("l", ([], [a, b, c, d, width, paint]), None);
            }
            SceneItem::Curve(SceneCurve { points, floor, fill, stroke }) => {
                let (fill, line) = (self.paints.place(*fill), self.paints.place(stroke.map(|stroke| stroke.paint)));
                let width = stroke.map_or(0, |stroke| to_hundredths(stroke.width));
                let points = self.curve_json(points);
                self.row("p", ([], [fill, line, width, floor.map_or(-1, to_hundredths)]), Some(points));
            }
            SceneItem::Arrow(SceneArrow { from, to, width, head, paint, halo, id: of, .. }) => {
                let (paint, halo) = (self.paints.place(Some(*paint)), self.paints.place(*halo));
                let [a, b, c, d, width, head] = [from.0, from.1, to.0, to.1, *width, *head].map(to_hundredths);
                self.row("a", ([], [a, b, c - a, d, width, head, paint, halo, id(*of)]), None);
            }
            SceneItem::Mark(SceneMark { position, shape, size, fill, id: of, .. }) => {
                let fill = self.paints.place(Some(*fill));
                let [x, y, size] = [position.0, position.1, *size].map(to_hundredths);
                let shape = MarkShape::ALL.iter().position(|candidate| candidate == shape).unwrap_or(0);
                self.row("m", ([], [x, y, size, i64::try_from(shape).unwrap_or(0), fill, id(*of)]), None);
            }
            SceneItem::Text(SceneText { position, text, size, weight, anchor, fill }) => {
                let fill = self.paints.place(Some(*fill));
                let [x, y, size] = [position.0, position.1, *size].map(to_hundredths);
                let anchor = match anchor {
                    TextAnchor::Start => 0,
                    TextAnchor::Middle => 1,
                    TextAnchor::End => 2,
                };
                let weight = if *weight == FontWeight::SemiBold { 600 } else { 400 };
                self.row("t", ([], [x, y, size, weight, anchor, fill]), Some(json!(text)));
            }
        }
    }

    /// A curve, or the head of an arrow. The previous curve is the line of this arrow.
    fn curve_json(&mut self, points: &[(f32, f32)]) -> Value {
        let Some(last) = points.last() else { return curve_json(points) };
        let tip = points[0];
        let tip = (to_tenths(tip.0), to_tenths(tip.1));
        let (x, y) = (tip.0 - self.curve_end.0, tip.1 - self.curve_end.1);
        if is_arrow_head(points, self.curve_end, (x, y)) {
            self.curve_end = tip;
            return json!([[x], [y], 4]);
        }
        self.curve_end = (to_tenths(last.0), to_tenths(last.1));
        curve_json(points)
    }

    fn cells(&mut self, cells: &SceneCells) {
        let paints = cells.palette.iter().map(|&color| self.paints.place(Some(ColorWithOpacity::from_opaque(color))));
        let paints: Vec<i64> = paints.collect();
        let f = cells.frame;
        let [x, y, width, height] = [f.x, f.y, f.width, f.height].map(to_hundredths);
        let count = i64::try_from(cells.columns.len()).unwrap_or(0);
        let steps = self.sections.cells(cells, &paints, self.column_scale);
        // Most mixtures have one column per pixel. The page computes the size of a pixel in the
        // same way.
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a number of pixels is small")]
        let pixels = (width as f64 / 100.0 * f64::from(self.column_scale.resolution)).round() as i64;
        let gap = self.distance_from_previous(x, width);
        self.row("x", ([gap, width, count - pixels], [y, height, steps]), None);
    }

    fn band(&mut self, band: &VariableBand) {
        let [band_paint, fill, line] =
            [band.band_paint, band.fill, band.line.paint].map(|paint| self.paints.place(Some(paint)));
        let [x, floor, width] = [band.x, band.floor, band.line.width].map(to_hundredths);
        // A step is a pixel or a nanosecond. A nanosecond may be hundreds of pixels wide, or a
        // fraction of a pixel.
        #[expect(clippy::cast_possible_truncation, reason = "a length within an image; larger ones saturate")]
        let step = (f64::from(band.step) * 1e4).round() as i64;
        let count = i64::try_from(band.columns.len()).unwrap_or(0);
        let unit = to_hundredths(self.sections.band(band, self.column_scale));
        self.row("b", ([], [x, floor, width, unit, step, count, band_paint, fill, line]), None);
    }
}

/// Converts to hundredths of a unit.
#[expect(clippy::cast_possible_truncation, reason = "a length within an image; larger ones saturate")]
fn to_hundredths(value: f32) -> i64 {
    (f64::from(value) * 100.0).round() as i64
}

/// Converts to tenths of a unit, which are sufficient for a curve.
#[expect(clippy::cast_possible_truncation, reason = "a length within an image; larger ones saturate")]
fn to_tenths(value: f32) -> i64 {
    (f64::from(value) * 10.0).round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{MixtureColumns, OutlineRect};

    #[test]
    fn a_parsed_entity_id_equals_the_written_one() {
        for id in [
            EntityId::State(7),
            EntityId::Link(0),
            EntityId::OpenLink(8),
            EntityId::Sample(u32::MAX),
            EntityId::Event(3),
        ] {
            assert_eq!(parse_entity(&entity(id)), Some(id));
        }
        for wrong in ["", "s", "x1", "s-1", "é5", "s99999999999"] {
            assert_eq!(parse_entity(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn items_of_a_kind_are_a_table_of_differences() {
        let fill = ColorWithOpacity::from_opaque(RgbColor { red: 1, green: 2, blue: 3 });
        let rect = |x: f32, id: Option<u32>| {
            let frame = OutlineRect::new(x, 5.0, 2.5, 10.0);
            SceneItem::Rect(FilledRect { frame, fill, radius: 0.0, id: id.map(EntityId::State), title: None })
        };
        let items = vec![rect(1.0, Some(7)), rect(4.0, Some(8)), rect(9.25, None)];
        let message = SceneMessage::new(&Scene { items, ..Scene::default() }, 1.0, ColumnDetail::ALL[0], true);
        let json: Value = serde_json::from_slice(&message.head).unwrap();
        assert_eq!(json["paints"], json!([["#010203", 1.0]]));
        assert_eq!(json["runs"], json!([["r", 3]]));
        let fixed = |first: i64| json!([first, 0, 0]);
        let ids = json!([7 * 8 + 2, 8, -(8 * 8 + 2)]);
        let (gaps, widths) = (json!([100, 50, 275]), json!([250, 250, 250]));
        assert_eq!(
            json["tables"],
            json!({ "r": [[gaps, widths], [fixed(500), fixed(1000), fixed(0), fixed(1), ids], []] })
        );
    }

    #[test]
    fn the_head_of_an_arrow_is_sent_by_its_tip() {
        assert!(is_arrow_head(&[(10.0, 5.0), (2.0, 8.36), (2.0, 1.64)], (60, 50), (40, 0)));
        assert!(!is_arrow_head(&[(10.0, 5.0), (2.0, 9.0), (2.0, 1.0)], (60, 50), (40, 0)));
        assert!(!is_arrow_head(&[(10.0, 5.0), (2.0, 8.36)], (60, 50), (40, 0)));
    }

    #[test]
    fn a_parabola_is_sent_by_three_points() {
        let value = |index: u16| f32::from(index) * (20.0 - f32::from(index)) / 4.0;
        let mut points: Vec<(f32, f32)> = (0..=10).map(|index| (f32::from(index), value(index))).collect();
        let expected = json!([[0, 50, 50], [0, 188, 62], 3]);
        assert_eq!(curve_json(&points), expected);
        points[4].1 += 0.3;
        assert_eq!(curve_json(&points).as_array().map(Vec::len), Some(3), "differences of differences");
    }

    #[test]
    fn a_message_has_the_lengths_of_its_parts() {
        let columns: MixtureColumns<u16> = (0..100).map(|column| vec![(column % 2, 0.5)]).collect();
        let frame = OutlineRect::new(0.0, 0.0, 100.0, 13.0);
        let palette = vec![RgbColor { red: 1, green: 2, blue: 3 }, RgbColor { red: 4, green: 5, blue: 6 }];
        let cells = SceneCells { frame, palette, values: Vec::new(), columns };
        let scene = Scene { items: vec![SceneItem::Cells(cells)], ..Scene::default() };
        for (columns, runs) in [(1, 100), (3, 34)] {
            let bytes = SceneMessage::new(&scene, 1.0, ColumnDetail { columns, steps: 1 }, columns == 1).bytes();
            let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
            let head: Value = serde_json::from_slice(&bytes[4..4 + length]).unwrap();
            assert_eq!(head["columns"], columns);
            let sections: Vec<usize> = serde_json::from_value(head["sections"].clone()).unwrap();
            assert_eq!(sections.iter().sum::<usize>() + length + 4, bytes.len());
            assert_eq!(sections[0], runs, "equal columns are sent once");
        }
    }
}
