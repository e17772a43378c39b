//! A scene as compact JSON for the page: arrays in place of objects, colours in a table, mixtures as bytes.
//!
//! The page's `draw.js` reads it. Coordinates have two decimals; shares are quantised to 8 bits.

use std::collections::BTreeMap;

use converter::paje::Color;
use serde_json::{Value, json};

use super::{Anchor, Arrow, Cells, Curve, Item, Mark, Rect, Scene, Text};
use crate::query::EntityId;
use crate::theme::Paint;
use crate::theme::font::Weight;

/// The scene as JSON: `{width, height, colors: ["#rrggbb"…], items: [[kind, …]…]}`.
#[must_use]
pub fn to_json(scene: &Scene) -> Value {
    let mut colors = Colors::default();
    let mut items = Vec::with_capacity(scene.items.len());
    for item in &scene.items {
        write(item, &mut colors, &mut items);
    }
    let names: Vec<String> = colors.names.iter().map(ToString::to_string).collect();
    json!({ "width": round(scene.width), "height": round(scene.height), "colors": names, "items": items })
}

/// An entity's name on the wire: a letter and a number.
#[must_use]
pub fn entity(id: EntityId) -> String {
    match id {
        EntityId::Container(id) => format!("c{}", id.0),
        EntityId::State(id) => format!("s{id}"),
        EntityId::Event(id) => format!("e{id}"),
        EntityId::Link(id) => format!("l{id}"),
        EntityId::Sample(id) => format!("v{id}"),
    }
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

/// Each colour once.
#[derive(Default)]
struct Colors {
    places: BTreeMap<[u8; 3], usize>,
    names: Vec<Color>,
}

impl Colors {
    fn place(&mut self, color: Color) -> usize {
        *self.places.entry([color.red, color.green, color.blue]).or_insert_with(|| {
            self.names.push(color);
            self.names.len() - 1
        })
    }

    fn paint(&mut self, paint: Paint) -> Value {
        json!([self.place(paint.color), round(paint.alpha)])
    }
}

fn write(item: &Item, colors: &mut Colors, out: &mut Vec<Value>) {
    let id = |id: Option<EntityId>| id.map(entity);
    match item {
        Item::Group(group) => {
            for item in &group.items {
                write(item, colors, out);
            }
        }
        Item::Rect(Rect { frame: f, fill, radius, id: of, .. }) => out.push(json!([
            "r",
            round(f.x),
            round(f.y),
            round(f.width),
            round(f.height),
            colors.paint(*fill),
            round(*radius),
            id(*of)
        ])),
        Item::Cells(cells) => {
            let palette: Vec<usize> = cells.palette.iter().map(|&color| colors.place(color)).collect();
            let values: Vec<u32> = cells.values.iter().map(|value| value.0).collect();
            let f = cells.frame;
            out.push(json!([
                "x",
                round(f.x),
                round(f.y),
                round(f.width),
                round(f.height),
                palette,
                values,
                cells.columns.len(),
                pack(cells)
            ]));
        }
        Item::Line(line) => {
            let (a, b) = (line.from, line.to);
            out.push(json!([
                "l",
                round(a.0),
                round(a.1),
                round(b.0),
                round(b.1),
                round(line.width),
                colors.paint(line.paint)
            ]));
        }
        Item::Curve(Curve { points, fill, stroke }) => {
            let points: Vec<f64> = points.iter().flat_map(|&(x, y)| [round(x), round(y)]).collect();
            let fill = fill.map(|fill| colors.paint(fill));
            let stroke = stroke.map(|(paint, width)| json!([colors.paint(paint), round(width)]));
            out.push(json!(["p", points, fill, stroke]));
        }
        Item::Arrow(Arrow { from, to, width, head, paint, halo, id: of, .. }) => {
            let halo = halo.map(|halo| colors.paint(halo));
            let ends = (round(from.0), round(from.1), round(to.0), round(to.1));
            out.push(json!(["a", ends, round(*width), round(*head), colors.paint(*paint), halo, id(*of)]));
        }
        Item::Mark(Mark { at, size, fill, id: of, .. }) => {
            out.push(json!(["m", round(at.0), round(at.1), round(*size), colors.paint(*fill), id(*of)]));
        }
        Item::Text(Text { at, text, size, weight, anchor, fill }) => {
            let anchor = match anchor {
                Anchor::Start => "left",
                Anchor::Middle => "center",
                Anchor::End => "right",
            };
            let weight = if *weight == Weight::SemiBold { 600 } else { 400 };
            out.push(json!(["t", round(at.0), round(at.1), text, round(*size), weight, anchor, colors.paint(*fill)]));
        }
    }
}

fn round(value: f32) -> f64 {
    (f64::from(value) * 100.0).round() / 100.0
}

/// Runs of equal columns: length (2 bytes), number of parts (2 bytes), then per part its place (2 bytes) and share (1 byte);
/// all little-endian, written in hexadecimal.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "lengths are cut to fit; shares are 0 to 1"
)]
fn pack(cells: &Cells) -> String {
    type Packed = Vec<(u16, u8)>;
    let quantised: Vec<Packed> = cells
        .columns
        .iter()
        .map(|column| column.iter().map(|&(place, share)| (place, (share * 255.0).round() as u8)).collect())
        .collect();
    let mut text = String::new();
    let mut push = |byte: u8| {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    };
    for run in quantised.chunk_by(|a, b| a == b) {
        for part in run.chunks(usize::from(u16::MAX)) {
            let parts = &run[0][..run[0].len().min(usize::from(u16::MAX))];
            for byte in (part.len() as u16).to_le_bytes().into_iter().chain((parts.len() as u16).to_le_bytes()) {
                push(byte);
            }
            for &(place, share) in parts {
                place.to_le_bytes().into_iter().for_each(&mut push);
                push(share);
            }
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
    fn equal_columns_are_sent_once() {
        let column = vec![(0, 0.5), (1, 0.25)];
        let cells = Cells {
            frame: Frame::default(),
            palette: Vec::new(),
            values: Vec::new(),
            columns: vec![column.clone(), column, Vec::new()],
        };
        assert_eq!(pack(&cells), "0200020000008001004001000000");
    }
}
