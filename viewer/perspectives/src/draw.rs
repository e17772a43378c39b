//! Draws a [`ViewChart`] as a [`Scene`], which becomes SVG, PNG or HTML.
//!
//! ```
//! use tumit_perspectives::chart::ViewChart;
//! use tumit_perspectives::draw::{DrawOptions, draw};
//!
//! let chart = ViewChart { title: "Kiviat diagram".to_owned(), ..ViewChart::default() };
//! let scene = draw(&chart, DrawOptions::new(640.0, 400.0));
//! assert_eq!((scene.title.as_str(), scene.width), ("Kiviat diagram", 640.0));
//! ```

pub(crate) mod axis_numbers;
mod chart_canvas;
pub(crate) mod chart_palette;
pub mod chart_region;
mod color_scale;
mod fill_pattern;
mod legend_lines;
mod line_breaks;
mod mark_text;
mod panel_grid;
mod panels;
mod plot_area;
mod scene_patterns;
mod short_names;
pub(crate) mod size_scale;
pub mod table_column;
mod value_axis;

use tumit_viewer::scene::{OutlineRect, Scene, TextAnchor};
use tumit_viewer::style::theme::ThemeKind;
use tumit_viewer::style::theme::font::FontWeight;

use crate::chart::{ChartPaint, ChartPanel, MarkForm, TitledPanel, ViewChart};
use chart_canvas::{ChartCanvas, LabelStyle};
pub use chart_palette::PaletteKind;
use chart_region::ChartRegion;
use legend_lines::LegendLines;
use line_breaks::wrap;
pub use mark_text::mark_text;
use panels::{
    bar_panel, grid_panel, kiviat_panel, level_panel, mark_panel, matrix_panel, network_panel, portrait_panel,
    scatter_panel, table_panel,
};
pub use scene_patterns::add_patterns;

/// The size and colours of an image.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct DrawOptions {
    /// Width in units.
    pub width: f32,
    /// Height in units.
    pub height: f32,
    /// The colours.
    pub theme: ThemeKind,
    /// The choice of the colours.
    pub palette: PaletteKind,
}

impl DrawOptions {
    /// An image of this size in light colours.
    #[must_use]
    pub const fn new(width: f32, height: f32) -> Self {
        Self { width, height, theme: ThemeKind::Light, palette: PaletteKind::Standard }
    }

    /// The same with other colours.
    #[must_use]
    pub const fn with_theme(self, theme: ThemeKind) -> Self {
        Self { theme, ..self }
    }

    /// The same with another choice of colours.
    #[must_use]
    pub const fn with_palette(self, palette: PaletteKind) -> Self {
        Self { palette, ..self }
    }
}

impl Default for DrawOptions {
    fn default() -> Self {
        Self::new(960.0, 600.0)
    }
}

/// Maximum number of lines of notes, so that they leave most of an image to the panels.
const MAX_NOTES: usize = 4;

/// In a frame of at least this height, the legend is below the panels. In lower frames, it can be
/// beside them.
const LOW_FRAME: f32 = 280.0;

/// The space between panels, as a multiple of the size of their titles.
const PANEL_GAP: f32 = 2.2;

/// An image of a chart, and the places of its marks.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ChartImage {
    /// The image.
    pub scene: Scene,
    /// The places of its marks.
    pub regions: Vec<ChartRegion>,
}

/// Draws a chart.
#[must_use]
pub fn draw(chart: &ViewChart, options: DrawOptions) -> Scene {
    draw_with_regions(chart, options).scene
}

/// Draws a chart, and returns the places of its marks.
#[must_use]
pub fn draw_with_regions(chart: &ViewChart, options: DrawOptions) -> ChartImage {
    let (width, height) = (options.width.max(160.0), options.height.max(120.0));
    let mut canvas = ChartCanvas::new(width, height, options.theme, options.palette);
    canvas.legend.clone_from(&chart.legend);
    let margin = (width.min(height) * 0.045).clamp(14.0, 36.0);
    let mut frame = OutlineRect::new(margin, margin, width - 2.0 * margin, height - 2.0 * margin);
    draw_heading(&mut canvas, chart, &mut frame);
    draw_notes(&mut canvas, chart, &mut frame);
    draw_panels(&mut canvas, &chart.panels, frame);
    let background = Some(canvas.theme.paper);
    let regions = std::mem::take(&mut canvas.regions);
    let scene = Scene {
        width,
        height,
        background,
        title: chart.title.clone(),
        description: description(chart),
        items: canvas.into_items(),
        ..Scene::default()
    };
    ChartImage { scene, regions }
}

/// The description for screen readers.
fn description(chart: &ViewChart) -> String {
    let mut sentences = vec![chart.subtitle.clone()];
    sentences.extend(chart.notes.iter().cloned());
    sentences.retain(|sentence| !sentence.is_empty());
    sentences.join(". ")
}

/// The title, the subtitle and the legend. They are removed from the top of the frame.
fn draw_heading(canvas: &mut ChartCanvas, chart: &ViewChart, frame: &mut OutlineRect) {
    let sizes = canvas.sizes;
    let title = LabelStyle {
        size: sizes.title,
        weight: FontWeight::SemiBold,
        anchor: TextAnchor::Start,
        color: canvas.theme.ink,
    };
    let mut y = frame.y + sizes.title * 0.8;
    canvas.text_within((frame.x, y), &chart.title, frame.width, title);
    y += sizes.title * 0.35;
    if !chart.subtitle.is_empty() {
        let style = LabelStyle { size: sizes.subtitle, ..canvas.label_style(TextAnchor::Start) };
        for line in wrap(&chart.subtitle, style, frame.width, 2) {
            y += sizes.subtitle * 1.2;
            canvas.text((frame.x, y), line, style);
        }
    }
    // The parts of a single bar have their names beside them.
    let is_meter = |panel: &TitledPanel| matches!(&panel.panel, ChartPanel::Bars(chart) if chart.bars.len() == 1);
    let is_labeled = !chart.panels.is_empty() && chart.panels.iter().all(is_meter);
    // A title can be the name of the only colour of its panel.
    let is_title = |label: &str| chart.panels.iter().any(|panel| panel.title == label);
    let items = chart.legend.iter().filter(|item| !is_labeled && !is_title(&item.label));
    let labels: Vec<(ChartPaint, String)> = items.map(|item| (item.paint, item.label.clone())).collect();
    y += sizes.label * 0.9;
    (frame.height, frame.y) = (frame.bottom() - y, y);
    if !labels.is_empty() {
        draw_legend(canvas, &chart.panels, &labels, frame);
    }
    let gap = sizes.label * 0.7;
    (frame.height, frame.y) = (frame.height - gap, frame.y + gap);
}

/// The legend at the top of a frame, or at its right side in a low image if panels are larger then.
fn draw_legend(
    canvas: &mut ChartCanvas,
    panels: &[TitledPanel],
    labels: &[(ChartPaint, String)],
    frame: &mut OutlineRect,
) {
    let above = LegendLines::new(canvas, labels, frame.width);
    let below = above.height(canvas) + canvas.sizes.label * 0.35;
    let gap = canvas.sizes.label * 1.5;
    let beside = LegendLines::beside(canvas, labels, frame.height).filter(|legend| {
        let narrow = OutlineRect { width: frame.width - legend.width() - gap, ..*frame };
        let low = OutlineRect { height: frame.height - below, ..*frame };
        frame.height < LOW_FRAME && panel_size(canvas, panels, narrow) > panel_size(canvas, panels, low)
    });
    match beside {
        Some(legend) => {
            frame.width -= legend.width() + gap;
            legend.draw(canvas, (frame.right() + gap, frame.y));
        }
        None => {
            above.draw(canvas, (frame.x, frame.y));
            (frame.height, frame.y) = (frame.height - below, frame.y + below);
        }
    }
}

/// The width of a panel in a frame, as far as its height suits it.
fn panel_size(canvas: &ChartCanvas, panels: &[TitledPanel], frame: OutlineRect) -> f32 {
    let aspect = mean_aspect(panels);
    let frames = panel_grid::frames(frame, panels.len(), aspect, canvas.sizes.heading * PANEL_GAP);
    let title = if panels.iter().any(|panel| !panel.title.is_empty()) { canvas.sizes.heading * 1.75 } else { 0.0 };
    frames.first().map_or(0.0, |frame| frame.width.min((frame.height - title) * aspect))
}

fn mean_aspect(panels: &[TitledPanel]) -> f32 {
    panels.iter().map(|panel| aspect(&panel.panel)).sum::<f32>() / panels.len().max(1) as f32
}

/// The notes. They are removed from the bottom of the frame.
fn draw_notes(canvas: &mut ChartCanvas, chart: &ViewChart, frame: &mut OutlineRect) {
    let style = canvas.label_style(TextAnchor::Start);
    let line_height = style.size * 1.4;
    let max_lines = if frame.height < 260.0 { 2 } else { MAX_NOTES };
    let mut lines: Vec<String> = Vec::new();
    for note in &chart.notes {
        lines.extend(wrap(note, style, frame.width, max_lines));
    }
    lines.truncate(max_lines);
    if lines.is_empty() {
        return;
    }
    let height = lines.len() as f32 * line_height;
    let mut y = frame.bottom() - height + style.size;
    for line in lines {
        canvas.text((frame.x, y), line, style);
        y += line_height;
    }
    frame.height -= height + style.size;
}

fn draw_panels(canvas: &mut ChartCanvas, panels: &[TitledPanel], frame: OutlineRect) {
    let gap = canvas.sizes.heading * PANEL_GAP;
    let frames = panel_grid::frames(frame, panels.len(), mean_aspect(panels), gap);
    for (index, (panel, mut frame)) in panels.iter().zip(frames).enumerate() {
        canvas.panel = index;
        canvas.group(&panel.title, None, |canvas| {
            if !panel.title.is_empty() {
                let style = canvas.heading_style();
                canvas.text_within((frame.x, frame.y + style.size * 0.85), &panel.title, frame.width, style);
                let used = style.size * 1.75;
                (frame.y, frame.height) = (frame.y + used, frame.height - used);
            }
            match &panel.panel {
                ChartPanel::Levels(chart) => level_panel::draw(canvas, frame, chart),
                ChartPanel::Bars(chart) => bar_panel::draw(canvas, frame, chart),
                ChartPanel::Kiviat(chart) => kiviat_panel::draw(canvas, frame, chart),
                ChartPanel::Matrix(chart) => matrix_panel::draw(canvas, frame, chart),
                ChartPanel::Network(chart) => network_panel::draw(canvas, frame, chart),
                ChartPanel::Scatter(chart) => scatter_panel::draw(canvas, frame, chart),
                ChartPanel::Grid(chart) => grid_panel::draw(canvas, frame, chart),
                ChartPanel::Portrait(chart) => portrait_panel::draw(canvas, frame, chart),
                ChartPanel::Marks(chart) => mark_panel::draw(canvas, frame, chart),
                ChartPanel::Table(chart) => table_panel::draw(canvas, frame, chart),
            }
        });
    }
}

/// The ratio of width to height that suits a panel.
fn aspect(panel: &ChartPanel) -> f32 {
    match panel {
        ChartPanel::Levels(_) | ChartPanel::Scatter(_) => 2.4,
        ChartPanel::Bars(chart) if chart.bars.len() == 1 => 0.7,
        ChartPanel::Marks(chart) if chart.form == MarkForm::Bars => 2.0,
        ChartPanel::Bars(_) | ChartPanel::Table(_) => 1.7,
        ChartPanel::Kiviat(_) | ChartPanel::Matrix(_) | ChartPanel::Network(_) | ChartPanel::Grid(_) => 1.05,
        ChartPanel::Portrait(_) | ChartPanel::Marks(_) => 1.3,
    }
}

#[cfg(test)]
mod tests;
