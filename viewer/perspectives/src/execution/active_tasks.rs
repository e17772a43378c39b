//! [`ActiveTasks`]: the number of units that execute each task, at any time.
//!
//! Time is divided into slices with some thousand changes of tasks. For each task, sums are stored
//! at the ends of the slices in which its number of units changes. A query adds the changes within
//! the slices that it divides. All results are exact.

use std::mem;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use tumit_viewer::parallel_map::{MAX_THREADS, map_in_order, map_indexes};
use tumit_viewer::query::{QueryError, TimeRange, TimelineSource};

use crate::execution::category_sums::index_at_or_after;
use crate::execution::overlapping_tasks::OverlappingTasks;
use crate::execution::step_function::StepFunction;
use crate::execution::task_timeline::TaskTimeline;
use crate::execution::tasks::{TaskSet, task_lanes};
use crate::execution::units::UnitSet;

/// Minimum number of changes of a slice, so that few slices are stored.
const MIN_CHANGES: usize = 1 << 12;
/// Maximum number of changes of a slice, approximately. A query sweeps at most two slices.
const MAX_CHANGES: usize = 1 << 19;
/// The number of changes of a unit per possible start of a slice, so that few of them are sorted.
const CHANGES_PER_SAMPLE: usize = 64;
/// Maximum number of slices per job of a thread, so that all processors are busy.
const MAX_SLICES_PER_JOB: usize = 64;
/// Minimum number of jobs, if there are as many slices.
const MIN_JOBS: usize = 16;
/// Slices whose changes are sorted at the same time.
const SORTED_AT_ONCE: usize = 4;
/// Slices per stored maximum, so that a query compares few slices.
const BLOCK: usize = 64;
/// Maximum number of times and tasks that are in memory together.
const MAX_POINTS: usize = 1 << 18;
/// Times per slice above which reading all changes once costs less than one search per time.
const TIMES_PER_SLICE: usize = 4;
/// Parts of the units that are read at the same time.
const UNIT_PARTS: usize = 4;

/// The number of units that execute each task, at any time.
#[derive(Clone, Copy, Debug)]
pub struct ActiveTasks<'a> {
    tasks: &'a TaskSet,
    sums: &'a ActiveTaskSums,
}

/// The number of units that execute a task in a time range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TaskActivity {
    /// The time that all units together execute it, in nanoseconds.
    pub(crate) unit_time: i128,
    /// The largest number of units at any time.
    pub(crate) maximum: i64,
}

/// The stored part of [`ActiveTasks`].
#[derive(Debug, Default)]
pub(crate) struct ActiveTaskSums {
    /// For each unit that executes several tasks at a time, the begins and ends of all of them.
    overlaps: Vec<Option<OverlappingTasks>>,
    /// The approximate number of changes in a slice.
    slice_changes: usize,
    /// Computed for the first query that cannot do without.
    slices: OnceLock<TaskSlices>,
    /// Whether a query did without slices. Further queries are faster with them.
    has_visited: AtomicBool,
}

/// The sums of each task at the ends of slices of time.
#[derive(Debug, Default)]
struct TaskSlices {
    /// The start of each slice, ascending. The first is the first change of all units.
    starts: Vec<i64>,
    by_task: Vec<TaskSums>,
}

#[derive(Debug, Default)]
struct TaskSums {
    /// The slices in which the number of units changes, ascending.
    slices: Vec<SliceSum>,
    /// The maximum of each [`BLOCK`] of these slices.
    maxima: Vec<i64>,
}

/// The sums of a task at the end of a slice.
#[derive(Clone, Copy, Debug, Default)]
struct SliceSum {
    slice: u32,
    /// The largest number of units after any change in the slice.
    maximum: i64,
    end: TaskPoint,
}

/// A task at a time. Its integral until this time is `units × time − moment`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TaskPoint {
    /// The number of units that execute it.
    pub(crate) units: i64,
    /// The sum of the timestamps of all begins until this time, minus those of all ends.
    moment: i128,
}

/// A begin or an end of a task in a unit.
#[derive(Clone, Copy, Debug)]
struct TaskChange {
    time: i64,
    task: u32,
    is_begin: bool,
}

impl TaskPoint {
    fn add(&mut self, change: TaskChange) {
        let sign = if change.is_begin { 1_i64 } else { -1 };
        self.units += sign;
        self.moment += i128::from(sign) * i128::from(change.time);
    }

    /// The point after the changes of another one.
    fn plus(self, changes: Self) -> Self {
        Self { units: self.units + changes.units, moment: self.moment + changes.moment }
    }

    /// The time that units execute the task until `time`.
    pub(crate) fn integral(self, time: i64) -> i128 {
        i128::from(self.units) * i128::from(time) - self.moment
    }
}

#[derive(Clone, Copy)]
enum UnitChanges<'a> {
    Innermost(&'a TaskTimeline),
    Overlapping(&'a OverlappingTasks),
}

impl<'a> UnitChanges<'a> {
    fn timestamps(self) -> &'a [i64] {
        match self {
            Self::Innermost(timeline) => timeline.timestamps(),
            Self::Overlapping(tasks) => tasks.timestamps(),
        }
    }

    /// Visits the changes with some indexes, in order.
    fn for_each(self, indexes: Range<usize>, mut visit: impl FnMut(TaskChange)) {
        let visit = |time, task, is_begin| visit(TaskChange { time, task, is_begin });
        match self {
            Self::Innermost(timeline) => timeline.for_each_change(indexes, visit),
            Self::Overlapping(tasks) => tasks.for_each_change(indexes, visit),
        }
    }
}

impl ActiveTaskSums {
    /// Reads the states of units that execute several tasks at a time. The sums are computed later.
    ///
    /// # Errors
    /// If the source fails.
    pub(crate) fn new(source: &dyn TimelineSource, units: &UnitSet, tasks: &TaskSet) -> Result<Self, QueryError> {
        let has_overlaps = tasks.by_unit().iter().any(|unit| unit.has_overlaps);
        let lanes = if has_overlaps { task_lanes(source, units, &tasks.types) } else { Vec::new() };
        let overlaps = map_indexes(tasks.by_unit().len(), 1, |unit| {
            if !tasks.by_unit()[unit].has_overlaps {
                return Ok(None);
            }
            let mut overlapping = OverlappingTasks::default();
            tasks.visit_unit(source, &lanes[unit], |state| overlapping.add(state))?;
            Ok(Some(overlapping.finish()))
        });
        let slice_changes = (8 * tasks.list().len()).max(16 * units.count()).clamp(MIN_CHANGES, MAX_CHANGES);
        Ok(Self::with_slices(overlaps.into_iter().collect::<Result<_, QueryError>>()?, slice_changes))
    }

    /// The sums with approximately the same number of changes in each slice.
    fn with_slices(overlaps: Vec<Option<OverlappingTasks>>, slice_changes: usize) -> Self {
        Self { overlaps, slice_changes, ..Self::default() }
    }
}

impl TaskSums {
    fn point_before(&self, slice: usize) -> TaskPoint {
        let count = self.slices.partition_point(|sum| (sum.slice as usize) < slice);
        count.checked_sub(1).map_or_else(TaskPoint::default, |last| self.slices[last].end)
    }

    /// Appends a slice with its sums from its start.
    fn push(&mut self, SliceSum { slice, maximum, end }: SliceSum) {
        let before = self.slices.last().map_or_else(TaskPoint::default, |last| last.end);
        let end = before.plus(end);
        let maximum = before.units + maximum;
        if self.slices.len().is_multiple_of(BLOCK) {
            self.maxima.push(maximum);
        }
        self.maxima.last_mut().into_iter().for_each(|last| *last = maximum.max(*last));
        self.slices.push(SliceSum { slice, maximum, end });
    }

    /// The largest number of units after any change in some slices.
    fn maximum(&self, slices: Range<usize>) -> i64 {
        let place = |slice: usize| self.slices.partition_point(|sum| (sum.slice as usize) < slice);
        let (first, end) = (place(slices.start), place(slices.end.max(slices.start)));
        let largest = |slices: &[SliceSum]| slices.iter().map(|sum| sum.maximum).max().unwrap_or(0);
        let (low, high) = (first.next_multiple_of(BLOCK), end / BLOCK * BLOCK);
        if low >= high {
            return largest(&self.slices[first..end]);
        }
        let blocks = self.maxima[low / BLOCK..high / BLOCK].iter().copied().max().unwrap_or(0);
        blocks.max(largest(&self.slices[first..low])).max(largest(&self.slices[high..end]))
    }
}

impl<'a> ActiveTasks<'a> {
    pub(crate) fn new(tasks: &'a TaskSet, sums: &'a ActiveTaskSums) -> Self {
        Self { tasks, sums }
    }

    /// The number of units that execute each task at a time.
    pub fn at(self, time: i64) -> Vec<i64> {
        self.points(time).into_iter().map(|point| point.units).collect()
    }

    /// The slices. The first call takes O(n log n) of the number of changes, in parallel.
    fn slices(self) -> &'a TaskSlices {
        self.sums.slices.get_or_init(|| {
            let starts = self.slice_starts(self.sums.slice_changes);
            let by_task = self.sums_by_task(&starts);
            TaskSlices { starts, by_task }
        })
    }

    /// Visits each task at some times, which ascend. The first argument is the index of the time.
    /// The first call adds all changes if the slices are not in memory, which takes less time than
    /// to sort the changes.
    pub(crate) fn visit_times(self, times: &[i64], mut visit: impl FnMut(usize, &[TaskPoint])) {
        if self.sums.slices.get().is_none() && !self.sums.has_visited.swap(true, Ordering::Relaxed) {
            return self.visit_times_without_slices(times, visit);
        }
        let at_once = (MAX_POINTS / self.tasks.list().len().max(1)).max(1);
        let points = times.chunks(at_once).flat_map(|times| self.points_at(times));
        points.enumerate().for_each(|(at, points)| visit(at, &points));
    }

    /// The time that all units together execute each task in a time range, in nanoseconds.
    pub(crate) fn unit_times(self, range: TimeRange) -> Vec<i128> {
        let (low, high) = (self.points(range.from.0), self.points(range.to.0));
        let unit_time = |(low, high): (&TaskPoint, &TaskPoint)| high.integral(range.to.0) - low.integral(range.from.0);
        low.iter().zip(&high).map(unit_time).collect()
    }

    /// The activity of each task in a time range. The maximum includes the start of the range.
    pub(crate) fn activity_in(self, range: TimeRange) -> Vec<TaskActivity> {
        let (from, to) = (range.from.0, range.to.0.max(range.from.0));
        let (low, high) = (self.points(from), self.points(to));
        let mut maxima: Vec<i64> = low.iter().map(|point| point.units).collect();
        let mut points = low.clone();
        let (first, last) = (self.slice_after(from), self.slice_after(to));
        if first < last {
            let TaskSlices { starts, by_task } = self.slices();
            sweep(&self.sorted_changes((from.saturating_add(1), starts[first] - 1)), &mut points, &mut maxima);
            for (task, maximum) in by_task.iter().zip(&mut maxima) {
                *maximum = task.maximum(first..last - 1).max(*maximum);
            }
            points = by_task.iter().map(|task| task.point_before(last - 1)).collect();
            sweep(&self.sorted_changes((starts[last - 1], to - 1)), &mut points, &mut maxima);
        } else if from < to {
            sweep(&self.sorted_changes((from + 1, to - 1)), &mut points, &mut maxima);
        }
        let activity = |((low, high), maximum): ((&TaskPoint, &TaskPoint), i64)| TaskActivity {
            unit_time: high.integral(to) - low.integral(from),
            maximum,
        };
        low.iter().zip(&high).zip(maxima).map(activity).collect()
    }

    /// The number of tasks that a unit executes, at any time.
    pub(crate) fn count(self) -> StepFunction<1> {
        let (mut times, mut values) = (Vec::new(), Vec::new());
        let (mut numbers, mut count) = (vec![0_i64; self.tasks.list().len()], 0_i64);
        let starts = self.slice_starts(self.sums.slice_changes);
        let ends = starts.iter().skip(1).map(|next| next - 1).chain([i64::MAX]);
        let slices: Vec<(i64, i64)> = starts.iter().copied().zip(ends).collect();
        let sorted = slices
            .chunks(SORTED_AT_ONCE)
            .flat_map(|slices| map_in_order(slices.to_vec(), MAX_THREADS, |slice| self.sorted_changes(slice)));
        for of_slice in sorted {
            for changes in of_slice.chunk_by(|a, b| a.time == b.time) {
                let old_count = count;
                for change in changes {
                    let units = &mut numbers[change.task as usize];
                    let was_active = *units > 0;
                    *units += if change.is_begin { 1 } else { -1 };
                    count += i64::from(*units > 0) - i64::from(was_active);
                }
                if count != old_count {
                    times.push(changes[0].time);
                    values.push([count]);
                }
            }
        }
        StepFunction::from_steps([0], times, values)
    }

    /// The number of slices that start at or before a time.
    fn slice_after(self, time: i64) -> usize {
        self.slices().starts.partition_point(|start| *start <= time)
    }

    fn points(self, time: i64) -> Vec<TaskPoint> {
        let Some(slice) = self.slice_after(time).checked_sub(1) else {
            return vec![TaskPoint::default(); self.tasks.list().len()];
        };
        let TaskSlices { starts, by_task } = self.slices();
        let mut points: Vec<TaskPoint> = by_task.iter().map(|task| task.point_before(slice)).collect();
        self.for_each_change((starts[slice], time), |change| points[change.task as usize].add(change));
        points
    }

    /// Each task at some times, which ascend.
    fn points_at(self, times: &[i64]) -> Vec<Vec<TaskPoint>> {
        let (Some(&first), Some(&last)) = (times.first(), times.last()) else { return Vec::new() };
        let slices = self.slice_after(last) - self.slice_after(first) + 1;
        if times.len() <= TIMES_PER_SLICE * slices {
            return times.iter().map(|time| self.points(*time)).collect();
        }
        let changes = self.changes_until(times, (first.saturating_add(1), last));
        let mut points = self.points(first);
        let mut add = |changes: &Vec<TaskPoint>| {
            points.iter_mut().zip(changes).for_each(|(point, changes)| *point = point.plus(*changes));
            points.clone()
        };
        changes.iter().map(&mut add).collect()
    }

    fn visit_times_without_slices(self, times: &[i64], mut visit: impl FnMut(usize, &[TaskPoint])) {
        let tasks = self.tasks.list().len();
        let at_once = (MAX_POINTS / tasks.max(1)).max(1);
        let (mut points, mut from, mut index) = (vec![TaskPoint::default(); tasks], i64::MIN, 0);
        for times in times.chunks(at_once) {
            let last = times[times.len() - 1];
            for changes in self.changes_until(times, (from, last)) {
                points.iter_mut().zip(changes).for_each(|(point, changes)| *point = point.plus(changes));
                visit(index, &points);
                index += 1;
            }
            from = last.saturating_add(1);
        }
    }

    /// For each of some times, which ascend, the sums of the changes of each task after the time
    /// before. The changes are those in a time range, ends included, until the last time.
    fn changes_until(self, times: &[i64], range: (i64, i64)) -> Vec<Vec<TaskPoint>> {
        let size = self.tasks.by_unit().len().div_ceil(UNIT_PARTS).max(1);
        let parts: Vec<usize> = (0..self.tasks.by_unit().len()).step_by(size).collect();
        let tasks = self.tasks.list().len();
        let parts = map_in_order(parts, MAX_THREADS, |part| {
            let mut changes = vec![TaskPoint::default(); times.len() * tasks];
            for unit in self.units().skip(part).take(size) {
                for_each_change(unit, range, &mut |change: TaskChange| {
                    // Each change is added at the first time at or after it.
                    let time = index_at_or_after(times, change.time);
                    changes[time * tasks + change.task as usize].add(change);
                });
            }
            changes
        });
        let sum = |at: usize| {
            let mut sum = vec![TaskPoint::default(); tasks];
            for changes in &parts {
                let changes = &changes[at * tasks..][..tasks];
                sum.iter_mut().zip(changes).for_each(|(sum, changes)| *sum = sum.plus(*changes));
            }
            sum
        };
        (0..times.len()).map(sum).collect()
    }

    /// The changes of each unit.
    fn units(self) -> impl Iterator<Item = UnitChanges<'a>> {
        self.tasks.by_unit().iter().zip(&self.sums.overlaps).map(|(unit, overlaps)| match overlaps {
            Some(tasks) => UnitChanges::Overlapping(tasks),
            None => UnitChanges::Innermost(&unit.timeline),
        })
    }

    /// Visits the changes in a time range, ends included, unit by unit.
    fn for_each_change(self, times: (i64, i64), mut visit: impl FnMut(TaskChange)) {
        self.units().for_each(|unit| for_each_change(unit, times, &mut visit));
    }

    /// The changes in a time range, ends included, by time.
    fn sorted_changes(self, times: (i64, i64)) -> Vec<TaskChange> {
        let mut changes = Vec::new();
        self.for_each_change(times, |change| changes.push(change));
        // The changes of each unit are in order, so that a sort that merges is faster.
        changes.sort_by_key(|change| change.time);
        changes
    }

    /// The starts of slices with approximately the same number of changes.
    fn slice_starts(self, slice_changes: usize) -> Vec<i64> {
        let sample = CHANGES_PER_SAMPLE.min(slice_changes);
        let mut samples: Vec<i64> =
            self.units().flat_map(|unit| unit.timestamps().iter().step_by(sample).copied()).collect();
        samples.sort_unstable();
        let mut starts: Vec<i64> = samples.into_iter().step_by(slice_changes / sample).collect();
        starts.dedup();
        starts
    }

    fn sums_by_task(self, starts: &[i64]) -> Vec<TaskSums> {
        let ends: Vec<i64> = starts.iter().skip(1).map(|next| next - 1).chain([i64::MAX]).collect();
        let slices: Vec<(u32, (i64, i64))> = (0..).zip(starts.iter().copied().zip(ends)).collect();
        let jobs: Vec<_> = slices.chunks(slices.len().div_ceil(MIN_JOBS).clamp(1, MAX_SLICES_PER_JOB)).collect();
        let count = self.tasks.list().len();
        let parts = map_in_order(jobs, MAX_THREADS, |slices| {
            let (mut points, mut maxima) = (vec![TaskPoint::default(); count], vec![i64::MIN; count]);
            let mut sums: Vec<(u32, SliceSum)> = Vec::new();
            for &(slice, times) in slices {
                let changes = self.sorted_changes(times);
                sweep(&changes, &mut points, &mut maxima);
                for TaskChange { task, .. } in changes {
                    let maximum = mem::replace(&mut maxima[task as usize], i64::MIN);
                    if maximum > i64::MIN {
                        let end = mem::take(&mut points[task as usize]);
                        sums.push((task, SliceSum { slice, maximum, end }));
                    }
                }
            }
            sums
        });
        let mut by_task: Vec<TaskSums> = (0..count).map(|_| TaskSums::default()).collect();
        parts.into_iter().flatten().for_each(|(task, sum)| by_task[task as usize].push(sum));
        by_task
    }
}

/// Visits the changes of a unit in a time range, ends included.
fn for_each_change(unit: UnitChanges<'_>, (from, to): (i64, i64), visit: &mut impl FnMut(TaskChange)) {
    let times = unit.timestamps();
    let first = times.partition_point(|time| *time < from);
    let end = first + times[first..].partition_point(|time| *time <= to);
    unit.for_each(first..end, visit);
}

/// Adds changes by time to the points of their tasks. Extends the maxima by the number of units
/// after each timestamp.
fn sweep(changes: &[TaskChange], points: &mut [TaskPoint], maxima: &mut [i64]) {
    for same_time in changes.chunk_by(|a, b| a.time == b.time) {
        same_time.iter().for_each(|change| points[change.task as usize].add(*change));
        for task in same_time.iter().map(|change| change.task as usize) {
            maxima[task] = maxima[task].max(points[task].units);
        }
    }
}

#[cfg(test)]
mod tests;
