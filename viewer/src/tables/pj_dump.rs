//! The rows of `pj_dump -l 9 -e 1e300`, digit by digit. Names are not quoted, and timestamps of
//! containers have six digits.

use std::io::Write as _;

use tumit_paje::number_text::{integer_value, push_signed, seconds};
use tumit_paje::read::double_of_timestamp;
use tumit_paje::write::text_of_name;

use super::details::{RowDetails, RowValue};
use super::row::{CellValue, EntityRow, RowContext, RowForm};
use super::row_kind::RowKind;
use crate::text::entity_rows::format_g;

#[derive(Clone, Copy, Debug)]
pub(crate) struct PjDumpForm {
    /// Whether names come from a run. They are then converted to those of its Pajé file, which
    /// cannot contain all characters.
    pub(crate) of_run: bool,
    /// Whether rows end with the user's fields, as `pj_dump -u` prints them.
    pub(crate) user_fields: bool,
}

impl RowForm for PjDumpForm {
    const IS_PEER: bool = true;

    fn has_details(&self) -> bool {
        self.user_fields
    }

    fn name(&self, name: &str, out: &mut Vec<u8>) {
        if self.of_run {
            text_of_name(name, out);
        } else {
            out.extend_from_slice(name.as_bytes());
        }
    }

    fn row(&self, row: &EntityRow<'_>, context: RowContext<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(row.kind.name().as_bytes());
        for name in [row.container.name, row.ty] {
            out.extend_from_slice(b", ");
            out.extend_from_slice(name);
        }
        match row.kind {
            RowKind::Container => {
                let [start, end] = [row.start, row.end].map(|timestamp| self.seconds(timestamp));
                for timestamp in [start, end, end - start] {
                    let _ = write!(out, ", {}", format_g(timestamp));
                }
            }
            RowKind::Event => self.timestamp(row.start, out),
            RowKind::State | RowKind::Variable | RowKind::Link => {
                self.timestamp(row.start, out);
                self.timestamp(row.end, out);
                // `pj_dump` takes timestamps before 0 for unknown ones.
                let is_known = row.start >= 0 && row.end >= 0;
                match (is_known, self.of_run) {
                    (true, false) => decimals(self.seconds(row.end) - self.seconds(row.start), out),
                    (is_known, _) => self.timestamp(if is_known { row.end - row.start } else { 0 }, out),
                }
            }
        }
        if let Some(depth) = row.imbrication {
            out.extend_from_slice(b", ");
            nine_decimals(depth.into(), out);
        }
        out.extend_from_slice(b", ");
        match row.value {
            CellValue::Name(name) => out.extend_from_slice(name),
            CellValue::Number(number) => nine_decimals(number, out),
        }
        if let Some(link) = &row.link {
            for text in [link.start.name, link.end.name, link.key.as_bytes()] {
                out.extend_from_slice(b", ");
                out.extend_from_slice(text);
            }
        }
        if let Some(detail) = row.detail.filter(|_| self.user_fields) {
            fields(detail, context, out);
        }
        out.push(b'\n');
    }
}

/// The values of the user's fields, in the order of the trace. `File` and `Line` are not user
/// fields.
fn fields(detail: &RowDetails, context: RowContext<'_>, out: &mut Vec<u8>) {
    for field in &detail.fields {
        out.extend_from_slice(b", ");
        match field.value {
            RowValue::Text { from, to } => out.extend_from_slice(detail.text(from, to).as_bytes()),
            RowValue::Integer(number) => push_signed(number, out),
            RowValue::Float(number) => nine_decimals(number, out),
            RowValue::Container(number) => out.extend_from_slice(context.container(number)),
        }
    }
}

impl PjDumpForm {
    /// Converts a timestamp to seconds. In Pajé text, `pj_dump` reads it as a double.
    fn seconds(self, timestamp: i64) -> f64 {
        if self.of_run { timestamp as f64 / 1e9 } else { double_of_timestamp(timestamp) }
    }

    fn timestamp(self, timestamp: i64, out: &mut Vec<u8>) {
        if self.of_run {
            out.extend_from_slice(b", ");
            seconds(timestamp, out);
        } else {
            decimals(double_of_timestamp(timestamp), out);
        }
    }
}

fn decimals(timestamp: f64, out: &mut Vec<u8>) {
    out.extend_from_slice(b", ");
    nine_decimals(timestamp, out);
}

fn nine_decimals(number: f64, out: &mut Vec<u8>) {
    match integer_value(number) {
        Some(integer) if integer != 0 || number.is_sign_positive() => {
            push_signed(integer, out);
            out.extend_from_slice(b".000000000");
        }
        // The format of C's `printf`.
        _ if number.is_nan() => out.extend_from_slice(if number.is_sign_negative() { b"-nan" } else { b"nan" }),
        _ => _ = write!(out, "{number:.9}"),
    }
}
