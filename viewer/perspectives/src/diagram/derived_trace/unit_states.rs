//! [`UnitStates`]: the states of the units of a diagram, read from the timelines of an execution.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tumit_paje::category::ActivityCategory;
use tumit_viewer::query::{GlobalNanos, TimeRange, ValueId};

use crate::execution::activity::UnitActivity;
use crate::execution::tasks::TaskSet;

/// A state of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UnitState {
    /// Its number among the states of the unit, which ascends with time.
    pub(super) number: usize,
    /// Start in nanoseconds.
    pub(super) from: i64,
    /// End in nanoseconds.
    pub(super) to: i64,
    pub(super) value: ValueId,
}

/// The states of each unit. They never overlap.
pub(super) struct UnitStates {
    timelines: UnitTimelines,
    /// The time range of all states.
    extent: TimeRange,
    /// The states of the units on the critical path, in place of those of their timelines.
    on_path: FxHashMap<usize, Vec<UnitState>>,
}

/// The timelines that determine the states.
pub(super) enum UnitTimelines {
    /// The category of each unit, and the value of each category. A category without a value has no
    /// states.
    Categories(Arc<UnitActivity>, Vec<Option<ValueId>>),
    /// The task of each unit, and the value of each task.
    Tasks(Arc<TaskSet>, Vec<ValueId>),
}

impl UnitStates {
    pub(super) fn new(timelines: UnitTimelines, extent: TimeRange) -> Self {
        Self { timelines, extent, on_path: FxHashMap::default() }
    }

    /// The same states, but some time ranges of a unit have another value. They do not overlap, and
    /// they ascend.
    pub(super) fn with_path(mut self, path: Vec<(usize, Vec<(i64, i64)>)>, value: ValueId) -> Self {
        for (unit, times) in path {
            let mut states = Vec::new();
            let mut add = |from: i64, to: i64, value: ValueId| {
                if from < to {
                    states.push(UnitState { number: states.len(), from, to, value });
                }
            };
            let mut until = self.extent.from.0;
            for (from, to) in times.into_iter().filter(|(from, to)| from < to) {
                let before = TimeRange { from: GlobalNanos(until), to: GlobalNanos(from) };
                self.visit_timeline(unit, before, |state| add(state.from.max(until), state.to.min(from), state.value));
                add(from, to, value);
                until = to;
            }
            let rest = TimeRange { from: GlobalNanos(until), to: self.extent.to };
            self.visit_timeline(unit, rest, |state| add(state.from.max(until), state.to, state.value));
            self.on_path.insert(unit, states);
        }
        self
    }

    pub(super) fn extent(&self) -> TimeRange {
        self.extent
    }

    /// The number of all values.
    pub(super) fn values(&self) -> usize {
        let of_path = self.on_path.values().flatten().map(|state| state.value.index() + 1);
        let of_timelines = match &self.timelines {
            UnitTimelines::Categories(_, values) => values.iter().flatten().max(),
            UnitTimelines::Tasks(_, values) => values.iter().max(),
        };
        of_path.chain(of_timelines.map(|value| value.index() + 1)).max().unwrap_or(0)
    }

    /// A number that exceeds the numbers of all states of a unit.
    pub(super) fn most_states(&self, unit: usize) -> usize {
        if let Some(states) = self.on_path.get(&unit) {
            return states.len();
        }
        match &self.timelines {
            UnitTimelines::Categories(activity, _) => activity.timeline(unit).changes() + 1,
            UnitTimelines::Tasks(tasks, _) => tasks.timestamps(unit).len() + 1,
        }
    }

    /// Whether a unit has a state.
    pub(super) fn has_states(&self, unit: usize) -> bool {
        if let Some(states) = self.on_path.get(&unit) {
            return !states.is_empty();
        }
        match &self.timelines {
            UnitTimelines::Categories(_, values) if values.iter().all(Option::is_none) => false,
            UnitTimelines::Categories(activity, values) => {
                let timeline = activity.timeline(unit);
                let is_shown = |category: ActivityCategory| values.get(category as usize).copied().flatten().is_some();
                timeline.pieces(self.extent).any(|piece| is_shown(piece.category))
            }
            UnitTimelines::Tasks(tasks, _) => tasks.pieces(unit, self.extent).next().is_some(),
        }
    }

    /// Visits the states of a unit that overlap a time range, by start. They are not cut.
    pub(super) fn visit(&self, unit: usize, range: TimeRange, mut visit: impl FnMut(UnitState)) {
        let Some(states) = self.on_path.get(&unit) else {
            // The piece that contains the end of the extent is before a later time range.
            let overlaps = |state: &UnitState| state.to > range.from.0 && state.from < range.to.0;
            return self
                .visit_timeline(unit, range, |state| Some(state).filter(overlaps).into_iter().for_each(&mut visit));
        };
        let first = states.partition_point(|state| state.to <= range.from.0);
        states[first..].iter().take_while(|state| state.from < range.to.0).for_each(|state| visit(*state));
    }

    fn visit_timeline(&self, unit: usize, range: TimeRange, mut visit: impl FnMut(UnitState)) {
        match &self.timelines {
            UnitTimelines::Categories(activity, values) => {
                let timeline = activity.timeline(unit);
                let (wide, first) = self.whole_pieces(timeline.timestamps(), range);
                let pieces = timeline.pieces(wide).zip(first..);
                for (piece, number) in pieces {
                    let value = values.get(piece.category as usize).copied().flatten();
                    value.into_iter().for_each(|value| {
                        visit(UnitState { number, from: piece.from, to: piece.to, value });
                    });
                }
            }
            UnitTimelines::Tasks(tasks, values) => {
                let times = tasks.timestamps(unit);
                let (wide, first) = self.whole_pieces(times, range);
                for piece in tasks.pieces(unit, wide) {
                    let number = first + times[first..].partition_point(|time| *time <= piece.from);
                    if let Some(value) = values.get(piece.task as usize) {
                        visit(UnitState { number, from: piece.from, to: piece.to, value: *value });
                    }
                }
            }
        }
    }

    /// The state of a unit with a number.
    pub(super) fn state(&self, unit: usize, number: usize) -> Option<UnitState> {
        if let Some(states) = self.on_path.get(&unit) {
            return states.get(number).copied();
        }
        let start = |times: &[i64]| match number.checked_sub(1) {
            Some(change) => times.get(change).copied(),
            None => Some(self.extent.from.0),
        };
        let start = match &self.timelines {
            UnitTimelines::Categories(activity, _) => start(activity.timeline(unit).timestamps()),
            UnitTimelines::Tasks(tasks, _) => start(tasks.timestamps(unit)),
        }?;
        let start = start.max(self.extent.from.0);
        let mut found = None;
        let range = TimeRange { from: GlobalNanos(start), to: GlobalNanos(start.saturating_add(1)) };
        self.visit_timeline(unit, range, |state| found = Some(state).filter(|state| state.number == number));
        found
    }

    /// The time range of all pieces between changes that overlap a time range, within the extent,
    /// and the number of changes until its start.
    fn whole_pieces(&self, changes: &[i64], range: TimeRange) -> (TimeRange, usize) {
        let TimeRange { from, to } = self.extent;
        let first = changes.partition_point(|change| *change <= range.from.0);
        let end = changes.partition_point(|change| *change < range.to.0).max(first);
        let low = first.checked_sub(1).map_or(from.0, |before| changes[before].max(from.0));
        let high = changes.get(end).map_or(to.0, |next| (*next).min(to.0));
        let wide = TimeRange { from: GlobalNanos(low), to: GlobalNanos(high.max(low)) };
        (wide, changes.partition_point(|change| *change <= low))
    }
}
