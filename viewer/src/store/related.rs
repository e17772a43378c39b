//! Relations between entities (thesis P79, papers S22): through references to containers, and through links.

use std::collections::HashMap;

use converter::paje::ContainerId;

use super::details::Details;
use super::facts::locate;
use super::links::LinkTable;
use super::spans::{Spans, effective_end};
use super::states::StateLane;
use super::{Store, life, number};
use crate::query::{EntityId, Interval, QueryError};

/// States that refer to containers, by container.
#[derive(Debug, Default)]
pub(crate) struct References {
    by_container: HashMap<ContainerId, Referring>,
}

#[derive(Debug, Default)]
struct Referring {
    /// Start, effective end, number of the state; by start.
    rows: Vec<(i64, i64, u32)>,
    spans: Spans,
}

impl References {
    pub(crate) fn new(states: &[StateLane], details: &Details) -> Self {
        let mut by_container: HashMap<ContainerId, Referring> = HashMap::new();
        for lane in states.iter().filter(|lane| lane.has_details()) {
            for index in 0..lane.len() {
                for container in details.references(lane.detail(index)) {
                    let (start, end) = (lane.start(index), lane.end(index));
                    let row = (start, effective_end(start, end), number(lane.base, index));
                    let rows = &mut by_container.entry(container).or_default().rows;
                    // A state may name a container twice, as what it waits for and what owns it.
                    if rows.last() != Some(&row) {
                        rows.push(row);
                    }
                }
            }
        }
        #[expect(clippy::iter_over_hash_type, reason = "each is sealed by itself")]
        for referring in by_container.values_mut() {
            referring.rows.sort_unstable();
            referring.spans = Spans::new(referring.rows.iter().map(|row| row.1).collect());
        }
        Self { by_container }
    }

    /// States that refer to `container` and overlap the interval, by start.
    fn to(&self, container: ContainerId, interval: Interval) -> impl Iterator<Item = EntityId> {
        self.by_container.get(&container).into_iter().flat_map(move |referring| {
            let started = referring.rows.partition_point(|row| row.0 < interval.to.0);
            referring
                .spans
                .overlapping(started, interval, |index| referring.rows[index].1)
                .map(|index| EntityId::State(referring.rows[index].2))
        })
    }
}

/// Both ends of all links, by container and date.
#[derive(Debug, Default)]
pub(crate) struct LinkEnds(Vec<(ContainerId, i64, u32)>);

impl LinkEnds {
    pub(crate) fn new(links: &[LinkTable]) -> Self {
        let mut ends = Vec::with_capacity(2 * links.iter().map(|table| table.rows.len()).sum::<usize>());
        for table in links {
            for (index, row) in table.rows.iter().enumerate() {
                let link = number(table.base, index);
                ends.push((row.start, row.start_time, link));
                if (row.end, row.end_time) != (row.start, row.start_time) {
                    ends.push((row.end, row.end_time, link));
                }
            }
        }
        ends.sort_unstable();
        Self(ends)
    }

    /// Links that start or end in `container` at `from <= date <= to`, by that date.
    fn within(&self, container: ContainerId, from: i64, to: i64) -> impl Iterator<Item = EntityId> {
        let first = self.0.partition_point(|end| (end.0, end.1) < (container, from));
        self.0[first..].iter().take_while(move |end| end.0 == container && end.1 <= to).map(|end| EntityId::Link(end.2))
    }
}

impl Store {
    /// What [`crate::query::TimelineSource::related`] promises, and how it is decided:
    ///
    /// - a state or event that refers to containers: the states of those containers that overlap it, and the containers;
    /// - a state: the states that refer to its container and overlap it, and the links that start or end in its container from
    ///   its first date to its last, both included;
    /// - a link: the states of its two containers at its two dates, a state that just ends or begins there included;
    /// - an event: the states of its container at its date, likewise;
    /// - a container: the states that refer to it.
    pub(super) fn related_to(&self, id: EntityId, limit: usize) -> Result<Vec<EntityId>, QueryError> {
        let found = self.find(id)?;
        let (from, to) = (found.life.from.0, found.life.to.0);
        let during = life(from.min(to), effective_end(from.min(to), from.max(to)));
        let mut related = Collector { entities: Vec::new(), limit, asked: id };
        // A reference may be to a container that the simulation left out.
        for container in self.details.references(found.detail).filter(|&container| self.position(container).is_ok()) {
            related.add(std::iter::once(EntityId::Container(container)));
            related.add(self.states_during(container, during));
        }
        match id {
            EntityId::Container(container) => related.add(self.references.to(container, during)),
            EntityId::State(_) => {
                related.add(self.references.to(found.container, during));
                related.add(self.ends.within(found.container, from, to));
            }
            EntityId::Link(link) => {
                if let Some((table, index)) = locate(&self.links, link) {
                    let row = &table.rows[index];
                    related.add(self.states_at(row.start, row.start_time));
                    related.add(self.states_at(row.end, row.end_time));
                }
            }
            EntityId::Event(_) => related.add(self.states_at(found.container, from)),
            EntityId::Sample(_) => {}
        }
        Ok(related.entities)
    }

    fn states_during(&self, container: ContainerId, interval: Interval) -> impl Iterator<Item = EntityId> {
        self.state_lanes(container)
            .iter()
            .flat_map(move |lane| lane.overlapping(interval).map(|index| EntityId::State(number(lane.base, index))))
    }

    fn states_at(&self, container: ContainerId, date: i64) -> impl Iterator<Item = EntityId> {
        self.state_lanes(container)
            .iter()
            .flat_map(move |lane| lane.touching(date, date).map(|index| EntityId::State(number(lane.base, index))))
    }
}

/// Entities without repetition, up to a limit.
struct Collector {
    entities: Vec<EntityId>,
    limit: usize,
    asked: EntityId,
}

impl Collector {
    fn add(&mut self, more: impl Iterator<Item = EntityId>) {
        for entity in more {
            if self.entities.len() >= self.limit {
                break;
            }
            if entity != self.asked && !self.entities.contains(&entity) {
                self.entities.push(entity);
            }
        }
    }
}
