//! [`TimelineSource`]: the trait of all queries.

use std::collections::BTreeMap;
use std::sync::Arc;

use tumit_paje::time_range::TimeRange;
use tumit_paje::{ContainerId, TypeId, ValueId};

use super::counts::{self, EventCount, LinkVisitor};
use super::entities::{
    EntityFacts, EntityId, EntityList, EventEntity, FirstFreeNumbers, LinkEntity, OpenLinkEntity, OperationPart,
    SeriesColumn, StateEntity, StateLaneId, VariableSample,
};
use super::entity_facts::number_of_facts;
use super::error::QueryError;
use super::mixture_cells::MixtureCells;
use super::nested_times::{self, NestedLaneGroup, NestedTime};
use super::trace_description::{ContainerInfo, TraceSummary, TypeModel};
use super::value_range::ValueRange;

/// Number of lanes with all their values in memory at a time. Each lane may have thousands of
/// values.
const LANES_AT_ONCE: usize = 64;

/// Total time of each value in some lanes, from their cells of one column.
pub(crate) fn times(
    cells: impl Fn(&[StateLaneId]) -> Result<MixtureCells, QueryError>,
    lanes: &[StateLaneId],
) -> Result<Vec<(ValueId, i64)>, QueryError> {
    let mut times = BTreeMap::new();
    for chunk in lanes.chunks(LANES_AT_ONCE) {
        for &(value, nanos) in cells(chunk)?.cells.iter().flat_map(|cell| &cell.shares) {
            *times.entry(value).or_insert(0) += nanos;
        }
    }
    Ok(times.into_iter().collect())
}

/// The queries of views. Each answer is a pure function of the source's state, which
/// [`TraceSummary::generation`] identifies.
pub trait TimelineSource: Send + Sync {
    /// Returns the properties of the whole trace.
    fn summary(&self) -> TraceSummary;

    /// Returns the type tree.
    fn model(&self) -> Arc<TypeModel>;

    /// Returns all containers, depth first. Children are in the order in which they are drawn.
    fn containers(&self) -> Arc<Vec<ContainerInfo>>;

    /// Returns the number of nesting depths of the states of `ty` in `container`; 0 if it has none.
    fn depths(&self, container: ContainerId, ty: TypeId) -> u32;

    /// Returns the types of the states, events and variables that a container may have, in order of
    /// their ids. `None` if the source does not know them. The caller must then try all types. A
    /// trace may have many more types than one container has.
    fn types_in(&self, container: ContainerId) -> Option<Vec<TypeId>> {
        let _ = container;
        None
    }

    /// Returns the state types of each container that has states of them, with their numbers of
    /// nesting depths. The answer equals that of [`Self::depths`] for all containers and types. An
    /// index gives it much faster.
    fn state_lane_groups(&self) -> Vec<NestedLaneGroup> {
        let types_in = |container| self.types_in(container);
        nested_times::lane_groups(&self.model(), &self.containers(), types_in, |container, ty| {
            self.depths(container, ty)
        })
    }

    /// Returns the exact mixture of values in each column of each lane.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn cells(&self, lanes: &[StateLaneId], time_range: TimeRange, columns: u32) -> Result<MixtureCells, QueryError>;

    /// As [`Self::cells`], with at most `limit` shares in a cell: exactly the largest, and the sum
    /// of the others.
    ///
    /// If lanes have thousands of values, this costs much less than `cells`, above all in
    /// [aligned](TimeRange::align_to_columns) columns.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn largest_shares(
        &self,
        lanes: &[StateLaneId],
        time_range: TimeRange,
        columns: u32,
        limit: usize,
    ) -> Result<MixtureCells, QueryError> {
        let mut cells = self.cells(lanes, time_range, columns)?;
        cells.cells.iter_mut().for_each(|cell| cell.keep_largest(limit));
        Ok(cells)
    }

    /// Returns the total time of each value in some lanes, by value. Only values that occur are
    /// listed.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn times(&self, lanes: &[StateLaneId], time_range: TimeRange) -> Result<Vec<(ValueId, i64)>, QueryError> {
        times(|lanes| self.cells(lanes, time_range, 1), lanes)
    }

    /// Returns the total and self time of each value of a state type in a container, over all
    /// depths. Only values that occur are listed. See [`NestedTime`].
    ///
    /// # Errors
    /// See [`QueryError`].
    fn nested_times(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
    ) -> Result<Vec<NestedTime>, QueryError> {
        let nesting = NestedLaneGroup { container, ty, depths: self.depths(container, ty) };
        nested_times::sweep(|lane, time_range, limit| self.states(lane, time_range, limit), nesting, time_range)
    }

    /// Returns the states of a lane that overlap the time range, by start.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn states(
        &self,
        lane: StateLaneId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<StateEntity>, QueryError>;

    /// Returns the point events in the time range, by timestamp.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn events(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<EventEntity>, QueryError>;

    /// Returns the links of a type that overlap the time range, by the earlier of their two
    /// timestamps.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn links(&self, ty: TypeId, time_range: TimeRange, limit: usize) -> Result<EntityList<LinkEntity>, QueryError>;

    /// Returns the links of a type that never end, and that start before the end of a time range,
    /// by start. They are pending until the end of the trace. [`Self::links`] does not list them.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn open_links(&self, ty: TypeId, time_range: TimeRange) -> Result<Vec<OpenLinkEntity>, QueryError> {
        let _ = (ty, time_range);
        Ok(Vec::new())
    }

    /// Returns the number of point events in each column, in total and for the `limit` most
    /// frequent values.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn event_counts(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        columns: u32,
        limit: usize,
    ) -> Result<Vec<EventCount>, QueryError> {
        counts::events(|time_range, limit| self.events(container, ty, time_range, limit), time_range, columns, limit)
    }

    /// Counts the links of a type that overlap the time range, each once.
    /// A link is counted together with links that are equal after both timestamps are rounded down
    /// to multiples of two to the power of `exponent` nanoseconds. The counts are unordered, and
    /// equal links may appear in several counts.
    ///
    /// # Errors
    /// See [`QueryError`], and the errors of `visit`.
    fn link_counts(
        &self,
        ty: TypeId,
        time_range: TimeRange,
        exponent: u8,
        visit: &mut LinkVisitor<'_>,
    ) -> Result<(), QueryError> {
        counts::links(|time_range, limit| self.links(ty, time_range, limit), time_range, exponent, visit)
    }

    /// Returns the values of a variable that overlap the time range.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn samples(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<VariableSample>, QueryError>;

    /// Returns a variable column by column; `None` if a column has no value.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn series(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        columns: u32,
    ) -> Result<Vec<Option<SeriesColumn>>, QueryError>;

    /// Returns the smallest and largest value of a variable type over the whole trace and all
    /// containers.
    fn value_range(&self, ty: TypeId) -> Option<ValueRange>;

    /// Returns all facts of one entity.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn facts(&self, id: EntityId) -> Result<EntityFacts, QueryError>;

    /// As [`Self::facts`], for callers that need only fields and source location.
    /// Paths, and the fields that contain paths, may be empty. In a trace with long paths, they
    /// take most of the time.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn facts_without_paths(&self, id: EntityId) -> Result<EntityFacts, QueryError> {
        self.facts(id)
    }

    /// Returns the number in a field of each of some entities that this source lists: of the first
    /// field with this name, in upper or lower case, as [`Self::facts`] lists it. `None` if there
    /// is no such field, or it is no number.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn number_fields(&self, ids: &[EntityId], field: &str) -> Result<Vec<Option<f64>>, QueryError> {
        ids.iter().map(|id| Ok(number_of_facts(&self.facts(*id)?, field))).collect()
    }

    /// Returns the entities that are related to one.
    /// These are the states at which a reference field points at that time, and the reverse; the
    /// links that start or end in a state; and the states at both endpoints of a link.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn related_entities(&self, id: EntityId, limit: usize) -> Result<Vec<EntityId>, QueryError>;

    /// Returns the parts of the collective operation of a state, this state included, by the time
    /// at which they enter. The list is empty if the entity is no part of a known operation.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn operation_parts(&self, id: EntityId) -> Result<Vec<OperationPart>, QueryError> {
        let _ = id;
        Ok(Vec::new())
    }

    /// Returns the time range from the first timestamp to the last. It equals that of the summary,
    /// without counting entities.
    fn extent(&self) -> TimeRange {
        self.summary().extent
    }

    /// Returns the members of a container that is a group. A container of the trace has none.
    ///
    /// A lane of a group contains the states of all its members. If the members exist at the same
    /// time, their states may overlap. A cell may then contain up to its width times the number of
    /// members.
    fn members(&self, container: ContainerId) -> Vec<ContainerInfo> {
        let _ = container;
        Vec::new()
    }

    /// Returns the members of a container with regard to entities of one type. There are none if
    /// the entities belong to the container itself, as the results of a reduction over a group do.
    fn members_with(&self, container: ContainerId, ty: TypeId) -> Vec<ContainerInfo> {
        let _ = ty;
        self.members(container)
    }

    /// Whether entities of a value may appear. They may not if a filter removes them.
    fn shows(&self, value: ValueId) -> bool {
        let _ = value;
        true
    }

    /// Whether a lane has more than `limit` states in a time range, so that it is better drawn from
    /// its cells.
    /// A filter may also return `true` if counting would cost more than drawing. Cells are exact in
    /// any case.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn is_dense(&self, lane: StateLaneId, time_range: TimeRange, limit: usize) -> Result<bool, QueryError> {
        Ok(self.states(lane, time_range, 0)?.total > limit as u64)
    }

    /// Returns the first numbers that no entity of this source has. A filter numbers its own
    /// entities from there.
    fn free_numbers(&self) -> FirstFreeNumbers {
        let summary = self.summary();
        let number = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        FirstFreeNumbers { state: number(summary.states), sample: number(summary.samples) }
    }
}
