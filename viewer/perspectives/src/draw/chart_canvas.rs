//! [`ChartCanvas`]: collects the primitives of an image.

use tumit_paje::{MarkShape, RgbColor};
use tumit_viewer::scene::{
    FilledRect, OutlineRect, SceneCurve, SceneGroup, SceneItem, SceneLine, SceneMark, SceneStroke, SceneText,
    TextAnchor,
};
use tumit_viewer::style::theme::font::{self, FontWeight};
use tumit_viewer::style::theme::{ColorTheme, ColorWithOpacity, ThemeKind, contrast};

use super::chart_palette::{ChartPalette, PaletteKind};
use super::chart_region::{ChartRegion, RegionShape, RegionSubject};
use super::fill_pattern::{self, FillPattern};
use crate::chart::{ChartPaint, LegendItem};

#[derive(Clone, Copy, Debug)]
pub(super) struct TextSizes {
    pub(super) title: f32,
    pub(super) subtitle: f32,
    /// Titles of panels, and headings of tables.
    pub(super) heading: f32,
    /// Labels of axes, and the legend.
    pub(super) label: f32,
}

pub(super) type ScenePoint = (f32, f32);

#[derive(Clone, Copy, Debug)]
pub(super) struct LabelStyle {
    pub(super) size: f32,
    pub(super) weight: FontWeight,
    pub(super) anchor: TextAnchor,
    pub(super) color: RgbColor,
}

/// The least opacity of a grey line.
const LEAST_ALPHA: f32 = 0.5;

/// An image that is being drawn.
#[derive(Debug)]
pub(super) struct ChartCanvas {
    pub(super) theme: ColorTheme,
    pub(super) palette: ChartPalette,
    pub(super) sizes: TextSizes,
    /// The legend of the chart, for direct labels.
    pub(super) legend: Vec<LegendItem>,
    /// The index of the panel that is being drawn.
    pub(super) panel: usize,
    /// The places of the marks so far.
    pub(super) regions: Vec<ChartRegion>,
    pub(in crate::draw) is_monochrome: bool,
    items: Vec<SceneItem>,
}

impl ChartCanvas {
    /// Creates an empty canvas. Texts of larger images are slightly larger.
    pub(super) fn new(width: f32, height: f32, theme: ThemeKind, palette: PaletteKind) -> Self {
        let scale = (width * height / (900.0 * 560.0)).sqrt().clamp(1.0, 1.25);
        let sizes =
            TextSizes { title: 17.0 * scale, subtitle: 12.5 * scale, heading: 12.0 * scale, label: 11.0 * scale };
        Self {
            theme: ColorTheme::new(theme),
            palette: ChartPalette::new(theme, palette),
            sizes,
            legend: Vec::new(),
            panel: 0,
            regions: Vec::new(),
            is_monochrome: palette == PaletteKind::Monochrome,
            items: Vec::new(),
        }
    }

    /// The primitives, in drawing order.
    pub(super) fn into_items(self) -> Vec<SceneItem> {
        self.items
    }

    /// Adds the places of marks of the panel.
    pub(super) fn add_region(&mut self, shape: RegionShape, subject: RegionSubject) {
        self.regions.push(ChartRegion { panel: self.panel, shape, subject });
    }

    /// Draws a group of primitives with a name.
    pub(super) fn group(&mut self, name: &str, window: Option<OutlineRect>, draw: impl FnOnce(&mut Self)) {
        let outer = std::mem::take(&mut self.items);
        draw(self);
        let items = std::mem::replace(&mut self.items, outer);
        if !items.is_empty() {
            self.items.push(SceneItem::Group(SceneGroup { name: name.to_owned(), x: 0.0, y: 0.0, window, items }));
        }
    }

    /// A rectangle without a meaning.
    pub(super) fn rect(&mut self, frame: OutlineRect, color: RgbColor) {
        self.items.push(SceneItem::Rect(FilledRect::decoration(frame, color, 0.0)));
    }

    /// A translucent rectangle without a meaning.
    pub(super) fn pale_rect(&mut self, frame: OutlineRect, color: RgbColor, alpha: f32) {
        let fill = ColorWithOpacity::with_alpha(color, alpha);
        self.items.push(SceneItem::Rect(FilledRect { frame, fill, radius: 2.0, id: None, title: None }));
    }

    /// Whether areas of a paint need an outline to stand out from the background.
    pub(super) fn needs_outline(&self, paint: ChartPaint) -> bool {
        contrast(self.palette.color(paint), self.theme.paper) < 1.15
    }

    /// A rectangle of a paint, with a tooltip. Monochrome images show patterns.
    pub(super) fn fill(&mut self, frame: OutlineRect, paint: ChartPaint, radius: f32, title: Option<String>) {
        let color = self.palette.color(paint);
        let fill = ColorWithOpacity::from_opaque(color);
        self.items.push(SceneItem::Rect(FilledRect { frame, fill, radius, id: None, title }));
        let pattern = if self.is_monochrome { FillPattern::of(paint) } else { FillPattern::Plain };
        if pattern.is_visible_in(frame) {
            self.items.push(fill_pattern::group(pattern, frame, color));
        }
    }

    /// The opacity of a line that fades. A pale grey line would be invisible.
    pub(super) fn line_alpha(&self, alpha: f32) -> f32 {
        if self.is_monochrome { alpha.max(LEAST_ALPHA) } else { alpha }
    }

    /// The frame of a rectangle, 1 unit wide, inside it.
    pub(super) fn outline(&mut self, frame: OutlineRect, color: RgbColor, width: f32) {
        let inset = width / 2.0;
        let (left, top) = (frame.x + inset, frame.y + inset);
        let (right, bottom) = (frame.right() - inset, frame.bottom() - inset);
        // The last side overlaps the first, so that the corner is closed.
        let points = vec![(left, top), (right, top), (right, bottom), (left, bottom), (left, top), (left + width, top)];
        self.curve(points, color, width);
    }

    pub(super) fn line(&mut self, from: ScenePoint, to: ScenePoint, color: RgbColor, width: f32) {
        self.translucent_line(from, to, ColorWithOpacity::from_opaque(color), width);
    }

    fn translucent_line(&mut self, from: ScenePoint, to: ScenePoint, paint: ColorWithOpacity, width: f32) {
        self.items.push(SceneItem::Line(SceneLine { from, to, width, paint }));
    }

    /// A vertical or horizontal line on whole pixels.
    pub(super) fn grid_line(&mut self, from: ScenePoint, to: ScenePoint, color: RgbColor) {
        let sharp = |place: f32| place.floor() + 0.5;
        let is_vertical = (from.0 - to.0).abs() < (from.1 - to.1).abs();
        let (from, to) = if is_vertical {
            ((sharp(from.0), from.1), (sharp(to.0), to.1))
        } else {
            ((from.0, sharp(from.1)), (to.0, sharp(to.1)))
        };
        self.line(from, to, color, 1.0);
    }

    /// A line through points.
    pub(super) fn curve(&mut self, points: Vec<ScenePoint>, color: RgbColor, width: f32) {
        self.faded_curve(points, ColorWithOpacity::from_opaque(color), width);
    }

    /// A translucent line through points.
    pub(super) fn faded_curve(&mut self, points: Vec<ScenePoint>, paint: ColorWithOpacity, width: f32) {
        let stroke = Some(SceneStroke { paint, width });
        self.items.push(SceneItem::Curve(SceneCurve { points, floor: None, fill: None, stroke }));
    }

    /// The area between points and a floor, or the area that the points enclose.
    pub(super) fn area(&mut self, points: Vec<ScenePoint>, floor: Option<f32>, color: RgbColor, alpha: f32) {
        let fill = Some(ColorWithOpacity::with_alpha(color, alpha));
        self.items.push(SceneItem::Curve(SceneCurve { points, floor, fill, stroke: None }));
    }

    /// A disc with a tooltip.
    pub(super) fn disc(&mut self, center: ScenePoint, radius: f32, color: RgbColor, title: Option<String>) {
        self.translucent_disc(center, radius, ColorWithOpacity::from_opaque(color), title);
    }

    pub(super) fn translucent_disc(
        &mut self,
        center: ScenePoint,
        radius: f32,
        fill: ColorWithOpacity,
        title: Option<String>,
    ) {
        // Half the width of a mark is 0.46 of its size.
        let (position, size) = ((center.0, center.1 + radius), radius / 0.46);
        self.items.push(SceneItem::Mark(SceneMark { position, shape: MarkShape::Circle, size, fill, id: None, title }));
    }

    /// The style of labels of axes.
    pub(super) fn label_style(&self, anchor: TextAnchor) -> LabelStyle {
        LabelStyle { size: self.sizes.label, weight: FontWeight::Regular, anchor, color: self.theme.muted }
    }

    /// The style of titles of panels.
    pub(super) fn heading_style(&self) -> LabelStyle {
        LabelStyle {
            size: self.sizes.heading,
            weight: FontWeight::SemiBold,
            anchor: TextAnchor::Start,
            color: self.theme.ink,
        }
    }

    /// A text on its baseline.
    pub(super) fn text(&mut self, point: ScenePoint, text: impl Into<String>, style: LabelStyle) {
        let LabelStyle { size, weight, anchor, color } = style;
        let text = SceneText { weight, anchor, ..SceneText::new(point, text, size, color) };
        self.items.push(SceneItem::Text(text));
    }

    /// A text that is cut to a width. Nothing is drawn if not even two letters fit.
    pub(super) fn text_within(&mut self, point: ScenePoint, text: &str, width: f32, style: LabelStyle) {
        if let Some(text) = font::fit(text, style.size, style.weight, width) {
            self.text(point, text, style);
        }
    }

    pub(super) fn width(text: &str, style: LabelStyle) -> f32 {
        font::width(text, style.size, style.weight)
    }

    /// The name of a paint in the legend.
    pub(super) fn name_of(&self, paint: ChartPaint) -> Option<&str> {
        name_of(&self.legend, paint)
    }
}

pub(super) fn name_of(legend: &[LegendItem], paint: ChartPaint) -> Option<&str> {
    legend.iter().find(|item| item.paint == paint).map(|item| item.label.as_str())
}

/// The distance from the middle of a line of digits or capitals to its baseline.
pub(super) fn baseline_shift(size: f32) -> f32 {
    // Capitals of the typeface are 0.727 em high.
    size * 0.3635
}

/// The area of a text, with some space around it.
pub(super) fn text_frame(point: ScenePoint, text: &str, style: LabelStyle) -> OutlineRect {
    let width = ChartCanvas::width(text, style);
    let left = match style.anchor {
        TextAnchor::Start => point.0,
        TextAnchor::Middle => point.0 - width / 2.0,
        TextAnchor::End => point.0 - width,
    };
    OutlineRect::new(left - 4.0, point.1 - style.size, width + 8.0, style.size * 1.25)
}

/// Whether two areas overlap.
pub(super) fn have_overlap(a: &OutlineRect, b: &OutlineRect) -> bool {
    a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom()
}
