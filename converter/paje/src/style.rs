//! [`Look`]: the shape and the size in which entities are drawn. Pajé's own programs know them, its text has no instruction for them:
//! they are user fields of definitions, `Shape` and `Size`, which other readers take for what they do not know.

use std::fmt;
use std::str::FromStr;

/// What a trace says of how a type or value is drawn, beside its colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Look {
    /// Shape of the marks of events.
    pub shape: Option<MarkShape>,
    /// Size, 1 being the usual one: of marks, of the width of arrows and curves, of the height of states. Above 0, and finite.
    pub size: Option<f32>,
}

/// Shapes of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum MarkShape {
    /// Its tip points down to the date: the usual one.
    #[default]
    Triangle,
    /// On its tip.
    Diamond,
    /// A disc.
    Circle,
    /// On its side.
    Square,
    /// An upright line.
    Line,
}

impl Look {
    /// Nothing is said.
    pub const NONE: Self = Self { shape: None, size: None };

    /// This; what it does not say is as `other` says.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self { shape: self.shape.or(other.shape), size: self.size.or(other.size) }
    }

    /// Whether nothing is said.
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.shape.is_none() && self.size.is_none()
    }

    /// A number that can be a size.
    #[must_use]
    pub fn checked_size(number: f64) -> Option<f32> {
        #[expect(clippy::cast_possible_truncation, reason = "seven digits are enough for a size")]
        let size = number as f32;
        (size > 0.0 && size.is_finite()).then_some(size)
    }
}

impl MarkShape {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Triangle, Self::Diamond, Self::Circle, Self::Square, Self::Line];

    /// Its name, as specs, filters and files write it.
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
