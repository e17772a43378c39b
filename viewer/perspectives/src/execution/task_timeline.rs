//! `TaskTimeline`: the innermost task of a unit at any time.

use std::ops::Range;

use rustc_hash::FxHashMap;
use tumit_viewer::query::{TimeRange, ValueId};

/// The number that means that a unit has no task.
pub(crate) const NO_TASK: u32 = u32::MAX;

/// A time during which the innermost task of a unit does not change, or a state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TaskPiece {
    /// Start in nanoseconds.
    pub(crate) from: i64,
    /// End in nanoseconds.
    pub(crate) to: i64,
    /// Index of the task.
    pub(crate) task: u32,
}

/// The innermost task of a unit at any time, in 12 bytes per change. Before the first change, the
/// unit has no task.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TaskTimeline {
    /// Timestamps of the changes, ascending and distinct.
    times: Vec<i64>,
    /// The task from each timestamp on, or [`NO_TASK`].
    tasks: Vec<u32>,
}

impl TaskTimeline {
    /// Sets the task from a timestamp on. A second call for a timestamp replaces the first.
    fn set(&mut self, time: i64, task: u32) {
        if self.times.last() == Some(&time) {
            self.times.pop();
            self.tasks.pop();
        }
        if self.tasks.last().copied().unwrap_or(NO_TASK) != task {
            self.times.push(time);
            self.tasks.push(task);
        }
    }

    /// Sets the task of a time range. Time ranges ascend.
    fn add(&mut self, from: i64, to: i64, task: u32) {
        if from < to {
            self.set(from, task);
            self.set(to, NO_TASK);
        }
    }

    /// The timestamps of the changes, ascending.
    pub(crate) fn timestamps(&self) -> &[i64] {
        &self.times
    }

    /// The task after the first `changes` changes, which exist.
    pub(crate) fn task_after(&self, changes: usize) -> Option<u32> {
        changes.checked_sub(1).map(|index| self.tasks[index]).filter(|task| *task != NO_TASK)
    }

    pub(crate) fn at(&self, time: i64) -> Option<u32> {
        self.task_after(self.times.partition_point(|&change| change <= time))
    }

    /// The times with a task in a time range, in order.
    pub(crate) fn pieces(&self, range: TimeRange) -> impl Iterator<Item = TaskPiece> {
        let first = self.times.partition_point(|&change| change <= range.from.0);
        let end = self.times.partition_point(|&change| change < range.to.0).max(first);
        (first..=end).filter_map(move |changes| {
            let from = if changes == first { range.from.0 } else { self.times[changes - 1] };
            let to = if changes == end { range.to.0 } else { self.times[changes] };
            let task = self.task_after(changes)?;
            (from < to).then_some(TaskPiece { from, to, task })
        })
    }

    /// Visits the begins and ends of tasks at the changes with some indexes: timestamp, task, and
    /// whether the task begins.
    pub(crate) fn for_each_change(&self, indexes: Range<usize>, mut visit: impl FnMut(i64, u32, bool)) {
        let mut before = self.task_after(indexes.start);
        for (&time, &task) in self.times[indexes.clone()].iter().zip(&self.tasks[indexes]) {
            let after = (task != NO_TASK).then_some(task);
            before.into_iter().for_each(|task| visit(time, task, false));
            after.into_iter().for_each(|task| visit(time, task, true));
            before = after;
        }
    }

    /// Replaces values by the numbers of tasks.
    pub(crate) fn renumber(&mut self, numbers: &[u32]) {
        for task in self.tasks.iter_mut().filter(|task| **task != NO_TASK) {
            *task = numbers[*task as usize];
        }
    }
}

/// A state of a task in a unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskState {
    pub(crate) from: i64,
    pub(crate) to: i64,
    pub(crate) value: ValueId,
}

/// The states of one task, over all units or in one unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskTotal {
    /// The first begin.
    pub(crate) from: i64,
    /// The last end.
    pub(crate) to: i64,
    /// The time in which units execute the task. Nested and overlapping states of a unit count
    /// once.
    pub(crate) nanos: i128,
}

#[derive(Debug)]
pub(crate) struct UnitTasks {
    /// The innermost task. It is a value until [`TaskTimeline::renumber`].
    pub(crate) timeline: TaskTimeline,
    /// Whether states of tasks overlap, so that the unit may execute several tasks at a time.
    pub(crate) has_overlaps: bool,
    /// The states of each task.
    pub(crate) totals: FxHashMap<ValueId, TaskTotal>,
}

/// Computes [`UnitTasks`] from states by start. Of overlapping states, the one that begins later is
/// inner.
#[derive(Debug)]
pub(crate) struct UnitTasksBuilder {
    tasks: UnitTasks,
    /// The states that may not have ended, by start.
    open_tasks: Vec<TaskState>,
    /// The end of the timeline.
    now: i64,
}

impl Default for UnitTasksBuilder {
    fn default() -> Self {
        let tasks = UnitTasks { timeline: TaskTimeline::default(), has_overlaps: false, totals: FxHashMap::default() };
        Self { tasks, open_tasks: Vec::new(), now: i64::MIN }
    }
}

impl UnitTasksBuilder {
    /// Adds a state. States are added by start; of equal starts, the outer one first.
    pub(crate) fn add(&mut self, state: TaskState) {
        self.add_total(state);
        while let Some(inner) = self.open_tasks.pop_if(|inner| inner.to <= state.from) {
            self.add_until(inner, inner.to);
        }
        if let Some(inner) = self.open_tasks.last().copied() {
            self.tasks.has_overlaps = true;
            self.add_until(inner, state.from);
        }
        self.now = self.now.max(state.from);
        self.open_tasks.push(state);
    }

    fn add_total(&mut self, state: TaskState) {
        let TaskState { from, to, value } = state;
        let new = TaskTotal { from, to: from, nanos: 0 };
        let total = self.tasks.totals.entry(value).or_insert(new);
        if to > total.to {
            total.nanos += i128::from(to) - i128::from(from.max(total.to));
            total.to = to;
        }
    }

    /// Extends the timeline by the innermost state.
    fn add_until(&mut self, inner: TaskState, to: i64) {
        self.tasks.timeline.add(self.now.max(inner.from), to, inner.value.0);
        self.now = self.now.max(to);
    }

    /// The tasks of all states.
    pub(crate) fn finish(mut self) -> UnitTasks {
        while let Some(inner) = self.open_tasks.pop() {
            self.add_until(inner, inner.to);
        }
        self.tasks.timeline.times.shrink_to_fit();
        self.tasks.timeline.tasks.shrink_to_fit();
        self.tasks
    }
}
