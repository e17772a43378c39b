//! [`UnitActivity`]: the category of each unit at any time, and the number of units per category.
//!
//! ```
//! use std::sync::Arc;
//!
//! use tumit_paje::category::ActivityCategory;
//! use tumit_perspectives::execution::{Execution, ExecutionSettings};
//! use tumit_viewer::store::TraceStore;
//!
//! # let trace = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/two_threads.paje"));
//! let source = TraceStore::from_paje("example", trace.as_bytes())?;
//! let execution = Execution::new(Arc::new(source), ExecutionSettings::default())?;
//! let activity = execution.activity()?;
//! // The first thread works for two seconds, then it enters a barrier.
//! assert_eq!(activity.at(0, 1_999_999_999), ActivityCategory::Busy);
//! assert_eq!(activity.at(0, 2_000_000_000), ActivityCategory::Overhead);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use tumit_paje::category::ActivityCategory;
use tumit_viewer::parallel_map::{MAX_THREADS, map_in_order, map_indexes_with};
use tumit_viewer::query::{GlobalNanos, QueryError, TimeRange, TimelineSource};

use crate::execution::categories::CategoryTable;
use crate::execution::category_sums::CategorySums;
use crate::execution::category_timeline::{CategoryTimeline, CategoryTimes, number};
use crate::execution::step_function::StepFunction;
use crate::execution::units::{StateGroup, UnitSet};
use crate::execution::value_timelines::{self, ValueCategories, ValueTimelines};

/// How the groups of states of a unit determine its category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum UnitMode {
    /// The unit is busy if one of its groups of states is busy, otherwise in overhead if one is,
    /// otherwise idle.
    #[default]
    AnyBusy,
    /// The unit counts as a fraction for each category: the number of groups in the category,
    /// divided by the number of all its groups.
    Fractional,
}

/// The settings of [`UnitActivity`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ActivitySettings {
    /// The category of a unit with several groups of states.
    pub mode: UnitMode,
    /// The category of a container during its lifetime, while it has no state.
    pub stateless_category: ActivityCategory,
}

impl ActivitySettings {
    /// The settings with a mode and the category of time without a state.
    #[must_use]
    pub const fn new(mode: UnitMode, stateless_category: ActivityCategory) -> Self {
        Self { mode, stateless_category }
    }
}

impl Default for ActivitySettings {
    fn default() -> Self {
        Self { mode: UnitMode::default(), stateless_category: ActivityCategory::Idle }
    }
}

/// The number of units per category: exact numerators over a common denominator.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UnitCounts {
    /// Busy, overhead and idle units, times the denominator.
    pub steps: StepFunction<3>,
    /// 1 unless units count as fractions.
    pub denominator: i64,
}

impl UnitCounts {
    /// Counts of busy, overhead and idle units, which are `steps` divided by `denominator`.
    #[must_use]
    pub const fn new(steps: StepFunction<3>, denominator: i64) -> Self {
        Self { steps, denominator }
    }

    #[expect(clippy::cast_precision_loss, reason = "numbers of units are small")]
    fn numbers(&self, numerators: [i64; 3]) -> [f64; 3] {
        numerators.map(|numerator| numerator as f64 / self.denominator as f64)
    }
}

/// The number of timelines of a unit, at least 1.
#[expect(clippy::cast_precision_loss, reason = "numbers of containers are small")]
fn part_count(timelines: &[CategoryTimeline]) -> f64 {
    timelines.len().max(1) as f64
}

/// The category of each unit at any time.
#[derive(Debug)]
pub struct UnitActivity {
    /// For each unit, the timelines that contribute to it in equal parts.
    by_unit: Vec<Vec<CategoryTimeline>>,
    counts: OnceLock<UnitCounts>,
}

impl UnitActivity {
    /// Determines the categories of all units. Takes O(states), distributed to all processors.
    /// `values` are the states, if they are in memory. Otherwise, they are read.
    ///
    /// # Errors
    /// The errors of the source.
    pub(crate) fn new(
        source: &dyn TimelineSource,
        units: &UnitSet,
        categories: &CategoryTable,
        settings: ActivitySettings,
        values: Option<&ValueTimelines>,
    ) -> Result<Self, QueryError> {
        // Time that does not count would violate that the counts of all categories add up.
        let stateless = match settings.stateless_category {
            ActivityCategory::Ignored => ActivityCategory::Idle,
            counted => counted,
        };
        let of_values = ValueCategories::new(categories, stateless);
        let scratch = || CategoryTimeline::new(ActivityCategory::Idle);
        let timelines = map_indexes_with(units.count(), 1, scratch, |scratch, index| {
            let unit = &units.list()[index];
            let of_group = |group: &StateGroup| group_timeline(source, group, categories, stateless);
            let groups = match values {
                Some(values) => values.categories(index, &unit.groups, &of_values, scratch),
                None => unit.groups.iter().map(of_group).collect::<Result<Vec<_>, _>>()?,
            };
            Ok(match settings.mode {
                _ if groups.is_empty() => vec![CategoryTimeline::new(ActivityCategory::Idle)],
                UnitMode::AnyBusy if groups.len() > 1 => vec![any_busy(&groups)],
                UnitMode::AnyBusy | UnitMode::Fractional => groups,
            })
        });
        Ok(Self { by_unit: timelines.into_iter().collect::<Result<_, QueryError>>()?, counts: OnceLock::new() })
    }

    /// The number of units.
    pub fn units(&self) -> usize {
        self.by_unit.len()
    }

    /// The timelines that contribute to a unit in equal parts. There is one unless the mode is
    /// [`UnitMode::Fractional`].
    pub fn timelines(&self, unit: usize) -> &[CategoryTimeline] {
        self.by_unit.get(unit).map_or(&[], Vec::as_slice)
    }

    /// The category of a unit at a time. With several timelines, the first category that occurs.
    pub fn at(&self, unit: usize, time: i64) -> ActivityCategory {
        let categories = self.timelines(unit).iter().map(|timeline| timeline.at(time));
        categories.min().unwrap_or(ActivityCategory::Idle)
    }

    /// The time of a unit per category in a time range, in nanoseconds. In fractional mode, the sum
    /// over its timelines; divide by their number.
    pub fn times(&self, unit: usize, range: TimeRange) -> CategoryTimes {
        self.timelines(unit).iter().fold([0; 3], |sum, timeline| {
            let times = timeline.times(range);
            [sum[0] + times[0], sum[1] + times[1], sum[2] + times[2]]
        })
    }

    /// The time of a unit per category in a time range, in nanoseconds. In fractional mode, the
    /// mean over its timelines. The sum is the length of the time range.
    #[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
    pub(crate) fn mean_times(&self, unit: usize, range: TimeRange) -> [f64; 3] {
        let timelines = self.timelines(unit).len().max(1) as f64;
        self.times(unit, range).map(|time| time as f64 / timelines)
    }

    /// The timeline of [`Self::at`]. With several timelines, the first category that occurs.
    pub fn timeline(&self, unit: usize) -> Cow<'_, CategoryTimeline> {
        match self.timelines(unit) {
            [timeline] => Cow::Borrowed(timeline),
            several => Cow::Owned(any_busy(several)),
        }
    }

    /// The fraction of a time range that a unit spends in each category. The sum is 1.
    #[expect(clippy::cast_precision_loss, reason = "a fraction is rounded")]
    pub(crate) fn fractions(&self, unit: usize, range: TimeRange) -> [f64; 3] {
        let times = self.times(unit, range);
        let sum: i128 = times.iter().sum();
        if sum == 0 {
            let mut fractions = [0.0; 3];
            fractions[number(self.at(unit, range.from.0)).unwrap_or(2)] = 1.0;
            return fractions;
        }
        times.map(|time| time as f64 / sum as f64)
    }

    /// The number of units per category at a time.
    pub fn counts_at(&self, time: i64) -> [f64; 3] {
        if let Some(counts) = self.counts.get() {
            return counts.numbers(counts.steps.at(time));
        }
        let mut sums = [0.0; 3];
        for timelines in &self.by_unit {
            for timeline in timelines {
                if let Some(number) = number(timeline.at(time)) {
                    sums[number] += 1.0 / part_count(timelines);
                }
            }
        }
        sums
    }

    /// The mean number of units per category between adjacent timestamps, which ascend. Between
    /// equal timestamps, the number at this time. Per unit, takes O(log n) per timestamp, or O(n)
    /// if its timelines have few changes.
    #[expect(clippy::cast_precision_loss, reason = "means are rounded")]
    pub fn mean_counts(&self, timestamps: &[i64]) -> Vec<[f64; 3]> {
        let jobs: Vec<&[Vec<CategoryTimeline>]> = self.by_unit.chunks(self.by_unit.len().div_ceil(16).max(1)).collect();
        let parts = map_in_order(jobs, MAX_THREADS, |units| mean_sums(units, timestamps));
        let mut means = vec![[0.0; 3]; timestamps.len().saturating_sub(1)];
        for part in parts {
            add_sums(&mut means, part.into_iter());
        }
        for (mean, edges) in means.iter_mut().zip(timestamps.windows(2)) {
            let nanos = edges[1].saturating_sub(edges[0]);
            *mean = if nanos > 0 { mean.map(|sum| sum / nanos as f64) } else { self.counts_at(edges[0]) };
        }
        means
    }

    /// The mean number of units per category in each of some time ranges, in any order. Of an empty
    /// time range, the number at its start.
    #[expect(clippy::cast_precision_loss, reason = "means are rounded")]
    pub fn mean_counts_in(&self, ranges: &[TimeRange]) -> Vec<[f64; 3]> {
        let mut timestamps: Vec<i64> = ranges.iter().flat_map(|range| [range.from.0, range.to.0]).collect();
        timestamps.sort_unstable();
        timestamps.dedup();
        let (mut sum, mut sums) = ([0.0; 3], vec![[0.0; 3]]);
        for (mean, edges) in self.mean_counts(&timestamps).into_iter().zip(timestamps.windows(2)) {
            let nanos = edges[1].saturating_sub(edges[0]) as f64;
            sum.iter_mut().zip(mean).for_each(|(sum, mean)| *sum += mean * nanos);
            sums.push(sum);
        }
        let sum_until = |time: GlobalNanos| sums[timestamps.partition_point(|timestamp| *timestamp < time.0)];
        let mean = |range: &TimeRange| {
            let nanos = range.to.0.saturating_sub(range.from.0);
            if nanos <= 0 {
                return self.counts_at(range.from.0);
            }
            let (high, low) = (sum_until(range.to), sum_until(range.from));
            [0, 1, 2].map(|category| (high[category] - low[category]) / nanos as f64)
        };
        ranges.iter().map(mean).collect()
    }

    /// The number of units per category at any time. Computed at the first call, in O(n log n) of
    /// the number of changes. [`Self::mean_counts`] needs less memory.
    pub fn counts(&self) -> &UnitCounts {
        self.counts.get_or_init(|| unit_counts(&self.by_unit))
    }
}

/// Changes of a timeline per timestamp, below which all of them are added. Above it, searching for
/// each timestamp is faster.
const CHANGES_PER_TIMESTAMP: usize = 16;

/// The time of some units per category between adjacent timestamps, in nanoseconds. Each timeline
/// counts as a fraction of its unit.
#[expect(clippy::cast_precision_loss, reason = "means are rounded")]
fn mean_sums(units: &[Vec<CategoryTimeline>], timestamps: &[i64]) -> Vec<[f64; 3]> {
    let mut sums = vec![[0.0; 3]; timestamps.len().saturating_sub(1)];
    // By the number of timelines per unit.
    let mut exact: BTreeMap<usize, CategorySums<'_>> = BTreeMap::new();
    for timelines in units {
        for timeline in timelines {
            if timeline.changes() < timestamps.len().saturating_mul(CHANGES_PER_TIMESTAMP) {
                exact.entry(timelines.len()).or_insert_with(|| CategorySums::new(timestamps)).add(timeline);
            } else {
                let parts = part_count(timelines);
                let times = timeline.times_between(timestamps);
                add_sums(&mut sums, times.map(|times| times.map(|time| time as f64 / parts)));
            }
        }
    }
    for (parts, exact) in exact {
        add_sums(&mut sums, exact.times().map(|times| times.map(|time| time as f64 / parts as f64)));
    }
    sums
}

fn add_sums(sums: &mut [[f64; 3]], summands: impl Iterator<Item = [f64; 3]>) {
    for (sum, addend) in sums.iter_mut().zip(summands) {
        sum.iter_mut().zip(addend).for_each(|(sum, addend)| *sum += addend);
    }
}

/// The category of one group at any time: that of its innermost state that counts.
fn group_timeline(
    source: &dyn TimelineSource,
    group: &StateGroup,
    categories: &CategoryTable,
    stateless_category: ActivityCategory,
) -> Result<CategoryTimeline, QueryError> {
    let mut timeline = CategoryTimeline::new(ActivityCategory::Idle);
    timeline.set(group.life.from.0, stateless_category);
    value_timelines::visit_open_states(source, group, |time, open| {
        let open = open.iter().rev().map(|state| categories.category(state.value));
        let counted = open.into_iter().find(|category| *category != ActivityCategory::Ignored);
        timeline.set(time, counted.unwrap_or(stateless_category));
    })?;
    timeline.set(group.life.to.0, ActivityCategory::Idle);
    Ok(timeline)
}

/// Changes of all timelines: timestamp, number of the timeline, category.
fn changes(timelines: &[CategoryTimeline]) -> Vec<(i64, usize, ActivityCategory)> {
    let of_timeline = |(index, timeline): (usize, &CategoryTimeline)| {
        let times = timeline.timestamps().to_vec();
        times.into_iter().map(move |time| (time, index)).collect::<Vec<_>>()
    };
    let mut all: Vec<(i64, usize)> = timelines.iter().enumerate().flat_map(of_timeline).collect();
    all.sort_unstable();
    all.into_iter().map(|(time, index)| (time, index, timelines[index].at(time))).collect()
}

/// The smallest category of all timelines at any time: busy before overhead before idle.
fn any_busy(timelines: &[CategoryTimeline]) -> CategoryTimeline {
    let mut current: Vec<ActivityCategory> = timelines.iter().map(|timeline| timeline.at(i64::MIN)).collect();
    let mut counts = [0_usize; 4];
    current.iter().for_each(|category| counts[*category as usize] += 1);
    let smallest = |counts: &[usize; 4]| {
        let counted = ActivityCategory::COUNTED.into_iter().find(|category| counts[*category as usize] > 0);
        counted.unwrap_or(ActivityCategory::Idle)
    };
    let mut merged = CategoryTimeline::new(smallest(&counts));
    for (time, index, category) in changes(timelines) {
        counts[current[index] as usize] -= 1;
        counts[category as usize] += 1;
        current[index] = category;
        merged.set(time, smallest(&counts));
    }
    merged
}

/// The number of units per category. Each timeline counts as the denominator, divided by the number
/// of timelines of its unit. The first timelines get the remainder, so that the unit counts as 1.
fn unit_counts(by_unit: &[Vec<CategoryTimeline>]) -> UnitCounts {
    let denominator = by_unit.iter().fold(1, |all, timelines| least_common_multiple(all, timelines.len().max(1)));
    let denominator = i64::try_from(denominator).unwrap_or(i64::MAX);
    let (mut start, mut deltas) = ([0_i64; 3], Vec::new());
    for timelines in by_unit {
        let parts = i64::try_from(timelines.len().max(1)).unwrap_or(1);
        for (timeline, part) in timelines.iter().zip(0..) {
            let weight = denominator / parts + i64::from(part < denominator % parts);
            let mut old_value = timeline.at(i64::MIN);
            if let Some(number) = number(old_value) {
                start[number] += weight;
            }
            for &time in timeline.timestamps() {
                let (new_value, mut delta) = (timeline.at(time), [0; 3]);
                for (category, weight) in [(old_value, -weight), (new_value, weight)] {
                    if let Some(number) = number(category) {
                        delta[number] += weight;
                    }
                }
                deltas.push((time, delta));
                old_value = new_value;
            }
        }
    }
    UnitCounts { steps: StepFunction::from_deltas(start, deltas), denominator }
}

/// The least common multiple. At most 2³⁰: with more different numbers of groups, fractions of a
/// unit would be too small to matter, and the product of all numbers could overflow.
fn least_common_multiple(a: usize, b: usize) -> usize {
    const LARGEST: usize = 1 << 30;
    let (mut high, mut low) = (a, b);
    while low != 0 {
        (high, low) = (low, high % low);
    }
    let product = a / high * b;
    if product > LARGEST { a } else { product }
}

#[cfg(test)]
mod tests {
    use tumit_paje::category::ActivityCategory::{Busy, Idle};

    use super::{CategoryTimeline, unit_counts};

    #[test]
    fn each_unit_counts_as_one_without_a_common_denominator() {
        // The least common multiple of 1 to 50 exceeds the largest denominator.
        let timeline = |number: i64| {
            let mut timeline = CategoryTimeline::new(Idle);
            timeline.set(number, Busy);
            timeline
        };
        let units: Vec<Vec<CategoryTimeline>> = (1..=50).map(|parts| (0..parts).map(timeline).collect()).collect();
        let counts = unit_counts(&units);
        for time in -1..=50 {
            assert_eq!(counts.steps.at(time).iter().sum::<i64>(), 50 * counts.denominator);
        }
        assert_eq!(counts.steps.at(50), [50 * counts.denominator, 0, 0]);
    }
}
