//! [`Store`]: a simulated trace in compact columns, and the answers to all queries.
//!
//! Everything is in memory: about 20 bytes a state (12 in lanes without gaps) and up to 12 more of sums, 12 an event, 16 a
//! sample, 104 a link, and what extra fields take. An index in a file beside the trace, for traces larger than memory, is to
//! take its place behind the same door.
//!
//! Entities are numbered lane by lane, so that a number leads to its lane by a binary search.

mod build;
mod details;
mod facts;
mod links;
mod marks;
mod order;
mod related;
mod spans;
mod states;
#[cfg(test)]
mod tests;
mod variables;

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{ContainerId, TypeId};

pub(crate) use build::{Parts, RawStates, model};
pub(crate) use details::Details;
pub(crate) use marks::RawMarks;
pub(crate) use order::depth_first;
pub(crate) use order::natural;
pub(crate) use states::RawLane;
pub(crate) use variables::RawVariable;

use crate::query::details as query_details;
use crate::query::nested::{self, Checkpoints};
use crate::query::{
    Cell, Cells, ContainerInfo, EntityId, Facts, Interval, Lane, Link, Listed, Mark, Model, NestedTime, QueryError,
    Sample, SeriesColumn, State, Summary, TimelineSource,
};
use links::LinkTable;
use marks::MarkLane;
use states::{Accumulator, StateLane};
use variables::VariableLane;

/// A simulated trace.
#[derive(Debug)]
pub struct Store {
    summary: Summary,
    model: Arc<Model>,
    containers: Arc<Vec<ContainerInfo>>,
    /// Position in `containers` by id; `u32::MAX` where there is no such container.
    positions: Vec<u32>,
    /// By (container, type, depth).
    states: Vec<StateLane>,
    /// Checkpoints of nested states, by (container, type); only of those with many states.
    nested: Vec<((ContainerId, TypeId), Vec<u64>)>,
    /// By (container, type).
    marks: Vec<MarkLane>,
    /// By (container, type).
    variables: Vec<VariableLane>,
    /// Least and largest value of each variable type that has any.
    ranges: FxHashMap<TypeId, (f64, f64)>,
    /// By type.
    links: Vec<LinkTable>,
    details: Details,
    /// Rows of `details` by container id.
    container_details: Vec<u32>,
    references: related::References,
    ends: related::LinkEnds,
}

impl Store {
    fn position(&self, container: ContainerId) -> Result<usize, QueryError> {
        match self.positions.get(container.index()) {
            Some(&position) if position != u32::MAX => Ok(position as usize),
            _ => Err(QueryError::Unknown { what: "container" }),
        }
    }

    fn check(&self, container: ContainerId, ty: TypeId, interval: Interval) -> Result<(), QueryError> {
        self.position(container)?;
        self.check_type(ty)?;
        check_interval(interval)
    }

    fn check_type(&self, ty: TypeId) -> Result<(), QueryError> {
        if ty.index() < self.model.types.len() { Ok(()) } else { Err(QueryError::Unknown { what: "type" }) }
    }

    /// All state lanes of a container, whatever their type.
    fn state_lanes(&self, container: ContainerId) -> &[StateLane] {
        let first = self.states.partition_point(|lane| lane.container < container);
        let last = self.states.partition_point(|lane| lane.container <= container);
        &self.states[first..last]
    }

    fn state_lane(&self, lane: Lane) -> Option<&StateLane> {
        let key = (lane.container, lane.ty, lane.depth);
        let found = self.states.binary_search_by_key(&key, |lane| (lane.container, lane.ty, lane.depth)).ok()?;
        Some(&self.states[found])
    }

    fn variable(&self, container: ContainerId, ty: TypeId) -> Option<&VariableLane> {
        let found = self.variables.binary_search_by_key(&(container, ty), |lane| (lane.container, lane.ty)).ok()?;
        Some(&self.variables[found])
    }

    fn link_table(&self, ty: TypeId) -> Option<&LinkTable> {
        let found = self.links.binary_search_by_key(&ty, |table| table.ty).ok()?;
        Some(&self.links[found])
    }
}

fn check_interval(interval: Interval) -> Result<(), QueryError> {
    if interval.from < interval.to { Ok(()) } else { Err(QueryError::EmptyInterval) }
}

/// Number in the store of the entity at `index` of a lane.
fn number(base: u32, index: usize) -> u32 {
    base + index as u32
}

impl TimelineSource for Store {
    fn summary(&self) -> Summary {
        self.summary.clone()
    }

    fn model(&self) -> Arc<Model> {
        Arc::clone(&self.model)
    }

    fn containers(&self) -> Arc<Vec<ContainerInfo>> {
        Arc::clone(&self.containers)
    }

    fn depths(&self, container: ContainerId, ty: TypeId) -> u32 {
        let first = self.states.partition_point(|lane| (lane.container, lane.ty) < (container, ty));
        let lanes = self.states[first..].iter().take_while(|lane| (lane.container, lane.ty) == (container, ty));
        lanes.map(|lane| lane.depth + 1).max().unwrap_or(0)
    }

    fn types_in(&self, container: ContainerId) -> Option<Vec<TypeId>> {
        let mut types: Vec<TypeId> = self.state_lanes(container).iter().map(|lane| lane.ty).collect();
        let first = self.marks.partition_point(|lane| lane.container < container);
        types.extend(self.marks[first..].iter().take_while(|lane| lane.container == container).map(|lane| lane.ty));
        let first = self.variables.partition_point(|lane| lane.container < container);
        types.extend(self.variables[first..].iter().take_while(|lane| lane.container == container).map(|lane| lane.ty));
        types.sort_unstable();
        types.dedup();
        Some(types)
    }

    fn cells(&self, lanes: &[Lane], interval: Interval, columns: u32) -> Result<Cells, QueryError> {
        self.largest(lanes, interval, columns, usize::MAX)
    }

    fn largest(&self, lanes: &[Lane], interval: Interval, columns: u32, most: usize) -> Result<Cells, QueryError> {
        check_interval(interval)?;
        if columns == 0 {
            return Err(QueryError::EmptyInterval);
        }
        let mut cells = Vec::with_capacity(lanes.len().saturating_mul(columns as usize));
        let mut scratch = Accumulator::default();
        for &lane in lanes {
            self.check(lane.container, lane.ty, interval)?;
            let found = self.state_lane(lane);
            let mut near = 0;
            cells.extend((0..columns).map(|column| {
                let shares =
                    |lane: &StateLane| lane.shares(interval.column(column, columns), &mut near, most, &mut scratch);
                found.map_or_else(Cell::default, shares)
            }));
        }
        Ok(Cells { columns, cells })
    }

    fn nested_times(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
    ) -> Result<Vec<NestedTime>, QueryError> {
        self.check(container, ty, interval)?;
        let list = |lane, part, limit| TimelineSource::states(self, lane, part, limit);
        let place = (container, ty, self.depths(container, ty));
        if place.2 < 2 {
            return Ok(nested::flat(self.times(&[Lane { container, ty, depth: 0 }], interval)?));
        }
        let sweep = |part| nested::sweep(list, place, part);
        match self.nested.binary_search_by_key(&(container, ty), |one| one.0) {
            Ok(at) => {
                let words = &self.nested[at].1;
                let word = |at: u64| words.get(at as usize).copied().unwrap_or(0);
                nested::between(&Checkpoints::new(word, words.len() as u64), interval, sweep)
            }
            Err(_) => sweep(interval),
        }
    }

    fn states(&self, lane: Lane, interval: Interval, limit: usize) -> Result<Listed<State>, QueryError> {
        self.check(lane.container, lane.ty, interval)?;
        let Some(lane) = self.state_lane(lane) else { return Ok(none()) };
        let range = lane.overlapping(interval);
        Ok(Listed { total: range.len() as u64, items: range.take(limit).map(|index| state(lane, index)).collect() })
    }

    fn events(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        limit: usize,
    ) -> Result<Listed<Mark>, QueryError> {
        self.check(container, ty, interval)?;
        let Ok(found) = self.marks.binary_search_by_key(&(container, ty), |lane| (lane.container, lane.ty)) else {
            return Ok(none());
        };
        let lane = &self.marks[found];
        let range = lane.within(interval);
        let total = range.len() as u64;
        let items = range.take(limit).map(|index| Mark {
            id: EntityId::Event(number(lane.base, index)),
            value: lane.value(index),
            time: GlobalNanos(lane.date(index)),
        });
        Ok(Listed { total, items: items.collect() })
    }

    fn links(&self, ty: TypeId, interval: Interval, limit: usize) -> Result<Listed<Link>, QueryError> {
        self.check_type(ty)?;
        check_interval(interval)?;
        let Some(table) = self.link_table(ty) else { return Ok(none()) };
        let items = table.overlapping(interval).take(limit).map(|index| {
            let row = &table.rows[index];
            Link {
                id: EntityId::Link(number(table.base, index)),
                ty,
                value: row.value,
                start_time: GlobalNanos(row.start_time),
                end_time: GlobalNanos(row.end_time),
                start: row.start,
                end: row.end,
            }
        });
        Ok(Listed { total: table.count(interval), items: items.collect() })
    }

    fn samples(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        limit: usize,
    ) -> Result<Listed<Sample>, QueryError> {
        self.check(container, ty, interval)?;
        let Some(lane) = self.variable(container, ty) else { return Ok(none()) };
        let range = lane.overlapping(interval);
        let total = range.len() as u64;
        let items = range.take(limit).map(|index| Sample {
            id: EntityId::Sample(number(lane.base, index)),
            life: life(lane.start(index), lane.end(index)),
            value: lane.value(index),
        });
        Ok(Listed { total, items: items.collect() })
    }

    fn series(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        columns: u32,
    ) -> Result<Vec<Option<SeriesColumn>>, QueryError> {
        self.check(container, ty, interval)?;
        if columns == 0 {
            return Err(QueryError::EmptyInterval);
        }
        let lane = self.variable(container, ty);
        Ok((0..columns).map(|column| lane?.column(interval.column(column, columns))).collect())
    }

    fn range(&self, ty: TypeId) -> Option<(f64, f64)> {
        self.ranges.get(&ty).copied()
    }

    fn facts(&self, id: EntityId) -> Result<Facts, QueryError> {
        query_details::facts(self, id, true)
    }

    fn facts_without_paths(&self, id: EntityId) -> Result<Facts, QueryError> {
        query_details::facts(self, id, false)
    }

    fn related(&self, id: EntityId, limit: usize) -> Result<Vec<EntityId>, QueryError> {
        query_details::related(self, id, limit)
    }
}

fn none<T>() -> Listed<T> {
    Listed { total: 0, items: Vec::new() }
}

fn life(from: i64, to: i64) -> Interval {
    Interval { from: GlobalNanos(from), to: GlobalNanos(to) }
}

fn state(lane: &StateLane, index: usize) -> State {
    State {
        id: EntityId::State(number(lane.base, index)),
        value: lane.value(index),
        life: life(lane.start(index), lane.end(index)),
        depth: lane.depth,
    }
}
