//! [`StateLanes`]: a derived trace whose states are read from the timelines of an execution when
//! they are needed. A trace of a hundred thousand units is thus ready at once.
//!
//! A lane has the states of one unit, or of several. The states of several units overlap, as those
//! of a group do: a cell has the sum of the times of all units.

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;
use tumit_viewer::filter::FilterLayer;
use tumit_viewer::parallel_map::map_indexes;
use tumit_viewer::query::{
    ContainerId, ContainerInfo, EntityFacts, EntityId, EntityList, FirstFreeNumbers, GlobalNanos, MixtureCell,
    MixtureCells, QueryError, StateEntity, StateLaneId, TimeRange, TimelineSource, TraceSummary, TypeId, ValueId,
};

use super::column_sums::ColumnSums;
use super::touching_links::{links_in, states_at_endpoints};
use super::unit_states::{UnitState, UnitStates};
use crate::unit_lists::UnitLists;

/// Lanes or units that a thread reads at a time, at least.
const AT_ONCE: usize = 64;

/// The states of some units in the containers of a derived trace.
pub(super) struct StateLanes {
    /// The containers, the messages, and the types and values of the states.
    inner: Arc<dyn TimelineSource>,
    /// The type of the states.
    ty: TypeId,
    states: UnitStates,
    /// The container of each lane.
    containers: Vec<ContainerId>,
    /// The units of each lane.
    units: UnitLists,
    lanes: FxHashMap<ContainerId, usize>,
    /// The members of the lanes of several units: the containers of all units. Otherwise empty.
    members: Vec<ContainerInfo>,
    /// For each unit, the number of its first state, and the end of all numbers.
    bases: Vec<u32>,
    /// The lane of each unit.
    lane_of_unit: Vec<u32>,
    count: OnceLock<u64>,
}

impl StateLanes {
    /// Makes the lanes. `members` are the containers of all units if the lanes have several units.
    pub(super) fn new(
        inner: Arc<dyn TimelineSource>,
        ty: TypeId,
        states: UnitStates,
        lanes: (Vec<ContainerId>, UnitLists),
        members: Vec<ContainerInfo>,
    ) -> Self {
        let (containers, units) = lanes;
        let count = units.iter().map(<[u32]>::len).sum();
        let mut lane_of_unit = vec![0; count];
        for (list, lane) in units.iter().zip(0..) {
            list.iter().for_each(|unit| lane_of_unit[*unit as usize] = lane);
        }
        let mut bases = Vec::with_capacity(count + 1);
        let mut base = 0_u32;
        for unit in 0..count {
            bases.push(base);
            base = base.saturating_add(u32::try_from(states.most_states(unit)).unwrap_or(u32::MAX));
        }
        bases.push(base);
        let lanes = containers.iter().copied().zip(0..).collect();
        Self { inner, ty, states, containers, units, lanes, members, bases, lane_of_unit, count: OnceLock::new() }
    }

    /// The units of a lane of states. `None` if it is another lane.
    fn units_of(&self, lane: StateLaneId) -> Option<&[u32]> {
        let is_own = lane.ty == self.ty && lane.depth == 0;
        self.lanes.get(&lane.container).filter(|_| is_own).map(|lane| self.units.get(*lane))
    }

    /// The cells of some units in columns.
    fn sums(&self, units: &[u32], range: TimeRange, columns: u32) -> Vec<MixtureCell> {
        let list: Vec<TimeRange> = range.columns(columns).collect();
        // The columns of a time range of a few nanoseconds overlap.
        if list.windows(2).any(|pair| pair[0].to != pair[1].from) {
            return list.into_iter().flat_map(|column| self.sums(units, column, 1)).collect();
        }
        let Some(first) = list.first() else { return Vec::new() };
        let edges: Vec<i64> = [first.from.0].into_iter().chain(list.iter().map(|column| column.to.0)).collect();
        let (from, to) = (edges[0], edges[edges.len() - 1]);
        let range = TimeRange { from: GlobalNanos(from), to: GlobalNanos(to) };
        let mut sums = ColumnSums::new(edges, self.states.values());
        for unit in units {
            self.states
                .visit(*unit as usize, range, |state| sums.add(state.from.max(from), state.to.min(to), state.value));
        }
        sums.cells()
    }

    fn id(&self, unit: u32, state: UnitState) -> EntityId {
        let number = u32::try_from(state.number).unwrap_or(u32::MAX);
        EntityId::State(self.bases[unit as usize].saturating_add(number))
    }

    /// The unit and the state with an id.
    fn state(&self, id: EntityId) -> Option<(usize, UnitState)> {
        let EntityId::State(number) = id else { return None };
        let unit = self.bases.partition_point(|base| *base <= number).checked_sub(1)?;
        let unit = Some(unit).filter(|unit| *unit < self.lane_of_unit.len())?;
        let state = self.states.state(unit, (number - self.bases[unit]) as usize)?;
        Some((unit, state))
    }

    fn container_of(&self, unit: usize) -> ContainerId {
        self.containers[self.lane_of_unit[unit] as usize]
    }

    /// The states that overlap a time range, by start, at most `limit`, and their number.
    fn list(&self, units: &[u32], range: TimeRange, limit: usize) -> EntityList<StateEntity> {
        let (mut total, mut items) = (0, Vec::new());
        let keep_first = |items: &mut Vec<StateEntity>| {
            items.sort_by_key(|state: &StateEntity| state.life.from);
            items.truncate(limit);
        };
        for unit in units {
            self.states.visit(*unit as usize, range, |state| {
                total += 1;
                let life = TimeRange { from: GlobalNanos(state.from), to: GlobalNanos(state.to) };
                items.push(StateEntity { id: self.id(*unit, state), value: state.value, life, depth: 0 });
            });
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
        ty != self.ty
    }

    fn summary(&self) -> TraceSummary {
        let states = *self.count.get_or_init(|| {
            let counts = map_indexes(self.lane_of_unit.len(), AT_ONCE, |unit| {
                let mut count = 0_u64;
                self.states.visit(unit, self.states.extent(), |_| count += 1);
                count
            });
            counts.into_iter().sum()
        });
        TraceSummary { states, ..self.inner.summary() }
    }

    fn depths(&self, container: ContainerId, ty: TypeId) -> u32 {
        let units = self.units_of(StateLaneId { container, ty, depth: 0 }).unwrap_or_default();
        u32::from(units.iter().any(|unit| self.states.has_states(*unit as usize)))
    }

    fn cells(&self, lanes: &[StateLaneId], time_range: TimeRange, columns: u32) -> Result<MixtureCells, QueryError> {
        if columns == 0 || time_range.from >= time_range.to {
            return Err(QueryError::EmptyTimeRange);
        }
        let empty = || (0..columns).map(|_| MixtureCell::default()).collect();
        let cells = map_indexes(lanes.len(), 1, |lane| {
            self.units_of(lanes[lane]).map_or_else(empty, |units| self.sums(units, time_range, columns))
        });
        Ok(MixtureCells { columns, cells: cells.into_iter().flatten().collect() })
    }

    fn states(
        &self,
        lane: StateLaneId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<StateEntity>, QueryError> {
        let units = self.units_of(lane).unwrap_or_default();
        Ok(self.list(units, time_range, limit))
    }

    fn facts(&self, id: EntityId) -> Result<EntityFacts, QueryError> {
        if !matches!(id, EntityId::State(_)) {
            return self.inner.facts(id);
        }
        let (unit, state) = self.state(id).ok_or(QueryError::Unknown { kind: "state" })?;
        let owner = self.inner.facts(EntityId::Container(self.container_of(unit)))?;
        let model = self.inner.model();
        let name = |value: ValueId| model.values.get(value.index()).map(|value| value.name.clone());
        let mut type_path = owner.type_path;
        type_path.extend(model.types.get(self.ty.index()).map(|ty| ty.name.clone()));
        let mut container_path = owner.container_path;
        container_path.extend(self.members.get(unit).map(|member| member.name.clone()));
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
            Some((unit, state)) => {
                let life = TimeRange { from: GlobalNanos(state.from), to: GlobalNanos(state.to) };
                links_in(self.inner.as_ref(), self.container_of(unit), life, limit)
            }
            None if matches!(id, EntityId::State(_)) => Err(QueryError::Unknown { kind: "state" }),
            None => {
                let mut related = self.inner.related_entities(id, limit)?;
                if matches!(id, EntityId::Link(_)) {
                    // Bundles of units have too many states.
                    let list = |container, instant| {
                        let lane = StateLaneId { container, ty: self.ty, depth: 0 };
                        let units = self.units_of(lane).filter(|units| units.len() == 1);
                        units.map_or_else(Vec::new, |units| self.list(units, instant, usize::MAX).items)
                    };
                    related.extend(states_at_endpoints(self.inner.as_ref(), id, list)?);
                    related.truncate(limit);
                }
                Ok(related)
            }
        }
    }

    fn members(&self, container: ContainerId) -> Vec<ContainerInfo> {
        let Some(lane) = self.lanes.get(&container).filter(|_| !self.members.is_empty()) else { return Vec::new() };
        self.units.get(*lane).iter().filter_map(|unit| self.members.get(*unit as usize).cloned()).collect()
    }

    fn members_with(&self, container: ContainerId, _ty: TypeId) -> Vec<ContainerInfo> {
        FilterLayer::members(self, container)
    }

    fn is_dense(&self, lane: StateLaneId, time_range: TimeRange, limit: usize) -> Result<bool, QueryError> {
        Ok(match self.units_of(lane) {
            None => false,
            Some([unit]) => {
                let mut count = 0;
                self.states.visit(*unit as usize, time_range, |_| count += 1);
                count > limit
            }
            Some(_) => true,
        })
    }

    fn free_numbers(&self) -> FirstFreeNumbers {
        FirstFreeNumbers { state: self.bases.last().copied().unwrap_or(0), ..self.inner.free_numbers() }
    }
}
