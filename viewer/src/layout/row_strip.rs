//! The strips of a row: their contents and their heights.

use crate::query::{ContainerId, TypeId, ValueRange};
use crate::style::size_factors;

/// A strip: the horizontal part of a row that shows the entities of one type, or the point events
/// of several types.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RowStrip {
    /// The contents.
    pub kind: StripKind,
    /// Its type, or the first of its types.
    pub ty: TypeId,
    /// Top, in the coordinates of the rows.
    pub y: f32,
    /// Distance to the lower edge, in the same unit.
    pub height: f32,
}

/// The contents of a strip.
#[derive(Clone, Debug, PartialEq)]
pub enum StripKind {
    /// States of one type in one container.
    States {
        /// Number of nesting depths.
        depths: u32,
    },
    /// Mean mixture of the states of one type, over the containers folded into the row.
    Summary {
        /// Containers with such states.
        members: Vec<SummaryMember>,
    },
    /// Point events of these types.
    Events {
        /// All types whose events share the strip.
        types: Vec<TypeId>,
    },
    /// A variable as a band with a line.
    Variable {
        /// Smallest and largest value of its axis. `None` if it has no finite value.
        bounds: Option<ValueRange>,
    },
    /// A variable as a gradient.
    Gradient {
        /// The values with the palest and the strongest colour.
        bounds: Option<ValueRange>,
    },
}

/// A container with states of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SummaryMember {
    /// A container that is folded into the row.
    pub container: ContainerId,
    /// Number of nesting depths of the states.
    pub depths: u32,
}

/// The vertical extent of a lane, in the coordinates of the rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LaneExtent {
    pub(crate) top: f32,
    pub(crate) height: f32,
}

// All heights are natural heights in scene units.

/// Height of states, with room for their names.
const STATE_HEIGHT: f32 = 19.0;
/// Additional height per depth of nested boxes.
const NESTING_HEIGHT: f32 = 5.0;
/// Height of a line of deeply nested states.
const DEEP_HEIGHT: f32 = 13.0;
/// Height of the curve of a variable.
const VARIABLE_HEIGHT: f32 = 40.0;
/// Height of a variable with few integer values.
const COUNT_HEIGHT: f32 = 22.0;
/// Height of a variable that is a gradient.
const GRADIENT_HEIGHT: f32 = 16.0;
/// Height of the summary of a group.
const SUMMARY_HEIGHT: f32 = 28.0;

/// Up to this number of depths, nested states are drawn as boxes in boxes. Deeper nestings are
/// drawn as one line per depth.
const BOXED_DEPTHS: u32 = 4;

impl RowStrip {
    /// The vertical extent of the lane of a nesting depth.
    pub(crate) fn lane_extent(&self, depth: u32, depths: u32) -> LaneExtent {
        #[expect(clippy::cast_precision_loss, reason = "a nesting depth")]
        let (depth, depths) = (depth as f32, depths.max(1) as f32);
        if depths <= BOXED_DEPTHS as f32 {
            let natural = STATE_HEIGHT + NESTING_HEIGHT * (depths - 1.0);
            let inset = depth * NESTING_HEIGHT * self.height / natural;
            LaneExtent { top: self.y + inset, height: self.height - inset }
        } else {
            let lane_height = self.height / depths;
            LaneExtent { top: self.y + lane_height * depth, height: lane_height }
        }
    }
}

/// The height of a strip at scale 1.
pub(crate) fn natural_height(kind: &StripKind) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "a nesting depth")]
    match kind {
        StripKind::States { depths } if *depths <= BOXED_DEPTHS => {
            STATE_HEIGHT + NESTING_HEIGHT * (depths.saturating_sub(1)) as f32
        }
        StripKind::States { depths } => DEEP_HEIGHT * *depths as f32,
        StripKind::Summary { .. } => SUMMARY_HEIGHT,
        StripKind::Events { .. } => size_factors::event_strip_height(1.0, 1.0),
        StripKind::Variable { bounds: Some(axis) } if is_count(*axis) => COUNT_HEIGHT,
        StripKind::Variable { .. } => VARIABLE_HEIGHT,
        StripKind::Gradient { .. } => GRADIENT_HEIGHT,
    }
}

/// Whether an axis is that of a small count.
fn is_count(axis: ValueRange) -> bool {
    axis.min.fract() == 0.0 && axis.max.fract() == 0.0 && axis.max - axis.min <= 16.0
}
