//! [`Hidden`]: a source without some types and some containers. What selections by type and by container, the best containers and
//! a cut have in common.
//!
//! Cost: none for what is asked of what is left, except that links are looked through one by one when containers are hidden.

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashSet;

use super::entity_filter::type_of;
use super::layer::Layer;
use super::summary;
use super::variable_range::{self, Ranges};
use crate::query::{
    Cell, Cells, ContainerId, ContainerInfo, EntityId, EventCount, Facts, FreeNumbers, GlobalNanos, Interval, Lane,
    Link, LinkVisitor, Listed, Mark, Model, NestedTime, QueryError, Sample, SeriesColumn, State, Summary,
    TimelineSource, TypeId, TypeKind, ValueId,
};
use crate::query::{tree, walk};

pub(crate) struct Hidden {
    inner: Arc<dyn TimelineSource>,
    model: Arc<Model>,
    list: Arc<Vec<ContainerInfo>>,
    left: FxHashSet<ContainerId>,
    /// Whether containers are hidden: then links may be.
    some: bool,
    /// By type.
    hidden: Vec<bool>,
    summary: OnceLock<Summary>,
    ranges: Ranges,
}

impl Hidden {
    /// Leaves the types that `ty` lets pass, and the containers at the positions that `container` lets pass, with all above them.
    pub(crate) fn new(
        inner: Arc<dyn TimelineSource>,
        ty: impl Fn(TypeId) -> bool,
        container: impl Fn(usize) -> bool,
    ) -> Self {
        let (model, list) = (inner.model(), inner.containers());
        let positions = tree::positions(&list);
        let mut stays = vec![false; list.len()];
        for at in (0..list.len()).filter(|&at| list[at].depth == 0 || container(at)) {
            let mut above = Some(at);
            while let Some(at) = above.filter(|&at| !stays[at]) {
                stays[at] = true;
                above = positions.get(&list[at].parent).copied();
            }
        }
        let left: Vec<ContainerInfo> =
            list.iter().zip(&stays).filter(|(_, stays)| **stays).map(|(info, _)| info.clone()).collect();
        Self {
            some: left.len() < list.len(),
            left: left.iter().map(|info| info.id).collect(),
            list: Arc::new(left),
            hidden: model.types.iter().map(|info| !ty(info.id)).collect(),
            model,
            inner,
            summary: OnceLock::new(),
            ranges: Ranges::default(),
        }
    }

    fn hides(&self, ty: TypeId) -> bool {
        self.hidden.get(ty.index()).copied().unwrap_or(false)
    }

    /// Whether nothing is to be told of a type in a container; an error when the container is gone.
    fn nothing(&self, container: ContainerId, ty: TypeId) -> Result<bool, QueryError> {
        if self.left.contains(&container) { Ok(self.hides(ty)) } else { Err(QueryError::Unknown { what: "container" }) }
    }

    /// Those lanes of which anything is told.
    fn shown(&self, lanes: &[Lane]) -> Result<Vec<Lane>, QueryError> {
        let mut shown = Vec::with_capacity(lanes.len());
        for lane in lanes {
            if !self.nothing(lane.container, lane.ty)? {
                shown.push(*lane);
            }
        }
        Ok(shown)
    }

    fn joins(&self, start: ContainerId, end: ContainerId) -> bool {
        self.left.contains(&start) && self.left.contains(&end)
    }

    /// Whether a link's ends are both left: facts do not tell ids, so that it is looked for at its date.
    fn has_link(&self, id: EntityId, facts: &Facts, ty: TypeId) -> Result<bool, QueryError> {
        let date = facts.life.from.min(facts.life.to);
        let instant = Interval { from: date, to: GlobalNanos(date.0.saturating_add(1)) };
        let mut found = false;
        walk::links(self.inner(), ty, instant, |link| {
            found |= link.id == id && self.joins(link.start, link.end);
            Ok(())
        })?;
        Ok(found)
    }
}

/// Nothing.
pub(crate) fn none<T>() -> Listed<T> {
    Listed { total: 0, items: Vec::new() }
}

impl Layer for Hidden {
    fn inner(&self) -> &dyn TimelineSource {
        self.inner.as_ref()
    }

    fn summary(&self) -> Summary {
        self.summary.get_or_init(|| summary::summary(self, self.inner.summary())).clone()
    }

    fn containers(&self) -> Arc<Vec<ContainerInfo>> {
        Arc::clone(&self.list)
    }

    fn depths(&self, container: ContainerId, ty: TypeId) -> u32 {
        if matches!(self.nothing(container, ty), Ok(false)) { self.inner.depths(container, ty) } else { 0 }
    }

    fn cells(&self, lanes: &[Lane], interval: Interval, columns: u32) -> Result<Cells, QueryError> {
        Layer::largest(self, lanes, interval, columns, usize::MAX)
    }

    fn largest(&self, lanes: &[Lane], interval: Interval, columns: u32, most: usize) -> Result<Cells, QueryError> {
        crate::filter::sources::entity_filter::check(interval, columns)?;
        let asked = self.shown(lanes)?;
        if asked.len() == lanes.len() {
            return self.inner.largest(lanes, interval, columns, most);
        }
        let mut found = self.inner.largest(&asked, interval, columns, most)?.cells.into_iter();
        let mut cells = Vec::with_capacity(lanes.len().saturating_mul(columns as usize));
        for lane in lanes {
            if self.hides(lane.ty) {
                cells.extend((0..columns).map(|_| Cell::default()));
            } else {
                cells.extend(found.by_ref().take(columns as usize));
            }
        }
        Ok(Cells { columns, cells })
    }

    fn times(&self, lanes: &[Lane], interval: Interval) -> Result<Vec<(ValueId, i64)>, QueryError> {
        crate::filter::sources::entity_filter::check(interval, 1)?;
        self.inner.times(&self.shown(lanes)?, interval)
    }

    fn nested_times(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
    ) -> Result<Vec<NestedTime>, QueryError> {
        if self.nothing(container, ty)? { Ok(Vec::new()) } else { self.inner.nested_times(container, ty, interval) }
    }

    fn states(&self, lane: Lane, interval: Interval, limit: usize) -> Result<Listed<State>, QueryError> {
        if self.nothing(lane.container, lane.ty)? { Ok(none()) } else { self.inner.states(lane, interval, limit) }
    }

    fn events(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        limit: usize,
    ) -> Result<Listed<Mark>, QueryError> {
        if self.nothing(container, ty)? { Ok(none()) } else { self.inner.events(container, ty, interval, limit) }
    }

    fn links(&self, ty: TypeId, interval: Interval, limit: usize) -> Result<Listed<Link>, QueryError> {
        if self.hides(ty) {
            return Ok(none());
        }
        if !self.some {
            return self.inner.links(ty, interval, limit);
        }
        let mut found = none();
        walk::links(self.inner(), ty, interval, |link| {
            if self.joins(link.start, link.end) {
                found.total += 1;
                if found.items.len() < limit {
                    found.items.push(*link);
                }
            }
            Ok(())
        })?;
        Ok(found)
    }

    fn event_counts(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        columns: u32,
        most: usize,
    ) -> Result<Vec<EventCount>, QueryError> {
        if self.nothing(container, ty)? {
            crate::filter::sources::entity_filter::check(interval, columns)?;
            return Ok(vec![EventCount::default(); columns as usize]);
        }
        self.inner.event_counts(container, ty, interval, columns, most)
    }

    fn link_counts(
        &self,
        ty: TypeId,
        interval: Interval,
        exponent: u8,
        visit: &mut LinkVisitor<'_>,
    ) -> Result<(), QueryError> {
        if self.hides(ty) {
            return Ok(());
        }
        self.inner.link_counts(ty, interval, exponent, &mut |count| {
            if !self.some || self.joins(count.start, count.end) { visit(count) } else { Ok(()) }
        })
    }

    fn samples(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        limit: usize,
    ) -> Result<Listed<Sample>, QueryError> {
        if self.nothing(container, ty)? { Ok(none()) } else { self.inner.samples(container, ty, interval, limit) }
    }

    fn series(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        columns: u32,
    ) -> Result<Vec<Option<SeriesColumn>>, QueryError> {
        if self.nothing(container, ty)? {
            Ok(vec![None; columns as usize])
        } else {
            self.inner.series(container, ty, interval, columns)
        }
    }

    fn range(&self, ty: TypeId) -> Option<(f64, f64)> {
        if self.hides(ty) {
            return None;
        }
        if !self.some {
            return self.inner.range(ty);
        }
        self.ranges.of(ty, || variable_range::over(self.inner(), &self.list, ty, self.inner.extent()))
    }

    fn facts(&self, id: EntityId) -> Result<Facts, QueryError> {
        let unknown = QueryError::Unknown { what: "entity" };
        let facts = self.inner.facts(id)?;
        let ty = type_of(&self.model, &facts);
        let link = matches!(id, EntityId::Link(_));
        if ty.is_some_and(|ty| self.hides(ty)) || !link && !self.left.contains(&facts.container) {
            return Err(unknown);
        }
        match ty {
            Some(ty) if link && self.some && !self.has_link(id, &facts, ty)? => Err(unknown),
            _ => Ok(facts),
        }
    }

    fn related(&self, id: EntityId, limit: usize) -> Result<Vec<EntityId>, QueryError> {
        Layer::facts(self, id)?;
        let mut related = self.inner.related(id, limit.saturating_mul(4))?;
        related.retain(|&id| Layer::facts(self, id).is_ok());
        related.truncate(limit);
        Ok(related)
    }

    fn members(&self, container: ContainerId) -> Vec<ContainerInfo> {
        self.inner.members(container)
    }

    fn members_with(&self, container: ContainerId, ty: TypeId) -> Vec<ContainerInfo> {
        self.inner.members_with(container, ty)
    }

    fn shows(&self, value: ValueId) -> bool {
        let hidden = self.model.values.get(value.index()).is_some_and(|value| self.hides(value.ty));
        !hidden && self.inner.shows(value)
    }

    fn is_dense(&self, lane: Lane, interval: Interval, most: usize) -> Result<bool, QueryError> {
        Ok(!self.nothing(lane.container, lane.ty)? && self.inner.is_dense(lane, interval, most)?)
    }

    fn free_numbers(&self) -> FreeNumbers {
        self.inner.free_numbers()
    }
}

/// Which containers a list of positions names: those and all below them.
pub(crate) fn with_all_below(list: &[ContainerInfo], found: &[usize]) -> Vec<bool> {
    let mut named = vec![false; list.len()];
    for &at in found {
        named[at..tree::end(list, at)].fill(true);
    }
    named
}

/// Whether a type is one of containers.
pub(crate) fn is_container(model: &Model, ty: TypeId) -> bool {
    model.types.get(ty.index()).is_some_and(|ty| ty.kind == TypeKind::Container)
}
