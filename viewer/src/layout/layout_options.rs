//! The user's choices for the rows of an image.

use std::collections::{BTreeMap, BTreeSet};

use crate::query::{ContainerId, EntityId, TypeId, ValueId};
use crate::style::theme::ThemeKind;

/// The selection of folded containers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoldedContainers {
    /// Containers at this depth of the drawn tree are folded, unless toggled. `None` folds none.
    pub level: Option<u32>,
    /// Containers for which the effect of `level` is inverted.
    pub toggled: BTreeSet<ContainerId>,
}

/// The move of a container among its siblings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowMove {
    /// It moves with its subtree.
    pub container: ContainerId,
    /// The sibling before which it moves. The root represents the end.
    pub successor: ContainerId,
}

/// The user's changes to the rows. Containers that the trace does not have are ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowArrangement {
    /// Containers above all others, in this order, each with its subtree.
    pub pinned_containers: Vec<ContainerId>,
    /// Containers that are not drawn, each with its subtree.
    pub hidden_containers: BTreeSet<ContainerId>,
    /// The places of containers among their siblings. Containers without a place are last.
    pub ranks: BTreeMap<ContainerId, u32>,
    /// Moves among siblings, applied one after another.
    pub row_moves: Vec<RowMove>,
    /// If not empty, only containers with this text in their names (ignoring case) are drawn, with
    /// the containers above and below them.
    pub names: String,
}

/// The collective operations that are drawn as one, by a line that joins their parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JoinedOperations {
    /// None.
    #[default]
    None,
    /// All operations with a part that the image shows as a rectangle.
    All,
    /// The operation of this state, with outlines around its parts.
    Of(EntityId),
}

/// The user's choices for an image.
#[derive(Clone, Debug, PartialEq)]
pub struct LayoutOptions {
    /// The selection of folded containers.
    pub folds: FoldedContainers,
    /// The order of the rows.
    pub arrangement: RowArrangement,
    /// Types of entities that have no strips.
    pub hidden_types: BTreeSet<TypeId>,
    /// Variables that are drawn as gradients, with stronger colour for larger values.
    pub gradients: BTreeSet<TypeId>,
    /// Values that are drawn in grey, so that the others stand out.
    pub dimmed_values: BTreeSet<ValueId>,
    /// Light or dark.
    pub theme: ThemeKind,
    /// Factor on the heights of all rows.
    pub row_scale: f32,
    /// The collective operations that are drawn as one.
    pub joined_operations: JoinedOperations,
}

impl Default for LayoutOptions {
    fn default() -> Self {
        Self {
            folds: FoldedContainers::default(),
            arrangement: RowArrangement::default(),
            hidden_types: BTreeSet::new(),
            gradients: BTreeSet::new(),
            dimmed_values: BTreeSet::new(),
            theme: ThemeKind::Light,
            row_scale: 1.0,
            joined_operations: JoinedOperations::None,
        }
    }
}

impl FoldedContainers {
    /// Whether a container at this depth of the drawn tree is folded.
    #[must_use]
    pub fn contains(&self, container: ContainerId, depth: u32) -> bool {
        (self.level == Some(depth)) != self.toggled.contains(&container)
    }
}
