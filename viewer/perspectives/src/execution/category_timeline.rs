//! [`CategoryTimeline`]: the category of one unit or state group at any time.

use tumit_paje::category::ActivityCategory;
use tumit_viewer::query::TimeRange;

/// Changes per block. Each block has stored sums, so that a query adds at most this many changes.
const BLOCK: usize = 64;

/// Time per counted category in nanoseconds: busy, overhead, idle.
pub type CategoryTimes = [i128; 3];

/// The category at any time. It changes at ascending timestamps.
///
/// ```
/// use tumit_paje::category::ActivityCategory::{Busy, Idle};
/// use tumit_perspectives::execution::category_timeline::CategoryTimeline;
/// use tumit_viewer::query::{GlobalNanos, TimeRange};
///
/// let mut timeline = CategoryTimeline::new(Idle);
/// timeline.set(10, Busy);
/// timeline.set(30, Idle);
/// let range = TimeRange { from: GlobalNanos(0), to: GlobalNanos(100) };
/// assert_eq!((timeline.at(9), timeline.at(10)), (Idle, Busy));
/// assert_eq!(timeline.times(range), [20, 0, 80]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CategoryTimeline {
    /// The category before the first change.
    start: ActivityCategory,
    times: Vec<i64>,
    categories: Vec<ActivityCategory>,
    /// Time per category from the first change to the first change of each block.
    sums: Vec<[i64; 3]>,
    /// Time per category from the first change to the last one.
    sum: [i64; 3],
}

/// A time during which the category is constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CategoryPiece {
    /// Start in nanoseconds.
    pub from: i64,
    /// End in nanoseconds.
    pub to: i64,
    /// The category.
    pub category: ActivityCategory,
}

impl CategoryTimeline {
    /// Creates a timeline with one category at all times.
    pub fn new(start: ActivityCategory) -> Self {
        Self { start, times: Vec::new(), categories: Vec::new(), sums: Vec::new(), sum: [0; 3] }
    }

    /// Sets the category from a timestamp on. Timestamps ascend. A second call for a timestamp
    /// replaces the first.
    pub fn set(&mut self, time: i64, category: ActivityCategory) {
        if self.times.last() == Some(&time) {
            self.remove_last();
        }
        let previous_category = self.categories.last().copied().unwrap_or(self.start);
        if previous_category == category {
            return;
        }
        if let (Some(&last), Some(number)) = (self.times.last(), number(previous_category)) {
            self.sum[number] = self.sum[number].saturating_add(time.saturating_sub(last));
        }
        if self.times.len().is_multiple_of(BLOCK) {
            self.sums.push(self.sum);
        }
        self.times.push(time);
        self.categories.push(category);
    }

    /// Sets the category from each of some timestamps on, as [`Self::set`] does. The timestamps are
    /// distinct.
    pub(crate) fn extend(&mut self, mut changes: impl Iterator<Item = (i64, ActivityCategory)>) {
        // Until the first real change, a timestamp may replace the last one of this timeline.
        for (time, category) in changes.by_ref() {
            self.set(time, category);
            if self.times.last() == Some(&time) {
                break;
            }
        }
        let (Some(mut last), Some(mut previous_category)) =
            (self.times.last().copied(), self.categories.last().copied())
        else {
            return;
        };
        // The time of ignored states has a place of its own, so that no change needs a condition.
        let mut sum = [self.sum[0], self.sum[1], self.sum[2], 0];
        for (time, category) in changes {
            if category == previous_category {
                continue;
            }
            let spent = &mut sum[previous_category as usize];
            *spent = spent.saturating_add(time.saturating_sub(last));
            if self.times.len().is_multiple_of(BLOCK) {
                self.sums.push([sum[0], sum[1], sum[2]]);
            }
            self.times.push(time);
            self.categories.push(category);
            (last, previous_category) = (time, category);
        }
        self.sum = [sum[0], sum[1], sum[2]];
    }

    /// Allocates memory for further changes.
    pub(crate) fn reserve(&mut self, changes: usize) {
        self.times.reserve(changes);
        self.categories.reserve(changes);
        self.sums.reserve(changes / BLOCK + 1);
    }

    /// Removes all changes, and keeps their memory.
    pub(crate) fn reset(&mut self, start: ActivityCategory) {
        (self.start, self.sum) = (start, [0; 3]);
        self.times.clear();
        self.categories.clear();
        self.sums.clear();
    }

    /// Removes the last change.
    fn remove_last(&mut self) {
        let (Some(time), Some(_)) = (self.times.pop(), self.categories.pop()) else { return };
        if self.times.len().is_multiple_of(BLOCK) {
            self.sums.pop();
        }
        let before = self.categories.last().copied().and_then(number);
        if let (Some(&last), Some(number)) = (self.times.last(), before) {
            self.sum[number] = self.sum[number].saturating_sub(time.saturating_sub(last));
        }
    }

    /// The number of changes.
    pub fn changes(&self) -> usize {
        self.times.len()
    }

    /// The timestamps of the changes, ascending.
    pub fn timestamps(&self) -> &[i64] {
        &self.times
    }

    fn changes_until(&self, time: i64) -> usize {
        self.times.partition_point(|&change| change <= time)
    }

    /// The category after the first `changes` changes, which exist.
    pub(crate) fn category_after(&self, changes: usize) -> ActivityCategory {
        changes.checked_sub(1).map_or(self.start, |index| self.categories[index])
    }

    /// The category at a time.
    pub fn at(&self, time: i64) -> ActivityCategory {
        self.category_after(self.changes_until(time))
    }

    /// The time per category from the first change to `time`. Negative before the first change.
    fn times_until(&self, time: i64) -> CategoryTimes {
        let mut totals = [0; 3];
        let changes = self.changes_until(time);
        let first = self.times.first().copied().unwrap_or(0);
        let mut add = |category: ActivityCategory, from: i64, to: i64| {
            if let Some(number) = number(category) {
                totals[number] += i128::from(to) - i128::from(from);
            }
        };
        let Some(last) = changes.checked_sub(1) else {
            add(self.start, first, time);
            return totals;
        };
        let block = last / BLOCK;
        for index in block * BLOCK..last {
            add(self.categories[index], self.times[index], self.times[index + 1]);
        }
        add(self.categories[last], self.times[last], time);
        for (totals, sum) in totals.iter_mut().zip(self.sums[block]) {
            *totals += i128::from(sum);
        }
        totals
    }

    /// The time per category in a time range. Exact; the sum is the length of the time range.
    pub fn times(&self, range: TimeRange) -> CategoryTimes {
        let (high, low) = (self.times_until(range.to.0), self.times_until(range.from.0));
        [high[0] - low[0], high[1] - low[1], high[2] - low[2]]
    }

    /// The time per category between adjacent timestamps, which ascend.
    pub(crate) fn times_between(&self, timestamps: &[i64]) -> impl Iterator<Item = CategoryTimes> {
        let mut before: Option<CategoryTimes> = None;
        timestamps.iter().filter_map(move |time| {
            let until = self.times_until(*time);
            let low = before.replace(until)?;
            Some([until[0] - low[0], until[1] - low[1], until[2] - low[2]])
        })
    }

    /// The pieces of constant category in a time range, in order.
    pub fn pieces(&self, range: TimeRange) -> impl Iterator<Item = CategoryPiece> {
        let first = self.changes_until(range.from.0);
        let end = self.times.partition_point(|&change| change < range.to.0).max(first);
        (first..=end).filter_map(move |changes| {
            let from = if changes == first { range.from.0 } else { self.times[changes - 1] };
            let to = if changes == end { range.to.0 } else { self.times[changes] };
            (from < to).then(|| CategoryPiece { from, to, category: self.category_after(changes) })
        })
    }
}

/// The index of a category in [`CategoryTimes`]. `None` if it does not count.
pub(crate) fn number(category: ActivityCategory) -> Option<usize> {
    ActivityCategory::COUNTED.iter().position(|counted| *counted == category)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tumit_paje::category::ActivityCategory;
    use tumit_viewer::query::{GlobalNanos, TimeRange};

    use super::{CategoryTimeline, number};

    proptest! {
        #[test]
        fn times_equal_a_count_of_nanoseconds(
            changes in prop::collection::vec((0..4_i64, 0..3_usize), 0..300),
            (from, nanos) in (0..500_i64, 1..300_i64),
        ) {
            let mut timeline = CategoryTimeline::new(ActivityCategory::Idle);
            let mut list = Vec::new();
            let mut time = 0;
            for (step, category) in changes {
                time += step;
                timeline.set(time, ActivityCategory::COUNTED[category]);
                list.push((time, category));
            }
            let category_at = |time: i64| list.iter().rev().find(|change| change.0 <= time).map_or(2, |change| change.1);
            let mut expected = [0; 3];
            for time in from..from + nanos {
                expected[category_at(time)] += 1;
                prop_assert_eq!(number(timeline.at(time)), Some(category_at(time)));
            }
            let range = TimeRange { from: GlobalNanos(from), to: GlobalNanos(from + nanos) };
            prop_assert_eq!(timeline.times(range), expected);
            prop_assert!(timeline.timestamps().windows(2).all(|pair| pair[0] < pair[1]));
            let pieces: Vec<_> = timeline.pieces(range).collect();
            prop_assert!(pieces.windows(2).all(|pair| pair[0].to == pair[1].from && pair[0].category != pair[1].category));
        }
    }
}
