//! [`StepFunction`]: numbers that change at timestamps, such as the number of busy units.
//!
//! A step function has `K` components, for example busy, overhead and idle. It answers exactly, at
//! any time and over any time range, in O(log n): value, integral, minimum and maximum. Integrals
//! are integers, so the integrals of adjacent time ranges add up exactly.
//!
//! ```
//! use tumit_perspectives::execution::step_function::StepFunction;
//! use tumit_viewer::query::{GlobalNanos, TimeRange};
//!
//! // One message is pending from 10 to 30 ns, another one from 20 to 40 ns.
//! let pending = StepFunction::from_deltas([0], vec![(10, [1]), (30, [-1]), (20, [1]), (40, [-1])]);
//! assert_eq!((pending.at(9), pending.at(10), pending.at(25)), ([0], [1], [2]));
//! let range = TimeRange { from: GlobalNanos(0), to: GlobalNanos(100) };
//! assert_eq!(pending.integral(range), [40]);
//! assert_eq!(pending.maximum(range), [2]);
//! ```

use tumit_viewer::query::TimeRange;

/// Steps per block. Each block has stored sums and extremes, so that a query reads at most about
/// this many steps at each end.
const BLOCK: usize = 64;

/// Numbers that change at timestamps. Each value holds from its timestamp, inclusive, to the next.
#[derive(Clone, Debug, PartialEq)]
pub struct StepFunction<const K: usize> {
    /// The values before the first timestamp.
    start: [i64; K],
    /// The timestamps, ascending and distinct.
    times: Vec<i64>,
    /// The values from each timestamp on.
    values: StepValues<K>,
    /// The integrals from the first timestamp to the first timestamp of each block.
    sums: Vec<[i128; K]>,
    /// The extremes of each block, then of 64 blocks, and so on.
    extremes: Vec<Vec<StepExtremes<K>>>,
}

#[derive(Clone, Debug, PartialEq)]
enum StepValues<const K: usize> {
    /// The first values of each block, and the differences of each step from those of its block.
    Near { first: Vec<[i64; K]>, differences: Vec<[i32; K]> },
    /// The values of each step, because some differences need more bits.
    Far(Vec<[i64; K]>),
}

/// The smallest and largest values of some steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StepExtremes<const K: usize> {
    /// The smallest value of each component.
    pub min: [i64; K],
    /// The largest value of each component.
    pub max: [i64; K],
}

/// A step function over one column of an image.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct StepColumn<const K: usize> {
    /// The smallest and largest values.
    pub extremes: StepExtremes<K>,
    /// The mean over time of each component.
    pub mean: [f64; K],
}

impl<const K: usize> StepValues<K> {
    fn new(values: Vec<[i64; K]>) -> Self {
        Self::near_values(&values).unwrap_or(Self::Far(values))
    }

    fn near_values(values: &[[i64; K]]) -> Option<Self> {
        let first: Vec<[i64; K]> = values.iter().step_by(BLOCK).copied().collect();
        let mut differences = Vec::with_capacity(values.len());
        for (block, first) in values.chunks(BLOCK).zip(&first) {
            for value in block {
                let mut difference = [0; K];
                for component in 0..K {
                    difference[component] = i32::try_from(value[component].checked_sub(first[component])?).ok()?;
                }
                differences.push(difference);
            }
        }
        Some(Self::Near { first, differences })
    }

    fn at(&self, index: usize) -> [i64; K] {
        match self {
            Self::Near { first, differences } => {
                let mut value = first[index / BLOCK];
                value.iter_mut().zip(differences[index]).for_each(|(sum, difference)| *sum += i64::from(difference));
                value
            }
            Self::Far(values) => values[index],
        }
    }
}

impl<const K: usize> StepExtremes<K> {
    fn of(value: [i64; K]) -> Self {
        Self { min: value, max: value }
    }

    fn add(&mut self, other: &Self) {
        for component in 0..K {
            self.min[component] = self.min[component].min(other.min[component]);
            self.max[component] = self.max[component].max(other.max[component]);
        }
    }
}

impl<const K: usize> StepFunction<K> {
    /// Creates a step function from its changes, in any order. Changes at the same timestamp add
    /// up. Takes O(n log n).
    pub fn from_deltas(start: [i64; K], mut deltas: Vec<(i64, [i64; K])>) -> Self {
        deltas.sort_unstable_by_key(|delta| delta.0);
        let (mut times, mut values, mut value) = (Vec::new(), Vec::new(), start);
        for same_time in deltas.chunk_by(|a, b| a.0 == b.0) {
            let old_value = value;
            for (_, delta) in same_time {
                for component in 0..K {
                    value[component] = value[component].saturating_add(delta[component]);
                }
            }
            if value != old_value {
                times.push(same_time[0].0);
                values.push(value);
            }
        }
        Self::from_steps(start, times, values)
    }

    /// Creates a step function from ascending timestamps and the values from each of them on.
    pub(crate) fn from_steps(start: [i64; K], mut times: Vec<i64>, values: Vec<[i64; K]>) -> Self {
        times.shrink_to_fit();
        let mut sums = Vec::with_capacity(times.len().div_ceil(BLOCK));
        let mut sum = [0_i128; K];
        for (index, value) in values.iter().enumerate() {
            if index % BLOCK == 0 {
                sums.push(sum);
            }
            let next = times.get(index + 1).copied().unwrap_or(times[index]);
            add_product(&mut sum, value, next, times[index]);
        }
        let of_block = |values: &[[i64; K]]| merge_extremes(values.iter().copied().map(StepExtremes::of));
        let mut extremes: Vec<Vec<StepExtremes<K>>> = Vec::new();
        if values.len() > 1 {
            extremes.push(values.chunks(BLOCK).filter_map(of_block).collect());
        }
        while let Some(level) = extremes.last().filter(|level| level.len() > 1) {
            let of_block = |extremes: &[StepExtremes<K>]| merge_extremes(extremes.iter().copied());
            extremes.push(level.chunks(BLOCK).filter_map(of_block).collect());
        }
        Self { start, times, values: StepValues::new(values), sums, extremes }
    }

    /// The timestamps at which a value changes, ascending.
    pub fn timestamps(&self) -> &[i64] {
        &self.times
    }

    /// The number of timestamps at or before `time`.
    fn steps_until(&self, time: i64) -> usize {
        self.times.partition_point(|&step| step <= time)
    }

    /// The value after the first `steps` steps.
    fn value_after(&self, steps: usize) -> [i64; K] {
        steps.checked_sub(1).map_or(self.start, |index| self.values.at(index))
    }

    /// The values at a time in nanoseconds.
    pub fn at(&self, time: i64) -> [i64; K] {
        self.value_after(self.steps_until(time))
    }

    /// The integral from the first timestamp to `time`, in values times nanoseconds. It is negative
    /// before the first timestamp.
    fn integral_until(&self, time: i64) -> [i128; K] {
        let Some(&first) = self.times.first() else {
            let mut sum = [0; K];
            add_product(&mut sum, &self.start, time, 0);
            return sum;
        };
        let steps = self.steps_until(time);
        let Some(last) = steps.checked_sub(1) else {
            let mut sum = [0; K];
            add_product(&mut sum, &self.start, time, first);
            return sum;
        };
        let block = last / BLOCK;
        let mut sum = self.sums[block];
        for index in block * BLOCK..last {
            add_product(&mut sum, &self.values.at(index), self.times[index + 1], self.times[index]);
        }
        add_product(&mut sum, &self.values.at(last), time, self.times[last]);
        sum
    }

    /// The integrals over a time range, in values times nanoseconds. Exact.
    pub fn integral(&self, range: TimeRange) -> [i128; K] {
        let (mut high, low) = (self.integral_until(range.to.0), self.integral_until(range.from.0));
        for component in 0..K {
            high[component] -= low[component];
        }
        high
    }

    /// The means over a time range. Of an empty time range, the values at its start.
    #[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
    pub fn mean(&self, range: TimeRange) -> [f64; K] {
        let nanos = range.to.0.saturating_sub(range.from.0);
        if nanos <= 0 {
            return self.at(range.from.0).map(|value| value as f64);
        }
        self.integral(range).map(|integral| integral as f64 / nanos as f64)
    }

    /// The largest values at any time of a time range. The range includes its start.
    pub fn maximum(&self, range: TimeRange) -> [i64; K] {
        self.extremes(range).max
    }

    /// The smallest and largest values at any time of a time range. Takes O(log n).
    pub fn extremes(&self, range: TimeRange) -> StepExtremes<K> {
        let first = self.steps_until(range.from.0);
        let end = self.times.partition_point(|&step| step < range.to.0).max(first);
        let mut all = StepExtremes::of(self.value_after(first));
        self.add_extremes(first, end, &mut all);
        all
    }

    /// Adds the extremes of the steps from `first` to before `end`.
    fn add_extremes(&self, first: usize, end: usize, all: &mut StepExtremes<K>) {
        let (low, high) = (first.next_multiple_of(BLOCK), end / BLOCK * BLOCK);
        if low >= high {
            (first..end).for_each(|index| all.add(&StepExtremes::of(self.values.at(index))));
            return;
        }
        let edges = (first..low).chain(high..end);
        edges.for_each(|index| all.add(&StepExtremes::of(self.values.at(index))));
        let (mut first, mut end) = (low / BLOCK, high / BLOCK);
        for level in &self.extremes {
            let (low, high) = (first.next_multiple_of(BLOCK), end / BLOCK * BLOCK);
            if low >= high {
                level[first..end].iter().for_each(|extremes| all.add(extremes));
                return;
            }
            level[first..low].iter().chain(&level[high..end]).for_each(|extremes| all.add(extremes));
            (first, end) = (low / BLOCK, high / BLOCK);
        }
    }

    /// The function in columns of equal width.
    pub fn columns(&self, range: TimeRange, count: u32) -> Vec<StepColumn<K>> {
        range
            .columns(count)
            .map(|column| StepColumn { extremes: self.extremes(column), mean: self.mean(column) })
            .collect()
    }

    /// Visits the pieces of constant value in a time range, in order.
    pub fn pieces(&self, range: TimeRange) -> impl Iterator<Item = StepPiece<K>> {
        let first = self.steps_until(range.from.0);
        let end = self.times.partition_point(|&step| step < range.to.0).max(first);
        (first..=end).filter_map(move |steps| {
            let from = if steps == first { range.from.0 } else { self.times[steps - 1] };
            let to = if steps == end { range.to.0 } else { self.times[steps] };
            (from < to).then(|| StepPiece { from, to, values: self.value_after(steps) })
        })
    }
}

/// A time during which the values are constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StepPiece<const K: usize> {
    /// Start in nanoseconds.
    pub from: i64,
    /// End in nanoseconds.
    pub to: i64,
    /// The values.
    pub values: [i64; K],
}

impl<const K: usize> StepPiece<K> {
    /// Duration in nanoseconds.
    pub fn nanos(&self) -> i64 {
        self.to.saturating_sub(self.from)
    }
}

fn merge_extremes<const K: usize>(list: impl Iterator<Item = StepExtremes<K>>) -> Option<StepExtremes<K>> {
    list.reduce(|mut all, extremes| {
        all.add(&extremes);
        all
    })
}

/// Adds `value × (to − from)`.
fn add_product<const K: usize>(sum: &mut [i128; K], value: &[i64; K], to: i64, from: i64) {
    let nanos = i128::from(to) - i128::from(from);
    for (sum, value) in sum.iter_mut().zip(value) {
        *sum += i128::from(*value) * nanos;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tumit_viewer::query::{GlobalNanos, TimeRange};

    use super::StepFunction;

    /// The value at a time, by adding all changes.
    fn value(deltas: &[(i64, [i64; 2])], time: i64) -> [i64; 2] {
        let mut value = [5, 0];
        for (_, delta) in deltas.iter().filter(|delta| delta.0 <= time) {
            value[0] += delta[0];
            value[1] += delta[1];
        }
        value
    }

    proptest! {
        #[test]
        fn all_queries_equal_a_sum_over_each_nanosecond(
            deltas in prop::collection::vec((-50..400_i64, [-3..4_i64, -3..4_i64]), 0..300),
            (from, nanos) in (-80..450_i64, 1..200_i64),
            is_far in any::<bool>(),
        ) {
            // Large differences are stored in another way.
            let factor = if is_far { 1 << 31 } else { 1 };
            let deltas: Vec<(i64, [i64; 2])> =
                deltas.into_iter().map(|(time, delta)| (time, delta.map(|delta| delta * factor))).collect();
            let function = StepFunction::from_deltas([5, 0], deltas.clone());
            let range = TimeRange { from: GlobalNanos(from), to: GlobalNanos(from + nanos) };
            let values: Vec<[i64; 2]> = (from..from + nanos).map(|time| value(&deltas, time)).collect();
            for (time, value) in (from..).zip(&values) {
                prop_assert_eq!(function.at(time), *value);
            }
            let extremes = function.extremes(range);
            for component in 0..2 {
                let of_component = || values.iter().map(|value| value[component]);
                prop_assert_eq!(function.integral(range)[component], of_component().map(i128::from).sum::<i128>());
                prop_assert_eq!(Some(extremes.min[component]), of_component().min());
                prop_assert_eq!(Some(extremes.max[component]), of_component().max());
            }
            let by_pieces: i64 = function.pieces(range).map(|piece| piece.nanos() * piece.values[0]).sum();
            prop_assert_eq!(i128::from(by_pieces), function.integral(range)[0]);
        }
    }

    #[test]
    fn extremes_of_many_levels_are_exact() {
        let deltas = (0..300_000_i64).map(|time| (time, [if time % 777 == 776 { -776 } else { 1 }])).collect();
        let function = StepFunction::from_deltas([0], deltas);
        let range = |from, to| TimeRange { from: GlobalNanos(from), to: GlobalNanos(to) };
        assert_eq!(function.maximum(range(0, 300_000)), [776]);
        assert_eq!(function.maximum(range(1_000, 1_100)), [323]);
        assert_eq!(function.extremes(range(776, 777)).max, [0]);
    }
}
