//! Converts the container tree to rows: the position and contents of each container's row.
//!
//! A [`ContainerOutline`] describes the contents of each container. It depends only on the trace
//! and is built once. A [`RowLayout`] is a pure function of an outline and [`LayoutOptions`]. It
//! does not depend on time, so that zooming never moves a row.
//!
//! ```
//! use tumit_viewer::layout::{ContainerOutline, LayoutOptions, RowLayout, StripKind};
//!
//! # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/header.paje"));
//! # let body = "0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n6 0 t 0 T main\n\
//! #             11 0 t S w\n14 2 t S\n7 3 T t\n";
//! # let trace = format!("{header}{body}");
//! # let store = tumit_viewer::store::TraceStore::from_paje("example", trace.as_bytes())?;
//! let outline = ContainerOutline::new(&store)?;
//! let layout = RowLayout::new(&outline, &LayoutOptions::default());
//! assert_eq!((layout.rows.len(), layout.rows[0].name.as_str()), (1, "main"));
//! assert_eq!(layout.rows[0].strips[0].kind, StripKind::States { depths: 1 });
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arrange;
mod container_outline;
mod layout_options;
mod row_strip;
pub mod scale;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use crate::query::{ContainerId, TypeId};

use self::container_outline::{LayoutNode, NodeStates, NodeVariable};
pub use container_outline::ContainerOutline;
pub use layout_options::{FoldedContainers, JoinedOperations, LayoutOptions, RowArrangement, RowMove};
pub(crate) use row_strip::LaneExtent;
pub use row_strip::{RowStrip, StripKind, SummaryMember};

/// The rows of an image, from top to bottom.
#[derive(Clone, Debug, PartialEq)]
pub struct RowLayout {
    /// The rows, by `y`.
    pub rows: Vec<LayoutRow>,
    /// Total height of the rows.
    pub height: f32,
    /// Height of the pinned rows, which come first; 0 if there are none.
    pub pinned_height: f32,
    /// For each container, the row that shows it: its own row, or the row of a folded ancestor.
    row_of: Vec<Option<u32>>,
}

/// A container's row.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LayoutRow {
    /// The container that the row shows. Others may be folded into it.
    pub container: ContainerId,
    /// The displayed name of the container.
    pub name: String,
    /// The type of the container.
    pub ty: TypeId,
    /// Number of levels below the first drawn level.
    pub depth: u32,
    /// Whether it has rows below it, or would have when unfolded.
    pub is_expandable: bool,
    /// Whether the rows below it are folded into it.
    pub is_folded: bool,
    /// Whether it or a container above it is pinned.
    pub is_pinned: bool,
    /// Top of the row.
    pub y: f32,
    /// Height of the row, including margins.
    pub height: f32,
    /// The contents, from top to bottom.
    pub strips: Vec<RowStrip>,
}

// All heights and gaps are in scene units.

/// Height of a row without strips, which has a name only.
const HEADING_HEIGHT: f32 = 24.0;
/// Space above the first strip of a row.
const MARGIN: f32 = 2.0;
/// Space below each strip of a row.
const GAP: f32 = 2.0;
/// Space above a group that follows the rows of another group.
const GROUP_GAP: f32 = 8.0;
/// Space between the pinned rows and the others.
const PINNED_GAP: f32 = 6.0;

impl RowLayout {
    /// Lays out the rows of all containers.
    #[must_use]
    pub fn new(outline: &ContainerOutline, options: &LayoutOptions) -> Self {
        let row_of = vec![None; outline.positions.len()];
        let mut layout = Self { rows: Vec::new(), height: 0.0, pinned_height: 0.0, row_of };
        for place in arrange::places(outline, options) {
            let node = &outline.nodes[place.position];
            let kinds = if place.is_folded { summary_of(outline, node, options) } else { strips_of(node, options) };
            layout.push((outline, node), &place, kinds, options.row_scale);
            let end = if place.is_folded { node.end } else { place.position + 1 };
            let index = u32::try_from(layout.rows.len() - 1).ok();
            let mut position = place.position;
            while position < end {
                let member = &outline.nodes[position];
                if options.arrangement.hidden_containers.contains(&member.info.id) {
                    position = member.end;
                    continue;
                }
                // A pinned container already has its row, and keeps it.
                let row = &mut layout.row_of[member.info.id.index()];
                *row = row.or(index);
                position += 1;
            }
        }
        layout
    }

    /// The deepest level of containers that, when folded, limits the rows to this height. `None` if
    /// not even the top level does. Computes a few layouts.
    #[must_use]
    pub fn level_that_fits(outline: &ContainerOutline, options: &LayoutOptions, height: f32) -> Option<u32> {
        let fits = |level: u32| {
            let folds = FoldedContainers { level: Some(level), ..options.folds.clone() };
            Self::new(outline, &LayoutOptions { folds, ..options.clone() }).height <= height
        };
        let levels: Vec<u32> = (0..outline.nodes.iter().map(|node| node.info.depth).max().unwrap_or(0)).collect();
        // The deeper the folded level, the higher the rows.
        levels.partition_point(|&level| fits(level)).checked_sub(1).and_then(|index| levels.get(index).copied())
    }

    /// The natural layout, scaled to fill `height` within the limits of `factors`.
    #[must_use]
    pub fn fill_height(
        outline: &ContainerOutline,
        options: &LayoutOptions,
        height: f32,
        factors: RangeInclusive<f32>,
    ) -> Self {
        let natural = Self::new(outline, options);
        if natural.height <= 0.0 {
            return natural;
        }
        let factor = (height / natural.height).clamp(*factors.start(), *factors.end());
        if (factor - 1.0).abs() < 0.01 {
            return natural;
        }
        Self::new(outline, &LayoutOptions { row_scale: options.row_scale * factor, ..options.clone() })
    }

    /// The index of the row that shows a container. `None` if it is not visible.
    pub(crate) fn index_of(&self, container: ContainerId) -> Option<usize> {
        (*self.row_of.get(container.index())?).map(|index| index as usize)
    }

    fn push(
        &mut self,
        (outline, node): (&ContainerOutline, &LayoutNode),
        place: &arrange::RowCandidate,
        kinds: Vec<(StripKind, TypeId)>,
        scale: f32,
    ) {
        let &arrange::RowCandidate { depth, is_expandable, is_folded, is_pinned, .. } = place;
        if is_pinned != self.rows.last().is_some_and(|last| last.is_pinned) && !self.rows.is_empty() {
            self.height += PINNED_GAP;
        }
        let is_separate =
            is_expandable && self.rows.last().is_some_and(|last| last.depth > depth && last.is_pinned == is_pinned);
        let top = self.height + if is_separate { GROUP_GAP * scale.min(1.0) } else { 0.0 };
        let mut y = top + MARGIN * scale.min(1.0);
        let mut strips = Vec::with_capacity(kinds.len());
        for (kind, ty) in kinds {
            let height = outline.height(&kind, ty, scale);
            strips.push(RowStrip { kind, ty, y, height });
            y += height + GAP * scale.min(1.0);
        }
        let height = if strips.is_empty() { HEADING_HEIGHT * scale } else { y - top };
        self.height = top + height;
        if is_pinned {
            self.pinned_height = self.height + PINNED_GAP;
        }
        self.rows.push(LayoutRow {
            container: node.info.id,
            name: node.info.name.clone(),
            ty: node.info.ty,
            depth,
            is_expandable,
            is_folded,
            is_pinned,
            y: top,
            height,
            strips,
        });
    }
}

impl LayoutRow {
    /// The height at which arrows meet the row.
    #[must_use]
    pub fn anchor(&self) -> f32 {
        let states = |strip: &&RowStrip| matches!(strip.kind, StripKind::States { .. } | StripKind::Summary { .. });
        match self.strips.iter().find(states).or(self.strips.first()) {
            Some(strip) => strip.y + strip.height / 2.0,
            None => self.y + self.height / 2.0,
        }
    }
}

/// The contents of a container's own row.
fn strips_of(node: &LayoutNode, options: &LayoutOptions) -> Vec<(StripKind, TypeId)> {
    let is_visible = |ty| !options.hidden_types.contains(&ty);
    let mut kinds = Vec::new();
    let types: Vec<TypeId> = node.events.iter().copied().filter(|&ty| is_visible(ty)).collect();
    if let Some(&first) = types.first() {
        kinds.push((StripKind::Events { types }, first));
    }
    let strip_of_states = |states: &NodeStates| match states.weight {
        // States of containers that exist at the same time overlap, so their mean mixture is drawn.
        2.. => StripKind::Summary { members: vec![SummaryMember { container: node.info.id, depths: states.depths }] },
        _ => StripKind::States { depths: states.depths },
    };
    let states = node.states.iter().filter(|states| is_visible(states.ty));
    kinds.extend(states.map(|states| (strip_of_states(states), states.ty)));
    kinds.extend(variable_strips(node, options));
    kinds
}

/// The contents of the row of a folded container.
fn summary_of(outline: &ContainerOutline, node: &LayoutNode, options: &LayoutOptions) -> Vec<(StripKind, TypeId)> {
    let types = outline.state_types_in_subtree(node.info.id);
    let hidden_containers: BTreeSet<ContainerId> =
        options.arrangement.hidden_containers.iter().flat_map(|&container| outline.subtree(container)).collect();
    let members = |ty: TypeId| {
        let all = outline.states_in_subtree(node.info.id, ty).into_iter();
        all.filter(|member| !hidden_containers.contains(&member.container)).collect::<Vec<_>>()
    };
    let mut kinds: Vec<_> = types
        .into_iter()
        .filter(|ty| !options.hidden_types.contains(ty))
        .map(|ty| (StripKind::Summary { members: members(ty) }, ty))
        .filter(|(kind, _)| !matches!(kind, StripKind::Summary { members } if members.is_empty()))
        .collect();
    kinds.extend(variable_strips(node, options));
    kinds
}

/// The visible variables of a container.
fn variable_strips(node: &LayoutNode, options: &LayoutOptions) -> impl Iterator<Item = (StripKind, TypeId)> {
    let variables = node.variables.iter().filter(|variable| !options.hidden_types.contains(&variable.ty));
    variables.map(|&NodeVariable { ty, bounds }| {
        let is_gradient = options.gradients.contains(&ty);
        (if is_gradient { StripKind::Gradient { bounds } } else { StripKind::Variable { bounds } }, ty)
    })
}

#[cfg(test)]
mod tests;
