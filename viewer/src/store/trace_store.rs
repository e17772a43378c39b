//! The data of a [`TraceStore`], and the look-up of its lanes.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tumit_paje::{ContainerId, TypeId};

use super::details::DetailTable;
use super::links::StoreLinks;
use super::marks::StoreMarkLane;
use super::relations::{LinkEndIndex, OperationPartIndex, StateReferences};
use super::states::StoreStateLane;
use super::variables::StoreVariableLane;
use crate::query::{
    ContainerInfo, OpenLinkRow, QueryError, StateLaneId, TimeRange, TraceSummary, TypeModel, ValueRange,
};

/// The checkpoints of the nested states of one container and type.
#[derive(Debug)]
pub(crate) struct NestedCheckpoints {
    pub(crate) container: ContainerId,
    pub(crate) ty: TypeId,
    /// See [`Checkpoints`](crate::query::nested_times::Checkpoints).
    pub(crate) words: Vec<u64>,
}

/// A simulated trace.
///
/// ```
/// use tumit_viewer::query::TimelineSource;
/// use tumit_viewer::store::TraceStore;
///
/// # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/header.paje"));
/// # let body = "0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n6 0 t 0 T main\n\
/// #             11 0 t S w\n14 2 t S\n7 3 T t\n";
/// # let text = format!("{header}{body}");
/// let store = TraceStore::from_paje("example", text.as_bytes())?;
/// assert_eq!(store.containers()[1].name, "main");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TraceStore {
    pub(crate) summary: TraceSummary,
    pub(crate) model: Arc<TypeModel>,
    pub(crate) containers: Arc<Vec<ContainerInfo>>,
    /// Position in `containers` by id; `u32::MAX` if there is no such container.
    pub(crate) positions: Vec<u32>,
    /// Sorted by container, type and depth.
    pub(crate) states: Vec<StoreStateLane>,
    /// Checkpoints of nested states, sorted by container and type, for places with many states.
    pub(crate) nested_checkpoints: Vec<NestedCheckpoints>,
    /// Sorted by container and type.
    pub(crate) marks: Vec<StoreMarkLane>,
    /// Sorted by container and type.
    pub(crate) variables: Vec<StoreVariableLane>,
    /// Smallest and largest value of each variable type with values.
    pub(crate) ranges: FxHashMap<TypeId, ValueRange>,
    /// Sorted by type.
    pub(crate) links: Vec<StoreLinks>,
    /// The links that never end. Sorted by type and start.
    pub(crate) open_links: Vec<OpenLinkRow>,
    pub(crate) details: DetailTable,
    /// Rows of `details` by container id.
    pub(crate) container_details: Vec<u32>,
    pub(crate) references: StateReferences,
    pub(crate) ends: LinkEndIndex,
    pub(crate) parts: OperationPartIndex,
}

impl TraceStore {
    pub(crate) fn position(&self, container: ContainerId) -> Result<usize, QueryError> {
        match self.positions.get(container.index()) {
            Some(&position) if position != u32::MAX => Ok(position as usize),
            _ => Err(QueryError::Unknown { kind: "container" }),
        }
    }

    pub(crate) fn check(&self, container: ContainerId, ty: TypeId, time_range: TimeRange) -> Result<(), QueryError> {
        self.position(container)?;
        self.check_type(ty)?;
        check_time_range(time_range)
    }

    pub(crate) fn check_type(&self, ty: TypeId) -> Result<(), QueryError> {
        if ty.index() < self.model.types.len() { Ok(()) } else { Err(QueryError::Unknown { kind: "type" }) }
    }

    /// All state lanes of a container, of all types.
    pub(crate) fn state_lanes(&self, container: ContainerId) -> &[StoreStateLane] {
        let first = self.states.partition_point(|lane| lane.container < container);
        let last = self.states.partition_point(|lane| lane.container <= container);
        &self.states[first..last]
    }

    pub(crate) fn state_lane(&self, lane: StateLaneId) -> Option<&StoreStateLane> {
        let key = (lane.container, lane.ty, lane.depth);
        let index = self.states.binary_search_by_key(&key, |lane| (lane.container, lane.ty, lane.depth)).ok()?;
        Some(&self.states[index])
    }

    pub(crate) fn variable(&self, container: ContainerId, ty: TypeId) -> Option<&StoreVariableLane> {
        let index = self.variables.binary_search_by_key(&(container, ty), |lane| (lane.container, lane.ty)).ok()?;
        Some(&self.variables[index])
    }

    pub(crate) fn link_table(&self, ty: TypeId) -> Option<&StoreLinks> {
        let index = self.links.binary_search_by_key(&ty, |table| table.ty).ok()?;
        Some(&self.links[index])
    }
}

pub(crate) fn check_time_range(time_range: TimeRange) -> Result<(), QueryError> {
    if time_range.from < time_range.to { Ok(()) } else { Err(QueryError::EmptyTimeRange) }
}
