//! [`DrawStyle`]: the style of an entity type or value, apart from its colour: its shape and size.
//!
//! Pajé's own programs support shapes and sizes, but Pajé text has no instruction for them. They
//! are the user fields `Shape` and `Size` of definitions. Other readers treat these as unknown
//! fields.

use std::fmt;
use std::str::FromStr;

/// The shape and size of a type or value in a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct DrawStyle {
    /// Shape of event marks.
    pub shape: Option<MarkShape>,
    /// Relative size, with 1 as the default: of marks, of the width of links and curves, of the
    /// height of states. Above 0 and finite.
    pub size: Option<f32>,
}

/// How point events are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum MarkShape {
    /// A triangle with its tip down, at the timestamp. The default.
    #[default]
    Triangle,
    /// A square on its tip.
    Diamond,
    /// A disc.
    Circle,
    /// An upright square.
    Square,
    /// A vertical line.
    Line,
}

impl DrawStyle {
    /// The style of entities whose trace defines neither shape nor size.
    pub const NONE: Self = Self { shape: None, size: None };

    /// This style, with missing parts from `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self { shape: self.shape.or(other.shape), size: self.size.or(other.size) }
    }

    /// Whether neither shape nor size is set.
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.shape.is_none() && self.size.is_none()
    }

    /// A number as a size. `None` if it is not a valid size.
    #[must_use]
    pub fn checked_size(number: f64) -> Option<f32> {
        #[expect(clippy::cast_possible_truncation, reason = "seven digits are precise enough for a size")]
        let size = number as f32;
        (size > 0.0 && size.is_finite()).then_some(size)
    }
}

impl MarkShape {
    /// All shapes.
    pub const ALL: [Self; 5] = [Self::Triangle, Self::Diamond, Self::Circle, Self::Square, Self::Line];

    /// Its name in specs, filters and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Triangle => "triangle",
            Self::Diamond => "diamond",
            Self::Circle => "circle",
            Self::Square => "square",
            Self::Line => "line",
        }
    }
}

impl fmt::Display for MarkShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for MarkShape {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|shape| shape.name().eq_ignore_ascii_case(name)).ok_or(())
    }
}
