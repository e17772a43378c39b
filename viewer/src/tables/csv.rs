//! Comma-separated values (RFC 4180, with LF), one table for all kinds of rows.

use tumit_converter::convert::wall_clock;
use tumit_paje::number_text::{float, integer, push_signed, seconds};

use super::details::{RowDetails, RowField, RowValue};
use super::extra_columns::ExtraColumns;
use super::row::{CellValue, EntityRow, RowContext, RowForm};
use super::row_frames::RowFrame;
use super::row_kind::RowKind;
use crate::text::csv_cell;

#[derive(Clone, Copy, Debug)]
pub(crate) struct CsvForm {
    /// The wall clock at trace time 0, if timestamps are printed as times of day.
    pub(crate) start: Option<i64>,
}

/// Columns that are always present. The first eight are those of a state in `pj_dump`.
pub(crate) const FIXED: [&str; 15] = [
    "Kind",
    "Container",
    "Type",
    "Start",
    "End",
    "Duration",
    "Imbrication",
    "Value",
    "StartContainer",
    "EndContainer",
    "Key",
    "ContainerId",
    "Id",
    "StartContainerId",
    "EndContainerId",
];
/// Columns of source locations.
pub(crate) const SOURCE: [&str; 2] = ["File", "Line"];

impl RowForm for CsvForm {
    const HAS_HEADER: bool = true;
    const HAS_FRAMES: bool = true;

    fn header(&self, columns: &ExtraColumns, out: &mut Vec<u8>) {
        let source = SOURCE.into_iter().filter(|_| columns.source);
        let titles = columns.titles.iter().map(String::as_str);
        for (index, title) in FIXED.into_iter().chain(source).chain(titles).enumerate() {
            if index > 0 {
                out.push(b',');
            }
            self.name(title, out);
        }
        out.push(b'\n');
    }

    /// Quotes the name if necessary.
    fn name(&self, name: &str, out: &mut Vec<u8>) {
        csv_cell::append(name, out);
    }

    fn row(&self, row: &EntityRow<'_>, context: RowContext<'_>, out: &mut Vec<u8>) {
        write_leading_columns(row, out);
        write_middle(row, self.start, out);
        self.write_suffix(row, context, out);
    }

    fn frame(&self, row: &EntityRow<'_>, context: RowContext<'_>, frame: &mut RowFrame) {
        write_leading_columns(row, &mut frame.prefix);
        self.write_suffix(row, context, &mut frame.suffix);
    }

    fn row_in_frame(&self, frame: &RowFrame, row: &EntityRow<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(&frame.prefix);
        write_middle(row, self.start, out);
        out.extend_from_slice(&frame.suffix);
    }
}

impl CsvForm {
    /// Writes the columns after the value.
    fn write_suffix(self, row: &EntityRow<'_>, context: RowContext<'_>, out: &mut Vec<u8>) {
        if let Some(link) = &row.link {
            out.push(b',');
            out.extend_from_slice(link.start.name);
            out.push(b',');
            out.extend_from_slice(link.end.name);
            out.push(b',');
            self.name(link.key, out);
        } else {
            out.extend_from_slice(b",,,");
        }
        let container = Some(row.container.number).filter(|_| row.kind != RowKind::Container || row.number != Some(0));
        let ends = row.link.as_ref().map(|link| (link.start.number, link.end.number));
        for number in [container, row.number, ends.map(|ends| ends.0), ends.map(|ends| ends.1)] {
            out.push(b',');
            if let Some(number) = number {
                integer(number.into(), out);
            }
        }
        self.write_extra_fields(row.detail, context, out);
        out.push(b'\n');
    }

    /// Writes the columns after the fixed ones.
    fn write_extra_fields(self, detail: Option<&RowDetails>, context: RowContext<'_>, out: &mut Vec<u8>) {
        let columns = context.columns;
        if columns.source {
            out.push(b',');
            if let Some(file) = detail.and_then(RowDetails::file) {
                self.name(file, out);
            }
            out.push(b',');
            if let Some(line) = detail.and_then(|detail| detail.line) {
                integer(line.into(), out);
            }
        }
        let Some(detail) = detail else {
            return out.resize(out.len() + columns.titles.len(), b',');
        };
        let mut cells: Vec<(usize, &RowField)> =
            detail.fields.iter().filter_map(|field| Some((columns.index_of(field)?, field))).collect();
        // If several fields have the same column, the first is written.
        cells.sort_by_key(|(index, _)| *index);
        cells.dedup_by_key(|(index, _)| *index);
        let mut column_count = 0;
        for (index, field) in cells {
            out.resize(out.len() + index + 1 - column_count, b',');
            column_count = index + 1;
            match field.value {
                RowValue::Text { from, to } => self.name(detail.text(from, to), out),
                RowValue::Integer(number) => push_signed(number, out),
                RowValue::Float(number) => float(number, out),
                RowValue::Container(number) => out.extend_from_slice(context.container(number)),
            }
        }
        out.resize(out.len() + columns.titles.len() - column_count, b',');
    }
}

/// Writes the columns before the timestamps.
fn write_leading_columns(row: &EntityRow<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(row.kind.name().as_bytes());
    for name in [row.container.name, row.ty] {
        out.push(b',');
        out.extend_from_slice(name);
    }
}

/// Writes the columns from the timestamps to the value.
#[inline]
fn write_middle(row: &EntityRow<'_>, start: Option<i64>, out: &mut Vec<u8>) {
    for timestamp in [row.start, row.end] {
        out.push(b',');
        match start {
            None => seconds(timestamp, out),
            Some(start) => out.extend_from_slice(wall_clock::text(start.saturating_add(timestamp)).as_bytes()),
        }
    }
    out.push(b',');
    seconds(row.end.saturating_sub(row.start), out);
    out.push(b',');
    if let Some(depth) = row.imbrication {
        integer(depth.into(), out);
    }
    out.push(b',');
    match row.value {
        CellValue::Name(name) => out.extend_from_slice(name),
        CellValue::Number(number) => float(number, out),
    }
}
