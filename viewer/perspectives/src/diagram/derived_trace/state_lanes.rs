//! [`StateLanes`]: a derived trace whose states are read from the timelines of an execution when
//! they are needed. A trace of a hundred thousand units is thus ready at once, and a change of a
//! category does not make a new trace.
//!
//! A lane has the states of one timeline, or of several. The states of several timelines overlap,
//! as those of a group do: a cell has the sum of the times of all of them.

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;
use tumit_viewer::filter::FilterLayer;
use tumit_viewer::parallel_map::map_indexes;
use tumit_viewer::query::{
    ContainerId, ContainerInfo, EntityFacts, EntityId, EntityList, FirstFreeNumbers, GlobalNanos, MixtureCell,
    MixtureCells, QueryError, StateEntity, StateLaneId, TimeRange, TimelineSource, TraceSummary, TypeId, ValueId,
};

use super::timeline_states::{DerivedState, DerivedStates};
use super::touching_links::{links_in, states_at_endpoints};
use crate::unit_lists::UnitLists;

/// Timelines that a thread reads at a time, at least.
const AT_ONCE: usize = 64;

/// The lanes with states in a derived trace.
pub(super) struct LaneTable {
    /// The type of the states.
    ty: TypeId,
    /// The container of each lane.
    containers: Vec<ContainerId>,
    /// The timelines of each lane.
    timelines: UnitLists,
    /// The lane of each container.
    lanes: FxHashMap<ContainerId, usize>,
    /// The lane of each timeline.
    lane_of_timeline: Vec<u32>,
    /// The members of the lanes of several units: the containers of all units. Otherwise empty.
    members: Vec<ContainerInfo>,
}

impl LaneTable {
    /// Makes the lanes. `members` are the containers of all units if the lanes have several units.
    pub(super) fn new(
        ty: TypeId,
        containers: Vec<ContainerId>,
        timelines: UnitLists,
        members: Vec<ContainerInfo>,
    ) -> Self {
        let mut lane_of_timeline = vec![0; timelines.iter().map(<[u32]>::len).sum()];
        for (list, lane) in timelines.iter().zip(0..) {
            list.iter().for_each(|timeline| lane_of_timeline[*timeline as usize] = lane);
        }
        let lanes = containers.iter().copied().zip(0..).collect();
        Self { ty, containers, timelines, lanes, lane_of_timeline, members }
    }

    /// The timelines of a lane of states. `None` if it is another lane.
    fn timelines_of(&self, lane: StateLaneId) -> Option<&[u32]> {
        let is_own = lane.ty == self.ty && lane.depth == 0;
        self.lanes.get(&lane.container).filter(|_| is_own).map(|lane| self.timelines.get(*lane))
    }

    fn container_of(&self, timeline: usize) -> ContainerId {
        self.containers[self.lane_of_timeline[timeline] as usize]
    }
}

/// A trace with the states of timelines.
pub(super) struct StateLanes {
    /// The containers, the messages, and the types and values of the states. It has no states.
    inner: Arc<dyn TimelineSource>,
    table: Arc<LaneTable>,
    states: DerivedStates,
    /// For each timeline, the number of its first state, and the end of all numbers.
    bases: Vec<u32>,
    count: OnceLock<u64>,
}

impl StateLanes {
    /// Adds states to a trace without states.
    pub(super) fn new(inner: Arc<dyn TimelineSource>, table: Arc<LaneTable>, states: DerivedStates) -> Self {
        let (mut bases, mut base) = (Vec::with_capacity(table.lane_of_timeline.len() + 1), 0_u32);
        for timeline in 0..table.lane_of_timeline.len() {
            bases.push(base);
            base = base.saturating_add(u32::try_from(states.most_states(timeline)).unwrap_or(u32::MAX));
        }
        bases.push(base);
        Self { inner, table, states, bases, count: OnceLock::new() }
    }

    /// The cells of some timelines in columns.
    fn sums(&self, timelines: &[u32], range: TimeRange, columns: u32) -> Vec<MixtureCell> {
        let list: Vec<TimeRange> = range.columns(columns).collect();
        // The columns of a time range of a few nanoseconds overlap.
        if list.windows(2).any(|pair| pair[0].to != pair[1].from) {
            return list.into_iter().flat_map(|column| self.sums(timelines, column, 1)).collect();
        }
        let Some(first) = list.first() else { return Vec::new() };
        let edges: Vec<i64> = [first.from.0].into_iter().chain(list.iter().map(|column| column.to.0)).collect();
        let mut sums = self.states.empty_sums(edges);
        timelines.iter().for_each(|timeline| self.states.add_times(*timeline as usize, &mut sums));
        sums.cells()
    }

    fn id(&self, timeline: u32, state: DerivedState) -> EntityId {
        let number = u32::try_from(state.number).unwrap_or(u32::MAX);
        EntityId::State(self.bases[timeline as usize].saturating_add(number))
    }

    /// The timeline and the state with an id.
    fn state(&self, id: EntityId) -> Option<(usize, DerivedState)> {
        let EntityId::State(number) = id else { return None };
        let timeline = self.bases.partition_point(|base| *base <= number).checked_sub(1)?;
        let timeline = Some(timeline).filter(|timeline| *timeline < self.table.lane_of_timeline.len())?;
        let state = self.states.state(timeline, (number - self.bases[timeline]) as usize)?;
        Some((timeline, state))
    }

    /// The states that overlap a time range, by start, at most `limit`, and their number.
    fn list(&self, timelines: &[u32], range: TimeRange, limit: usize) -> EntityList<StateEntity> {
        let (mut total, mut items) = (0, Vec::new());
        let keep_first = |items: &mut Vec<StateEntity>| {
            items.sort_by_key(|state: &StateEntity| state.life.from);
            items.truncate(limit);
        };
        for timeline in timelines {
            for (state, number) in self.states.states(*timeline as usize, range).zip(0..) {
                total += 1;
                if number < limit {
                    let life = TimeRange { from: GlobalNanos(state.from), to: GlobalNanos(state.to) };
                    items.push(StateEntity { id: self.id(*timeline, state), value: state.value, life, depth: 0 });
                }
            }
            // This bounds the memory.
            if items.len() / 4 > limit.max(AT_ONCE) {
                keep_first(&mut items);
            }
        }
        keep_first(&mut items);
        EntityList { total, items }
    }
}

impl FilterLayer for StateLanes {
    fn inner_source(&self) -> &dyn TimelineSource {
        self.inner.as_ref()
    }

    fn keeps_entities(&self, ty: TypeId) -> bool {
        ty != self.table.ty
    }

    fn summary(&self) -> TraceSummary {
        let states = *self.count.get_or_init(|| {
            let count = |timeline| self.states.all_states(timeline).count() as u64;
            map_indexes(self.table.lane_of_timeline.len(), AT_ONCE, count).into_iter().sum()
        });
        TraceSummary { states, ..self.inner.summary() }
    }

    fn depths(&self, container: ContainerId, ty: TypeId) -> u32 {
        let timelines = self.table.timelines_of(StateLaneId { container, ty, depth: 0 }).unwrap_or_default();
        u32::from(timelines.iter().any(|timeline| self.states.all_states(*timeline as usize).next().is_some()))
    }

    fn cells(&self, lanes: &[StateLaneId], time_range: TimeRange, columns: u32) -> Result<MixtureCells, QueryError> {
        // The inner source checks the query.
        self.inner.cells(lanes, time_range, columns.min(1))?;
        let empty = || (0..columns).map(|_| MixtureCell::default()).collect();
        let cells = map_indexes(lanes.len(), 1, |lane| {
            let timelines = self.table.timelines_of(lanes[lane]);
            timelines.map_or_else(empty, |timelines| self.sums(timelines, time_range, columns))
        });
        Ok(MixtureCells { columns, cells: cells.into_iter().flatten().collect() })
    }

    fn states(
        &self,
        lane: StateLaneId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<StateEntity>, QueryError> {
        let of_inner = self.inner.states(lane, time_range, limit)?;
        let timelines = self.table.timelines_of(lane);
        Ok(timelines.map_or(of_inner, |timelines| self.list(timelines, time_range, limit)))
    }

    fn facts(&self, id: EntityId) -> Result<EntityFacts, QueryError> {
        if !matches!(id, EntityId::State(_)) {
            return self.inner.facts(id);
        }
        let (timeline, state) = self.state(id).ok_or(QueryError::Unknown { kind: "state" })?;
        let owner = self.inner.facts(EntityId::Container(self.table.container_of(timeline)))?;
        let model = self.inner.model();
        let name = |value: ValueId| model.values.get(value.index()).map(|value| value.name.clone());
        let mut type_path = owner.type_path;
        type_path.extend(model.types.get(self.table.ty.index()).map(|ty| ty.name.clone()));
        let mut container_path = owner.container_path;
        container_path.extend(self.table.members.get(timeline).map(|member| member.name.clone()));
        let life = TimeRange { from: GlobalNanos(state.from), to: GlobalNanos(state.to) };
        Ok(EntityFacts {
            id,
            name: name(state.value).unwrap_or_default(),
            type_path,
            container_path,
            container: owner.container,
            life,
            fields: Vec::new(),
            source: None,
        })
    }

    fn related_entities(&self, id: EntityId, limit: usize) -> Result<Vec<EntityId>, QueryError> {
        match self.state(id) {
            Some((timeline, state)) => {
                let life = TimeRange { from: GlobalNanos(state.from), to: GlobalNanos(state.to) };
                links_in(self.inner.as_ref(), self.table.container_of(timeline), life, limit)
            }
            None if matches!(id, EntityId::State(_)) => Err(QueryError::Unknown { kind: "state" }),
            None => {
                let mut related = self.inner.related_entities(id, limit)?;
                if matches!(id, EntityId::Link(_)) {
                    // Bundles of units have too many states.
                    let list = |container, instant| {
                        let lane = StateLaneId { container, ty: self.table.ty, depth: 0 };
                        let single = self.table.timelines_of(lane).filter(|timelines| timelines.len() == 1);
                        single.map_or_else(Vec::new, |timelines| self.list(timelines, instant, usize::MAX).items)
                    };
                    related.extend(states_at_endpoints(self.inner.as_ref(), id, list)?);
                    related.truncate(limit);
                }
                Ok(related)
            }
        }
    }

    fn members(&self, container: ContainerId) -> Vec<ContainerInfo> {
        let LaneTable { lanes, timelines, members, .. } = self.table.as_ref();
        let Some(lane) = lanes.get(&container).filter(|_| !members.is_empty()) else { return Vec::new() };
        timelines.get(*lane).iter().filter_map(|unit| members.get(*unit as usize).cloned()).collect()
    }

    fn members_with(&self, container: ContainerId, _ty: TypeId) -> Vec<ContainerInfo> {
        FilterLayer::members(self, container)
    }

    fn is_dense(&self, lane: StateLaneId, time_range: TimeRange, limit: usize) -> Result<bool, QueryError> {
        Ok(match self.table.timelines_of(lane) {
            None => false,
            Some([timeline]) => self.states.states(*timeline as usize, time_range).nth(limit).is_some(),
            Some(_) => true,
        })
    }

    fn free_numbers(&self) -> FirstFreeNumbers {
        FirstFreeNumbers { state: self.bases.last().copied().unwrap_or(0), ..self.inner.free_numbers() }
    }
}
