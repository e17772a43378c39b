//! [`TraceStore`]: a simulated trace in compact columns in memory, and the answers to all queries.
//!
//! A state takes about 20 bytes (12 in lanes without gaps) and up to 12 more of sums; an event
//! takes 12, a sample 16, and a link 104 bytes, plus extra fields. For traces larger than memory,
//! an index in a file next to the trace implements the same interface.
//!
//! Entities are numbered lane by lane, so that a binary search finds the lane of a number.
//!
//! ```
//! use tumit_paje::{ContainerId, DrawStyle, PajeEvent, PajeTypeKind, TypeId, ValueId};
//! use tumit_viewer::query::{GlobalNanos, TimelineSource};
//! use tumit_viewer::store::TraceStore;
//!
//! let (thread, activity, work, main) = (TypeId(1), TypeId(2), ValueId(0), ContainerId(1));
//! let (color, style, extra) = (None, DrawStyle::NONE, &[]);
//! let second = |n: i64| GlobalNanos(n * 1_000_000_000);
//! let (container, state) = (PajeTypeKind::Container, PajeTypeKind::State);
//! let (root, top) = (TypeId::ROOT, ContainerId::ROOT);
//! let store = TraceStore::from_events("example", [
//!     PajeEvent::DefineType {
//!         ty: thread, kind: container, parent: root, name: "Thread", color, style,
//!     },
//!     PajeEvent::DefineType {
//!         ty: activity, kind: state, parent: thread, name: "Activity", color, style,
//!     },
//!     PajeEvent::DefineValue { value: work, ty: activity, name: "work", color, style },
//!     PajeEvent::CreateContainer {
//!         time: second(0), container: main, ty: thread, parent: top, name: "main", extra,
//!     },
//!     PajeEvent::SetState {
//!         time: second(0), container: main, ty: activity, value: work, extra, source: None,
//!     },
//!     PajeEvent::DestroyContainer { time: second(3), container: main },
//! ]);
//! assert_eq!((store.summary().states, store.extent().to), (1, second(3)));
//! ```

mod build;
mod details;
mod facts;
mod links;
mod marks;
mod order;
mod relations;
mod spans;
mod states;
#[cfg(test)]
mod tests;
mod variables;

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{ContainerId, TypeId};

pub(crate) use build::{RawStates, StoreParts, model};
pub(crate) use details::DetailTable;
pub(crate) use marks::RawMarks;
pub(crate) use order::compare_naturally;
pub(crate) use order::depth_first;
pub(crate) use states::RawLane;
pub(crate) use variables::RawVariable;

use crate::query::details as query_details;
use crate::query::nested_times::{self, Checkpoints};
use crate::query::{
    ContainerInfo, EntityFacts, EntityId, EntityList, EventEntity, LinkEntity, MixtureCell, MixtureCells, NestedTime,
    QueryError, SeriesColumn, StateEntity, StateLaneId, TimeRange, TimelineSource, TraceSummary, TypeModel,
    VariableSample,
};
use links::StoreLinks;
use marks::StoreMarkLane;
use states::{StoreStateLane, StoreTimeSums};
use variables::StoreVariableLane;

/// A simulated trace.
///
/// ```
/// use tumit_viewer::query::TimelineSource;
/// use tumit_viewer::store::TraceStore;
///
/// # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/header.paje"));
/// # let body = "0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n6 0 t 0 T main\n\
/// #             11 0 t S w\n14 2 t S\n7 3 T t\n";
/// # let text = format!("{header}{body}");
/// let store = TraceStore::from_paje("example", text.as_bytes())?;
/// assert_eq!(store.containers()[1].name, "main");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TraceStore {
    summary: TraceSummary,
    model: Arc<TypeModel>,
    containers: Arc<Vec<ContainerInfo>>,
    /// Position in `containers` by id; `u32::MAX` if there is no such container.
    positions: Vec<u32>,
    /// Sorted by container, type and depth.
    states: Vec<StoreStateLane>,
    /// Checkpoints of nested states, sorted by container and type, for places with many states.
    nested: Vec<((ContainerId, TypeId), Vec<u64>)>,
    /// Sorted by container and type.
    marks: Vec<StoreMarkLane>,
    /// Sorted by container and type.
    variables: Vec<StoreVariableLane>,
    /// Smallest and largest value of each variable type with values.
    ranges: FxHashMap<TypeId, (f64, f64)>,
    /// Sorted by type.
    links: Vec<StoreLinks>,
    details: DetailTable,
    /// Rows of `details` by container id.
    container_details: Vec<u32>,
    references: relations::StateReferences,
    ends: relations::LinkEndIndex,
}

impl TraceStore {
    fn position(&self, container: ContainerId) -> Result<usize, QueryError> {
        match self.positions.get(container.index()) {
            Some(&position) if position != u32::MAX => Ok(position as usize),
            _ => Err(QueryError::Unknown { kind: "container" }),
        }
    }

    fn check(&self, container: ContainerId, ty: TypeId, interval: TimeRange) -> Result<(), QueryError> {
        self.position(container)?;
        self.check_type(ty)?;
        check_interval(interval)
    }

    fn check_type(&self, ty: TypeId) -> Result<(), QueryError> {
        if ty.index() < self.model.types.len() { Ok(()) } else { Err(QueryError::Unknown { kind: "type" }) }
    }

    /// All state lanes of a container, of all types.
    fn state_lanes(&self, container: ContainerId) -> &[StoreStateLane] {
        let first = self.states.partition_point(|lane| lane.container < container);
        let last = self.states.partition_point(|lane| lane.container <= container);
        &self.states[first..last]
    }

    fn state_lane(&self, lane: StateLaneId) -> Option<&StoreStateLane> {
        let key = (lane.container, lane.ty, lane.depth);
        let found = self.states.binary_search_by_key(&key, |lane| (lane.container, lane.ty, lane.depth)).ok()?;
        Some(&self.states[found])
    }

    fn variable(&self, container: ContainerId, ty: TypeId) -> Option<&StoreVariableLane> {
        let found = self.variables.binary_search_by_key(&(container, ty), |lane| (lane.container, lane.ty)).ok()?;
        Some(&self.variables[found])
    }

    fn link_table(&self, ty: TypeId) -> Option<&StoreLinks> {
        let found = self.links.binary_search_by_key(&ty, |table| table.ty).ok()?;
        Some(&self.links[found])
    }
}

fn check_interval(interval: TimeRange) -> Result<(), QueryError> {
    if interval.from < interval.to { Ok(()) } else { Err(QueryError::EmptyInterval) }
}

/// Number in the store of the entity at `index` of a lane.
fn number(base: u32, index: usize) -> u32 {
    base + index as u32
}

impl TimelineSource for TraceStore {
    fn summary(&self) -> TraceSummary {
        self.summary.clone()
    }

    fn model(&self) -> Arc<TypeModel> {
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

    fn cells(&self, lanes: &[StateLaneId], interval: TimeRange, columns: u32) -> Result<MixtureCells, QueryError> {
        self.largest(lanes, interval, columns, usize::MAX)
    }

    fn largest(
        &self,
        lanes: &[StateLaneId],
        interval: TimeRange,
        columns: u32,
        most: usize,
    ) -> Result<MixtureCells, QueryError> {
        check_interval(interval)?;
        if columns == 0 {
            return Err(QueryError::EmptyInterval);
        }
        let mut cells = Vec::with_capacity(lanes.len().saturating_mul(columns as usize));
        let mut scratch = StoreTimeSums::default();
        for &lane in lanes {
            self.check(lane.container, lane.ty, interval)?;
            let found = self.state_lane(lane);
            let mut near = 0;
            cells.extend((0..columns).map(|column| {
                let shares = |lane: &StoreStateLane| {
                    lane.shares(interval.column(column, columns), &mut near, most, &mut scratch)
                };
                found.map_or_else(MixtureCell::default, shares)
            }));
        }
        Ok(MixtureCells { columns, cells })
    }

    fn nested_times(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: TimeRange,
    ) -> Result<Vec<NestedTime>, QueryError> {
        self.check(container, ty, interval)?;
        let list = |lane, part, limit| TimelineSource::states(self, lane, part, limit);
        let place = (container, ty, self.depths(container, ty));
        if place.2 < 2 {
            return Ok(nested_times::unnested_times(self.times(&[StateLaneId { container, ty, depth: 0 }], interval)?));
        }
        let sweep = |part| nested_times::sweep(list, place, part);
        match self.nested.binary_search_by_key(&(container, ty), |one| one.0) {
            Ok(at) => {
                let words = &self.nested[at].1;
                let word = |at: u64| words.get(at as usize).copied().unwrap_or(0);
                nested_times::between(&Checkpoints::new(word, words.len() as u64), interval, sweep)
            }
            Err(_) => sweep(interval),
        }
    }

    fn states(
        &self,
        lane: StateLaneId,
        interval: TimeRange,
        limit: usize,
    ) -> Result<EntityList<StateEntity>, QueryError> {
        self.check(lane.container, lane.ty, interval)?;
        let Some(lane) = self.state_lane(lane) else { return Ok(none()) };
        let range = lane.overlapping_range(interval);
        Ok(EntityList { total: range.len() as u64, items: range.take(limit).map(|index| state(lane, index)).collect() })
    }

    fn events(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: TimeRange,
        limit: usize,
    ) -> Result<EntityList<EventEntity>, QueryError> {
        self.check(container, ty, interval)?;
        let Ok(found) = self.marks.binary_search_by_key(&(container, ty), |lane| (lane.container, lane.ty)) else {
            return Ok(none());
        };
        let lane = &self.marks[found];
        let range = lane.within(interval);
        let total = range.len() as u64;
        let items = range.take(limit).map(|index| EventEntity {
            id: EntityId::Event(number(lane.base, index)),
            value: lane.value(index),
            time: GlobalNanos(lane.timestamp(index)),
        });
        Ok(EntityList { total, items: items.collect() })
    }

    fn links(&self, ty: TypeId, interval: TimeRange, limit: usize) -> Result<EntityList<LinkEntity>, QueryError> {
        self.check_type(ty)?;
        check_interval(interval)?;
        let Some(table) = self.link_table(ty) else { return Ok(none()) };
        let items = table.overlapping_links(interval).take(limit).map(|index| {
            let row = &table.rows[index];
            LinkEntity {
                id: EntityId::Link(number(table.base, index)),
                ty,
                value: row.value,
                start_time: GlobalNanos(row.start_time),
                end_time: GlobalNanos(row.end_time),
                start: row.start,
                end: row.end,
            }
        });
        Ok(EntityList { total: table.count(interval), items: items.collect() })
    }

    fn samples(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: TimeRange,
        limit: usize,
    ) -> Result<EntityList<VariableSample>, QueryError> {
        self.check(container, ty, interval)?;
        let Some(lane) = self.variable(container, ty) else { return Ok(none()) };
        let range = lane.overlapping_range(interval);
        let total = range.len() as u64;
        let items = range.take(limit).map(|index| VariableSample {
            id: EntityId::Sample(number(lane.base, index)),
            life: life(lane.start(index), lane.end(index)),
            value: lane.value(index),
        });
        Ok(EntityList { total, items: items.collect() })
    }

    fn series(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: TimeRange,
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

    fn facts(&self, id: EntityId) -> Result<EntityFacts, QueryError> {
        query_details::facts(self, id, true)
    }

    fn facts_without_paths(&self, id: EntityId) -> Result<EntityFacts, QueryError> {
        query_details::facts(self, id, false)
    }

    fn related_entities(&self, id: EntityId, limit: usize) -> Result<Vec<EntityId>, QueryError> {
        query_details::related_entities(self, id, limit)
    }
}

fn none<T>() -> EntityList<T> {
    EntityList { total: 0, items: Vec::new() }
}

fn life(from: i64, to: i64) -> TimeRange {
    TimeRange { from: GlobalNanos(from), to: GlobalNanos(to) }
}

fn state(lane: &StoreStateLane, index: usize) -> StateEntity {
    StateEntity {
        id: EntityId::State(number(lane.base, index)),
        value: lane.value(index),
        life: life(lane.start(index), lane.end(index)),
        depth: lane.depth,
    }
}
