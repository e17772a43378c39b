//! [`GroupVariable`]: a variable of a group.

use crate::filter::sources::entity_filter;
use crate::filter::sources::function_pieces::PieceBlocks;
use crate::query::{ContainerId, EntityList, QueryError, TimeRange, TypeId, VariableSample};

/// A variable of a group, summed over the members.
pub(super) struct GroupVariable {
    pub(super) container: ContainerId,
    pub(super) ty: TypeId,
    /// Number of its first sample.
    pub(super) base: u32,
    pub(super) steps: PieceBlocks,
}

impl GroupVariable {
    /// The samples of the sum that overlap a time range.
    pub(super) fn samples(
        &self,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<VariableSample>, QueryError> {
        entity_filter::check(time_range, 1)?;
        self.steps.samples(self.base, time_range, limit)
    }
}
