//! The primitives of an image.

use tumit_paje::{MarkShape, RgbColor};

use crate::query::{EntityId, TimeRange, ValueId};
use crate::style::theme::ColorWithOpacity;
use crate::style::theme::font::FontWeight;

/// In mixtures, represents all values that are too small to be distinguished.
pub(super) const OTHERS: ValueId = ValueId(u32::MAX);

/// An image.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    /// Width in scene units. At scale 1, a scene unit is a pixel.
    pub width: f32,
    /// Height in scene units.
    pub height: f32,
    /// Colour of the background. `None` is transparent.
    pub background: Option<RgbColor>,
    /// The image's name for screen readers.
    pub title: String,
    /// The image's description for screen readers.
    pub description: String,
    /// The time range of its ruler, if it has one.
    pub time_range: Option<TimeRange>,
    /// The primitives, in drawing order.
    pub items: Vec<SceneItem>,
    /// Whether a row shows an approximation to save time. See
    /// [`Viewport::is_quick`](super::Viewport::is_quick).
    pub is_quick: bool,
    /// Sentences about entities that are drawn as one because there are too many of them.
    pub notes: Vec<String>,
}

/// A rectangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub struct OutlineRect {
    pub x: f32,
    pub y: f32,
    pub width: f32,
    pub height: f32,
}

/// A primitive.
#[derive(Clone, Debug, PartialEq)]
pub enum SceneItem {
    /// Several primitives with an offset and an optional clip rectangle.
    Group(SceneGroup),
    /// A filled rectangle.
    Rect(FilledRect),
    /// Exact mixtures, one per pixel column.
    Cells(SceneCells),
    /// A straight line.
    Line(SceneLine),
    /// A line or an area through points.
    Curve(SceneCurve),
    /// A variable, one value range per pixel column.
    Band(VariableBand),
    /// An arrow between rows.
    Arrow(SceneArrow),
    /// A small shape at a point.
    Mark(SceneMark),
    /// A line of text.
    Text(SceneText),
}

/// Several primitives with their own coordinate system.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SceneGroup {
    /// Its name, for readers of the SVG.
    pub name: String,
    /// Position of its origin.
    pub x: f32,
    /// Position of its origin.
    pub y: f32,
    /// Clip rectangle, in the group's own coordinates.
    pub window: Option<OutlineRect>,
    /// The primitives, in drawing order.
    pub items: Vec<SceneItem>,
}

/// A filled rectangle.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub struct FilledRect {
    pub frame: OutlineRect,
    pub fill: ColorWithOpacity,
    pub radius: f32,
    /// The entity that the pointer selects.
    pub id: Option<EntityId>,
    /// Tooltip in an SVG.
    pub title: Option<String>,
}

/// Exact mixtures. In each column, the values are stacked, each as high as its share.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneCells {
    /// Position and size. All columns have the same width.
    pub frame: OutlineRect,
    /// Colours of the values, in stacking order.
    pub palette: Vec<RgbColor>,
    /// The values themselves, in the same order.
    pub values: Vec<ValueId>,
    /// For each column, pairs of an index in the palette and a share. The shares of a column sum to
    /// at most 1.
    pub columns: MixtureColumns<u16>,
}

/// Columns of parts with shares, stored one after another. An image has up to a million columns, so
/// separate vectors would be too many allocations.
#[derive(Clone, Debug, PartialEq)]
pub struct MixtureColumns<P> {
    ends: Vec<usize>,
    parts: Vec<(P, f32)>,
}

impl<P> Default for MixtureColumns<P> {
    fn default() -> Self {
        Self { ends: Vec::new(), parts: Vec::new() }
    }
}

impl<P> MixtureColumns<P> {
    /// Creates an empty list with capacity.
    pub(crate) fn with_room(columns: usize, parts: usize) -> Self {
        Self { ends: Vec::with_capacity(columns), parts: Vec::with_capacity(parts) }
    }

    /// Appends a column.
    pub fn push(&mut self, parts: impl IntoIterator<Item = (P, f32)>) {
        self.parts.extend(parts);
        self.ends.push(self.parts.len());
    }

    /// Number of columns.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no column.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The columns, from left to right.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[(P, f32)]> {
        let mut from = 0;
        self.ends.iter().map(move |&end| &self.parts[std::mem::replace(&mut from, end)..end])
    }

    /// The parts of all columns.
    #[must_use]
    pub fn parts(&self) -> &[(P, f32)] {
        &self.parts
    }
}

impl<P> FromIterator<Vec<(P, f32)>> for MixtureColumns<P> {
    fn from_iter<I: IntoIterator<Item = Vec<(P, f32)>>>(columns: I) -> Self {
        let mut all = Self::default();
        columns.into_iter().for_each(|column| all.push(column));
        all
    }
}

/// A straight line.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub struct SceneLine {
    pub from: (f32, f32),
    pub to: (f32, f32),
    pub width: f32,
    pub paint: ColorWithOpacity,
}

/// The paint and width of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub struct SceneStroke {
    pub paint: ColorWithOpacity,
    pub width: f32,
}

/// A line through points, with the area between it and a floor or the area that it encloses.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneCurve {
    /// Horizontal and vertical position of each point, in drawing order.
    pub points: Vec<(f32, f32)>,
    /// The area reaches down to this height. Without it, the area is the polygon of the points.
    pub floor: Option<f32>,
    /// Colour of the area.
    pub fill: Option<ColorWithOpacity>,
    /// The line.
    pub stroke: Option<SceneStroke>,
}

/// A variable in adjacent columns: the band between its smallest and largest value, and its mean
/// with the area below.
#[derive(Clone, Debug, PartialEq)]
pub struct VariableBand {
    /// The middle of the first column.
    pub x: f32,
    /// Distance between the middles of adjacent columns.
    pub step: f32,
    /// For each column, the heights of the largest value, the smallest value and the mean.
    pub columns: Vec<[f32; 3]>,
    /// The area of the means reaches down to this height.
    pub floor: f32,
    /// Paint of the band.
    pub band_paint: ColorWithOpacity,
    /// Paint of the area.
    pub fill: ColorWithOpacity,
    /// The line of the means.
    pub line: SceneStroke,
}

impl VariableBand {
    /// The band and the means as curves, in drawing order.
    pub(crate) fn curves(&self) -> [SceneCurve; 2] {
        #[expect(clippy::cast_precision_loss, reason = "a number of pixels is small")]
        let x = |place: usize| self.x + place as f32 * self.step;
        let edge = |of: usize| self.columns.iter().enumerate().map(move |(place, column)| (x(place), column[of]));
        let points = edge(0).chain(edge(1).rev()).collect();
        let band = SceneCurve { points, floor: None, fill: Some(self.band_paint), stroke: None };
        // The area under the means is the integral, which viewers compare.
        let points = edge(2).collect();
        [band, SceneCurve { points, floor: Some(self.floor), fill: Some(self.fill), stroke: Some(self.line) }]
    }
}

/// One link, or several that look alike.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub struct SceneArrow {
    pub from: (f32, f32),
    pub to: (f32, f32),
    pub width: f32,
    /// Length of its head.
    pub head: f32,
    pub paint: ColorWithOpacity,
    /// Drawn around the arrow, so that it stands out from the lines that it crosses.
    pub halo: Option<ColorWithOpacity>,
    /// The entity that the pointer selects. `None` if the arrow represents several links.
    pub id: Option<EntityId>,
    /// Tooltip in an SVG.
    pub title: Option<String>,
}

/// A small shape above its timestamp.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub struct SceneMark {
    /// Its tip, or the middle of its lower edge.
    pub position: (f32, f32),
    pub shape: MarkShape,
    /// Its height. A disc or square of this size is slightly lower.
    pub size: f32,
    pub fill: ColorWithOpacity,
    pub id: Option<EntityId>,
    pub title: Option<String>,
}

/// Position of a text relative to its point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names explain the variants")]
pub enum TextAnchor {
    #[default]
    Start,
    Middle,
    End,
}

/// A line of text that is already cut to fit.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub struct SceneText {
    /// On the baseline.
    pub position: (f32, f32),
    pub text: String,
    pub size: f32,
    pub weight: FontWeight,
    pub anchor: TextAnchor,
    pub fill: ColorWithOpacity,
}

impl OutlineRect {
    /// Creates a rectangle from its top left corner and its size.
    #[must_use]
    pub const fn new(x: f32, y: f32, width: f32, height: f32) -> Self {
        Self { x, y, width, height }
    }

    /// The right edge.
    #[must_use]
    pub fn right(&self) -> f32 {
        self.x + self.width
    }

    /// The lower edge.
    #[must_use]
    pub fn bottom(&self) -> f32 {
        self.y + self.height
    }
}

impl SceneMark {
    /// Half of its largest width.
    pub(crate) fn half_width(&self) -> f32 {
        // All shapes appear equally large. The page's `view/scene.js` contains the same numbers.
        match self.shape {
            MarkShape::Triangle => self.size * 0.55,
            MarkShape::Diamond => self.size * 0.5,
            MarkShape::Circle => self.size * 0.46,
            MarkShape::Square => self.size * 0.42,
            MarkShape::Line => (self.size * 0.09).max(0.75),
        }
    }

    /// Its height above its timestamp.
    #[must_use]
    pub fn height(&self) -> f32 {
        match self.shape {
            MarkShape::Triangle | MarkShape::Diamond | MarkShape::Line => self.size,
            MarkShape::Circle | MarkShape::Square => 2.0 * self.half_width(),
        }
    }
}

impl FilledRect {
    /// Creates a decorative rectangle that represents no entity.
    #[must_use]
    pub const fn decoration(frame: OutlineRect, fill: RgbColor, radius: f32) -> Self {
        Self { frame, fill: ColorWithOpacity::from_opaque(fill), radius, id: None, title: None }
    }
}

impl SceneText {
    /// Creates a text that starts at a point.
    #[must_use]
    pub fn new(position: (f32, f32), text: impl Into<String>, size: f32, fill: RgbColor) -> Self {
        Self {
            position,
            text: text.into(),
            size,
            weight: FontWeight::Regular,
            anchor: TextAnchor::Start,
            fill: ColorWithOpacity::from_opaque(fill),
        }
    }

    /// Makes the text semi-bold.
    pub(super) fn semi_bold(self) -> Self {
        Self { weight: FontWeight::SemiBold, ..self }
    }

    /// Changes the position relative to the point.
    pub(super) fn with_anchor(self, anchor: TextAnchor) -> Self {
        Self { anchor, ..self }
    }
}
