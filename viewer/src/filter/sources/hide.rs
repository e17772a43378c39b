//! [`HideSource`]: a source without some types and some containers. Used by selections by type and
//! by container, by the best containers, and by a cut.
//!
//! Cost: none for the remaining types and containers. However, if containers are hidden, links are
//! tested one by one.

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashSet;

use super::entity_filter::type_of;
use super::filtered_summary;
use super::layer::{self, FilterLayer};
use super::variable_range::{self, VariableRanges};
use crate::query::{
    ContainerId, ContainerInfo, EntityFacts, EntityId, EntityList, EventCount, EventEntity, FirstFreeNumbers,
    GlobalNanos, LinkEntity, LinkVisitor, MixtureCell, MixtureCells, NestedTime, OpenLinkEntity, OperationPart,
    PajeTypeKind, QueryError, SeriesColumn, StateEntity, StateLaneId, TimeRange, TimelineSource, TraceSummary, TypeId,
    TypeModel, ValueId, ValueRange, VariableSample,
};
use crate::query::{container_tree, entity_walk};

pub(crate) struct HideSource {
    inner: Arc<dyn TimelineSource>,
    model: Arc<TypeModel>,
    list: Arc<Vec<ContainerInfo>>,
    visible_containers: FxHashSet<ContainerId>,
    /// Whether containers are hidden, so that links may be hidden too.
    hides_containers: bool,
    /// By type: whether it is hidden.
    is_hidden: Vec<bool>,
    summary: OnceLock<TraceSummary>,
    ranges: VariableRanges,
}

impl HideSource {
    /// Keeps the types for which `ty` is true, and the containers at the positions for which
    /// `container` is true, with all containers above them.
    pub(crate) fn new(
        inner: Arc<dyn TimelineSource>,
        ty: impl Fn(TypeId) -> bool,
        container: impl Fn(usize) -> bool,
    ) -> Self {
        let (model, list) = (inner.model(), inner.containers());
        let positions = container_tree::positions(&list);
        let mut is_visible = vec![false; list.len()];
        for index in (0..list.len()).filter(|&index| list[index].depth == 0 || container(index)) {
            let mut ancestor = Some(index);
            while let Some(index) = ancestor.filter(|&index| !is_visible[index]) {
                is_visible[index] = true;
                ancestor = positions.get(&list[index].parent).copied();
            }
        }
        let visible_containers: Vec<ContainerInfo> =
            list.iter().zip(&is_visible).filter(|(_, is_visible)| **is_visible).map(|(info, _)| info.clone()).collect();
        Self {
            hides_containers: visible_containers.len() < list.len(),
            visible_containers: visible_containers.iter().map(|info| info.id).collect(),
            list: Arc::new(visible_containers),
            is_hidden: model.types.iter().map(|info| !ty(info.id)).collect(),
            model,
            inner,
            summary: OnceLock::new(),
            ranges: VariableRanges::default(),
        }
    }

    fn hides(&self, ty: TypeId) -> bool {
        self.is_hidden.get(ty.index()).copied().unwrap_or(false)
    }

    /// Whether a type is hidden; an error if the container is hidden.
    fn is_type_hidden(&self, container: ContainerId, ty: TypeId) -> Result<bool, QueryError> {
        if self.visible_containers.contains(&container) {
            Ok(self.hides(ty))
        } else {
            Err(QueryError::Unknown { kind: "container" })
        }
    }

    /// The lanes that are not hidden.
    fn visible_lanes(&self, lanes: &[StateLaneId]) -> Result<Vec<StateLaneId>, QueryError> {
        let mut lanes_of_types = Vec::with_capacity(lanes.len());
        for lane in lanes {
            if !self.is_type_hidden(lane.container, lane.ty)? {
                lanes_of_types.push(*lane);
            }
        }
        Ok(lanes_of_types)
    }

    fn shows_both(&self, start: ContainerId, end: ContainerId) -> bool {
        self.visible_containers.contains(&start) && self.visible_containers.contains(&end)
    }

    /// Whether both endpoints of a link remain. The link is searched at its timestamp, because
    /// facts contain no ids of endpoints.
    fn has_link(&self, id: EntityId, facts: &EntityFacts, ty: TypeId) -> Result<bool, QueryError> {
        let timestamp = facts.life.from.min(facts.life.to);
        let instant = TimeRange { from: timestamp, to: GlobalNanos(timestamp.0.saturating_add(1)) };
        let mut is_linked = false;
        entity_walk::links(self.inner_source(), ty, instant, |link| {
            is_linked |= link.id == id && self.shows_both(link.start, link.end);
            Ok(())
        })?;
        Ok(is_linked)
    }
}

pub(crate) fn empty_list<T>() -> EntityList<T> {
    EntityList { total: 0, items: Vec::new() }
}

impl FilterLayer for HideSource {
    fn inner_source(&self) -> &dyn TimelineSource {
        self.inner.as_ref()
    }

    fn summary(&self) -> TraceSummary {
        self.summary.get_or_init(|| filtered_summary::summary(self, self.inner.summary())).clone()
    }

    fn containers(&self) -> Arc<Vec<ContainerInfo>> {
        Arc::clone(&self.list)
    }

    fn depths(&self, container: ContainerId, ty: TypeId) -> u32 {
        if matches!(self.is_type_hidden(container, ty), Ok(false)) { self.inner.depths(container, ty) } else { 0 }
    }

    fn cells(&self, lanes: &[StateLaneId], time_range: TimeRange, columns: u32) -> Result<MixtureCells, QueryError> {
        FilterLayer::largest_shares(self, lanes, time_range, columns, usize::MAX)
    }

    fn largest_shares(
        &self,
        lanes: &[StateLaneId],
        time_range: TimeRange,
        columns: u32,
        limit: usize,
    ) -> Result<MixtureCells, QueryError> {
        crate::filter::sources::entity_filter::check(time_range, columns)?;
        let visible_lanes = self.visible_lanes(lanes)?;
        if visible_lanes.len() == lanes.len() {
            return self.inner.largest_shares(lanes, time_range, columns, limit);
        }
        let mut cells_of_lanes =
            self.inner.largest_shares(&visible_lanes, time_range, columns, limit)?.cells.into_iter();
        let mut cells = Vec::with_capacity(lanes.len().saturating_mul(columns as usize));
        for lane in lanes {
            if self.hides(lane.ty) {
                cells.extend((0..columns).map(|_| MixtureCell::default()));
            } else {
                cells.extend(cells_of_lanes.by_ref().take(columns as usize));
            }
        }
        Ok(MixtureCells { columns, cells })
    }

    fn times(&self, lanes: &[StateLaneId], time_range: TimeRange) -> Result<Vec<(ValueId, i64)>, QueryError> {
        crate::filter::sources::entity_filter::check(time_range, 1)?;
        self.inner.times(&self.visible_lanes(lanes)?, time_range)
    }

    fn nested_times(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
    ) -> Result<Vec<NestedTime>, QueryError> {
        if self.is_type_hidden(container, ty)? {
            Ok(Vec::new())
        } else {
            self.inner.nested_times(container, ty, time_range)
        }
    }

    fn states(
        &self,
        lane: StateLaneId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<StateEntity>, QueryError> {
        if self.is_type_hidden(lane.container, lane.ty)? {
            Ok(empty_list())
        } else {
            self.inner.states(lane, time_range, limit)
        }
    }

    fn events(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<EventEntity>, QueryError> {
        if self.is_type_hidden(container, ty)? {
            Ok(empty_list())
        } else {
            self.inner.events(container, ty, time_range, limit)
        }
    }

    fn links(&self, ty: TypeId, time_range: TimeRange, limit: usize) -> Result<EntityList<LinkEntity>, QueryError> {
        if self.hides(ty) {
            return Ok(empty_list());
        }
        if !self.hides_containers {
            return self.inner.links(ty, time_range, limit);
        }
        let mut list = empty_list();
        entity_walk::links(self.inner_source(), ty, time_range, |link| {
            if self.shows_both(link.start, link.end) {
                list.total += 1;
                if list.items.len() < limit {
                    list.items.push(*link);
                }
            }
            Ok(())
        })?;
        Ok(list)
    }

    fn open_links(&self, ty: TypeId, time_range: TimeRange) -> Result<Vec<OpenLinkEntity>, QueryError> {
        if self.hides(ty) {
            return Ok(Vec::new());
        }
        let mut links = self.inner.open_links(ty, time_range)?;
        links.retain(|link| self.shows_both(link.start, link.destination.unwrap_or(link.start)));
        Ok(links)
    }

    fn event_counts(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        columns: u32,
        limit: usize,
    ) -> Result<Vec<EventCount>, QueryError> {
        if self.is_type_hidden(container, ty)? {
            crate::filter::sources::entity_filter::check(time_range, columns)?;
            return Ok(vec![EventCount::default(); columns as usize]);
        }
        self.inner.event_counts(container, ty, time_range, columns, limit)
    }

    fn link_counts(
        &self,
        ty: TypeId,
        time_range: TimeRange,
        exponent: u8,
        visit: &mut LinkVisitor<'_>,
    ) -> Result<(), QueryError> {
        if self.hides(ty) {
            return Ok(());
        }
        self.inner.link_counts(ty, time_range, exponent, &mut |count| {
            if !self.hides_containers || self.shows_both(count.start, count.end) { visit(count) } else { Ok(()) }
        })
    }

    fn samples(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<VariableSample>, QueryError> {
        if self.is_type_hidden(container, ty)? {
            Ok(empty_list())
        } else {
            self.inner.samples(container, ty, time_range, limit)
        }
    }

    fn series(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        columns: u32,
    ) -> Result<Vec<Option<SeriesColumn>>, QueryError> {
        if self.is_type_hidden(container, ty)? {
            Ok(vec![None; columns as usize])
        } else {
            self.inner.series(container, ty, time_range, columns)
        }
    }

    fn value_range(&self, ty: TypeId) -> Option<ValueRange> {
        if self.hides(ty) {
            return None;
        }
        if !self.hides_containers {
            return self.inner.value_range(ty);
        }
        self.ranges.of(ty, || variable_range::value_range(self.inner_source(), &self.list, ty, self.inner.extent()))
    }

    fn facts(&self, id: EntityId) -> Result<EntityFacts, QueryError> {
        let unknown = QueryError::Unknown { kind: "entity" };
        let facts = self.inner.facts(id)?;
        let ty = type_of(&self.model, &facts);
        let link = matches!(id, EntityId::Link(_));
        if let (EntityId::OpenLink(_), Some(ty)) = (id, ty) {
            let list = FilterLayer::open_links(self, ty, entity_walk::EVER)?;
            return list.iter().any(|link| link.id == id).then_some(facts).ok_or(unknown);
        }
        if ty.is_some_and(|ty| self.hides(ty)) || !link && !self.visible_containers.contains(&facts.container) {
            return Err(unknown);
        }
        match ty {
            Some(ty) if link && self.hides_containers && !self.has_link(id, &facts, ty)? => Err(unknown),
            _ => Ok(facts),
        }
    }

    fn number_fields(&self, ids: &[EntityId], field: &str) -> Result<Vec<Option<f64>>, QueryError> {
        self.inner.number_fields(ids, field)
    }

    fn related_entities(&self, id: EntityId, limit: usize) -> Result<Vec<EntityId>, QueryError> {
        layer::visible_related_entities(self, id, limit)
    }

    fn operation_parts(&self, id: EntityId) -> Result<Vec<OperationPart>, QueryError> {
        layer::visible_operation_parts(self, id)
    }

    fn members(&self, container: ContainerId) -> Vec<ContainerInfo> {
        self.inner.members(container)
    }

    fn members_with(&self, container: ContainerId, ty: TypeId) -> Vec<ContainerInfo> {
        self.inner.members_with(container, ty)
    }

    fn shows(&self, value: ValueId) -> bool {
        let is_hidden = self.model.values.get(value.index()).is_some_and(|value| self.hides(value.ty));
        !is_hidden && self.inner.shows(value)
    }

    fn is_dense(&self, lane: StateLaneId, time_range: TimeRange, limit: usize) -> Result<bool, QueryError> {
        Ok(!self.is_type_hidden(lane.container, lane.ty)? && self.inner.is_dense(lane, time_range, limit)?)
    }

    fn free_numbers(&self) -> FirstFreeNumbers {
        self.inner.free_numbers()
    }
}

/// Marks the containers at some positions, and all containers below them.
pub(crate) fn with_all_below(list: &[ContainerInfo], subtree_roots: &[usize]) -> Vec<bool> {
    let mut is_included = vec![false; list.len()];
    for &index in subtree_roots {
        is_included[index..container_tree::end(list, index)].fill(true);
    }
    is_included
}

/// Whether a type is a container type.
pub(crate) fn is_container(model: &TypeModel, ty: TypeId) -> bool {
    model.types.get(ty.index()).is_some_and(|ty| ty.kind == PajeTypeKind::Container)
}
