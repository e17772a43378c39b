//! Cut to a time range. States and samples end at its edges. Links that overlap it stay whole.
//! Containers that do not exist in it are removed.
//!
//! Cost: that of the inner source. A column of cells across an edge needs a query of its own. Links
//! of a time range across an edge are tested one by one.

use std::sync::{Arc, OnceLock};

use super::hide::{HideSource, empty_list};
use super::layer::FilterLayer;
use super::variable_range::{self, VariableRanges};
use super::{entity_filter, filtered_summary};
use crate::filter::language::error::FilterError;
use crate::query::entity_walk;
use crate::query::{
    ContainerId, ContainerInfo, EntityFacts, EntityId, EntityList, EventCount, EventEntity, FirstFreeNumbers,
    LinkEntity, LinkVisitor, MixtureCell, MixtureCells, NestedTime, OpenLinkEntity, OpenTimeRange, OperationPart,
    QueryError, SeriesColumn, StateEntity, StateLaneId, TimeRange, TimelineSource, TraceSummary, TypeId, ValueRange,
    VariableSample, counts,
};

struct TimeCutSource {
    inner: HideSource,
    kept_range: TimeRange,
    list: Arc<Vec<ContainerInfo>>,
    summary: OnceLock<TraceSummary>,
    ranges: VariableRanges,
}

/// Wraps a source in a cut.
pub(crate) fn apply(
    inner: &Arc<dyn TimelineSource>,
    requested_range: OpenTimeRange,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let kept_range = requested_range.intersection(inner.extent())?;
    let list = inner.containers();
    let alive = |index: usize| overlaps(list[index].life, kept_range);
    let hide_source = HideSource::new(Arc::clone(inner), |_| true, alive);
    let source: &dyn TimelineSource = &hide_source;
    let mut containers = source.containers().as_ref().clone();
    for info in &mut containers {
        info.life = clip(info.life, kept_range);
    }
    Ok(Arc::new(TimeCutSource {
        inner: hide_source,
        kept_range,
        list: Arc::new(containers),
        summary: OnceLock::new(),
        ranges: VariableRanges::default(),
    }))
}

/// The intersection; may be empty.
fn clip(a: TimeRange, b: TimeRange) -> TimeRange {
    let from = a.from.max(b.from);
    TimeRange { from, to: a.to.min(b.to).max(from) }
}

/// Whether a lifetime overlaps a time range. A lifetime without duration counts at its timestamp.
fn overlaps(life: TimeRange, time_range: TimeRange) -> bool {
    life.from < time_range.to && (life.to > time_range.from || life.from == life.to && life.from == time_range.from)
}

impl TimeCutSource {
    /// The members that live in the time range, with clipped lifetimes.
    fn clip_members(&self, mut members: Vec<ContainerInfo>) -> Vec<ContainerInfo> {
        members.retain(|info| overlaps(info.life, self.kept_range));
        for info in &mut members {
            info.life = clip(info.life, self.kept_range);
        }
        members
    }

    fn kept_range(&self, time_range: TimeRange) -> Option<TimeRange> {
        let intersection = clip(time_range, self.kept_range);
        (intersection.from < intersection.to).then_some(intersection)
    }

    fn contains(&self, time_range: TimeRange) -> bool {
        time_range.from >= self.kept_range.from && time_range.to <= self.kept_range.to
    }

    /// The mixtures of columns in the cut. Each has at most `limit` shares.
    fn cut_cells(
        &self,
        lanes: &[StateLaneId],
        time_range: TimeRange,
        columns: u32,
        limit: usize,
    ) -> Result<MixtureCells, QueryError> {
        let mut cells = self.inner_source().largest_shares(lanes, time_range, columns, limit)?;
        if self.contains(time_range) {
            return Ok(cells);
        }
        for (lane, cells) in lanes.iter().zip(cells.cells.chunks_mut(columns as usize)) {
            for (column_index, cell) in (0_u32..).zip(cells) {
                let column = time_range.column(column_index, columns);
                if self.contains(column) {
                    continue;
                }
                *cell = match self.kept_range(column) {
                    Some(part) => {
                        let cells = self.inner_source().largest_shares(&[*lane], part, 1, limit)?;
                        cells.cells.into_iter().next().unwrap_or_default()
                    }
                    None => MixtureCell::default(),
                };
            }
        }
        Ok(cells)
    }

    /// The links that overlap both the time range and the cut.
    fn cut_links(&self, ty: TypeId, time_range: TimeRange, limit: usize) -> Result<EntityList<LinkEntity>, QueryError> {
        entity_filter::check(time_range, 1)?;
        // Links stay whole: a link may overlap both the time range and the cut, even if these two
        // do not overlap.
        if self.contains(time_range) {
            return self.inner_source().links(ty, time_range, limit);
        }
        if time_range.from <= self.kept_range.from && time_range.to >= self.kept_range.to {
            return self.inner_source().links(ty, self.kept_range, limit);
        }
        let mut list = empty_list();
        entity_walk::links(&self.inner, ty, time_range, |link| {
            let (a, b) = (link.start_time, link.end_time);
            if overlaps(TimeRange { from: a.min(b), to: a.max(b) }, self.kept_range) {
                list.total += 1;
                if list.items.len() < limit {
                    list.items.push(*link);
                }
            }
            Ok(())
        })?;
        Ok(list)
    }

    fn cut_facts(&self, id: EntityId) -> Result<EntityFacts, QueryError> {
        let mut facts = self.inner_source().facts(id)?;
        let life = facts.life;
        let forward_range = TimeRange { from: life.from.min(life.to), to: life.from.max(life.to) };
        let root = id == EntityId::Container(ContainerId::ROOT);
        if !root && !overlaps(forward_range, self.kept_range) {
            return Err(QueryError::Unknown { kind: "entity" });
        }
        if !matches!(id, EntityId::Link(_) | EntityId::OpenLink(_)) {
            facts.life = clip(life, self.kept_range);
        }
        Ok(facts)
    }
}

impl FilterLayer for TimeCutSource {
    fn inner_source(&self) -> &dyn TimelineSource {
        &self.inner
    }

    fn summary(&self) -> TraceSummary {
        self.summary.get_or_init(|| filtered_summary::summary(self, self.inner.inner_source().summary())).clone()
    }

    fn extent(&self) -> TimeRange {
        self.kept_range
    }

    fn containers(&self) -> Arc<Vec<ContainerInfo>> {
        Arc::clone(&self.list)
    }

    fn cells(&self, lanes: &[StateLaneId], time_range: TimeRange, columns: u32) -> Result<MixtureCells, QueryError> {
        self.cut_cells(lanes, time_range, columns, usize::MAX)
    }

    fn largest_shares(
        &self,
        lanes: &[StateLaneId],
        time_range: TimeRange,
        columns: u32,
        limit: usize,
    ) -> Result<MixtureCells, QueryError> {
        self.cut_cells(lanes, time_range, columns, limit)
    }

    fn nested_times(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
    ) -> Result<Vec<NestedTime>, QueryError> {
        entity_filter::check(time_range, 1)?;
        let Some(part) = self.kept_range(time_range) else { return Ok(Vec::new()) };
        self.inner_source().nested_times(container, ty, part)
    }

    fn states(
        &self,
        lane: StateLaneId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<StateEntity>, QueryError> {
        entity_filter::check(time_range, 1)?;
        let Some(part) = self.kept_range(time_range) else { return Ok(empty_list()) };
        let mut list = self.inner_source().states(lane, part, limit)?;
        for state in &mut list.items {
            state.life = clip(state.life, self.kept_range);
        }
        Ok(list)
    }

    fn events(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<EventEntity>, QueryError> {
        entity_filter::check(time_range, 1)?;
        let Some(part) = self.kept_range(time_range) else { return Ok(empty_list()) };
        self.inner_source().events(container, ty, part, limit)
    }

    fn links(&self, ty: TypeId, time_range: TimeRange, limit: usize) -> Result<EntityList<LinkEntity>, QueryError> {
        self.cut_links(ty, time_range, limit)
    }

    fn open_links(&self, ty: TypeId, time_range: TimeRange) -> Result<Vec<OpenLinkEntity>, QueryError> {
        entity_filter::check(time_range, 1)?;
        let to = time_range.to.min(self.kept_range.to);
        self.inner_source().open_links(ty, TimeRange { from: time_range.from.min(self.kept_range.from), to })
    }

    fn event_counts(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        columns: u32,
        limit: usize,
    ) -> Result<Vec<EventCount>, QueryError> {
        entity_filter::check(time_range, columns)?;
        if self.contains(time_range) {
            return self.inner_source().event_counts(container, ty, time_range, columns, limit);
        }
        let counts_of = |column| match self.kept_range(column) {
            Some(part) => {
                let counts = self.inner_source().event_counts(container, ty, part, 1, limit)?;
                Ok(counts.into_iter().next().unwrap_or_default())
            }
            None => Ok(EventCount::default()),
        };
        time_range.columns(columns).map(counts_of).collect()
    }

    fn link_counts(
        &self,
        ty: TypeId,
        time_range: TimeRange,
        exponent: u8,
        visit: &mut LinkVisitor<'_>,
    ) -> Result<(), QueryError> {
        entity_filter::check(time_range, 1)?;
        if self.contains(time_range) {
            return self.inner_source().link_counts(ty, time_range, exponent, visit);
        }
        if time_range.from <= self.kept_range.from && time_range.to >= self.kept_range.to {
            return self.inner_source().link_counts(ty, self.kept_range, exponent, visit);
        }
        counts::links(|time_range, limit| self.cut_links(ty, time_range, limit), time_range, exponent, visit)
    }

    fn samples(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<VariableSample>, QueryError> {
        entity_filter::check(time_range, 1)?;
        let Some(part) = self.kept_range(time_range) else { return Ok(empty_list()) };
        let mut list = self.inner_source().samples(container, ty, part, limit)?;
        for sample in &mut list.items {
            sample.life = clip(sample.life, self.kept_range);
        }
        Ok(list)
    }

    fn series(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        columns: u32,
    ) -> Result<Vec<Option<SeriesColumn>>, QueryError> {
        let mut series = self.inner_source().series(container, ty, time_range, columns)?;
        for (column_index, entry) in (0_u32..).zip(&mut series) {
            let column = time_range.column(column_index, columns);
            if !self.contains(column) {
                *entry = match self.kept_range(column) {
                    Some(part) => self.inner_source().series(container, ty, part, 1)?.pop().flatten(),
                    None => None,
                };
            }
        }
        Ok(series)
    }

    fn value_range(&self, ty: TypeId) -> Option<ValueRange> {
        self.ranges.of(ty, || variable_range::value_range(&self.inner, &self.list, ty, self.kept_range))
    }

    fn facts(&self, id: EntityId) -> Result<EntityFacts, QueryError> {
        self.cut_facts(id)
    }

    fn number_fields(&self, ids: &[EntityId], field: &str) -> Result<Vec<Option<f64>>, QueryError> {
        self.inner_source().number_fields(ids, field)
    }

    fn related_entities(&self, id: EntityId, limit: usize) -> Result<Vec<EntityId>, QueryError> {
        self.cut_facts(id)?;
        let mut ids = self.inner_source().related_entities(id, limit.saturating_mul(4))?;
        ids.retain(|&id| self.cut_facts(id).is_ok());
        ids.truncate(limit);
        Ok(ids)
    }

    fn operation_parts(&self, id: EntityId) -> Result<Vec<OperationPart>, QueryError> {
        self.cut_facts(id)?;
        let parts = self.inner_source().operation_parts(id)?.into_iter();
        let cut = |part: OperationPart| {
            let facts = self.cut_facts(part.id).ok()?;
            Some(OperationPart { enter: facts.life.from, ..part })
        };
        Ok(parts.filter_map(cut).collect())
    }

    fn members(&self, container: ContainerId) -> Vec<ContainerInfo> {
        self.clip_members(self.inner_source().members(container))
    }

    fn members_with(&self, container: ContainerId, ty: TypeId) -> Vec<ContainerInfo> {
        self.clip_members(self.inner_source().members_with(container, ty))
    }

    fn is_dense(&self, lane: StateLaneId, time_range: TimeRange, limit: usize) -> Result<bool, QueryError> {
        match self.kept_range(time_range) {
            Some(part) => self.inner_source().is_dense(lane, part, limit),
            None => Ok(false),
        }
    }

    fn free_numbers(&self) -> FirstFreeNumbers {
        self.inner_source().free_numbers()
    }
}
