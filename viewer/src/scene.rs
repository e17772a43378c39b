//! A picture as a list of primitives, without a toolkit: what SVG, PNG, the page and the tests all draw from.
//!
//! [`chart`] draws the rows of an interval; [`document`] surrounds them with a heading, names, a ruler and a legend.

pub(crate) mod bidi_isolate;
mod chart;
mod document;
mod labels;
mod legend;
pub(crate) mod link_bundles;
mod links;
mod marks;
mod mixtures;
pub(crate) mod pick;
mod states;
pub(crate) mod value_palette;
mod variables;
pub mod wire;

pub use chart::{View, chart, overview};
pub(crate) use document::MOST_PIXELS;
pub use document::{DocumentOptions, document};
pub use legend::{LegendEntry, LegendGroup, legend};
pub use pick::{Mixture, mixture, variable};
pub use variables::number;

use tumit_paje::{Color, MarkShape};

use crate::query::{EntityId, Interval, ValueId};
use crate::style::theme::Paint;
use crate::style::theme::font::Weight;

/// Stands in mixtures for all values that are too small to be told apart.
pub const OTHERS: ValueId = ValueId(u32::MAX);

/// A picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    /// Width in units; at scale 1 a unit is a pixel.
    pub width: f32,
    /// Height in units.
    pub height: f32,
    /// What is behind everything; none is transparent.
    pub background: Option<Color>,
    /// Read aloud in place of the picture: a name and a sentence.
    pub title: String,
    /// The sentence.
    pub description: String,
    /// What its ruler shows, of one that has a ruler.
    pub interval: Option<Interval>,
    /// From back to front.
    pub items: Vec<Item>,
    /// Whether a row shows less than it would if there were time: see [`View::quick`].
    pub is_quick: bool,
    /// What the picture draws as one because there is too much of it, as sentences.
    pub notes: Vec<String>,
}

/// A rectangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Frame {
    pub x: f32,
    pub y: f32,
    pub width: f32,
    pub height: f32,
}

/// A primitive.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// Several, moved together, perhaps seen through a window.
    Group(Group),
    /// A filled rectangle.
    Rect(Rect),
    /// Exact mixtures, one per column of pixels.
    Cells(Cells),
    /// A straight line.
    Line(Line),
    /// A line or area through points.
    Curve(Curve),
    /// A variable in columns of pixels.
    Band(Band),
    /// An arrow from one row to another.
    Arrow(Arrow),
    /// A small shape at a point.
    Mark(Mark),
    /// A line of text.
    Text(Text),
}

/// Several primitives in coordinates of their own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// What it is, for readers of the SVG.
    pub name: String,
    /// Where its origin lies.
    pub x: f32,
    /// Where its origin lies.
    pub y: f32,
    /// Only this part of it is seen, in its own coordinates.
    pub window: Option<Frame>,
    /// From back to front.
    pub items: Vec<Item>,
}

/// A filled rectangle.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Rect {
    pub frame: Frame,
    pub fill: Paint,
    pub radius: f32,
    /// What is pointed at.
    pub id: Option<EntityId>,
    /// Said of it when pointed at in an SVG.
    pub title: Option<String>,
}

/// Exact mixtures: in each column the values stand on each other, each as high as its share.
#[derive(Clone, Debug, PartialEq)]
pub struct Cells {
    /// Where they are; columns have equal widths.
    pub frame: Frame,
    /// Colours of the values, in the order in which they stand on each other.
    pub palette: Vec<Color>,
    /// The values themselves, in the same order.
    pub values: Vec<ValueId>,
    /// For each column `(place in the palette, share)`; shares of a column sum to at most 1.
    pub columns: Columns<u16>,
}

/// Columns of parts with shares, one behind the other: a picture has a million of them, which would be as many pieces of memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Columns<P> {
    ends: Vec<usize>,
    parts: Vec<(P, f32)>,
}

impl<P> Default for Columns<P> {
    fn default() -> Self {
        Self { ends: Vec::new(), parts: Vec::new() }
    }
}

impl<P> Columns<P> {
    /// No columns, but room for some.
    pub(crate) fn with_room(columns: usize, parts: usize) -> Self {
        Self { ends: Vec::with_capacity(columns), parts: Vec::with_capacity(parts) }
    }

    /// Appends a column.
    pub fn push(&mut self, parts: impl IntoIterator<Item = (P, f32)>) {
        self.parts.extend(parts);
        self.ends.push(self.parts.len());
    }

    /// How many columns there are.
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

impl<P> FromIterator<Vec<(P, f32)>> for Columns<P> {
    fn from_iter<I: IntoIterator<Item = Vec<(P, f32)>>>(columns: I) -> Self {
        let mut all = Self::default();
        columns.into_iter().for_each(|column| all.push(column));
        all
    }
}

/// A straight line.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Line {
    pub from: (f32, f32),
    pub to: (f32, f32),
    pub width: f32,
    pub paint: Paint,
}

/// A line through points, and the area between it and a floor, or enclosed by it.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The points.
    pub points: Vec<(f32, f32)>,
    /// The area reaches down to this height; without one it is the polygon of the points.
    pub floor: Option<f32>,
    /// Colour of the area.
    pub fill: Option<Paint>,
    /// Drawn as a line of this width.
    pub stroke: Option<(Paint, f32)>,
}

/// What a variable is in columns that follow each other: the band between its least and largest value, and its mean with the area below.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// The middle of the first column.
    pub x: f32,
    /// From one middle to the next.
    pub step: f32,
    /// Heights of the largest value, of the least, and of the mean, for each column.
    pub columns: Vec<[f32; 3]>,
    /// The area of the means reaches down to this height.
    pub floor: f32,
    /// Paint of the band.
    pub pale: Paint,
    /// Paint of the area.
    pub fill: Paint,
    /// The line of the means, and its width.
    pub line: (Paint, f32),
}

impl Band {
    /// The band and, above it, the means, as curves.
    #[must_use]
    pub fn curves(&self) -> [Curve; 2] {
        #[expect(clippy::cast_precision_loss, reason = "a number of pixels")]
        let x = |place: usize| self.x + place as f32 * self.step;
        let edge = |of: usize| self.columns.iter().enumerate().map(move |(place, column)| (x(place), column[of]));
        let points = edge(0).chain(edge(1).rev()).collect();
        let band = Curve { points, floor: None, fill: Some(self.pale), stroke: None };
        // The area under the means is the integral: what the eye compares.
        let points = edge(2).collect();
        [band, Curve { points, floor: Some(self.floor), fill: Some(self.fill), stroke: Some(self.line) }]
    }
}

/// An arrow.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Arrow {
    pub from: (f32, f32),
    pub to: (f32, f32),
    pub width: f32,
    /// Length of its head.
    pub head: f32,
    pub paint: Paint,
    /// Drawn around it, so that it stands out from what it crosses.
    pub halo: Option<Paint>,
    /// What is pointed at; none when it stands for several.
    pub id: Option<EntityId>,
    /// Said of it when pointed at in an SVG.
    pub title: Option<String>,
}

/// A small shape above its date.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Mark {
    /// Its tip, or the middle of its foot.
    pub at: (f32, f32),
    pub shape: MarkShape,
    /// How high it is; a disc or square of this size is a little lower.
    pub size: f32,
    pub fill: Paint,
    pub id: Option<EntityId>,
    pub title: Option<String>,
}

/// Where a text stands relative to its point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after what they are")]
pub enum Anchor {
    #[default]
    Start,
    Middle,
    End,
}

/// A line of text. It has been cut to fit already.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Text {
    /// On the baseline.
    pub at: (f32, f32),
    pub text: String,
    pub size: f32,
    pub weight: Weight,
    pub anchor: Anchor,
    pub fill: Paint,
}

impl Frame {
    /// A rectangle from its top left corner and size.
    #[must_use]
    pub const fn new(x: f32, y: f32, width: f32, height: f32) -> Self {
        Self { x, y, width, height }
    }

    /// Its right edge.
    #[must_use]
    pub fn right(&self) -> f32 {
        self.x + self.width
    }

    /// Its lower edge.
    #[must_use]
    pub fn bottom(&self) -> f32 {
        self.y + self.height
    }
}

impl Mark {
    /// Half of its width, where it is widest.
    #[must_use]
    pub fn half_width(&self) -> f32 {
        // As large to the eye, whatever the shape. The page's `draw.js` has the same numbers.
        match self.shape {
            MarkShape::Triangle => self.size * 0.55,
            MarkShape::Diamond => self.size * 0.5,
            MarkShape::Circle => self.size * 0.46,
            MarkShape::Square => self.size * 0.42,
            MarkShape::Line => (self.size * 0.09).max(0.75),
        }
    }

    /// How far above its date's foot it reaches.
    #[must_use]
    pub fn height(&self) -> f32 {
        match self.shape {
            MarkShape::Triangle | MarkShape::Diamond | MarkShape::Line => self.size,
            MarkShape::Circle | MarkShape::Square => 2.0 * self.half_width(),
        }
    }
}

impl Rect {
    /// Decoration: a rectangle that stands for nothing.
    #[must_use]
    pub const fn plain(frame: Frame, fill: Color, radius: f32) -> Self {
        Self { frame, fill: Paint::solid(fill), radius, id: None, title: None }
    }
}

impl Text {
    /// A text that starts at a point.
    #[must_use]
    pub fn new(at: (f32, f32), text: impl Into<String>, size: f32, fill: Color) -> Self {
        Self { at, text: text.into(), size, weight: Weight::Regular, anchor: Anchor::Start, fill: Paint::solid(fill) }
    }

    /// The same, semi-bold.
    #[must_use]
    pub fn strong(self) -> Self {
        Self { weight: Weight::SemiBold, ..self }
    }

    /// The same, standing elsewhere relative to its point.
    #[must_use]
    pub fn anchored(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }
}
