//! A scene as a message for the page: a head in JSON with what is counted in hundreds, and streams of bytes with what is counted in
//! hundreds of thousands, the mixtures and bands. It holds what pixels show and no more: what a mixture is made of to the
//! nanosecond is asked where one is pointed at.
//!
//! Compressed, most pictures have some kilobytes. One of 52 rows of 1,600 columns that are noise from edge to edge, of 1,000 values, has
//! 130, which is halved where two columns are sent as one ([`Detail`]).
//!
//! The page's `wire.js` and `draw.js` read it. Coordinates have two decimals.

mod streams;

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use tumit_paje::{Color, MarkShape};

use super::{Anchor, Arrow, Band, Cells, Curve, Item, Mark, Rect, Scene, Text};
use crate::query::EntityId;
use crate::style::theme::Paint;
use crate::style::theme::font::Weight;
use streams::Streams;

pub use streams::Detail;

/// A scene as it goes to the page.
#[derive(Debug)]
pub struct Message {
    head: Vec<u8>,
    streams: Streams,
}

impl Message {
    /// Writes a scene, for a screen with so many pixels per unit.
    ///
    /// The head is `{width, height, notes, resolution, columns, isWhole, streams: [length…], paints: [["#rrggbb", alpha]…], runs: [[kind, rows]…], tables:
    /// {kind: [[column…], [column…], [text…]]…}}`. `resolution` is of pixels per unit, `columns` is how many columns of pixels mixtures and bands show as one, `isWhole` whether
    /// each that the screen has is shown by itself. Runs are items of one kind that follow each other, from back to front; what they
    /// are stands in the table of their kind, run after run. Its columns are lists of integers: in the first ones as they are, in the others
    /// all but the first are differences to the one before. Lengths are in hundredths; a paint is its place in the table plus one, 0
    /// being none; an entity is its number times 8 plus its kind, 0 being none. Rectangles and mixtures begin so far right of where the one
    /// before, of either, ends.
    #[must_use]
    pub fn new(scene: &Scene, resolution: f32, detail: Detail, is_whole: bool) -> Self {
        let mut writer = Writer {
            paints: Paints::default(),
            runs: Vec::new(),
            tables: BTreeMap::new(),
            streams: Streams::default(),
            fineness: (detail, resolution),
            pen: 0,
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
            "streams": writer.streams.all().map(<[u8]>::len),
            "paints": paints,
            "runs": writer.runs,
            "tables": tables,
        });
        Self { head: head.to_string().into_bytes(), streams: writer.streams }
    }

    /// About how many bytes it will have when it is compressed, a tenth more or less; rather less than more.
    #[must_use]
    pub fn compressed(&self) -> usize {
        // Differences in decimals are mostly zeros and small numbers.
        self.head.len() / 6 + self.streams.compressed()
    }

    /// Its bytes: the length of the head in four of them, the lowest first, the head, the streams.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let length = u32::try_from(self.head.len()).unwrap_or(u32::MAX).to_le_bytes();
        let parts = [&length[..], &self.head].into_iter().chain(self.streams.all());
        parts.collect::<Vec<_>>().concat()
    }
}

/// An entity's name on the wire: a letter and a number.
#[must_use]
pub fn entity(id: EntityId) -> String {
    let (kind, number) = parts(id);
    format!("{}{number}", char::from(KINDS[kind]))
}

/// The entity of a name on the wire.
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
        _ => return None,
    })
}

/// Letters of the kinds of entities; the page knows them in the same order.
const KINDS: &[u8; 5] = b"cselv";

fn parts(id: EntityId) -> (usize, u32) {
    match id {
        EntityId::Container(id) => (0, id.0),
        EntityId::State(id) => (1, id),
        EntityId::Event(id) => (2, id),
        EntityId::Link(id) => (3, id),
        EntityId::Sample(id) => (4, id),
    }
}

/// Each paint once.
#[derive(Default)]
struct Paints {
    places: FxHashMap<([u8; 3], i64), i64>,
    list: Vec<(Color, f64)>,
}

impl Paints {
    fn place(&mut self, paint: Option<Paint>) -> i64 {
        let Some(Paint { color, alpha }) = paint else { return 0 };
        let alpha = length(alpha);
        *self.places.entry(([color.red, color.green, color.blue], alpha)).or_insert_with(|| {
            #[expect(clippy::cast_precision_loss, reason = "0 to 100")]
            self.list.push((color, alpha as f64 / 100.0));
            i64::try_from(self.list.len()).unwrap_or(0)
        })
    }
}

/// All items of one kind.
#[derive(Default)]
struct Table {
    /// Columns that are sent as they are.
    plain: Vec<Vec<i64>>,
    /// Columns of which differences are sent.
    others: Vec<Vec<i64>>,
    /// A last column that is not of numbers.
    last: Vec<Value>,
}

impl Table {
    fn finish(self) -> Value {
        let differences: Vec<Vec<i64>> = self.others.iter().map(|column| differences(column)).collect();
        json!([self.plain, differences, self.last])
    }
}

/// The first number, and then the differences.
fn differences(column: &[i64]) -> Vec<i64> {
    let before = std::iter::once(0).chain(column.iter().copied());
    column.iter().zip(before).map(|(now, before)| now - before).collect()
}

struct Writer {
    paints: Paints,
    /// Kinds of items that follow each other, and their numbers.
    runs: Vec<(&'static str, usize)>,
    tables: BTreeMap<&'static str, Table>,
    streams: Streams,
    fineness: (Detail, f32),
    /// Where the rectangle or mixture before ends.
    pen: i64,
}

impl Writer {
    /// Adds a row to the table of a kind.
    fn row<const P: usize, const N: usize>(
        &mut self,
        kind: &'static str,
        (plain, others): ([i64; P], [i64; N]),
        last: Option<Value>,
    ) {
        match self.runs.last_mut() {
            Some(run) if run.0 == kind => run.1 += 1,
            _ => self.runs.push((kind, 1)),
        }
        let table = self.tables.entry(kind).or_default();
        table.plain.resize_with(P, Vec::new);
        table.others.resize_with(N, Vec::new);
        let columns = table.plain.iter_mut().chain(&mut table.others);
        columns.zip(plain.into_iter().chain(others)).for_each(|(column, number)| column.push(number));
        table.last.extend(last);
    }

    /// How far right of the one before something begins, which becomes the one before.
    fn behind(&mut self, x: i64, width: i64) -> i64 {
        x - std::mem::replace(&mut self.pen, x + width)
    }

    fn item(&mut self, item: &Item) {
        let id = |id: Option<EntityId>| {
            id.map_or(0, |id| {
                let (kind, number) = parts(id);
                i64::from(number) * 8 + i64::try_from(kind).unwrap_or(0) + 1
            })
        };
        match item {
            Item::Group(group) => group.items.iter().for_each(|item| self.item(item)),
            Item::Rect(Rect { frame: f, fill, radius, id: of, .. }) => {
                let fill = self.paints.place(Some(*fill));
                // Edges, not sizes: an edge is often the next one's.
                let numbers = [f.x, f.right(), f.y, f.height, *radius].map(length);
                let [x, right, y, height, radius] = numbers;
                let behind = self.behind(x, right - x);
                self.row("r", ([behind, right - x], [y, height, radius, fill, id(*of)]), None);
            }
            Item::Cells(cells) => self.cells(cells),
            Item::Band(band) => self.band(band),
            Item::Line(line) => {
                let paint = self.paints.place(Some(line.paint));
                let [a, b, c, d, width] = [line.from.0, line.from.1, line.to.0, line.to.1, line.width].map(length);
                self.row("l", ([], [a, b, c, d, width, paint]), None);
            }
            Item::Curve(Curve { points, floor, fill, stroke }) => {
                let (fill, line) = (self.paints.place(*fill), self.paints.place(stroke.map(|stroke| stroke.0)));
                let width = stroke.map_or(0, |stroke| length(stroke.1));
                let axis =
                    |of: fn(&(f32, f32)) -> f32| differences(&points.iter().map(of).map(tenth).collect::<Vec<_>>());
                let last = json!([axis(|point| point.0), axis(|point| point.1)]);
                self.row("p", ([], [fill, line, width, floor.map_or(-1, length)]), Some(last));
            }
            Item::Arrow(Arrow { from, to, width, head, paint, halo, id: of, .. }) => {
                let (paint, halo) = (self.paints.place(Some(*paint)), self.paints.place(*halo));
                let [a, b, c, d, width, head] = [from.0, from.1, to.0, to.1, *width, *head].map(length);
                self.row("a", ([], [a, b, c - a, d, width, head, paint, halo, id(*of)]), None);
            }
            Item::Mark(Mark { at, shape, size, fill, id: of, .. }) => {
                let fill = self.paints.place(Some(*fill));
                let [x, y, size] = [at.0, at.1, *size].map(length);
                let shape = MarkShape::ALL.iter().position(|known| known == shape).unwrap_or(0);
                self.row("m", ([], [x, y, size, i64::try_from(shape).unwrap_or(0), fill, id(*of)]), None);
            }
            Item::Text(Text { at, text, size, weight, anchor, fill }) => {
                let fill = self.paints.place(Some(*fill));
                let [x, y, size] = [at.0, at.1, *size].map(length);
                let anchor = match anchor {
                    Anchor::Start => 0,
                    Anchor::Middle => 1,
                    Anchor::End => 2,
                };
                let weight = if *weight == Weight::SemiBold { 600 } else { 400 };
                self.row("t", ([], [x, y, size, weight, anchor, fill]), Some(json!(text)));
            }
        }
    }

    fn cells(&mut self, cells: &Cells) {
        let paints = cells.palette.iter().map(|&color| self.paints.place(Some(Paint::solid(color))));
        let paints: Vec<i64> = paints.collect();
        let f = cells.frame;
        let [x, y, width, height] = [f.x, f.y, f.width, f.height].map(length);
        let count = i64::try_from(cells.columns.len()).unwrap_or(0);
        let steps = self.streams.cells(cells, &paints, self.fineness);
        // Most have a column for each pixel. What a pixel is, the page reckons in the same way.
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a number of pixels")]
        let pixels = (width as f64 / 100.0 * f64::from(self.fineness.1)).round() as i64;
        let behind = self.behind(x, width);
        self.row("x", ([behind, width, count - pixels], [y, height, steps]), None);
    }

    fn band(&mut self, band: &Band) {
        let [pale, fill, line] = [band.pale, band.fill, band.line.0].map(|paint| self.paints.place(Some(paint)));
        let [x, floor, width] = [band.x, band.floor, band.line.1].map(length);
        // A step is a pixel, or a nanosecond, which may be hundreds of pixels wide or any part of one.
        #[expect(clippy::cast_possible_truncation, reason = "a length within a picture; wild ones are cut")]
        let step = (f64::from(band.step) * 1e4).round() as i64;
        let count = i64::try_from(band.columns.len()).unwrap_or(0);
        let unit = length(self.streams.band(band, self.fineness));
        self.row("b", ([], [x, floor, width, unit, step, count, pale, fill, line]), None);
    }
}

/// Hundredths of a unit.
#[expect(clippy::cast_possible_truncation, reason = "a length within a picture; wild ones are cut")]
fn length(value: f32) -> i64 {
    (f64::from(value) * 100.0).round() as i64
}

/// Tenths of a unit: enough for a curve.
#[expect(clippy::cast_possible_truncation, reason = "a length within a picture; wild ones are cut")]
fn tenth(value: f32) -> i64 {
    (f64::from(value) * 10.0).round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Columns, Frame};

    #[test]
    fn entities_survive_the_wire() {
        for id in [EntityId::State(7), EntityId::Link(0), EntityId::Sample(u32::MAX), EntityId::Event(3)] {
            assert_eq!(parse_entity(&entity(id)), Some(id));
        }
        for wrong in ["", "s", "x1", "s-1", "é5", "s99999999999"] {
            assert_eq!(parse_entity(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn items_of_a_kind_are_a_table_of_differences() {
        let fill = Paint::solid(Color { red: 1, green: 2, blue: 3 });
        let rect = |x: f32, id: Option<u32>| {
            let frame = Frame::new(x, 5.0, 2.5, 10.0);
            Item::Rect(Rect { frame, fill, radius: 0.0, id: id.map(EntityId::State), title: None })
        };
        let items = vec![rect(1.0, Some(7)), rect(4.0, Some(8)), rect(9.25, None)];
        let message = Message::new(&Scene { items, ..Scene::default() }, 1.0, Detail::ALL[0], true);
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
    fn a_message_has_the_lengths_of_its_parts() {
        let columns: Columns<u16> = (0..100).map(|at| vec![(at % 2, 0.5)]).collect();
        let frame = Frame::new(0.0, 0.0, 100.0, 13.0);
        let palette = vec![Color { red: 1, green: 2, blue: 3 }, Color { red: 4, green: 5, blue: 6 }];
        let cells = Cells { frame, palette, values: Vec::new(), columns };
        let scene = Scene { items: vec![Item::Cells(cells)], ..Scene::default() };
        for (columns, runs) in [(1, 100), (3, 34)] {
            let bytes = Message::new(&scene, 1.0, Detail { columns, steps: 1 }, columns == 1).bytes();
            let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
            let head: Value = serde_json::from_slice(&bytes[4..4 + length]).unwrap();
            assert_eq!(head["columns"], columns);
            let streams: Vec<usize> = serde_json::from_value(head["streams"].clone()).unwrap();
            assert_eq!(streams.iter().sum::<usize>() + length + 4, bytes.len());
            assert_eq!(streams[0], runs, "equal columns are sent once");
        }
    }
}
