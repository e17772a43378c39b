//! Common code of selections that decide for each entity: [`EntityFilterSource`] contains the
//! entities that an [`EntityPredicate`] accepts.
//!
//! Cost: a list costs as much as a list of the inner source, because each entity is read. The same
//! holds for mixture cells. If the predicate depends only on the value, mixture cells are those of
//! the inner source, without the removed shares. Types that the predicate does not test cost
//! nothing.

use std::sync::{Arc, OnceLock};

use super::filtered_summary;
use super::layer::{self, FilterLayer};
use crate::query::entity_walk;
use crate::query::{
    ContainerId, EntityFacts, EntityId, EntityList, EventCount, EventEntity, EventValueCount, FirstFreeNumbers,
    GlobalNanos, LinkEntity, LinkVisitor, MixtureCell, MixtureCells, OpenLinkEntity, OperationPart, PajeTypeKind,
    QueryError, StateEntity, StateLaneId, TimeRange, TimelineSource, TraceSummary, TypeId, TypeModel, ValueId,
    ValueShares, counts,
};

/// Number of states of a lane that may be read to decide if few enough of them pass to be drawn
/// individually. It stays the same for nested selections.
const MAX_STATES_READ: usize = 8192;

/// Decides which entities pass. Containers and samples of variables always pass.
pub(crate) trait EntityPredicate: Send + Sync {
    /// Whether entities of this type are tested. Entities of other types pass.
    fn applies_to(&self, ty: TypeId) -> bool;

    /// Whether a value passes. `None` if this does not depend on the value alone.
    fn value(&self, value: ValueId) -> Option<bool> {
        let _ = value;
        None
    }

    /// Whether an entity passes, given all its facts.
    fn facts(&self, facts: &EntityFacts, ty: TypeId, model: &TypeModel) -> bool;

    /// Whether an entity passes, given its value and duration in nanoseconds, which lists contain.
    /// `None` if these do not suffice.
    fn passes_by_value(&self, value: ValueId, nanos: i64) -> Option<bool> {
        let _ = nanos;
        self.value(value)
    }

    /// Whether the predicate depends on the containers of both endpoints of a link.
    fn needs_ends(&self) -> bool {
        false
    }

    /// Whether a link passes; `None` if its endpoints are not sufficient to decide.
    fn ends(&self, ends: [ContainerId; 2]) -> Option<bool> {
        let _ = ends;
        None
    }

    /// Whether a link passes by its facts and endpoints. Only if [`Self::needs_ends`].
    fn link(&self, facts: &EntityFacts, ends: [ContainerId; 2], model: &TypeModel) -> bool {
        let _ = (facts, ends, model);
        true
    }
}

/// A source that contains only the entities that pass.
pub(crate) struct EntityFilterSource<P> {
    inner: Arc<dyn TimelineSource>,
    model: Arc<TypeModel>,
    predicate: P,
    summary: OnceLock<TraceSummary>,
}

impl<P: EntityPredicate> EntityFilterSource<P> {
    pub(crate) fn new(inner: Arc<dyn TimelineSource>, predicate: P) -> Self {
        Self { model: inner.model(), inner, predicate, summary: OnceLock::new() }
    }

    fn is_selected(&self, id: EntityId, ty: TypeId, value: ValueId, nanos: i64) -> Result<bool, QueryError> {
        match self.predicate.passes_by_value(value, nanos) {
            Some(passes) => Ok(passes),
            None => Ok(self.predicate.facts(&self.inner.facts(id)?, ty, &self.model)),
        }
    }

    fn passes_by_facts(&self, facts: &EntityFacts) -> Result<bool, QueryError> {
        let Some(ty) = type_of(&self.model, facts).filter(|ty| self.predicate.applies_to(*ty)) else { return Ok(true) };
        if self.predicate.needs_ends() && matches!(facts.id, EntityId::Link(_)) {
            return Ok(match self.ends_of(facts, ty)? {
                Some(ends) => self.predicate.link(facts, ends, &self.model),
                None => false,
            });
        }
        Ok(self.predicate.facts(facts, ty, &self.model))
    }

    /// The containers of both endpoints of a link.
    fn ends_of(&self, facts: &EntityFacts, ty: TypeId) -> Result<Option<[ContainerId; 2]>, QueryError> {
        let timestamp = facts.life.from.min(facts.life.to);
        let instant = TimeRange { from: timestamp, to: GlobalNanos(timestamp.0.saturating_add(1)) };
        let mut endpoints = None;
        entity_walk::links(self.inner.as_ref(), ty, instant, |link| {
            if link.id == facts.id {
                endpoints = Some([link.start, link.end]);
            }
            Ok(())
        })?;
        Ok(endpoints)
    }

    fn link(&self, ty: TypeId, link: &LinkEntity) -> Result<bool, QueryError> {
        if self.predicate.needs_ends() {
            let ends = [link.start, link.end];
            return match self.predicate.ends(ends) {
                Some(passes) => Ok(passes),
                None => Ok(self.predicate.link(&self.inner.facts(link.id)?, ends, &self.model)),
            };
        }
        let nanos = link.end_time.0.saturating_sub(link.start_time.0);
        self.is_selected(link.id, ty, link.value, nanos)
    }

    /// An open link ends nowhere. Its endpoint is then the root, which no condition names.
    fn open_link(&self, link: &OpenLinkEntity) -> Result<bool, QueryError> {
        if self.predicate.needs_ends() {
            let ends = [link.start, link.destination.unwrap_or(ContainerId::ROOT)];
            return match self.predicate.ends(ends) {
                Some(passes) => Ok(passes),
                None => Ok(self.predicate.link(&self.inner.facts(link.id)?, ends, &self.model)),
            };
        }
        let nanos = self.inner.extent().to.0.saturating_sub(link.start_time.0);
        self.is_selected(link.id, link.ty, link.value, nanos)
    }

    fn state(&self, ty: TypeId, state: &StateEntity) -> Result<bool, QueryError> {
        self.is_selected(state.id, ty, state.value, state.life.to.0.saturating_sub(state.life.from.0))
    }
}

/// The type of the entity with these facts.
pub(crate) fn type_of(model: &TypeModel, facts: &EntityFacts) -> Option<TypeId> {
    let kind = |ty: PajeTypeKind| match facts.id {
        EntityId::Container(_) => ty == PajeTypeKind::Container,
        EntityId::State(_) => ty == PajeTypeKind::State,
        EntityId::Event(_) => ty == PajeTypeKind::Event,
        EntityId::Sample(_) => ty == PajeTypeKind::Variable,
        EntityId::Link(_) | EntityId::OpenLink(_) => matches!(ty, PajeTypeKind::Link { .. }),
    };
    let mut types_of_kind = model.types.iter().filter(|ty| kind(ty.kind) && facts.type_path.last() == Some(&ty.name));
    let first = types_of_kind.next()?;
    if types_of_kind.next().is_none() {
        return Some(first.id);
    }
    let path = |mut type_id: TypeId| {
        let mut names = Vec::new();
        while let Some(ty) = model.types.get(type_id.index()).filter(|ty| ty.id != TypeId::ROOT && names.len() < 1000) {
            names.push(ty.name.as_str());
            type_id = ty.parent;
        }
        names.reverse();
        names
    };
    model.types.iter().filter(|ty| kind(ty.kind)).find(|ty| path(ty.id) == facts.type_path).map(|ty| ty.id)
}

/// Collects passing entities: counts all, and stores the first ones.
struct PassingEntities<T> {
    list: EntityList<T>,
    limit: usize,
}

impl<T: Copy> PassingEntities<T> {
    fn new(limit: usize) -> Self {
        Self { list: EntityList { total: 0, items: Vec::new() }, limit }
    }

    fn add(&mut self, item: &T, passes: bool) {
        if passes {
            self.list.total += 1;
            if self.list.items.len() < self.limit {
                self.list.items.push(*item);
            }
        }
    }
}

/// The items that pass.
fn keep_passing<T>(items: Vec<T>, passes: impl Fn(&T) -> Result<bool, QueryError>) -> Result<Vec<T>, QueryError> {
    let mut passing_items = Vec::new();
    for item in items {
        if passes(&item)? {
            passing_items.push(item);
        }
    }
    Ok(passing_items)
}

/// Computes the shares of columns from single states.
pub(crate) struct StateColumns {
    time_range: TimeRange,
    shares: Vec<ValueShares>,
}

impl StateColumns {
    pub(crate) fn new(time_range: TimeRange, columns: u32) -> Self {
        Self { time_range, shares: vec![ValueShares::new(); columns as usize] }
    }

    /// Adds a state. It costs O(log columns), plus the columns that the state covers.
    pub(crate) fn add(&mut self, value: ValueId, life: TimeRange) {
        let columns = self.shares.len() as u32;
        let column = |column_index: u32| self.time_range.column(column_index, columns);
        // A bisection without a list, because columns are computed on demand.
        let (mut low, mut high) = (0, columns);
        while low < high {
            let middle = low.midpoint(high);
            if column(middle).to <= life.from { low = middle + 1 } else { high = middle }
        }
        for column_index in low..columns {
            let cell = column(column_index);
            if cell.from >= life.to {
                break;
            }
            let nanos = cell.to.0.min(life.to.0) - cell.from.0.max(life.from.0);
            if nanos > 0 {
                add(&mut self.shares[column_index as usize], value, nanos);
            }
        }
    }

    /// The cells, with the largest share first.
    pub(crate) fn finish(self) -> impl Iterator<Item = MixtureCell> {
        self.shares.into_iter().map(|mut shares| MixtureCell::of(&mut shares[..], usize::MAX))
    }
}

pub(crate) fn add(shares: &mut ValueShares, value: ValueId, nanos: i64) {
    match shares.iter_mut().find(|share| share.0 == value) {
        Some(share) => share.1 += nanos,
        None => shares.push((value, nanos)),
    }
}

/// Sorts shares as in all cells: largest first.
pub(crate) fn sort(shares: &mut [(ValueId, i64)]) {
    shares.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
}

/// Rejects the time range or the columns as the inner source would.
pub(crate) fn check(time_range: TimeRange, columns: u32) -> Result<(), QueryError> {
    if time_range.from < time_range.to && columns > 0 { Ok(()) } else { Err(QueryError::EmptyTimeRange) }
}

impl<P: EntityPredicate> FilterLayer for EntityFilterSource<P> {
    fn inner_source(&self) -> &dyn TimelineSource {
        self.inner.as_ref()
    }

    fn keeps_entities(&self, ty: TypeId) -> bool {
        !self.predicate.applies_to(ty)
    }

    fn summary(&self) -> TraceSummary {
        self.summary.get_or_init(|| filtered_summary::summary(self, self.inner.summary())).clone()
    }

    fn cells(&self, lanes: &[StateLaneId], time_range: TimeRange, columns: u32) -> Result<MixtureCells, QueryError> {
        check(time_range, columns)?;
        if self.predicate.value(ValueId(0)).is_some() {
            let mut cells = self.inner.cells(lanes, time_range, columns)?;
            for (lane, cells) in lanes.iter().zip(cells.cells.chunks_mut(columns as usize)) {
                if self.predicate.applies_to(lane.ty) {
                    for cell in cells {
                        cell.shares.retain(|share| self.predicate.value(share.0) != Some(false));
                    }
                }
            }
            return Ok(cells);
        }
        let mut cells = Vec::with_capacity(lanes.len().saturating_mul(columns as usize));
        for &lane in lanes {
            if !self.predicate.applies_to(lane.ty) {
                cells.extend(self.inner.cells(&[lane], time_range, columns)?.cells);
                continue;
            }
            let mut output = StateColumns::new(time_range, columns);
            entity_walk::states(self.inner_source(), lane, time_range, |state| {
                if self.state(lane.ty, state)? {
                    output.add(state.value, state.life);
                }
                Ok(())
            })?;
            cells.extend(output.finish());
        }
        Ok(MixtureCells { columns, cells })
    }

    fn states(
        &self,
        lane: StateLaneId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<StateEntity>, QueryError> {
        if !self.predicate.applies_to(lane.ty) {
            return self.inner.states(lane, time_range, limit);
        }
        let mut entities = PassingEntities::new(limit);
        entity_walk::states(self.inner_source(), lane, time_range, |state| {
            entities.add(state, self.state(lane.ty, state)?);
            Ok(())
        })?;
        Ok(entities.list)
    }

    fn events(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<EventEntity>, QueryError> {
        if !self.predicate.applies_to(ty) {
            return self.inner.events(container, ty, time_range, limit);
        }
        let mut entities = PassingEntities::new(limit);
        entity_walk::events(self.inner_source(), (container, ty), time_range, |mark| {
            entities.add(mark, self.is_selected(mark.id, ty, mark.value, 0)?);
            Ok(())
        })?;
        Ok(entities.list)
    }

    fn links(&self, ty: TypeId, time_range: TimeRange, limit: usize) -> Result<EntityList<LinkEntity>, QueryError> {
        if !self.predicate.applies_to(ty) {
            return self.inner.links(ty, time_range, limit);
        }
        let mut entities = PassingEntities::new(limit);
        entity_walk::links(self.inner_source(), ty, time_range, |link| {
            entities.add(link, self.link(ty, link)?);
            Ok(())
        })?;
        Ok(entities.list)
    }

    fn open_links(&self, ty: TypeId, time_range: TimeRange) -> Result<Vec<OpenLinkEntity>, QueryError> {
        let mut links = self.inner.open_links(ty, time_range)?;
        if self.predicate.applies_to(ty) {
            links = keep_passing(links, |link| self.open_link(link))?;
        }
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
        if !self.predicate.applies_to(ty) {
            return self.inner.event_counts(container, ty, time_range, columns, limit);
        }
        if self.predicate.value(ValueId(0)).is_none() {
            return counts::events(
                |time_range, limit| FilterLayer::events(self, container, ty, time_range, limit),
                time_range,
                columns,
                limit,
            );
        }
        let counts = self.inner.event_counts(container, ty, time_range, columns, usize::MAX)?;
        let passes = |part: &EventValueCount| self.predicate.value(part.value) != Some(false);
        Ok(counts.into_iter().map(|count| EventCount::of(count.values.into_iter().filter(passes), limit)).collect())
    }

    fn link_counts(
        &self,
        ty: TypeId,
        time_range: TimeRange,
        exponent: u8,
        visit: &mut LinkVisitor<'_>,
    ) -> Result<(), QueryError> {
        if self.predicate.applies_to(ty) && self.predicate.value(ValueId(0)).is_none() {
            return counts::links(
                |time_range, limit| FilterLayer::links(self, ty, time_range, limit),
                time_range,
                exponent,
                visit,
            );
        }
        self.inner.link_counts(ty, time_range, exponent, &mut |count| {
            let passes = !self.predicate.applies_to(ty) || self.predicate.value(count.value) != Some(false);
            if passes { visit(count) } else { Ok(()) }
        })
    }

    fn facts(&self, id: EntityId) -> Result<EntityFacts, QueryError> {
        let facts = self.inner.facts(id)?;
        if self.passes_by_facts(&facts)? { Ok(facts) } else { Err(QueryError::Unknown { kind: "entity" }) }
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

    fn shows(&self, value: ValueId) -> bool {
        let ty = self.model.values.get(value.index()).map(|value| value.ty);
        let is_hidden =
            ty.is_some_and(|ty| self.predicate.applies_to(ty)) && self.predicate.value(value) == Some(false);
        !is_hidden && self.inner.shows(value)
    }

    fn is_dense(&self, lane: StateLaneId, time_range: TimeRange, limit: usize) -> Result<bool, QueryError> {
        if !self.predicate.applies_to(lane.ty) {
            return self.inner.is_dense(lane, time_range, limit);
        }
        Ok(self.inner.is_dense(lane, time_range, limit.max(MAX_STATES_READ))?
            || FilterLayer::states(self, lane, time_range, 0)?.total > limit as u64)
    }

    fn free_numbers(&self) -> FirstFreeNumbers {
        self.inner.free_numbers()
    }
}
