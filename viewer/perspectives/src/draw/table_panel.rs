//! Rows of text and numbers.

use tumit_viewer::scene::{OutlineRect, TextAnchor};

use super::chart_canvas::{ChartCanvas, LabelStyle};
use super::chart_region::{RegionShape, RegionSubject};
use super::table_column::TableColumnText;
use crate::chart::{ChartTable, TableValue};

/// The smallest distance of columns.
const GAP: f32 = 16.0;
/// The largest distance of columns.
const MAX_GAP: f32 = 44.0;
/// The largest share of a text column in the width of the table.
const MAX_SHARE: f32 = 0.4;

/// Draws the panel. Rows and columns without room are counted below it.
pub(super) fn draw(canvas: &mut ChartCanvas, frame: OutlineRect, table: &ChartTable) {
    let style = canvas.label_style(TextAnchor::Start);
    let line = style.size * 1.75;
    let room = ((frame.height - line * 1.35) / line).floor().max(1.0) as usize;
    // If rows are left out, the last line says so.
    let rows = if table.rows.len() > room { room.saturating_sub(1).max(1) } else { table.rows.len() };
    let texts: Vec<TableColumnText> =
        (0..table.columns.len()).map(|at| TableColumnText::new(table, at, rows)).collect();
    let widths: Vec<f32> = texts.iter().map(|text| column_width(text, style).min(frame.width * MAX_SHARE)).collect();
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
    let area = OutlineRect::new(frame.x, top + line * 0.25, total, line * rows as f32);
    canvas.add_region(RegionShape::Grid { frame: area, columns: 1, marks: rows }, row_names(table, rows));
    let (faint, grid) = (canvas.theme.faint, canvas.theme.grid);
    if has_headings {
        canvas.grid_line((frame.x, top + line * 0.12), (frame.x + total, top + line * 0.12), faint);
    }
    let mut x = frame.x;
    for (text, width) in texts.iter().zip(&widths).take(shown) {
        draw_column(canvas, text, (x, frame.y), *width, line);
        x += width + gap;
    }
    for row in (5..rows).step_by(5) {
        let y = top + line * (row as f32 + 0.28);
        canvas.grid_line((frame.x, y), (frame.x + total, y), grid);
    }
    let left_out = [(table.rows.len() - rows, "row"), (texts.len() - shown, "column")];
    let left_out = left_out.iter().filter(|(count, _)| *count > 0);
    let left_out: Vec<String> =
        left_out.map(|(count, name)| format!("{count} more {name}{}", if *count > 1 { "s" } else { "" })).collect();
    if !left_out.is_empty() {
        let text = left_out.join(" and ");
        canvas.text_within((frame.x, top + line * (rows as f32 + 1.0)), &text, frame.width, style);
    }
}

/// The first cells of the rows.
fn row_names(table: &ChartTable, rows: usize) -> RegionSubject {
    let name = |row: &Vec<TableValue>| match row.first() {
        Some(TableValue::Text(text)) => text.clone(),
        _ => String::new(),
    };
    RegionSubject::Names(table.rows.iter().take(rows).map(name).collect())
}

/// The width of the widest text of a column.
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
