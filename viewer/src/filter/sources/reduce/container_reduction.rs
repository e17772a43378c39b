//! The result of a reduction for one container.

use crate::filter::sources::function_pieces::PieceBlocks;
use crate::query::{ContainerId, TypeId};

/// The result for one container.
pub(super) struct ContainerReduction {
    pub(super) container: ContainerId,
    pub(super) ty: TypeId,
    /// Number of its first sample.
    pub(super) base: u32,
    pub(super) steps: PieceBlocks,
}
