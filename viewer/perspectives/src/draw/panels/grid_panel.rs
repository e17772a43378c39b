//! A grid of units or tasks, row by row.

use tumit_viewer::scene::{OutlineRect, TextAnchor};
use tumit_viewer::style::theme::ColorTheme;

use crate::chart::{StatusCell, StatusGrid};
use crate::draw::chart_canvas::{ChartCanvas, baseline_shift};
use crate::draw::chart_region::{RegionShape, RegionSubject};
use crate::draw::plot_area::label_step;
use crate::draw::short_names::ShortNames;

/// Maximum side of a cell in scene units. Few cells would otherwise fill the panel.
const MAX_SIDE: f32 = 84.0;
/// Maximum number of cells with tooltips, because each enlarges the SVG file.
const MAX_TITLES: usize = 16_384;

pub(in crate::draw) fn cell_text(cell: &StatusCell) -> String {
    format!("{}: {}", cell.label, cell.status)
}

pub(in crate::draw) fn draw(canvas: &mut ChartCanvas, frame: OutlineRect, grid: &StatusGrid) {
    let columns = grid.columns.max(1);
    let rows = grid.cells.len().div_ceil(columns).max(1);
    let style = canvas.label_style(TextAnchor::Middle);
    let names = ShortNames::new(grid.cells.iter().map(|cell| cell.label.as_str()));
    let widest = names.widest(style);
    let side_of = |width: f32| (width / columns as f32).min(frame.height / rows as f32).min(MAX_SIDE);
    let is_inside = side_of(frame.width) >= widest + 8.0 && side_of(frame.width) >= style.size * 1.7;
    // Names that do not fit into the cells are at the left of each row.
    let left = if is_inside { 0.0 } else { widest.min(frame.width * 0.25) + 7.0 };
    let side = side_of(frame.width - left).max(0.5);
    let side = if side >= 4.0 { side.floor() } else { side };
    let x = (frame.x + left).round();
    let gap = if side >= 24.0 {
        3.0
    } else if side >= 8.0 {
        2.0
    } else if side >= 4.0 {
        1.0
    } else {
        0.0
    };
    let radius = if side >= 16.0 { 2.5 } else { 0.0 };
    let area = OutlineRect::new(x, frame.y, side * columns as f32, side * rows as f32);
    let shape = RegionShape::Grid { frame: area, columns, marks: grid.cells.len() };
    canvas.add_region(shape, RegionSubject::of_units(&grid.unit_lists));
    let has_titles = grid.cells.len() <= MAX_TITLES;
    canvas.group("cells", None, |canvas| {
        for (index, cell) in grid.cells.iter().enumerate() {
            let (column, row) = ((index % columns) as f32, (index / columns) as f32);
            let inner = OutlineRect::new(x + column * side, frame.y + row * side, side - gap, side - gap);
            let title = has_titles.then(|| cell_text(cell));
            let color = canvas.palette.color(cell.paint);
            canvas.fill(inner, cell.paint, radius, title);
            // A cell that is as pale as the background needs an outline.
            if canvas.needs_outline(cell.paint) && side >= 5.0 {
                let faint = canvas.theme.faint_color;
                canvas.outline(inner, faint, 1.0);
            }
            if is_inside {
                let mut style = style;
                style.color = ColorTheme::text_on(color);
                let middle = (inner.x + inner.width / 2.0, inner.y + inner.height / 2.0 + baseline_shift(style.size));
                canvas.text_within(middle, names.names[index], inner.width - 2.0, style);
            }
        }
    });
    if !is_inside {
        let style = canvas.label_style(TextAnchor::End);
        let step = label_step(style.size * 1.35, side);
        for row in (0..rows).step_by(step) {
            if let Some(name) = names.names.get(row * columns) {
                let y = frame.y + row as f32 * side + (side - gap) / 2.0 + baseline_shift(style.size);
                canvas.text_within((x - 7.0, y), name, left - 6.0, style);
            }
        }
    }
}
