//! Rows of text and numbers.

use std::ops::Range;

use tumit_viewer::scene::{OutlineRect, TextAnchor};

use crate::chart::{ChartTable, TableValue};
use crate::draw::chart_canvas::{ChartCanvas, LabelStyle};
use crate::draw::chart_region::{RegionShape, RegionSubject};
use crate::draw::table_column::TableColumnText;

/// Minimum distance of columns in scene units, so that texts of adjacent columns stay apart.
const GAP: f32 = 16.0;
/// Maximum distance of columns in scene units, so that the eye finds the cells of a row.
const MAX_GAP: f32 = 44.0;
/// Maximum share of a column in the width of a table without room for all texts, so that a long
/// name leaves room for the numbers.
const MAX_SHARE: f32 = 0.4;

/// Draws the panel. Rows and columns without room are counted below it.
pub(in crate::draw) fn draw(canvas: &mut ChartCanvas, frame: OutlineRect, table: &ChartTable) {
    let style = canvas.label_style(TextAnchor::Start);
    let line = style.size * 1.75;
    let rows = shown_rows(table, ((frame.height - line * 1.35) / line).floor().max(1.0) as usize);
    let text = |column: usize| TableColumnText::new(table, column, &table.rows[rows.clone()]);
    let texts: Vec<TableColumnText> = (0..table.columns.len()).map(text).collect();
    let widths = column_widths(&texts, style, frame.width);
    let mut shown = 0;
    let mut used = 0.0;
    while shown < widths.len() && (shown == 0 || used + GAP + widths[shown] <= frame.width) {
        used += widths[shown] + if shown > 0 { GAP } else { 0.0 };
        shown += 1;
    }
    let spare = (frame.width - used) / (shown.max(2) - 1) as f32;
    let gap = (GAP + spare.max(0.0)).min(MAX_GAP);
    let total = widths[..shown].iter().sum::<f32>() + gap * shown.saturating_sub(1) as f32;
    let has_headings = texts.iter().any(|text| !text.heading.is_empty());
    let frame = if has_headings { frame } else { OutlineRect { y: frame.y - line, ..frame } };
    let top = frame.y + line;
    let area = OutlineRect::new(frame.x, top + line * 0.25, total, line * rows.len() as f32);
    canvas.add_region(
        RegionShape::Grid { frame: area, columns: 1, marks: rows.len() },
        row_names(&table.rows[rows.clone()]),
    );
    let (faint, grid) = (canvas.theme.faint_color, canvas.theme.grid);
    if has_headings {
        canvas.grid_line((frame.x, top + line * 0.12), (frame.x + total, top + line * 0.12), faint);
    }
    let mut x = frame.x;
    for (text, width) in texts.iter().zip(&widths).take(shown) {
        draw_column(canvas, text, (x, frame.y), *width, line);
        x += width + gap;
    }
    for row in (5..rows.len()).step_by(5) {
        let y = top + line * (row as f32 + 0.28);
        canvas.grid_line((frame.x, y), (frame.x + total, y), grid);
    }
    let y = top + line * (rows.len() as f32 + 1.0);
    let left_out = left_out_text(table, rows, texts.len() - shown);
    if !left_out.is_empty() {
        canvas.text_within((frame.x, y), &left_out, frame.width, style);
    }
}

/// The rows that are drawn if there is room for `room` rows. If rows are left out, the last line of
/// the panel states their number.
fn shown_rows(table: &ChartTable, room: usize) -> Range<usize> {
    let all = table.rows.len();
    if all <= room {
        return 0..all;
    }
    let count = room.saturating_sub(1).max(1);
    // As many rows before the present one as after it.
    let first = table.present_row.map_or(0, |present| present.saturating_sub((count - 1) / 2).min(all - count));
    first..first + count
}

/// The numbers of rows and columns that are not drawn, in words.
fn left_out_text(table: &ChartTable, rows: Range<usize>, columns: usize) -> String {
    let after = if table.present_row.is_some() { "later row" } else { "more row" };
    let counts = [(rows.start, "earlier row"), (table.rows.len() - rows.end, after), (columns, "more column")];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> =
        counts.map(|(count, name)| format!("{count} {name}{}", if count > 1 { "s" } else { "" })).collect();
    match words.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => words.concat(),
    }
}

/// The widths of the columns. If they exceed the width of the table, long texts are cut.
fn column_widths(texts: &[TableColumnText], style: LabelStyle, available: f32) -> Vec<f32> {
    let mut widths: Vec<f32> = texts.iter().map(|text| column_width(text, style)).collect();
    let gaps = GAP * widths.len().saturating_sub(1) as f32;
    if widths.iter().sum::<f32>() + gaps > available {
        widths.iter_mut().for_each(|width| *width = width.min(available * MAX_SHARE));
    }
    widths
}

/// The first cells of some rows.
fn row_names(rows: &[Vec<TableValue>]) -> RegionSubject {
    let name = |row: &Vec<TableValue>| match row.first() {
        Some(TableValue::Text(text)) => text.clone(),
        _ => String::new(),
    };
    RegionSubject::Names(rows.iter().map(name).collect())
}

fn column_width(text: &TableColumnText, style: LabelStyle) -> f32 {
    let cells = text.cells.iter().map(|cell| ChartCanvas::width(cell, style)).fold(0.0, f32::max);
    // Headings are semi-bold, which is wider.
    cells.max(ChartCanvas::width(&text.heading, style) * 1.08).ceil()
}

fn draw_column(canvas: &mut ChartCanvas, text: &TableColumnText, (x, y): (f32, f32), width: f32, line: f32) {
    let anchor = if text.is_number { TextAnchor::End } else { TextAnchor::Start };
    let mut style = canvas.label_style(anchor);
    let place = if text.is_number { x + width } else { x };
    let mut heading = canvas.heading_style();
    (heading.size, heading.anchor) = (style.size, anchor);
    canvas.text_within((place, y + line * 0.78), &text.heading, width + 2.0, heading);
    style.color = canvas.theme.ink;
    for (row, cell) in text.cells.iter().enumerate() {
        canvas.text_within((place, y + line * (row as f32 + 1.95)), cell, width + 1.0, style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::AxisUnit;

    fn table(rows: usize, present_row: Option<usize>) -> ChartTable {
        let mut table = ChartTable::new(&[("record", AxisUnit::Count)]);
        table.rows = (0..rows).map(|row| vec![row.to_string().as_str().into()]).collect();
        table.present_row = present_row;
        table
    }

    #[test]
    fn the_present_row_is_shown_at_every_size() {
        for room in 1..40 {
            for present in 0..32 {
                let shown = shown_rows(&table(32, Some(present)), room);
                assert!(shown.contains(&present) && shown.end <= 32, "{room} {present} {shown:?}");
            }
        }
        assert_eq!(shown_rows(&table(32, Some(15)), 6), 13..18);
        assert_eq!(shown_rows(&table(32, None), 6), 0..5);
    }

    #[test]
    fn rows_and_columns_without_room_are_counted() {
        assert_eq!(left_out_text(&table(32, Some(15)), 13..18, 1), "13 earlier rows, 14 later rows and 1 more column");
        assert_eq!(left_out_text(&table(6, None), 0..5, 0), "1 more row");
        assert_eq!(left_out_text(&table(6, None), 0..6, 0), "");
    }
}
