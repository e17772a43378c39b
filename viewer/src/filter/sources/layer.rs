//! [`FilterLayer`]: a source that wraps another source and defines only the differences.
//!
//! Every layer is a [`TimelineSource`]. A new filter implements [`FilterLayer`] for a type and
//! overrides the queries that differ.

use std::sync::Arc;

use crate::query::{
    self, ContainerId, ContainerInfo, EntityFacts, EntityId, EntityList, EventCount, EventEntity, FirstFreeNumbers,
    LinkEntity, LinkVisitor, MixtureCells, NestedTime, OpenLinkEntity, OperationPart, QueryError, SeriesColumn,
    StateEntity, StateLaneId, TimeRange, TimelineSource, TraceSummary, TypeId, TypeModel, ValueId, ValueRange,
    VariableSample, counts,
    entity_facts::number_of_facts,
    nested_times::{self, NestedLaneGroup},
};

/// The queries of [`TimelineSource`]. The inner source answers each query that is not overridden.
///
/// Invariants: ids of types, values and containers of the inner source keep their meaning. A layer
/// that omits something from one answer omits it from all answers. The layer's own entities have
/// numbers from [`TimelineSource::free_numbers`] upwards.
///
/// ```
/// use std::sync::Arc;
///
/// use tumit_viewer::filter::FilterLayer;
/// use tumit_viewer::query::{TimelineSource, TraceSummary};
///
/// /// Shows a trace under another name.
/// struct Renamed(Arc<dyn TimelineSource>);
///
/// impl FilterLayer for Renamed {
///     fn inner_source(&self) -> &dyn TimelineSource {
///         self.0.as_ref()
///     }
///
///     fn summary(&self) -> TraceSummary {
///         TraceSummary { name: "baseline".to_owned(), ..self.0.summary() }
///     }
/// }
///
/// # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/header.paje"));
/// # let body = "0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n6 0 t 0 T main\n\
/// #             11 0 t S w\n14 2 t S\n7 3 T t\n";
/// # let trace = format!("{header}{body}");
/// # let store = tumit_viewer::store::TraceStore::from_paje("example", trace.as_bytes())?;
/// let renamed: Arc<dyn TimelineSource> = Arc::new(Renamed(Arc::new(store)));
/// assert_eq!(renamed.summary().name, "baseline");
/// assert_eq!(renamed.containers().len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[expect(missing_docs, reason = "TimelineSource describes the methods")]
#[expect(clippy::missing_errors_doc, reason = "TimelineSource describes the methods")]
pub trait FilterLayer: Send + Sync {
    fn inner_source(&self) -> &dyn TimelineSource;

    /// Whether states, events and links of a type are the same as in the inner source. If so, the
    /// inner source also answers queries for sums and counts. Otherwise, these are computed from
    /// the layer's lists.
    fn keeps_entities(&self, ty: TypeId) -> bool {
        let _ = ty;
        false
    }

    /// The inner source, for queries that take work. A layer may override this to reject or count
    /// them all.
    fn checked_source(&self) -> Result<&dyn TimelineSource, QueryError> {
        Ok(self.inner_source())
    }

    fn summary(&self) -> TraceSummary {
        self.inner_source().summary()
    }

    fn model(&self) -> Arc<TypeModel> {
        self.inner_source().model()
    }

    fn containers(&self) -> Arc<Vec<ContainerInfo>> {
        self.inner_source().containers()
    }

    fn depths(&self, container: ContainerId, ty: TypeId) -> u32 {
        self.inner_source().depths(container, ty)
    }

    fn state_lane_groups(&self) -> Vec<NestedLaneGroup> {
        nested_times::lane_groups(
            &self.model(),
            &self.containers(),
            |_| None,
            |container, ty| FilterLayer::depths(self, container, ty),
        )
    }

    fn cells(&self, lanes: &[StateLaneId], time_range: TimeRange, columns: u32) -> Result<MixtureCells, QueryError> {
        self.checked_source()?.cells(lanes, time_range, columns)
    }

    /// Unlike the others, this default is computed from [`Self::cells`], unless the types are
    /// [kept](Self::keeps_entities). So a layer that overrides `cells` need not override this.
    fn largest_shares(
        &self,
        lanes: &[StateLaneId],
        time_range: TimeRange,
        columns: u32,
        limit: usize,
    ) -> Result<MixtureCells, QueryError> {
        if lanes.iter().all(|lane| self.keeps_entities(lane.ty)) {
            return self.checked_source()?.largest_shares(lanes, time_range, columns, limit);
        }
        let mut cells = self.cells(lanes, time_range, columns)?;
        cells.cells.iter_mut().for_each(|cell| cell.keep_largest(limit));
        Ok(cells)
    }

    /// Computed from [`Self::cells`], as [`Self::largest_shares`] is.
    fn times(&self, lanes: &[StateLaneId], time_range: TimeRange) -> Result<Vec<(ValueId, i64)>, QueryError> {
        if lanes.iter().all(|lane| self.keeps_entities(lane.ty)) {
            return self.checked_source()?.times(lanes, time_range);
        }
        query::times(|lanes| self.cells(lanes, time_range, 1), lanes)
    }

    /// Computed from [`Self::states`], as [`Self::largest_shares`] is.
    fn nested_times(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
    ) -> Result<Vec<NestedTime>, QueryError> {
        if self.keeps_entities(ty) {
            return self.checked_source()?.nested_times(container, ty, time_range);
        }
        let nesting = NestedLaneGroup { container, ty, depths: self.depths(container, ty) };
        nested_times::sweep(|lane, time_range, limit| self.states(lane, time_range, limit), nesting, time_range)
    }

    fn states(
        &self,
        lane: StateLaneId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<StateEntity>, QueryError> {
        self.checked_source()?.states(lane, time_range, limit)
    }

    fn events(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<EventEntity>, QueryError> {
        self.checked_source()?.events(container, ty, time_range, limit)
    }

    fn links(&self, ty: TypeId, time_range: TimeRange, limit: usize) -> Result<EntityList<LinkEntity>, QueryError> {
        self.checked_source()?.links(ty, time_range, limit)
    }

    fn open_links(&self, ty: TypeId, time_range: TimeRange) -> Result<Vec<OpenLinkEntity>, QueryError> {
        self.checked_source()?.open_links(ty, time_range)
    }

    /// Computed from [`Self::events`], as [`Self::largest_shares`] is from cells.
    fn event_counts(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        columns: u32,
        limit: usize,
    ) -> Result<Vec<EventCount>, QueryError> {
        if self.keeps_entities(ty) {
            return self.checked_source()?.event_counts(container, ty, time_range, columns, limit);
        }
        counts::events(|time_range, limit| self.events(container, ty, time_range, limit), time_range, columns, limit)
    }

    /// Computed from [`Self::links`], as [`Self::largest_shares`] is from cells.
    fn link_counts(
        &self,
        ty: TypeId,
        time_range: TimeRange,
        exponent: u8,
        visit: &mut LinkVisitor<'_>,
    ) -> Result<(), QueryError> {
        if self.keeps_entities(ty) {
            return self.checked_source()?.link_counts(ty, time_range, exponent, visit);
        }
        counts::links(|time_range, limit| self.links(ty, time_range, limit), time_range, exponent, visit)
    }

    fn samples(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<VariableSample>, QueryError> {
        self.checked_source()?.samples(container, ty, time_range, limit)
    }

    fn series(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        columns: u32,
    ) -> Result<Vec<Option<SeriesColumn>>, QueryError> {
        self.checked_source()?.series(container, ty, time_range, columns)
    }

    fn value_range(&self, ty: TypeId) -> Option<ValueRange> {
        self.inner_source().value_range(ty)
    }

    fn facts(&self, id: EntityId) -> Result<EntityFacts, QueryError> {
        self.checked_source()?.facts(id)
    }

    /// Computed from [`Self::facts`]. A layer that keeps the fields of the entities that it lists
    /// can leave this to the inner source.
    fn number_fields(&self, ids: &[EntityId], field: &str) -> Result<Vec<Option<f64>>, QueryError> {
        ids.iter().map(|id| Ok(number_of_facts(&self.facts(*id)?, field))).collect()
    }

    fn related_entities(&self, id: EntityId, limit: usize) -> Result<Vec<EntityId>, QueryError> {
        self.checked_source()?.related_entities(id, limit)
    }

    fn operation_parts(&self, id: EntityId) -> Result<Vec<OperationPart>, QueryError> {
        self.checked_source()?.operation_parts(id)
    }

    fn extent(&self) -> TimeRange {
        self.inner_source().extent()
    }

    fn members(&self, container: ContainerId) -> Vec<ContainerInfo> {
        self.inner_source().members(container)
    }

    fn members_with(&self, container: ContainerId, ty: TypeId) -> Vec<ContainerInfo> {
        self.inner_source().members_with(container, ty)
    }

    fn shows(&self, value: ValueId) -> bool {
        self.inner_source().shows(value)
    }

    fn is_dense(&self, lane: StateLaneId, time_range: TimeRange, limit: usize) -> Result<bool, QueryError> {
        self.checked_source()?.is_dense(lane, time_range, limit)
    }

    fn free_numbers(&self) -> FirstFreeNumbers {
        self.inner_source().free_numbers()
    }
}

/// The related entities of the inner source that a layer contains: those with facts.
pub(super) fn visible_related_entities(
    layer: &impl FilterLayer,
    id: EntityId,
    limit: usize,
) -> Result<Vec<EntityId>, QueryError> {
    FilterLayer::facts(layer, id)?;
    let mut ids = layer.inner_source().related_entities(id, limit.saturating_mul(4))?;
    ids.retain(|&id| FilterLayer::facts(layer, id).is_ok());
    ids.truncate(limit);
    Ok(ids)
}

/// The parts of an operation of the inner source that a layer contains.
pub(super) fn visible_operation_parts(
    layer: &impl FilterLayer,
    id: EntityId,
) -> Result<Vec<OperationPart>, QueryError> {
    FilterLayer::facts(layer, id)?;
    let mut parts = layer.inner_source().operation_parts(id)?;
    parts.retain(|part| FilterLayer::facts(layer, part.id).is_ok());
    Ok(parts)
}

impl<L: FilterLayer> TimelineSource for L {
    fn summary(&self) -> TraceSummary {
        FilterLayer::summary(self)
    }

    fn model(&self) -> Arc<TypeModel> {
        FilterLayer::model(self)
    }

    fn containers(&self) -> Arc<Vec<ContainerInfo>> {
        FilterLayer::containers(self)
    }

    fn depths(&self, container: ContainerId, ty: TypeId) -> u32 {
        FilterLayer::depths(self, container, ty)
    }

    fn state_lane_groups(&self) -> Vec<NestedLaneGroup> {
        FilterLayer::state_lane_groups(self)
    }

    fn cells(&self, lanes: &[StateLaneId], time_range: TimeRange, columns: u32) -> Result<MixtureCells, QueryError> {
        FilterLayer::cells(self, lanes, time_range, columns)
    }

    fn largest_shares(
        &self,
        lanes: &[StateLaneId],
        time_range: TimeRange,
        columns: u32,
        limit: usize,
    ) -> Result<MixtureCells, QueryError> {
        FilterLayer::largest_shares(self, lanes, time_range, columns, limit)
    }

    fn times(&self, lanes: &[StateLaneId], time_range: TimeRange) -> Result<Vec<(ValueId, i64)>, QueryError> {
        FilterLayer::times(self, lanes, time_range)
    }

    fn nested_times(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
    ) -> Result<Vec<NestedTime>, QueryError> {
        FilterLayer::nested_times(self, container, ty, time_range)
    }

    fn states(
        &self,
        lane: StateLaneId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<StateEntity>, QueryError> {
        FilterLayer::states(self, lane, time_range, limit)
    }

    fn events(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<EventEntity>, QueryError> {
        FilterLayer::events(self, container, ty, time_range, limit)
    }

    fn links(&self, ty: TypeId, time_range: TimeRange, limit: usize) -> Result<EntityList<LinkEntity>, QueryError> {
        FilterLayer::links(self, ty, time_range, limit)
    }

    fn open_links(&self, ty: TypeId, time_range: TimeRange) -> Result<Vec<OpenLinkEntity>, QueryError> {
        FilterLayer::open_links(self, ty, time_range)
    }

    fn event_counts(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        columns: u32,
        limit: usize,
    ) -> Result<Vec<EventCount>, QueryError> {
        FilterLayer::event_counts(self, container, ty, time_range, columns, limit)
    }

    fn link_counts(
        &self,
        ty: TypeId,
        time_range: TimeRange,
        exponent: u8,
        visit: &mut LinkVisitor<'_>,
    ) -> Result<(), QueryError> {
        FilterLayer::link_counts(self, ty, time_range, exponent, visit)
    }

    fn samples(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<VariableSample>, QueryError> {
        FilterLayer::samples(self, container, ty, time_range, limit)
    }

    fn series(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        columns: u32,
    ) -> Result<Vec<Option<SeriesColumn>>, QueryError> {
        FilterLayer::series(self, container, ty, time_range, columns)
    }

    fn value_range(&self, ty: TypeId) -> Option<ValueRange> {
        FilterLayer::value_range(self, ty)
    }

    fn facts(&self, id: EntityId) -> Result<EntityFacts, QueryError> {
        FilterLayer::facts(self, id)
    }

    fn number_fields(&self, ids: &[EntityId], field: &str) -> Result<Vec<Option<f64>>, QueryError> {
        FilterLayer::number_fields(self, ids, field)
    }

    fn related_entities(&self, id: EntityId, limit: usize) -> Result<Vec<EntityId>, QueryError> {
        FilterLayer::related_entities(self, id, limit)
    }

    fn operation_parts(&self, id: EntityId) -> Result<Vec<OperationPart>, QueryError> {
        FilterLayer::operation_parts(self, id)
    }

    fn extent(&self) -> TimeRange {
        FilterLayer::extent(self)
    }

    fn members(&self, container: ContainerId) -> Vec<ContainerInfo> {
        FilterLayer::members(self, container)
    }

    fn members_with(&self, container: ContainerId, ty: TypeId) -> Vec<ContainerInfo> {
        FilterLayer::members_with(self, container, ty)
    }

    fn shows(&self, value: ValueId) -> bool {
        FilterLayer::shows(self, value)
    }

    fn is_dense(&self, lane: StateLaneId, time_range: TimeRange, limit: usize) -> Result<bool, QueryError> {
        FilterLayer::is_dense(self, lane, time_range, limit)
    }

    fn free_numbers(&self) -> FirstFreeNumbers {
        FilterLayer::free_numbers(self)
    }
}
