//! The values of a mark as text, for the tooltip of the page.

use tumit_viewer::query::{GlobalNanos, TimeRange};
use tumit_viewer::text::time_display::timestamp;

use super::axis_numbers::exact_text;
use super::chart_region::{ChartRegion, RegionShape};
use super::panels::bar_panel::bar_text;
use super::panels::grid_panel::cell_text;
use super::panels::kiviat_panel::spoke_text;
use super::panels::matrix_panel::cell_text as matrix_text;
use super::panels::network_panel::{edge_text, node_text};
use super::panels::scatter_panel::point_text;
use super::table_column::TableColumnText;
use crate::chart::{BarChart, ChartPanel, ChartTable, LevelChart, LevelExtremes, PortraitChart, ViewChart};

/// The name and the values of a mark. `None` if the mark does not exist.
#[must_use]
pub fn mark_text(chart: &ViewChart, region: &ChartRegion, mark: usize) -> Option<String> {
    let panel = &chart.panels.get(region.panel)?;
    if let ChartPanel::Bars(BarChart { bars, counts: Some(counts), axis, .. }) = &panel.panel {
        let value = bars.get(mark)?.parts.iter().map(|part| part.value).sum();
        let (label, category) = (&bars[mark].label, counts.category.word());
        return Some(format!("{label} units {category}: {} of the time", exact_text(value, axis.axis_unit)));
    }
    let text = match &panel.panel {
        ChartPanel::Bars(bars) => bar_text(&chart.legend, bars.bars.get(mark)?, bars.axis.axis_unit),
        ChartPanel::Kiviat(kiviat) => spoke_text(kiviat.spokes.get(mark)?),
        ChartPanel::Matrix(matrix) => matrix_text(matrix, mark)?,
        ChartPanel::Network(network) => match region.shape {
            RegionShape::Edges { .. } => edge_text(network, network.edges.get(mark)?)?,
            _ => node_text(&chart.legend, network.nodes.get(mark)?),
        },
        ChartPanel::Grid(grid) => cell_text(grid.cells.get(mark)?),
        ChartPanel::Levels(levels) => level_text(levels, region, mark)?,
        ChartPanel::Scatter(scatter) => point_text(scatter, scatter.points.get(mark)?),
        ChartPanel::Portrait(portrait) => portrait_text(portrait, mark)?,
        ChartPanel::Marks(marks) => marks.marks.get(mark)?.title.clone(),
        ChartPanel::Table(table) => row_text(table, mark)?,
    };
    Some(if panel.title.is_empty() { text } else { format!("{}: {text}", panel.title) })
}

/// The time of a column, and the mean of each series, with its extremes.
fn level_text(chart: &LevelChart, region: &ChartRegion, column: usize) -> Option<String> {
    let RegionShape::Times { columns, from, to, .. } = region.shape else { return None };
    let range = TimeRange { from: GlobalNanos(from), to: GlobalNanos(to) };
    let column_range = range.column(u32::try_from(column).ok()?, u32::try_from(columns).ok()?);
    let value = |value: f64| exact_text(value, chart.axis.axis_unit);
    let series = chart.series.iter().filter_map(|series| {
        let mean = value(*series.means.get(column)?);
        Some(match series.extremes.get(column) {
            Some(LevelExtremes { minimum, maximum }) if minimum < maximum => {
                format!("{} {mean} (from {} to {})", series.label, value(*minimum), value(*maximum))
            }
            _ => format!("{} {mean}", series.label),
        })
    });
    let time = timestamp(column_range.from, (to.saturating_sub(from) / 10_000).max(1));
    Some(format!("{time}: {}", series.collect::<Vec<_>>().join(", ")))
}

fn portrait_text(chart: &PortraitChart, index: usize) -> Option<String> {
    let (point, first, last) = (chart.points.get(index)?, chart.points.first()?, chart.points.last()?);
    let time = timestamp(GlobalNanos(point.time), (last.time.saturating_sub(first.time) / 10_000).max(1));
    let (x, y) =
        (exact_text(point.x, chart.horizontal_axis.axis_unit), exact_text(point.y, chart.vertical_axis.axis_unit));
    Some(format!("{time}: {} {x}, {} {y}", chart.horizontal_axis.label, chart.vertical_axis.label))
}

/// The first cell of a row, and the other ones with their headings.
fn row_text(table: &ChartTable, row: usize) -> Option<String> {
    let rows = table.rows.get(row..=row)?;
    let cells = (0..table.columns.len()).filter_map(|index| {
        let column = TableColumnText::new(table, index, rows);
        let cell = column.cells.into_iter().next().filter(|cell| !cell.is_empty())?;
        Some(if index == 0 { cell } else { format!("{} {cell}", column.heading) })
    });
    Some(cells.collect::<Vec<_>>().join(", "))
}
