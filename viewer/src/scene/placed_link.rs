//! [`PlacedLink`]: one or more links with their positions in the image.

use tumit_paje::RgbColor;

use super::diagram_context::DiagramContext;
use crate::query::{EntityId, TimeRange, TypeId};

/// Endpoints within this distance are combined.
pub(crate) const NEAR: f32 = 4.0;
/// Adjacent rows of the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct RowSpan {
    pub(crate) first: usize,
    /// The last row; it is included.
    pub(crate) last: usize,
}

impl RowSpan {
    pub(crate) fn of(row: usize) -> Self {
        Self { first: row, last: row }
    }
}

/// One or more links, and their positions in the image.
pub(crate) struct PlacedLink {
    /// The first of the links.
    pub(crate) id: EntityId,
    pub(crate) ty: TypeId,
    pub(crate) life: TimeRange,
    pub(crate) from: (f32, f32),
    pub(crate) to: (f32, f32),
    /// The rows of the starts. There are several if the rows are too many to be distinguished.
    pub(crate) start_rows: RowSpan,
    pub(crate) end_rows: RowSpan,
    pub(crate) color: RgbColor,
    pub(crate) size: f32,
    pub(crate) is_dimmed: bool,
    /// Number of links.
    pub(crate) count: u64,
}

impl PlacedLink {
    /// Adds links at the same position.
    pub(crate) fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.life = TimeRange { from: self.life.from.min(other.life.from), to: self.life.to.max(other.life.to) };
    }
}

/// Whether a part of a link between two rows is in the view.
pub(crate) fn is_seen(context: &DiagramContext<'_>, start_row: usize, end_row: usize) -> bool {
    let (start, end) = (&context.layout.rows[start_row], &context.layout.rows[end_row]);
    let (a, b) = (start.anchor(), end.anchor());
    let is_outside = a.max(b) < context.view.top || a.min(b) > context.view.bottom;
    !is_outside || start.is_pinned && end.is_pinned
}
