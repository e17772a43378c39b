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
//!     PajeEvent::DefineValue { value: work, ty: activity, name: "work", color, style, category: None },
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

mod container_order;
mod details;
mod end_tree;
mod entity_lookup;
mod entity_number;
mod links;
mod marks;
mod relations;
mod states;
mod store_parts;
#[cfg(test)]
mod tests;
mod trace_store;
mod variables;

use std::sync::Arc;

use tumit_paje::{ContainerId, TypeId};

pub(crate) use container_order::compare_naturally;
pub(crate) use container_order::depth_first;
pub(crate) use details::DetailTable;
pub(crate) use marks::RawMarks;
pub(crate) use states::RawLane;
pub(crate) use store_parts::{RawStates, StoreParts, model};
pub use trace_store::TraceStore;
pub(crate) use trace_store::check_time_range;
pub(crate) use variables::RawVariable;

use crate::query::entity_facts;
use crate::query::nested_times::{self, Checkpoints, NestedLaneGroup};
use crate::query::{
    ContainerInfo, EntityFacts, EntityId, EntityList, EventEntity, GlobalNanos, LinkEntity, MixtureCell, MixtureCells,
    NestedTime, OpenLinkEntity, OperationPart, QueryError, SeriesColumn, StateEntity, StateLaneId, TimeRange,
    TimelineSource, TraceSummary, TypeModel, ValueRange, VariableSample, nanos_range,
};
use entity_number::number;
use states::{StoreStateLane, StoreTimeSums};

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

    fn cells(&self, lanes: &[StateLaneId], time_range: TimeRange, columns: u32) -> Result<MixtureCells, QueryError> {
        self.largest_shares(lanes, time_range, columns, usize::MAX)
    }

    fn largest_shares(
        &self,
        lanes: &[StateLaneId],
        time_range: TimeRange,
        columns: u32,
        limit: usize,
    ) -> Result<MixtureCells, QueryError> {
        check_time_range(time_range)?;
        if columns == 0 {
            return Err(QueryError::EmptyTimeRange);
        }
        let mut cells = Vec::with_capacity(lanes.len().saturating_mul(columns as usize));
        let mut scratch = StoreTimeSums::default();
        for &lane in lanes {
            self.check(lane.container, lane.ty, time_range)?;
            let state_lane = self.state_lane(lane);
            let mut hint = 0;
            cells.extend((0..columns).map(|column| {
                let shares = |lane: &StoreStateLane| {
                    lane.shares(time_range.column(column, columns), &mut hint, limit, &mut scratch)
                };
                state_lane.map_or_else(MixtureCell::default, shares)
            }));
        }
        Ok(MixtureCells { columns, cells })
    }

    fn nested_times(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
    ) -> Result<Vec<NestedTime>, QueryError> {
        self.check(container, ty, time_range)?;
        let list = |lane, part, limit| TimelineSource::states(self, lane, part, limit);
        let nesting = NestedLaneGroup { container, ty, depths: self.depths(container, ty) };
        if nesting.depths < 2 {
            return Ok(nested_times::unnested_times(
                self.times(&[StateLaneId { container, ty, depth: 0 }], time_range)?,
            ));
        }
        let sweep = |part| nested_times::sweep(list, nesting, part);
        match self.nested_checkpoints.binary_search_by_key(&(container, ty), |times| (times.container, times.ty)) {
            Ok(index) => {
                let words = &self.nested_checkpoints[index].words;
                let word = |word_index: u64| words.get(word_index as usize).copied().unwrap_or(0);
                nested_times::times_in_range(&Checkpoints::new(word, words.len() as u64), time_range, sweep)
            }
            Err(_) => sweep(time_range),
        }
    }

    fn states(
        &self,
        lane: StateLaneId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<StateEntity>, QueryError> {
        self.check(lane.container, lane.ty, time_range)?;
        let Some(lane) = self.state_lane(lane) else { return Ok(empty_list()) };
        let range = lane.overlapping_range(time_range);
        Ok(EntityList { total: range.len() as u64, items: range.take(limit).map(|index| state(lane, index)).collect() })
    }

    fn events(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<EventEntity>, QueryError> {
        self.check(container, ty, time_range)?;
        let Ok(index) = self.marks.binary_search_by_key(&(container, ty), |lane| (lane.container, lane.ty)) else {
            return Ok(empty_list());
        };
        let lane = &self.marks[index];
        let range = lane.rows_in(time_range);
        let total = range.len() as u64;
        let items = range.take(limit).map(|index| EventEntity {
            id: EntityId::Event(number(lane.base, index)),
            value: lane.value(index),
            time: GlobalNanos(lane.timestamp(index)),
        });
        Ok(EntityList { total, items: items.collect() })
    }

    fn links(&self, ty: TypeId, time_range: TimeRange, limit: usize) -> Result<EntityList<LinkEntity>, QueryError> {
        self.check_type(ty)?;
        check_time_range(time_range)?;
        let Some(table) = self.link_table(ty) else { return Ok(empty_list()) };
        let items = table.overlapping_links(time_range).take(limit).map(|index| {
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
        Ok(EntityList { total: table.count(time_range), items: items.collect() })
    }

    fn open_links(&self, ty: TypeId, time_range: TimeRange) -> Result<Vec<OpenLinkEntity>, QueryError> {
        self.check_type(ty)?;
        check_time_range(time_range)?;
        let first = self.open_links.partition_point(|row| row.ty < ty);
        let rows = (first..).zip(&self.open_links[first..]);
        let rows = rows.take_while(|(_, row)| row.ty == ty && row.start_time < time_range.to.0);
        Ok(rows.map(|(index, row)| entity_facts::open_link(self, number(0, index), row)).collect())
    }

    fn samples(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<VariableSample>, QueryError> {
        self.check(container, ty, time_range)?;
        let Some(lane) = self.variable(container, ty) else { return Ok(empty_list()) };
        let range = lane.overlapping_range(time_range);
        let total = range.len() as u64;
        let items = range.take(limit).map(|index| VariableSample {
            id: EntityId::Sample(number(lane.base, index)),
            life: nanos_range(lane.start(index), lane.end(index)),
            value: lane.value(index),
        });
        Ok(EntityList { total, items: items.collect() })
    }

    fn series(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        columns: u32,
    ) -> Result<Vec<Option<SeriesColumn>>, QueryError> {
        self.check(container, ty, time_range)?;
        if columns == 0 {
            return Err(QueryError::EmptyTimeRange);
        }
        let lane = self.variable(container, ty);
        Ok((0..columns).map(|column| lane?.column(time_range.column(column, columns))).collect())
    }

    fn value_range(&self, ty: TypeId) -> Option<ValueRange> {
        self.ranges.get(&ty).copied()
    }

    fn facts(&self, id: EntityId) -> Result<EntityFacts, QueryError> {
        entity_facts::facts(self, id, true)
    }

    fn facts_without_paths(&self, id: EntityId) -> Result<EntityFacts, QueryError> {
        entity_facts::facts(self, id, false)
    }

    fn number_fields(&self, ids: &[EntityId], field: &str) -> Result<Vec<Option<f64>>, QueryError> {
        entity_facts::number_fields(self, ids, field)
    }

    fn related_entities(&self, id: EntityId, limit: usize) -> Result<Vec<EntityId>, QueryError> {
        entity_facts::related_entities(self, id, limit)
    }

    fn operation_parts(&self, id: EntityId) -> Result<Vec<OperationPart>, QueryError> {
        entity_facts::operation_parts(self, id)
    }
}

fn empty_list<T>() -> EntityList<T> {
    EntityList { total: 0, items: Vec::new() }
}

fn state(lane: &StoreStateLane, index: usize) -> StateEntity {
    StateEntity {
        id: EntityId::State(number(lane.base, index)),
        value: lane.value(index),
        life: nanos_range(lane.start(index), lane.end(index)),
        depth: lane.depth,
    }
}
