//! JSON lines: an object per container or entity.

use std::io::Write as _;

use tumit_converter::convert::wall_clock;
use tumit_paje::number_text::{integer, seconds};

use super::details::{RowDetails, RowValue};
use super::row::{CellValue, EntityRow, NamedContainer, RowContext, RowForm};
use super::row_kind::RowKind;

#[derive(Clone, Copy, Debug)]
pub(crate) struct JsonForm {
    /// The wall clock at trace time 0, if timestamps are printed as times of day.
    pub(crate) start: Option<i64>,
}

impl RowForm for JsonForm {
    fn name(&self, name: &str, out: &mut Vec<u8>) {
        text(name, out);
    }

    fn row(&self, row: &EntityRow<'_>, context: RowContext<'_>, out: &mut Vec<u8>) {
        let _ = write!(out, "{{\"kind\":\"{}\"", row.kind.name());
        let is_root = row.kind == RowKind::Container && row.number == Some(0);
        if !is_root {
            write_container(if row.kind == RowKind::Container { "parent" } else { "container" }, row.container, out);
        }
        out.extend_from_slice(b",\"type\":");
        out.extend_from_slice(row.ty);
        if row.kind == RowKind::Event {
            self.write_time("time", row.start, out);
        } else {
            self.write_time("start", row.start, out);
            self.write_time("end", row.end, out);
            write_time("duration", row.end.saturating_sub(row.start), out);
        }
        if let Some(depth) = row.imbrication {
            out.extend_from_slice(b",\"imbrication\":");
            integer(depth.into(), out);
        }
        out.extend_from_slice(if row.kind == RowKind::Container { b",\"name\":" } else { b",\"value\":" });
        match row.value {
            CellValue::Name(name) => out.extend_from_slice(name),
            CellValue::Number(number) => float(number, out),
        }
        if let Some(number) = row.number {
            out.extend_from_slice(b",\"id\":");
            integer(number.into(), out);
        }
        if let Some(link) = &row.link {
            write_container("start_container", link.start, out);
            write_container("end_container", link.end, out);
            out.extend_from_slice(b",\"key\":");
            text(link.key, out);
        }
        if let Some(detail) = row.detail {
            write_extra_fields(detail, context, out);
        }
        out.extend_from_slice(b"}\n");
    }
}

impl JsonForm {
    /// Writes a timestamp, in seconds or as time of day.
    fn write_time(self, key: &str, nanos: i64, out: &mut Vec<u8>) {
        match self.start {
            None => write_time(key, nanos, out),
            Some(start) => {
                let _ = write!(out, ",\"{key}\":\"{}\"", wall_clock::text(start.saturating_add(nanos)));
            }
        }
    }
}

/// Writes the source location and the fields of an entity.
fn write_extra_fields(detail: &RowDetails, context: RowContext<'_>, out: &mut Vec<u8>) {
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
    for (index, field) in detail.fields.iter().enumerate() {
        out.push(if index == 0 { b'{' } else { b',' });
        let name = context.details.names.get(field.name);
        if field.at_end {
            text(&format!("{name}_end"), out);
        } else {
            text(name, out);
        }
        out.push(b':');
        match field.value {
            RowValue::Text { from, to } => text(detail.text(from, to), out),
            RowValue::Integer(number) => json(&number, out),
            RowValue::Float(number) => float(number, out),
            RowValue::Container(number) => out.extend_from_slice(context.container(number)),
        }
    }
    out.push(b'}');
}

fn write_container(key: &str, container: NamedContainer<'_>, out: &mut Vec<u8>) {
    let _ = write!(out, ",\"{key}\":");
    out.extend_from_slice(container.name);
    let _ = write!(out, ",\"{key}_id\":{}", container.number);
}

/// Writes a timestamp in seconds, with all nanoseconds.
fn write_time(key: &str, nanos: i64, out: &mut Vec<u8>) {
    let _ = write!(out, ",\"{key}\":");
    seconds(nanos, out);
}

fn text(text: &str, out: &mut Vec<u8>) {
    json(text, out);
}

/// Writes a number, or `null` for a number that JSON cannot represent.
fn float(number: f64, out: &mut Vec<u8>) {
    json(&number, out);
}

fn json(value: &(impl serde::Serialize + ?Sized), out: &mut Vec<u8>) {
    // Writing texts and numbers to memory cannot fail.
    let _ = serde_json::to_writer(out, value);
}
