//! Cut to an interval: states and values of variables end at its edges, links that reach into it stay whole, containers that did not
//! exist in it are left out.
//!
//! Cost: that of the source within; a column of cells that lies across an edge is asked for by itself, and links of an interval that does
//! are looked through.

use std::sync::{Arc, OnceLock};

use super::hide::{Hidden, none};
use super::layer::Layer;
use super::variable_range::{self, Ranges};
use super::{entity_filter, summary};
use crate::filter::language::error::FilterError;
use crate::filter::language::time_range::Part;
use crate::query::walk;
use crate::query::{
    Cell, Cells, ContainerId, ContainerInfo, EntityId, EventCount, Facts, FreeNumbers, Interval, Lane, Link,
    LinkVisitor, Listed, Mark, NestedTime, QueryError, Sample, SeriesColumn, State, Summary, TimelineSource, TypeId,
    counts,
};

struct Cut {
    inner: Hidden,
    window: Interval,
    list: Arc<Vec<ContainerInfo>>,
    summary: OnceLock<Summary>,
    ranges: Ranges,
}

/// Cuts.
pub(crate) fn apply(inner: &Arc<dyn TimelineSource>, part: Part) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let window = part.of(inner.extent())?;
    let list = inner.containers();
    let alive = |at: usize| meets(list[at].life, window);
    let hidden = Hidden::new(Arc::clone(inner), |_| true, alive);
    let mut clipped = TimelineSource::containers(&hidden).as_ref().clone();
    for info in &mut clipped {
        info.life = clip(info.life, window);
    }
    Ok(Arc::new(Cut {
        inner: hidden,
        window,
        list: Arc::new(clipped),
        summary: OnceLock::new(),
        ranges: Ranges::default(),
    }))
}

/// The common part; may be empty.
fn clip(a: Interval, b: Interval) -> Interval {
    let from = a.from.max(b.from);
    Interval { from, to: a.to.min(b.to).max(from) }
}

/// Whether something with this life is met in an interval; what has no duration is at its date.
fn meets(life: Interval, window: Interval) -> bool {
    life.from < window.to && (life.to > window.from || life.from == life.to && life.from == window.from)
}

impl Cut {
    /// Members as far as they live in the part.
    fn clipped(&self, mut members: Vec<ContainerInfo>) -> Vec<ContainerInfo> {
        members.retain(|info| meets(info.life, self.window));
        for info in &mut members {
            info.life = clip(info.life, self.window);
        }
        members
    }

    fn part(&self, interval: Interval) -> Option<Interval> {
        let part = clip(interval, self.window);
        (part.from < part.to).then_some(part)
    }

    fn contains(&self, interval: Interval) -> bool {
        interval.from >= self.window.from && interval.to <= self.window.to
    }
}

impl Layer for Cut {
    fn inner(&self) -> &dyn TimelineSource {
        &self.inner
    }

    fn summary(&self) -> Summary {
        self.summary.get_or_init(|| summary::summary(self, self.inner.inner().summary())).clone()
    }

    fn extent(&self) -> Interval {
        self.window
    }

    fn containers(&self) -> Arc<Vec<ContainerInfo>> {
        Arc::clone(&self.list)
    }

    fn cells(&self, lanes: &[Lane], interval: Interval, columns: u32) -> Result<Cells, QueryError> {
        Layer::largest(self, lanes, interval, columns, usize::MAX)
    }

    fn largest(&self, lanes: &[Lane], interval: Interval, columns: u32, most: usize) -> Result<Cells, QueryError> {
        let mut cells = TimelineSource::largest(&self.inner, lanes, interval, columns, most)?;
        if self.contains(interval) {
            return Ok(cells);
        }
        for (lane, cells) in lanes.iter().zip(cells.cells.chunks_mut(columns as usize)) {
            for (at, cell) in (0_u32..).zip(cells) {
                let column = interval.column(at, columns);
                if self.contains(column) {
                    continue;
                }
                *cell = match self.part(column) {
                    Some(part) => {
                        let one = TimelineSource::largest(&self.inner, &[*lane], part, 1, most)?;
                        one.cells.into_iter().next().unwrap_or_default()
                    }
                    None => Cell::default(),
                };
            }
        }
        Ok(cells)
    }

    fn nested_times(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
    ) -> Result<Vec<NestedTime>, QueryError> {
        entity_filter::check(interval, 1)?;
        let Some(part) = self.part(interval) else { return Ok(Vec::new()) };
        TimelineSource::nested_times(&self.inner, container, ty, part)
    }

    fn states(&self, lane: Lane, interval: Interval, limit: usize) -> Result<Listed<State>, QueryError> {
        entity_filter::check(interval, 1)?;
        let Some(part) = self.part(interval) else { return Ok(none()) };
        let mut listed = TimelineSource::states(&self.inner, lane, part, limit)?;
        for state in &mut listed.items {
            state.life = clip(state.life, self.window);
        }
        Ok(listed)
    }

    fn events(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        limit: usize,
    ) -> Result<Listed<Mark>, QueryError> {
        entity_filter::check(interval, 1)?;
        let Some(part) = self.part(interval) else { return Ok(none()) };
        TimelineSource::events(&self.inner, container, ty, part, limit)
    }

    fn links(&self, ty: TypeId, interval: Interval, limit: usize) -> Result<Listed<Link>, QueryError> {
        entity_filter::check(interval, 1)?;
        // Links are whole: one may lie in the interval and reach into the cut although the cut does not reach into the interval.
        if self.contains(interval) {
            return TimelineSource::links(&self.inner, ty, interval, limit);
        }
        if interval.from <= self.window.from && interval.to >= self.window.to {
            return TimelineSource::links(&self.inner, ty, self.window, limit);
        }
        let mut found = none();
        walk::links(&self.inner, ty, interval, |link| {
            let (a, b) = (link.start_time, link.end_time);
            if meets(Interval { from: a.min(b), to: a.max(b) }, self.window) {
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
        entity_filter::check(interval, columns)?;
        if self.contains(interval) {
            return TimelineSource::event_counts(&self.inner, container, ty, interval, columns, most);
        }
        let counted = |column| match self.part(column) {
            Some(part) => {
                let one = TimelineSource::event_counts(&self.inner, container, ty, part, 1, most)?;
                Ok(one.into_iter().next().unwrap_or_default())
            }
            None => Ok(EventCount::default()),
        };
        interval.columns(columns).map(counted).collect()
    }

    fn link_counts(
        &self,
        ty: TypeId,
        interval: Interval,
        exponent: u8,
        visit: &mut LinkVisitor<'_>,
    ) -> Result<(), QueryError> {
        entity_filter::check(interval, 1)?;
        if self.contains(interval) {
            return TimelineSource::link_counts(&self.inner, ty, interval, exponent, visit);
        }
        if interval.from <= self.window.from && interval.to >= self.window.to {
            return TimelineSource::link_counts(&self.inner, ty, self.window, exponent, visit);
        }
        counts::links(|part, limit| Layer::links(self, ty, part, limit), interval, exponent, visit)
    }

    fn samples(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        limit: usize,
    ) -> Result<Listed<Sample>, QueryError> {
        entity_filter::check(interval, 1)?;
        let Some(part) = self.part(interval) else { return Ok(none()) };
        let mut listed = TimelineSource::samples(&self.inner, container, ty, part, limit)?;
        for sample in &mut listed.items {
            sample.life = clip(sample.life, self.window);
        }
        Ok(listed)
    }

    fn series(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        columns: u32,
    ) -> Result<Vec<Option<SeriesColumn>>, QueryError> {
        let mut series = TimelineSource::series(&self.inner, container, ty, interval, columns)?;
        for (at, found) in (0_u32..).zip(&mut series) {
            let column = interval.column(at, columns);
            if !self.contains(column) {
                *found = match self.part(column) {
                    Some(part) => TimelineSource::series(&self.inner, container, ty, part, 1)?.pop().flatten(),
                    None => None,
                };
            }
        }
        Ok(series)
    }

    fn range(&self, ty: TypeId) -> Option<(f64, f64)> {
        self.ranges.of(ty, || variable_range::over(&self.inner, &self.list, ty, self.window))
    }

    fn facts(&self, id: EntityId) -> Result<Facts, QueryError> {
        let mut facts = TimelineSource::facts(&self.inner, id)?;
        let life = facts.life;
        let ordered = Interval { from: life.from.min(life.to), to: life.from.max(life.to) };
        let root = id == EntityId::Container(ContainerId::ROOT);
        if !root && !meets(ordered, self.window) {
            return Err(QueryError::Unknown { what: "entity" });
        }
        if !matches!(id, EntityId::Link(_)) {
            facts.life = clip(life, self.window);
        }
        Ok(facts)
    }

    fn related(&self, id: EntityId, limit: usize) -> Result<Vec<EntityId>, QueryError> {
        Layer::facts(self, id)?;
        let mut related = TimelineSource::related(&self.inner, id, limit.saturating_mul(4))?;
        related.retain(|&id| Layer::facts(self, id).is_ok());
        related.truncate(limit);
        Ok(related)
    }

    fn members(&self, container: ContainerId) -> Vec<ContainerInfo> {
        self.clipped(TimelineSource::members(&self.inner, container))
    }

    fn members_with(&self, container: ContainerId, ty: TypeId) -> Vec<ContainerInfo> {
        self.clipped(TimelineSource::members_with(&self.inner, container, ty))
    }

    fn is_dense(&self, lane: Lane, interval: Interval, most: usize) -> Result<bool, QueryError> {
        match self.part(interval) {
            Some(part) => TimelineSource::is_dense(&self.inner, lane, part, most),
            None => Ok(false),
        }
    }

    fn free_numbers(&self) -> FreeNumbers {
        TimelineSource::free_numbers(&self.inner)
    }
}
