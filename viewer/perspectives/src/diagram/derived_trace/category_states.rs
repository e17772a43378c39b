//! [`CategoryStates`]: the categories of units as states of a derived trace. They are not listed.
//!
//! The states are the pieces of the timelines of the units. So a change of a category does not make
//! a new trace, and the states need no memory of their own.

use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;
use tumit_paje::ValueId;
use tumit_paje::category::ActivityCategory;
use tumit_viewer::filter::FilterLayer;
use tumit_viewer::query::{
    ContainerId, EntityFacts, EntityId, EntityList, FirstFreeNumbers, GlobalNanos, MixtureCell, MixtureCells,
    QueryError, StateEntity, StateLaneId, TimeRange, TimelineSource, TraceSummary, TypeId,
};

use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::activity::UnitActivity;
use crate::execution::category_timeline::{CategoryPiece, CategoryTimeline};

use super::touching_links::{links_in, states_at_endpoints};

/// The type of the states, and the value of each category. Times of a category without a value have
/// no states. The value of [`ActivityCategory::Ignored`] is that of the critical path: timelines of
/// units do not have this category.
#[derive(Clone, Copy, Debug)]
pub(super) struct CategoryValues {
    pub(super) ty: TypeId,
    pub(super) values: [Option<ValueId>; 4],
}

/// The timeline of a unit whose categories a container has.
#[derive(Clone, Copy, Debug)]
pub(super) enum LaneOrigin {
    /// That of the unit. Of several timelines, the first category that occurs.
    Unit(usize),
    /// One of several timelines of a unit.
    Part(usize, usize),
}

/// The timeline of a container.
enum LaneTimeline {
    Shared(usize, usize),
    Own(CategoryTimeline),
}

/// A trace with the categories of units as states.
pub(super) struct CategoryStates {
    /// The containers, types and values, and all other entities.
    base: Arc<dyn TimelineSource>,
    activity: Arc<UnitActivity>,
    states: CategoryValues,
    /// The time range with states.
    extent: TimeRange,
    lanes: Vec<(ContainerId, LaneTimeline)>,
    places: FxHashMap<ContainerId, usize>,
    /// The first number of a state of each lane, and the first free one.
    first_numbers: Vec<u32>,
    /// The number of states.
    count: OnceLock<u64>,
}

impl CategoryStates {
    /// Adds the categories to a trace. `path` has the times of the critical path in each unit,
    /// which replace the categories. It is empty without a path.
    ///
    /// # Errors
    /// If the source fails.
    pub(super) fn new(
        execution: &Execution,
        base: Arc<dyn TimelineSource>,
        states: CategoryValues,
        origins: &[(ContainerId, LaneOrigin)],
        path: &[Vec<(i64, i64)>],
    ) -> Result<Self, PerspectiveError> {
        let (activity, extent) = (execution.shared_activity()?, execution.extent());
        let timeline = |origin: LaneOrigin| match origin {
            LaneOrigin::Part(unit, part) => LaneTimeline::Shared(unit, part),
            LaneOrigin::Unit(unit) => match path.get(unit) {
                Some(path) => LaneTimeline::Own(with_path(&activity.timeline(unit), path, extent)),
                None if activity.timelines(unit).len() == 1 => LaneTimeline::Shared(unit, 0),
                None => LaneTimeline::Own(activity.timeline(unit).into_owned()),
            },
        };
        let lanes = origins.iter().map(|(container, origin)| (*container, timeline(*origin))).collect();
        let places = origins.iter().enumerate().map(|(place, (container, _))| (*container, place)).collect();
        let mut all =
            Self { base, activity, states, extent, lanes, places, first_numbers: Vec::new(), count: OnceLock::new() };
        let mut next = all.base.free_numbers().state;
        for place in 0..all.lanes.len() {
            all.first_numbers.push(next);
            let changes = all.timeline(place).map_or(0, CategoryTimeline::changes);
            next = next.saturating_add(u32::try_from(changes + 1).unwrap_or(u32::MAX));
        }
        all.first_numbers.push(next);
        Ok(all)
    }

    fn timeline(&self, place: usize) -> Option<&CategoryTimeline> {
        match &self.lanes.get(place)?.1 {
            LaneTimeline::Shared(unit, part) => self.activity.timelines(*unit).get(*part),
            LaneTimeline::Own(timeline) => Some(timeline),
        }
    }

    /// The timeline of a lane of categories.
    fn of_lane(&self, lane: StateLaneId) -> Option<(usize, &CategoryTimeline)> {
        if lane.depth > 0 {
            return None;
        }
        let place = *self.places.get(&lane.container)?;
        Some((place, self.timeline(place)?))
    }

    /// A time range within that of the states.
    fn inside(&self, range: TimeRange) -> TimeRange {
        TimeRange { from: range.from.max(self.extent.from), to: range.to.min(self.extent.to) }
    }

    fn value(&self, category: ActivityCategory) -> Option<ValueId> {
        self.states.values[category as usize]
    }

    /// The states of a lane in a time range, by time.
    fn pieces<'a>(
        &'a self,
        (place, timeline): (usize, &'a CategoryTimeline),
        range: TimeRange,
    ) -> impl Iterator<Item = StateEntity> + 'a {
        let inside = self.inside(range);
        let indexes: RangeInclusive<usize> =
            if inside.from < inside.to { timeline.piece_indexes(inside) } else { RangeInclusive::new(1, 0) };
        let first = self.first_numbers.get(place).copied().unwrap_or(u32::MAX);
        indexes.filter_map(move |index| {
            let CategoryPiece { from, to, category, .. } = timeline.piece(index, self.extent);
            let number = first.saturating_add(u32::try_from(index).unwrap_or(u32::MAX));
            let life = TimeRange { from: GlobalNanos(from), to: GlobalNanos(to) };
            let state = |value| StateEntity { id: EntityId::State(number), value, life, depth: 0 };
            self.value(category).filter(|_| from < to).map(state)
        })
    }

    /// The time of each value of a lane in a column.
    fn cell(&self, timeline: &CategoryTimeline, column: TimeRange) -> MixtureCell {
        let inside = self.inside(column);
        if inside.from >= inside.to {
            return MixtureCell::default();
        }
        let [busy, overhead, idle] = timeline.times(inside);
        let path = i128::from(inside.to.0) - i128::from(inside.from.0) - busy - overhead - idle;
        let times = [busy, overhead, idle, path].into_iter().zip(self.states.values);
        let shares = times.filter_map(|(time, value)| Some((value?, i64::try_from(time).ok()?)));
        let shares: Vec<(ValueId, i64)> = shares.filter(|share| share.1 > 0).collect();
        MixtureCell::of(shares, usize::MAX)
    }

    /// Checks a query. The base has no states of the lane.
    fn check(&self, lane: StateLaneId, time_range: TimeRange) -> Result<(), QueryError> {
        self.base.states(lane, time_range, 0).map(|_| ())
    }

    fn is_own(&self, ty: TypeId) -> bool {
        ty == self.states.ty
    }

    /// The lane and the index of the piece of a state.
    fn find(&self, id: EntityId) -> Option<(usize, usize)> {
        let EntityId::State(number) = id else { return None };
        let place = self.first_numbers.partition_point(|first| *first <= number).checked_sub(1)?;
        let first = *self.first_numbers.get(place).filter(|_| place < self.lanes.len())?;
        Some((place, (number - first) as usize))
    }
}

/// A timeline with the path as [`ActivityCategory::Ignored`].
fn with_path(timeline: &CategoryTimeline, path: &[(i64, i64)], extent: TimeRange) -> CategoryTimeline {
    let mut all = CategoryTimeline::new(timeline.at(extent.from.0));
    all.reserve(timeline.changes() + 2 * path.len());
    let mut from = extent.from;
    for &(start, end) in path {
        let before = TimeRange { from, to: GlobalNanos(start) };
        if before.from < before.to {
            all.extend(timeline.pieces(before).map(|piece| (piece.from, piece.category)));
        }
        all.set(start, ActivityCategory::Ignored);
        from = GlobalNanos(end);
    }
    let rest = TimeRange { from, to: extent.to.max(GlobalNanos(from.0.saturating_add(1))) };
    all.extend(timeline.pieces(rest).map(|piece| (piece.from, piece.category)));
    all
}

impl FilterLayer for CategoryStates {
    fn inner_source(&self) -> &dyn TimelineSource {
        self.base.as_ref()
    }

    fn keeps_entities(&self, ty: TypeId) -> bool {
        !self.is_own(ty)
    }

    fn summary(&self) -> TraceSummary {
        let mut summary = self.base.summary();
        summary.states += *self.count.get_or_init(|| {
            let lanes = (0..self.lanes.len()).filter_map(|place| Some((place, self.timeline(place)?)));
            lanes.map(|lane| self.pieces(lane, self.extent).count() as u64).sum()
        });
        summary
    }

    fn depths(&self, container: ContainerId, ty: TypeId) -> u32 {
        if !self.is_own(ty) {
            return self.base.depths(container, ty);
        }
        let lane = StateLaneId { container, ty, depth: 0 };
        let has_states = self.of_lane(lane).is_some_and(|lane| self.pieces(lane, self.extent).next().is_some());
        u32::from(has_states)
    }

    fn cells(&self, lanes: &[StateLaneId], time_range: TimeRange, columns: u32) -> Result<MixtureCells, QueryError> {
        let mut cells = Vec::with_capacity(lanes.len().saturating_mul(columns as usize));
        for &lane in lanes {
            match self.of_lane(lane).filter(|_| self.is_own(lane.ty) && columns > 0) {
                Some((_, timeline)) => {
                    self.check(lane, time_range)?;
                    cells.extend((0..columns).map(|index| self.cell(timeline, time_range.column(index, columns))));
                }
                // The base has no states of this type.
                None => cells.extend(self.base.cells(&[lane], time_range, columns)?.cells),
            }
        }
        Ok(MixtureCells { columns, cells })
    }

    fn states(
        &self,
        lane: StateLaneId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<StateEntity>, QueryError> {
        let Some(of_lane) = self.of_lane(lane).filter(|_| self.is_own(lane.ty)) else {
            return self.base.states(lane, time_range, limit);
        };
        self.check(lane, time_range)?;
        let mut items = Vec::new();
        let mut total = 0;
        for state in self.pieces(of_lane, time_range) {
            total += 1;
            if items.len() < limit {
                items.push(state);
            }
        }
        Ok(EntityList { total, items })
    }

    fn facts(&self, id: EntityId) -> Result<EntityFacts, QueryError> {
        let Some((place, index)) = self.find(id) else { return self.base.facts(id) };
        let unknown = QueryError::Unknown { kind: "state" };
        let timeline = self.timeline(place).filter(|timeline| index <= timeline.changes()).ok_or(unknown.clone())?;
        let CategoryPiece { from, to, category, .. } = timeline.piece(index, self.extent);
        let model = self.base.model();
        let value = self.value(category).and_then(|value| model.values.get(value.index())).ok_or(unknown)?;
        let container = self.lanes[place].0;
        let owner = self.base.facts(EntityId::Container(container))?;
        let mut type_path = owner.type_path;
        type_path.extend(model.types.get(self.states.ty.index()).map(|ty| ty.name.clone()));
        let life = TimeRange { from: GlobalNanos(from), to: GlobalNanos(to) };
        let (name, container_path) = (value.name.clone(), owner.container_path);
        Ok(EntityFacts { id, name, type_path, container_path, container, life, fields: Vec::new(), source: None })
    }

    fn related_entities(&self, id: EntityId, limit: usize) -> Result<Vec<EntityId>, QueryError> {
        if let Some((place, _)) = self.find(id) {
            let life = FilterLayer::facts(self, id)?.life;
            return links_in(self.base.as_ref(), self.lanes[place].0, life, limit);
        }
        let mut related = self.base.related_entities(id, limit)?;
        if matches!(id, EntityId::Link(_)) {
            let list = |container, instant| {
                let lane = StateLaneId { container, ty: self.states.ty, depth: 0 };
                self.of_lane(lane).map_or_else(Vec::new, |of_lane| self.pieces(of_lane, instant).collect())
            };
            related.extend(states_at_endpoints(self.base.as_ref(), id, list)?);
            related.truncate(limit);
        }
        Ok(related)
    }

    fn is_dense(&self, lane: StateLaneId, time_range: TimeRange, limit: usize) -> Result<bool, QueryError> {
        match self.of_lane(lane).filter(|_| self.is_own(lane.ty)) {
            Some(of_lane) => Ok(self.pieces(of_lane, time_range).nth(limit).is_some()),
            None => self.base.is_dense(lane, time_range, limit),
        }
    }

    fn free_numbers(&self) -> FirstFreeNumbers {
        let base = self.base.free_numbers();
        FirstFreeNumbers { state: self.first_numbers.last().copied().unwrap_or(base.state), ..base }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tumit_paje::category::ActivityCategory;
    use tumit_viewer::filter::NamePattern;
    use tumit_viewer::query::{EntityId, GlobalNanos, StateLaneId, TimeRange, TimelineSource, TypeId};
    use tumit_viewer::store::TraceStore;

    use crate::analysis::diagnosis::path_with_times;
    use crate::diagram::derived_trace::{DerivedParts, derived_trace, trace_of_units};
    use crate::execution::categories::CategoryRule;
    use crate::execution::{Execution, ExecutionSettings};

    fn store() -> TraceStore {
        let trace = include_str!("../../../tests/two_threads.paje");
        TraceStore::from_paje("example", trace.as_bytes()).expect("a valid trace")
    }

    /// The states of each unit fit its activity, and the mixtures fit the states.
    #[test]
    fn states_facts_and_mixtures_agree() {
        let execution = Execution::new(Arc::new(store()), ExecutionSettings::default()).expect("a valid trace");
        let extent = execution.extent();
        let (path, _) = path_with_times(&execution, extent).expect("a valid trace");
        for (path, hides_idle, only_path) in
            [(None, false, false), (None, true, false), (Some(&path), true, false), (Some(&path), false, true)]
        {
            let parts = DerivedParts { categories: true, hides_idle, path, only_path, ..DerivedParts::default() };
            let derived = trace_of_units(&execution, parts).expect("a valid trace");
            let (source, model) = (derived.source.as_ref(), derived.source.model());
            let ty = TypeId(u32::try_from(model.types.len() - 1).expect("few types"));
            let mut count = 0;
            for (unit, &container) in derived.units.iter().enumerate() {
                let lane = StateLaneId { container, ty, depth: 0 };
                let list = source.states(lane, extent, usize::MAX).expect("a valid query");
                assert_eq!(
                    (list.total, list.items.is_empty()),
                    (list.items.len() as u64, source.depths(container, ty) == 0)
                );
                count += list.total;
                for state in &list.items {
                    let name = &model.values[state.value.index()].name;
                    let facts = source.facts(state.id).expect("a known state");
                    assert_eq!((facts.life, facts.container, &facts.name), (state.life, container, name));
                    assert!(matches!(state.id, EntityId::State(number) if number < source.free_numbers().state));
                    let category = execution.activity().expect("states").at(unit, state.life.from.0);
                    assert!(name == category.word() || name == "critical path", "{name}");
                    assert!(!(hides_idle && name == ActivityCategory::Idle.word()));
                }
                let cells = source.cells(&[lane], extent, 7).expect("a valid query").cells;
                for (index, cell) in (0..7).zip(&cells) {
                    let TimeRange { from, to } = extent.column(index, 7);
                    let inside = list
                        .items
                        .iter()
                        .map(|state| (state.value, (state.life.to.0.min(to.0) - state.life.from.0.max(from.0)).max(0)));
                    let mut sums = vec![0; model.values.len()];
                    inside.for_each(|(value, nanos)| sums[value.index()] += nanos);
                    cell.shares.iter().for_each(|(value, nanos)| sums[value.index()] -= nanos);
                    assert!(sums.iter().all(|sum| *sum == 0), "{sums:?}");
                }
                let before = TimeRange { from: GlobalNanos(extent.from.0 - 9), to: extent.from };
                assert_eq!(source.states(lane, before, 9).expect("a valid query").total, 0);
            }
            assert_eq!(source.summary().states, count);
        }
    }

    /// Other categories share the containers and messages.
    #[test]
    fn a_change_of_a_category_makes_no_new_messages() {
        let source: Arc<dyn TimelineSource> = Arc::new(store());
        let execution = Execution::new(Arc::clone(&source), ExecutionSettings::default()).expect("a valid trace");
        let rule = CategoryRule::new(ActivityCategory::Idle, NamePattern::new("*"), None);
        let idle = execution.with_categories(source, vec![rule]).expect("the same units");
        let parts = DerivedParts { messages: true, ..DerivedParts::default() };
        let [one, other] = [&execution, &idle].map(|execution| derived_trace(execution, parts).expect("a valid trace"));
        assert!(Arc::ptr_eq(&one, &other) && one.summary().links > 0);
        let parts = DerivedParts { categories: true, ..parts };
        let [one, other] = [&execution, &idle].map(|execution| {
            let source = derived_trace(execution, parts).expect("a valid trace");
            (source.summary().links, source.summary().states)
        });
        assert!(one.0 == other.0 && other.1 == 2 && one.1 > 2, "{one:?}, {other:?}");
    }
}
