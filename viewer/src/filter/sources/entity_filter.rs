//! What selections entity by entity have in common: [`Picked`] lists what a [`Pick`] lets pass.
//!
//! Cost: a list costs what listing the source within costs, as each entity is looked at; so do cells, unless the pick goes by value
//! alone: then cells come from those within, by dropping shares. Types that the pick does not touch cost nothing.

use std::sync::{Arc, OnceLock};

use super::layer::Layer;
use super::summary;
use crate::query::walk;
use crate::query::{
    Cell, Cells, ContainerId, EntityId, EventCount, Facts, FreeNumbers, GlobalNanos, Interval, Lane, Link, LinkVisitor,
    Listed, Mark, Model, QueryError, Shares, State, Summary, TimelineSource, TypeId, TypeKind, ValueId, counts,
};

/// So many states of a lane are looked at to find out whether few enough pass to be drawn one by one, however many picks lie around
/// each other.
const LOOK: usize = 8192;

/// Which entities pass. Containers and values of variables always do.
pub(crate) trait Pick: Send + Sync {
    /// Whether entities of this type are looked at; those of other types pass.
    fn touches(&self, ty: TypeId) -> bool;

    /// For a pick that goes by value alone: whether this one passes.
    fn value(&self, value: ValueId) -> Option<bool> {
        let _ = value;
        None
    }

    /// Whether an entity passes, by all that is known of it.
    fn facts(&self, facts: &Facts, ty: TypeId, model: &Model) -> bool;

    /// Whether an entity passes, by what lists tell, if that is enough: its value and duration.
    fn quick(&self, value: ValueId, nanos: i64) -> Option<bool> {
        let _ = nanos;
        self.value(value)
    }

    /// Whether it depends on the containers of both endpoints of a link.
    fn needs_ends(&self) -> bool {
        false
    }

    /// Whether a link passes, if its endpoints are sufficient to decide; else `None`.
    fn ends(&self, ends: [ContainerId; 2]) -> Option<bool> {
        let _ = ends;
        None
    }

    /// Whether a link passes by its facts and endpoints. Only for a pick that needs the endpoints.
    fn link(&self, facts: &Facts, ends: [ContainerId; 2], model: &Model) -> bool {
        let _ = (facts, ends, model);
        true
    }
}

/// A source of which only what is picked is left.
pub(crate) struct Picked<P> {
    inner: Arc<dyn TimelineSource>,
    model: Arc<Model>,
    pick: P,
    summary: OnceLock<Summary>,
}

impl<P: Pick> Picked<P> {
    pub(crate) fn new(inner: Arc<dyn TimelineSource>, pick: P) -> Self {
        Self { model: inner.model(), inner, pick, summary: OnceLock::new() }
    }

    fn passes(&self, id: EntityId, ty: TypeId, value: ValueId, nanos: i64) -> Result<bool, QueryError> {
        match self.pick.quick(value, nanos) {
            Some(passes) => Ok(passes),
            None => Ok(self.pick.facts(&self.inner.facts(id)?, ty, &self.model)),
        }
    }

    fn passes_by_facts(&self, facts: &Facts) -> Result<bool, QueryError> {
        let Some(ty) = type_of(&self.model, facts).filter(|ty| self.pick.touches(*ty)) else { return Ok(true) };
        if self.pick.needs_ends() && matches!(facts.id, EntityId::Link(_)) {
            return Ok(match self.ends_of(facts, ty)? {
                Some(ends) => self.pick.link(facts, ends, &self.model),
                None => false,
            });
        }
        Ok(self.pick.facts(facts, ty, &self.model))
    }

    /// The containers of both endpoints of a link.
    fn ends_of(&self, facts: &Facts, ty: TypeId) -> Result<Option<[ContainerId; 2]>, QueryError> {
        let date = facts.life.from.min(facts.life.to);
        let instant = Interval { from: date, to: GlobalNanos(date.0.saturating_add(1)) };
        let mut found = None;
        walk::links(self.inner.as_ref(), ty, instant, |link| {
            if link.id == facts.id {
                found = Some([link.start, link.end]);
            }
            Ok(())
        })?;
        Ok(found)
    }

    fn link(&self, ty: TypeId, link: &Link) -> Result<bool, QueryError> {
        if self.pick.needs_ends() {
            let ends = [link.start, link.end];
            return match self.pick.ends(ends) {
                Some(passes) => Ok(passes),
                None => Ok(self.pick.link(&self.inner.facts(link.id)?, ends, &self.model)),
            };
        }
        let nanos = link.end_time.0.saturating_sub(link.start_time.0);
        self.passes(link.id, ty, link.value, nanos)
    }

    fn state(&self, ty: TypeId, state: &State) -> Result<bool, QueryError> {
        self.passes(state.id, ty, state.value, state.life.to.0.saturating_sub(state.life.from.0))
    }
}

/// The type of the entity that these are the facts of.
pub(crate) fn type_of(model: &Model, facts: &Facts) -> Option<TypeId> {
    let kind = |ty: TypeKind| match facts.id {
        EntityId::Container(_) => ty == TypeKind::Container,
        EntityId::State(_) => ty == TypeKind::State,
        EntityId::Event(_) => ty == TypeKind::Event,
        EntityId::Sample(_) => ty == TypeKind::Variable,
        EntityId::Link(_) => matches!(ty, TypeKind::Link { .. }),
    };
    let mut fitting = model.types.iter().filter(|ty| kind(ty.kind) && facts.type_path.last() == Some(&ty.name));
    let first = fitting.next()?;
    if fitting.next().is_none() {
        return Some(first.id);
    }
    let path = |mut at: TypeId| {
        let mut names = Vec::new();
        while let Some(ty) = model.types.get(at.index()).filter(|ty| ty.id != TypeId::ROOT && names.len() < 1000) {
            names.push(ty.name.as_str());
            at = ty.parent;
        }
        names.reverse();
        names
    };
    model.types.iter().filter(|ty| kind(ty.kind)).find(|ty| path(ty.id) == facts.type_path).map(|ty| ty.id)
}

/// Gathers what passes: all are counted, the first are kept.
struct Gather<T> {
    listed: Listed<T>,
    limit: usize,
}

impl<T: Copy> Gather<T> {
    fn new(limit: usize) -> Self {
        Self { listed: Listed { total: 0, items: Vec::new() }, limit }
    }

    fn add(&mut self, item: &T, passes: bool) {
        if passes {
            self.listed.total += 1;
            if self.listed.items.len() < self.limit {
                self.listed.items.push(*item);
            }
        }
    }
}

/// Shares of columns from states, one by one.
pub(crate) struct Columns {
    interval: Interval,
    shares: Vec<Shares>,
}

impl Columns {
    pub(crate) fn new(interval: Interval, columns: u32) -> Self {
        Self { interval, shares: vec![Shares::new(); columns as usize] }
    }

    /// Adds a state. O(log columns), and the columns that it covers.
    pub(crate) fn add(&mut self, value: ValueId, life: Interval) {
        let columns = self.shares.len() as u32;
        let column = |at: u32| self.interval.column(at, columns);
        // Halving, by hand: columns are computed, not kept.
        let (mut low, mut high) = (0, columns);
        while low < high {
            let middle = low.midpoint(high);
            if column(middle).to <= life.from { low = middle + 1 } else { high = middle }
        }
        for at in low..columns {
            let part = column(at);
            if part.from >= life.to {
                break;
            }
            let nanos = part.to.0.min(life.to.0) - part.from.0.max(life.from.0);
            if nanos > 0 {
                add(&mut self.shares[at as usize], value, nanos);
            }
        }
    }

    /// The cells, largest shares first.
    pub(crate) fn finish(self) -> impl Iterator<Item = Cell> {
        self.shares.into_iter().map(|mut shares| Cell::of(&mut shares[..], usize::MAX))
    }
}

/// Adds to the share of a value.
pub(crate) fn add(shares: &mut Shares, value: ValueId, nanos: i64) {
    match shares.iter_mut().find(|share| share.0 == value) {
        Some(share) => share.1 += nanos,
        None => shares.push((value, nanos)),
    }
}

/// Largest first, as in all cells.
pub(crate) fn sort(shares: &mut [(ValueId, i64)]) {
    shares.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
}

/// As the source within would refuse it.
pub(crate) fn check(interval: Interval, columns: u32) -> Result<(), QueryError> {
    if interval.from < interval.to && columns > 0 { Ok(()) } else { Err(QueryError::EmptyInterval) }
}

impl<P: Pick> Layer for Picked<P> {
    fn inner(&self) -> &dyn TimelineSource {
        self.inner.as_ref()
    }

    fn keeps(&self, ty: TypeId) -> bool {
        !self.pick.touches(ty)
    }

    fn summary(&self) -> Summary {
        self.summary.get_or_init(|| summary::summary(self, self.inner.summary())).clone()
    }

    fn cells(&self, lanes: &[Lane], interval: Interval, columns: u32) -> Result<Cells, QueryError> {
        check(interval, columns)?;
        if self.pick.value(ValueId(0)).is_some() {
            let mut cells = self.inner.cells(lanes, interval, columns)?;
            for (lane, cells) in lanes.iter().zip(cells.cells.chunks_mut(columns as usize)) {
                if self.pick.touches(lane.ty) {
                    for cell in cells {
                        cell.shares.retain(|share| self.pick.value(share.0) != Some(false));
                    }
                }
            }
            return Ok(cells);
        }
        let mut cells = Vec::with_capacity(lanes.len().saturating_mul(columns as usize));
        for &lane in lanes {
            if !self.pick.touches(lane.ty) {
                cells.extend(self.inner.cells(&[lane], interval, columns)?.cells);
                continue;
            }
            let mut of = Columns::new(interval, columns);
            walk::states(self.inner(), lane, interval, |state| {
                if self.state(lane.ty, state)? {
                    of.add(state.value, state.life);
                }
                Ok(())
            })?;
            cells.extend(of.finish());
        }
        Ok(Cells { columns, cells })
    }

    fn states(&self, lane: Lane, interval: Interval, limit: usize) -> Result<Listed<State>, QueryError> {
        if !self.pick.touches(lane.ty) {
            return self.inner.states(lane, interval, limit);
        }
        let mut found = Gather::new(limit);
        walk::states(self.inner(), lane, interval, |state| {
            found.add(state, self.state(lane.ty, state)?);
            Ok(())
        })?;
        Ok(found.listed)
    }

    fn events(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        limit: usize,
    ) -> Result<Listed<Mark>, QueryError> {
        if !self.pick.touches(ty) {
            return self.inner.events(container, ty, interval, limit);
        }
        let mut found = Gather::new(limit);
        walk::events(self.inner(), (container, ty), interval, |mark| {
            found.add(mark, self.passes(mark.id, ty, mark.value, 0)?);
            Ok(())
        })?;
        Ok(found.listed)
    }

    fn links(&self, ty: TypeId, interval: Interval, limit: usize) -> Result<Listed<Link>, QueryError> {
        if !self.pick.touches(ty) {
            return self.inner.links(ty, interval, limit);
        }
        let mut found = Gather::new(limit);
        walk::links(self.inner(), ty, interval, |link| {
            found.add(link, self.link(ty, link)?);
            Ok(())
        })?;
        Ok(found.listed)
    }

    fn event_counts(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        columns: u32,
        most: usize,
    ) -> Result<Vec<EventCount>, QueryError> {
        if !self.pick.touches(ty) {
            return self.inner.event_counts(container, ty, interval, columns, most);
        }
        if self.pick.value(ValueId(0)).is_none() {
            return counts::events(
                |part, limit| Layer::events(self, container, ty, part, limit),
                interval,
                columns,
                most,
            );
        }
        let counts = self.inner.event_counts(container, ty, interval, columns, usize::MAX)?;
        let passes = |part: &(ValueId, u64)| self.pick.value(part.0) != Some(false);
        Ok(counts.into_iter().map(|count| EventCount::of(count.values.into_iter().filter(passes), most)).collect())
    }

    fn link_counts(
        &self,
        ty: TypeId,
        interval: Interval,
        exponent: u8,
        visit: &mut LinkVisitor<'_>,
    ) -> Result<(), QueryError> {
        if self.pick.touches(ty) && self.pick.value(ValueId(0)).is_none() {
            return counts::links(|part, limit| Layer::links(self, ty, part, limit), interval, exponent, visit);
        }
        self.inner.link_counts(ty, interval, exponent, &mut |count| {
            let passes = !self.pick.touches(ty) || self.pick.value(count.value) != Some(false);
            if passes { visit(count) } else { Ok(()) }
        })
    }

    fn facts(&self, id: EntityId) -> Result<Facts, QueryError> {
        let facts = self.inner.facts(id)?;
        if self.passes_by_facts(&facts)? { Ok(facts) } else { Err(QueryError::Unknown { what: "entity" }) }
    }

    fn related(&self, id: EntityId, limit: usize) -> Result<Vec<EntityId>, QueryError> {
        Layer::facts(self, id)?;
        let mut related = self.inner.related(id, limit.saturating_mul(4))?;
        related.retain(|&id| Layer::facts(self, id).is_ok());
        related.truncate(limit);
        Ok(related)
    }

    fn shows(&self, value: ValueId) -> bool {
        let ty = self.model.values.get(value.index()).map(|value| value.ty);
        let hidden = ty.is_some_and(|ty| self.pick.touches(ty)) && self.pick.value(value) == Some(false);
        !hidden && self.inner.shows(value)
    }

    fn is_dense(&self, lane: Lane, interval: Interval, most: usize) -> Result<bool, QueryError> {
        if !self.pick.touches(lane.ty) {
            return self.inner.is_dense(lane, interval, most);
        }
        Ok(self.inner.is_dense(lane, interval, most.max(LOOK))?
            || Layer::states(self, lane, interval, 0)?.total > most as u64)
    }

    fn free_numbers(&self) -> FreeNumbers {
        self.inner.free_numbers()
    }
}
