//! [`OverlappingTasks`]: the tasks of a unit that executes several at a time.

use std::ops::Range;

use crate::execution::task_timeline::TaskPiece;

/// The begins and ends of the tasks of a unit that executes several at a time.
#[derive(Debug, Default)]
pub(crate) struct OverlappingTasks {
    /// Timestamps, ascending.
    times: Vec<i64>,
    /// Twice the number of the task, plus 1 if it begins.
    changes: Vec<u32>,
    /// The ends of the active tasks, latest first. Empty after the last state.
    open_tasks: Vec<(i64, u32)>,
}

impl OverlappingTasks {
    /// Adds a state. States are added by start. Overlapping states of one task count once.
    pub(crate) fn add(&mut self, TaskPiece { from, to, task }: TaskPiece) {
        self.end_until(from);
        let before =
            self.open_tasks.iter().position(|open| open.1 == task).map(|index| self.open_tasks.remove(index).0);
        if before.is_none() {
            self.push(from, 2 * task + 1);
        }
        let end = before.map_or(to, |before| before.max(to));
        let index = self.open_tasks.partition_point(|open| open.0 > end);
        self.open_tasks.insert(index, (end, task));
    }

    fn end_until(&mut self, time: i64) {
        while let Some((end, task)) = self.open_tasks.pop_if(|open| open.0 <= time) {
            self.push(end, 2 * task);
        }
    }

    fn push(&mut self, time: i64, change: u32) {
        self.times.push(time);
        self.changes.push(change);
    }

    /// Ends all tasks.
    pub(crate) fn finish(mut self) -> Self {
        self.end_until(i64::MAX);
        self.times.shrink_to_fit();
        self.changes.shrink_to_fit();
        self
    }

    /// The timestamps of the begins and ends, ascending.
    pub(crate) fn timestamps(&self) -> &[i64] {
        &self.times
    }

    /// Visits the begins and ends with some indexes: timestamp, task, and whether the task begins.
    pub(crate) fn for_each_change(&self, indexes: Range<usize>, mut visit: impl FnMut(i64, u32, bool)) {
        for (&time, &change) in self.times[indexes.clone()].iter().zip(&self.changes[indexes]) {
            visit(time, change / 2, change % 2 == 1);
        }
    }
}
