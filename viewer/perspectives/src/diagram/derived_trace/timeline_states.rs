//! [`DerivedStates`]: the states of a diagram, read from the timelines of an execution.

use std::ops::RangeInclusive;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tumit_paje::category::ActivityCategory;
use tumit_viewer::parallel_map::map_indexes;
use tumit_viewer::query::{GlobalNanos, TimeRange, ValueId};

use super::column_sums::ColumnSums;
use crate::execution::activity::UnitActivity;
use crate::execution::category_timeline::CategoryTimeline;
use crate::execution::task_timeline::TaskTimeline;
use crate::execution::tasks::TaskSet;

/// Units that a thread examines at a time, at least.
const UNITS_AT_ONCE: usize = 64;

/// Pieces per column above which the times of a category timeline are those of its sums. Below it,
/// adding all pieces is faster.
const PIECES_PER_COLUMN: usize = 16;

/// A state of a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DerivedState {
    /// The number of changes of the timeline until its start.
    pub(super) number: usize,
    /// Start in nanoseconds.
    pub(super) from: i64,
    /// End in nanoseconds.
    pub(super) to: i64,
    pub(super) value: ValueId,
}

/// The states of some timelines. Those of one timeline never overlap.
pub(super) struct DerivedStates {
    timelines: TimelineSet,
    /// The value of each category or task. Times of a category without a value have no states. The
    /// value of [`ActivityCategory::Ignored`] is that of the critical path: timelines of units do
    /// not have this category.
    values: Arc<Vec<Option<ValueId>>>,
    /// A number that exceeds all values.
    value_count: usize,
    /// The time range of all states.
    extent: TimeRange,
}

/// The timelines that determine the states.
pub(super) enum TimelineSet {
    Categories(CategoryTimelines),
    /// The innermost task of each unit.
    Tasks(Arc<TaskSet>),
}

/// The categories of units, or of the parts of units.
pub(super) struct CategoryTimelines {
    activity: Arc<UnitActivity>,
    /// For each timeline, its unit and its number in the unit. Without them, each unit has one.
    parts: Option<Arc<Vec<(usize, usize)>>>,
    /// Timelines in place of those of the activity: with a critical path, or of units with several.
    replacements: FxHashMap<usize, CategoryTimeline>,
}

impl CategoryTimelines {
    /// The timelines of the parts of units: the unit and the number in the unit of each.
    pub(super) fn of_parts(activity: Arc<UnitActivity>, parts: Arc<Vec<(usize, usize)>>) -> Self {
        Self { activity, parts: Some(parts), replacements: FxHashMap::default() }
    }

    /// The timelines of all units. `path` has the times of the critical path in each unit, which
    /// replace its categories. It is empty without a path.
    pub(super) fn of_units(activity: Arc<UnitActivity>, path: &[Vec<(i64, i64)>], extent: TimeRange) -> Self {
        let replacement = |unit: usize| match (path.get(unit).map_or(&[][..], Vec::as_slice), activity.timelines(unit))
        {
            ([], [_]) => None,
            ([], _) => Some((unit, activity.timeline(unit).into_owned())),
            (path, _) => Some((unit, with_path(&activity.timeline(unit), path, extent))),
        };
        let replacements = map_indexes(activity.units(), UNITS_AT_ONCE, replacement).into_iter().flatten().collect();
        Self { activity, parts: None, replacements }
    }

    fn get(&self, timeline: usize) -> Option<&CategoryTimeline> {
        let of_activity = || {
            let (unit, part) = self.parts.as_ref().map_or(Some((timeline, 0)), |parts| parts.get(timeline).copied())?;
            self.activity.timelines(unit).get(part)
        };
        self.replacements.get(&timeline).or_else(of_activity)
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

/// A timeline of categories or of tasks.
#[derive(Clone, Copy)]
enum TimelineRef<'a> {
    Category(&'a CategoryTimeline),
    Task(&'a TaskTimeline),
}

impl<'a> TimelineRef<'a> {
    fn changes(self) -> &'a [i64] {
        match self {
            Self::Category(timeline) => timeline.timestamps(),
            Self::Task(timeline) => timeline.timestamps(),
        }
    }

    /// The category or task after the first `changes` changes.
    fn content_after(self, changes: usize) -> Option<usize> {
        match self {
            Self::Category(timeline) => Some(timeline.category_after(changes) as usize),
            Self::Task(timeline) => timeline.task_after(changes).map(|task| task as usize),
        }
    }
}

/// The numbers of the pieces between changes that overlap a time range, which is not empty. A piece
/// has the number of changes until its start.
fn piece_numbers(changes: &[i64], range: TimeRange) -> RangeInclusive<usize> {
    let first = changes.partition_point(|change| *change <= range.from.0);
    first..=changes.partition_point(|change| *change < range.to.0).max(first)
}

impl DerivedStates {
    pub(super) fn new(timelines: TimelineSet, values: Arc<Vec<Option<ValueId>>>, extent: TimeRange) -> Self {
        let value_count = values.iter().flatten().map(|value| value.index() + 1).max().unwrap_or(0);
        Self { timelines, values, value_count, extent }
    }

    /// Empty sums of the times of states in columns.
    pub(super) fn empty_sums(&self, edges: Vec<i64>) -> ColumnSums {
        ColumnSums::new(edges, self.value_count)
    }

    fn timeline(&self, timeline: usize) -> Option<TimelineRef<'_>> {
        match &self.timelines {
            TimelineSet::Categories(timelines) => timelines.get(timeline).map(TimelineRef::Category),
            TimelineSet::Tasks(tasks) => tasks.by_unit().get(timeline).map(|unit| TimelineRef::Task(&unit.timeline)),
        }
    }

    /// A number that exceeds the numbers of all states of a timeline.
    pub(super) fn most_states(&self, timeline: usize) -> usize {
        self.timeline(timeline).map_or(0, |timeline| timeline.changes().len() + 1)
    }

    /// A time range within that of all states.
    fn clamp_to_states(&self, range: TimeRange) -> TimeRange {
        TimeRange { from: range.from.max(self.extent.from), to: range.to.min(self.extent.to) }
    }

    /// The states of a timeline at any time, by start.
    pub(super) fn all_states(&self, timeline: usize) -> impl Iterator<Item = DerivedState> {
        self.states(timeline, self.extent)
    }

    /// The states of a timeline that overlap a time range, by start. They are not cut.
    pub(super) fn states(&self, timeline: usize, range: TimeRange) -> impl Iterator<Item = DerivedState> {
        let inside = self.clamp_to_states(range);
        let of_timeline = self.timeline(timeline).filter(|_| inside.from < inside.to);
        of_timeline.into_iter().flat_map(move |timeline| {
            piece_numbers(timeline.changes(), inside).filter_map(move |number| self.piece(timeline, number))
        })
    }

    /// The state of a timeline with a number.
    pub(super) fn state(&self, timeline: usize, number: usize) -> Option<DerivedState> {
        let timeline = self.timeline(timeline).filter(|timeline| number <= timeline.changes().len())?;
        self.piece(timeline, number)
    }

    /// The state after the first `number` changes, which exist.
    fn piece(&self, timeline: TimelineRef<'_>, number: usize) -> Option<DerivedState> {
        let (changes, low, high) = (timeline.changes(), self.extent.from.0, self.extent.to.0);
        let begin = number.checked_sub(1).and_then(|before| changes.get(before)).map_or(low, |begin| (*begin).max(low));
        let end = changes.get(number).map_or(high, |end| (*end).min(high));
        let value = self.values.get(timeline.content_after(number)?).copied().flatten();
        value.filter(|_| begin < end).map(|value| DerivedState { number, from: begin, to: end, value })
    }

    /// Adds the times of the states of a timeline to sums in columns. Takes O(n) of the states, or
    /// O(log n) per column for categories with many states.
    pub(super) fn add_times(&self, timeline: usize, sums: &mut ColumnSums) {
        let range = self.clamp_to_states(sums.range());
        if range.from >= range.to {
            return;
        }
        if let Some(TimelineRef::Category(timeline)) = self.timeline(timeline) {
            let pieces = piece_numbers(timeline.timestamps(), range);
            if pieces.end() - pieces.start() > sums.edges().len().saturating_mul(PIECES_PER_COLUMN) {
                return self.add_category_times(timeline, sums);
            }
        }
        self.states(timeline, range)
            .for_each(|state| sums.add(state.from.max(range.from.0), state.to.min(range.to.0), state.value));
    }

    /// Adds the times of a timeline from its sums.
    fn add_category_times(&self, timeline: &CategoryTimeline, sums: &mut ColumnSums) {
        let edges: Vec<i64> =
            sums.edges().iter().map(|edge| (*edge).clamp(self.extent.from.0, self.extent.to.0)).collect();
        for (column, [busy, overhead, idle]) in timeline.times_between(&edges).enumerate() {
            let nanos = i128::from(edges[column + 1]) - i128::from(edges[column]);
            let path = nanos - busy - overhead - idle;
            for (time, value) in [busy, overhead, idle, path].into_iter().zip(self.values.iter()) {
                if let (Some(value), Ok(time)) = (*value, i64::try_from(time)) {
                    sums.add_to_column(column, time, value);
                }
            }
        }
    }
}
