//! A scene as compact JSON for the page: numbers in columns, each as the difference to the one before, paints in a table,
//! mixtures as bytes. Written like this, and compressed by the server, most pictures have some tens of kilobytes; one that is
//! mixtures from edge to edge, on 64 rows of 1,600 columns, has about 250.
//!
//! The page's `draw.js` reads it. Coordinates have two decimals; shares are quantised to 8 bits.

use std::collections::HashMap;

use converter::paje::Color;
use serde_json::{Value, json};

use super::{Anchor, Arrow, Cells, Curve, Item, Mark, Rect, Scene, Text};
use crate::query::EntityId;
use crate::theme::Paint;
use crate::theme::font::Weight;

/// The scene as JSON: `{width, height, notes, paints: [["#rrggbb", alpha]…], runs: [[kind, rows, column…]…]}`.
///
/// A run is several items of one kind that follow each other, back to front, as a table: each column is a list of
/// integers, of which all but the first are differences to the one before; a column of texts is a list of them. Lengths
/// are in hundredths; a paint is its place in the table plus one, 0 being none; an entity is its number times 8 plus its
/// kind, 0 being none.
#[must_use]
pub fn to_json(scene: &Scene) -> Value {
    let mut writer = Writer::default();
    for item in &scene.items {
        writer.item(item);
    }
    let runs: Vec<Value> = writer.runs.into_iter().map(Run::finish).collect();
    let paints: Vec<Value> =
        writer.paints.list.iter().map(|(color, alpha)| json!([color.to_string(), alpha])).collect();
    json!({ "width": scene.width, "height": scene.height, "notes": scene.notes, "paints": paints, "runs": runs })
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
        'c' => EntityId::Container(converter::paje::ContainerId(number)),
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
    places: HashMap<([u8; 3], i64), i64>,
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

/// Items of one kind that follow each other.
struct Run {
    kind: &'static str,
    rows: usize,
    columns: Vec<Vec<i64>>,
    /// A last column that is not of numbers.
    last: Vec<Value>,
}

impl Run {
    fn finish(self) -> Value {
        let mut run = vec![json!(self.kind), json!(self.rows)];
        run.extend(self.columns.iter().map(|column| json!(differences(column))));
        if !self.last.is_empty() {
            run.push(Value::Array(self.last));
        }
        Value::Array(run)
    }
}

/// The first number, and then the differences.
fn differences(column: &[i64]) -> Vec<i64> {
    let before = std::iter::once(0).chain(column.iter().copied());
    column.iter().zip(before).map(|(now, before)| now - before).collect()
}

#[derive(Default)]
struct Writer {
    paints: Paints,
    runs: Vec<Run>,
}

impl Writer {
    /// Adds a row to the run of a kind.
    fn row<const N: usize>(&mut self, kind: &'static str, numbers: [i64; N], last: Option<Value>) {
        if self.runs.last().is_none_or(|run| run.kind != kind) {
            self.runs.push(Run { kind, rows: 0, columns: vec![Vec::new(); N], last: Vec::new() });
        }
        let Some(run) = self.runs.last_mut() else { return };
        run.rows += 1;
        run.last.extend(last);
        for (column, number) in run.columns.iter_mut().zip(numbers) {
            column.push(number);
        }
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
                self.row("r", [x, right - x, y, height, radius, fill, id(*of)], None);
            }
            Item::Cells(cells) => self.cells(cells),
            Item::Line(line) => {
                let paint = self.paints.place(Some(line.paint));
                let [a, b, c, d, width] = [line.from.0, line.from.1, line.to.0, line.to.1, line.width].map(length);
                self.row("l", [a, b, c, d, width, paint], None);
            }
            Item::Curve(Curve { points, floor, fill, stroke }) => {
                let (fill, line) = (self.paints.place(*fill), self.paints.place(stroke.map(|stroke| stroke.0)));
                let width = stroke.map_or(0, |stroke| length(stroke.1));
                let axis =
                    |of: fn(&(f32, f32)) -> f32| differences(&points.iter().map(of).map(tenth).collect::<Vec<_>>());
                let last = json!([axis(|point| point.0), axis(|point| point.1)]);
                self.row("p", [fill, line, width, floor.map_or(-1, length)], Some(last));
            }
            Item::Arrow(Arrow { from, to, width, head, paint, halo, id: of, .. }) => {
                let (paint, halo) = (self.paints.place(Some(*paint)), self.paints.place(*halo));
                let [a, b, c, d, width, head] = [from.0, from.1, to.0, to.1, *width, *head].map(length);
                self.row("a", [a, b, c - a, d, width, head, paint, halo, id(*of)], None);
            }
            Item::Mark(Mark { at, size, fill, id: of, .. }) => {
                let fill = self.paints.place(Some(*fill));
                let [x, y, size] = [at.0, at.1, *size].map(length);
                self.row("m", [x, y, size, fill, id(*of)], None);
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
                self.row("t", [x, y, size, weight, anchor, fill], Some(json!(text)));
            }
        }
    }

    fn cells(&mut self, cells: &Cells) {
        let colors = cells.palette.iter().map(|&color| self.paints.place(Some(Paint::solid(color))));
        let palette: Vec<i64> = colors.collect();
        let values: Vec<u32> = cells.values.iter().map(|value| value.0).collect();
        let f = cells.frame;
        let [x, y, width, height] = [f.x, f.y, f.width, f.height].map(length);
        let count = i64::try_from(cells.columns.len()).unwrap_or(0);
        self.row("x", [x, width, y, height, count], Some(json!([palette, values, pack(cells)])));
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

/// Runs of equal columns: length, number of parts, then per part its place and its share of 255. Numbers are in hexadecimal,
/// seven bits in a byte, the lowest first, the eighth bit saying that more follow.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "shares are 0 to 1")]
fn pack(cells: &Cells) -> String {
    type Packed = Vec<(u16, u8)>;
    let quantised: Vec<Packed> = cells
        .columns
        .iter()
        .map(|column| column.iter().map(|&(place, share)| (place, (share * 255.0).round() as u8)).collect())
        .collect();
    let mut text = String::new();
    let mut push = |mut number: usize| {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        loop {
            let byte = number & 127 | if number > 127 { 128 } else { 0 };
            text.push(char::from(DIGITS[byte >> 4]));
            text.push(char::from(DIGITS[byte & 15]));
            number >>= 7;
            if number == 0 {
                break;
            }
        }
    };
    for run in quantised.chunk_by(|a, b| a == b) {
        push(run.len());
        push(run[0].len());
        for &(place, share) in &run[0] {
            push(usize::from(place));
            push(usize::from(share));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Frame;

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
        let json = to_json(&Scene { items, ..Scene::default() });
        assert_eq!(json["paints"], json!([["#010203", 1.0]]));
        let (x, width, fixed) = (json!([100, 300, 525]), json!([250, 0, 0]), |first: i64| json!([first, 0, 0]));
        let ids = json!([7 * 8 + 2, 8, -(8 * 8 + 2)]);
        assert_eq!(json["runs"], json!([["r", 3, x, width, fixed(500), fixed(1000), fixed(0), fixed(1), ids]]));
    }

    #[test]
    fn equal_columns_are_sent_once() {
        let column = vec![(0, 0.5), (1, 0.25)];
        let cells = Cells {
            frame: Frame::default(),
            palette: Vec::new(),
            values: Vec::new(),
            columns: [column.clone(), column, Vec::new()].into_iter().collect(),
        };
        assert_eq!(pack(&cells), "020200800101400100");
    }
}
