//! One cell per pair of units, coloured by its value.

use tumit_viewer::layout::scale::TimeScale;
use tumit_viewer::query::TimeRange;
use tumit_viewer::scene::{OutlineRect, TextAnchor};
use tumit_viewer::style::theme::ColorTheme;

use crate::chart::{ChartMatrixCell, ChartPaint, MatrixChart};
use crate::draw::axis_numbers::{exact_text, value_text};
use crate::draw::chart_canvas::{ChartCanvas, LabelStyle, baseline_shift};
use crate::draw::chart_region::{RegionShape, RegionSubject};
use crate::draw::color_scale::ColorScale;
use crate::draw::plot_area::label_step;
use crate::draw::short_names::ShortNames;

/// Maximum number of cells with tooltips, because each enlarges the SVG file.
const MAX_TITLES: usize = 4096;

/// The cells of a panel.
struct MatrixArea<'a> {
    chart: &'a MatrixChart,
    frame: OutlineRect,
    /// Width and height of a cell.
    cell: (f32, f32),
    scale: ColorScale,
}

/// Draws the panel. Cells are square if rows and columns are the same.
pub(in crate::draw) fn draw(canvas: &mut ChartCanvas, frame: OutlineRect, chart: &MatrixChart) {
    let style = canvas.label_style(TextAnchor::Start);
    let widest = row_names(&chart.rows).iter().map(|name| ChartCanvas::width(name, style)).fold(0.0, f32::max);
    let heading = ChartCanvas::width(&chart.row_heading, style);
    let left = widest.min(frame.width * 0.2).max(heading) + 7.0;
    let above = style.size * 3.2;
    let scale = ColorScale::new(chart.cells.iter().map(|cell| cell.value), &chart.axis);
    // The paints of cells are in the legend.
    let has_scale = chart.cells.iter().any(|cell| cell.paint.is_none());
    let scale_width = if has_scale { 18.0 + scale.width(canvas) } else { 0.0 };
    let (rows, columns) = (chart.rows.len().max(1) as f32, chart.columns.len().max(1) as f32);
    let (width, height) = ((frame.width - left - scale_width) / columns, (frame.height - above) / rows);
    let cell = if chart.rows == chart.columns {
        let side = rounded_side(width.min(height));
        (side, side)
    } else {
        (width.max(0.5), rounded_side(height.min(style.size * 3.0)))
    };
    let used = left + cell.0 * columns + scale_width;
    let x = (frame.x + (frame.width - used).max(0.0) / 2.0 + left).round();
    let inner = OutlineRect::new(x, (frame.y + above).round(), cell.0 * columns, cell.1 * rows);
    let area = MatrixArea { chart, frame: inner, cell, scale };
    let subject = match &chart.unit_lists {
        lists if lists.is_empty() => RegionSubject::Values,
        lists => RegionSubject::Pairs(lists.clone()),
    };
    let marks = chart.rows.len() * chart.columns.len();
    canvas.add_region(RegionShape::Grid { frame: inner, columns: chart.columns.len(), marks }, subject);
    area.draw_cells(canvas);
    area.draw_names(canvas, left - 7.0);
    if has_scale {
        let height = inner.height.max(120.0).min(frame.height - above).min(220.0);
        area.scale.draw(canvas, OutlineRect::new(inner.right() + 18.0, inner.y, 12.0, height));
    }
}

/// Cells of whole pixels are sharp.
fn rounded_side(side: f32) -> f32 {
    if side >= 4.0 { side.floor() } else { side.max(0.5) }
}

/// The first and the last coordinate of a row or column of cells.
fn cell_edges(start: f32, side: f32, index: u32) -> (f32, f32) {
    let edge = |index: f32| start + index * side;
    let (from, to) = (edge(index as f32), edge(index as f32 + 1.0));
    // Smaller cells could disappear.
    if side < 1.0 { (from, to) } else { (from.round(), to.round()) }
}

/// The names of the rows. Numbers have their word.
fn row_names(rows: &[String]) -> Vec<&str> {
    let short = ShortNames::new(rows.iter().map(String::as_str));
    if short.word.is_empty() { short.names } else { rows.iter().map(String::as_str).collect() }
}

/// The row, the column and the value of a cell.
fn title(chart: &MatrixChart, cell: &ChartMatrixCell) -> String {
    let name = |names: &[String], index: u32| names.get(index as usize).cloned().unwrap_or_default();
    let value = exact_text(cell.value, chart.axis.axis_unit);
    let joint = if chart.times.is_some() { "at" } else { "to" };
    format!("{} {joint} {}: {value}", name(&chart.rows, cell.row), name(&chart.columns, cell.column))
}

/// The tooltip of a cell by its number, row by row. Cells that are not listed are 0.
pub(in crate::draw) fn cell_text(chart: &MatrixChart, index: usize) -> Option<String> {
    let columns = chart.columns.len();
    let (row, column) = (u32::try_from(index.checked_div(columns)?).ok()?, u32::try_from(index % columns).ok()?);
    chart.rows.get(row as usize)?;
    let listed = chart.cells.iter().find(|cell| (cell.row, cell.column) == (row, column)).copied();
    let text = title(chart, &listed.unwrap_or(ChartMatrixCell { row, column, value: 0.0, paint: None }));
    Some(if chart.axis.label.is_empty() { text } else { format!("{text}, {}", chart.axis.label) })
}

impl MatrixArea<'_> {
    /// The area of a cell. Its edges are on whole pixels, so that the background is not visible
    /// between adjacent cells. Cells of adjacent times touch.
    fn cell_frame(&self, cell: &ChartMatrixCell) -> OutlineRect {
        let (width, height) = self.cell;
        let gap = if width.min(height) >= 6.0 { 1.0 } else { 0.0 };
        let gap_between_columns = if self.chart.times.is_some() { 0.0 } else { gap };
        let (left, right) = cell_edges(self.frame.x, width, cell.column);
        let (top, bottom) = cell_edges(self.frame.y, height, cell.row);
        OutlineRect::new(left + gap_between_columns, top + gap, right - left - gap_between_columns, bottom - top - gap)
    }

    fn draw_cells(&self, canvas: &mut ChartCanvas) {
        let (track, grid) = (canvas.theme.panel, canvas.theme.grid);
        canvas.rect(self.frame, track);
        if self.cell.0.min(self.cell.1) >= 10.0 {
            // Times have a ruler.
            let columns = self.chart.columns.len();
            let step = if self.chart.times.is_some() { columns.max(1) } else { 1 };
            for column in (0..=columns).step_by(step) {
                let x = self.frame.x + column as f32 * self.cell.0;
                canvas.grid_line((x, self.frame.y), (x, self.frame.bottom() + 1.0), grid);
            }
            for row in 0..=self.chart.rows.len() {
                let y = self.frame.y + row as f32 * self.cell.1;
                canvas.grid_line((self.frame.x, y), (self.frame.right() + 1.0, y), grid);
            }
        } else {
            canvas.outline(self.frame, grid, 1.0);
        }
        canvas.group("cells", None, |canvas| {
            for cell in &self.chart.cells {
                let paint = cell.paint.unwrap_or(ChartPaint::Size(self.scale.fraction(cell.value)));
                let title = (self.chart.cells.len() <= MAX_TITLES).then(|| title(self.chart, cell));
                let frame = self.cell_frame(cell);
                canvas.fill(frame, paint, 0.0, title);
                self.draw_value(canvas, frame, cell, paint);
            }
        });
    }

    /// The value in a cell that is large enough.
    fn draw_value(&self, canvas: &mut ChartCanvas, frame: OutlineRect, cell: &ChartMatrixCell, paint: ChartPaint) {
        let mut style = canvas.label_style(TextAnchor::Middle);
        let text = value_text(cell.value, self.chart.axis.axis_unit);
        if ChartCanvas::width(&text, style) + 6.0 <= frame.width && style.size * 1.6 <= frame.height {
            style.color = ColorTheme::text_on(canvas.palette.color(paint));
            let center = (frame.x + frame.width / 2.0, frame.y + frame.height / 2.0 + baseline_shift(style.size));
            canvas.text(center, text, style);
        }
    }

    fn draw_names(&self, canvas: &mut ChartCanvas, room: f32) {
        let style = canvas.label_style(TextAnchor::End);
        let step = label_step(style.size * 1.3, self.cell.1);
        let names = row_names(&self.chart.rows);
        for (index, name) in names.iter().enumerate().step_by(step) {
            let y = self.frame.y + (index as f32 + 0.5) * self.cell.1 + baseline_shift(style.size);
            canvas.text_within((self.frame.x - 7.0, y), name, room, style);
        }
        let line = self.frame.y - 6.0 - style.size * 1.4;
        let heading = match self.chart.times {
            Some(times) => self.draw_times(canvas, times),
            None => self.draw_column_names(canvas),
        };
        let mut style = canvas.label_style(TextAnchor::End);
        style.color = canvas.theme.ink;
        canvas.text((self.frame.x - 7.0, line), self.chart.row_heading.clone(), style);
        canvas.text((self.frame.x, line), heading, LabelStyle { anchor: TextAnchor::Start, ..style });
    }

    /// Draws the names of the columns, and returns their heading.
    fn draw_column_names(&self, canvas: &mut ChartCanvas) -> String {
        let style = canvas.label_style(TextAnchor::Middle);
        let names = ShortNames::new(self.chart.columns.iter().map(String::as_str)).names;
        let widest = names.iter().map(|name| ChartCanvas::width(name, style)).fold(0.0, f32::max);
        let step = label_step(widest + 6.0, self.cell.0);
        // The end of the names so far. Names at the edges are moved towards others.
        let mut end = f32::NEG_INFINITY;
        for (index, name) in names.iter().enumerate().step_by(step) {
            let center = self.frame.x + (index as f32 + 0.5) * self.cell.0;
            // Names at the edges stay within the matrix.
            let half = ChartCanvas::width(name, style) / 2.0;
            let x = center.min(self.frame.right() - half).max(self.frame.x + half.min(self.frame.width / 2.0));
            if x - half >= end {
                canvas.text((x, self.frame.y - 6.0), *name, style);
                end = x + half + 6.0;
            }
        }
        self.chart.column_heading.clone()
    }

    /// Draws round times above the columns, and returns the heading.
    fn draw_times(&self, canvas: &mut ChartCanvas, time_range: TimeRange) -> String {
        let style = canvas.label_style(TextAnchor::Middle);
        let scale = TimeScale { time_range, width: self.frame.width };
        let ruler = scale.ruler(|label| ChartCanvas::width(label, style));
        for tick in &ruler.ticks {
            let x = self.frame.x + tick.x;
            canvas.grid_line((x, self.frame.y - 4.0), (x, self.frame.y), canvas.theme.faint_color);
            if let Some(label) = &tick.label {
                canvas.text((self.frame.x + label.center, self.frame.y - 6.0), label.text.clone(), style);
            }
        }
        let heading = &self.chart.column_heading;
        ruler.base.map_or_else(|| heading.clone(), |base| format!("{heading} from {base}"))
    }
}
