//! [`GroupSource`]: a source in which groups replace containers, and its look-ups.

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;

use super::group_variable::GroupVariable;
use crate::filter::sources::variable_range::VariableRanges;
use crate::query::{
    ContainerId, ContainerInfo, FirstFreeNumbers, QueryError, TimelineSource, TraceSummary, TypeModel, container_tree,
};

/// A group and its members.
pub(super) struct ContainerGroup {
    pub(super) info: ContainerInfo,
    pub(super) members: Vec<ContainerInfo>,
}

pub(super) struct GroupSource {
    pub(super) inner: Arc<dyn TimelineSource>,
    pub(super) model: Arc<TypeModel>,
    pub(super) groups: FxHashMap<ContainerId, ContainerGroup>,
    /// The group of each member.
    pub(super) group_of_member: FxHashMap<ContainerId, ContainerId>,
    pub(super) list: Arc<Vec<ContainerInfo>>,
    pub(super) positions: FxHashMap<ContainerId, usize>,
    pub(super) sums: Vec<GroupVariable>,
    pub(super) free_numbers: FirstFreeNumbers,
    pub(super) summary: OnceLock<TraceSummary>,
    pub(super) ranges: VariableRanges,
}

impl GroupSource {
    /// The inner containers that a group represents; empty for other containers. It is an error for
    /// members, because they are no longer visible.
    pub(super) fn members_of(&self, container: ContainerId) -> Result<&[ContainerInfo], QueryError> {
        match self.groups.get(&container) {
            Some(group) => Ok(&group.members),
            None if self.group_of_member.contains_key(&container) => Err(QueryError::Unknown { kind: "container" }),
            None => Ok(&[]),
        }
    }

    /// The group of a member; otherwise, the container itself.
    pub(super) fn group_of(&self, container: ContainerId) -> ContainerId {
        self.group_of_member.get(&container).copied().unwrap_or(container)
    }

    /// The path of a container in the grouped trace.
    pub(super) fn path(&self, container: ContainerId) -> Vec<String> {
        let index = self.positions.get(&container);
        index.map_or_else(Vec::new, |&index| container_tree::path(&self.list, &self.positions, index))
    }
}
