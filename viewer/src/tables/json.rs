//! JSON lines: an object per container or entity.

use std::io::Write as _;

use tumit_converter::convert::wall_clock;
use tumit_paje::number_text::{integer, seconds};

use super::details::{Detail, FieldValue};
use super::row::{Context, Form, Kind, Named, Row, Value};

/// The format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Json {
    /// The real time of trace time 0, if timestamps are printed as times of day.
    pub(crate) start: Option<i64>,
}

impl Form for Json {
    fn name(&self, name: &str, out: &mut Vec<u8>) {
        text(name, out);
    }

    fn row(&self, row: &Row<'_>, context: Context<'_>, out: &mut Vec<u8>) {
        let _ = write!(out, "{{\"kind\":\"{}\"", row.kind.name());
        let is_root = row.kind == Kind::Container && row.number == Some(0);
        if !is_root {
            named(if row.kind == Kind::Container { "parent" } else { "container" }, row.container, out);
        }
        out.extend_from_slice(b",\"type\":");
        out.extend_from_slice(row.ty);
        if row.kind == Kind::Event {
            self.date("time", row.start, out);
        } else {
            self.date("start", row.start, out);
            self.date("end", row.end, out);
            date("duration", row.end.saturating_sub(row.start), out);
        }
        if let Some(depth) = row.imbrication {
            out.extend_from_slice(b",\"imbrication\":");
            integer(depth.into(), out);
        }
        out.extend_from_slice(if row.kind == Kind::Container { b",\"name\":" } else { b",\"value\":" });
        match row.value {
            Value::Name(name) => out.extend_from_slice(name),
            Value::Number(number) => float(number, out),
        }
        if let Some(number) = row.number {
            out.extend_from_slice(b",\"id\":");
            integer(number.into(), out);
        }
        if let Some(link) = &row.link {
            named("start_container", link.start, out);
            named("end_container", link.end, out);
            out.extend_from_slice(b",\"key\":");
            text(link.key, out);
        }
        if let Some(detail) = row.detail {
            extra(detail, context, out);
        }
        out.extend_from_slice(b"}\n");
    }
}

impl Json {
    /// A timestamp: in seconds, or as the time of day.
    fn date(self, what: &str, nanos: i64, out: &mut Vec<u8>) {
        match self.start {
            None => date(what, nanos, out),
            Some(start) => {
                let _ = write!(out, ",\"{what}\":\"{}\"", wall_clock::text(start.saturating_add(nanos)));
            }
        }
    }
}

/// What an entity has beside.
fn extra(detail: &Detail, context: Context<'_>, out: &mut Vec<u8>) {
    if let Some((file, line)) = detail.file().zip(detail.line) {
        out.extend_from_slice(b",\"file\":");
        text(file, out);
        out.extend_from_slice(b",\"line\":");
        integer(line.into(), out);
    }
    if detail.fields.is_empty() {
        return;
    }
    out.extend_from_slice(b",\"fields\":");
    for (at, field) in detail.fields.iter().enumerate() {
        out.push(if at == 0 { b'{' } else { b',' });
        let name = context.details.names.get(field.name);
        if field.at_end {
            text(&format!("{name}_end"), out);
        } else {
            text(name, out);
        }
        out.push(b':');
        match field.value {
            FieldValue::Text { from, to } => text(detail.text(from, to), out),
            FieldValue::Integer(number) => json(&number, out),
            FieldValue::Float(number) => float(number, out),
            FieldValue::Container(number) => out.extend_from_slice(context.container(number)),
        }
    }
    out.push(b'}');
}

fn named(what: &str, container: Named<'_>, out: &mut Vec<u8>) {
    let _ = write!(out, ",\"{what}\":");
    out.extend_from_slice(container.name);
    let _ = write!(out, ",\"{what}_id\":{}", container.number);
}

/// A date in seconds, all its nanoseconds told.
fn date(what: &str, nanos: i64, out: &mut Vec<u8>) {
    let _ = write!(out, ",\"{what}\":");
    seconds(nanos, out);
}

fn text(text: &str, out: &mut Vec<u8>) {
    json(text, out);
}

/// `null` where JSON has no such number.
fn float(number: f64, out: &mut Vec<u8>) {
    json(&number, out);
}

fn json(value: &(impl serde::Serialize + ?Sized), out: &mut Vec<u8>) {
    // Memory takes everything, and texts and numbers can always be written.
    let _ = serde_json::to_writer(out, value);
}
