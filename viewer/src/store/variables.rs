//! Variables: timestamps and values, and a tree with minimum, maximum and integral over blocks of
//! samples.

use tumit_paje::{ContainerId, TypeId};

use crate::query::{SeriesColumn, TimeRange, ValueRange};

/// Samples per leaf of the tree, and children per node.
const FAN: usize = 16;

/// A variable while it is collected.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct RawVariable {
    pub(crate) container: ContainerId,
    pub(crate) ty: TypeId,
    pub(crate) timestamps: Vec<i64>,
    pub(crate) values: Vec<f64>,
    /// The end of the last sample.
    pub(crate) end: i64,
}

impl RawVariable {
    pub(crate) fn new(container: ContainerId, ty: TypeId) -> Self {
        Self { container, ty, timestamps: Vec::new(), values: Vec::new(), end: 0 }
    }
}

/// A variable of a container. Each sample lasts until the next one, the last one until `end`.
#[derive(Debug)]
pub(crate) struct StoreVariableLane {
    pub(crate) container: ContainerId,
    pub(crate) ty: TypeId,
    /// Number of the first sample in the store.
    pub(crate) base: u32,
    timestamps: Vec<i64>,
    values: Vec<f64>,
    end: i64,
    /// Nodes of `levels[0]` summarise 16 samples each; nodes of each further level, 16 nodes of the
    /// previous one.
    levels: Vec<Vec<SampleNode>>,
}

#[derive(Clone, Copy, Debug)]
struct SampleNode {
    min: f64,
    max: f64,
    /// Value × nanoseconds.
    integral: f64,
}

impl SampleNode {
    const EMPTY: Self = Self { min: f64::INFINITY, max: f64::NEG_INFINITY, integral: 0.0 };

    fn join(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max), integral: self.integral + other.integral }
    }
}

impl StoreVariableLane {
    /// Seals a variable.
    pub(crate) fn new(base: u32, raw: RawVariable) -> Self {
        let RawVariable { container, ty, mut timestamps, mut values, end } = raw;
        timestamps.shrink_to_fit();
        values.shrink_to_fit();
        let end = timestamps.last().map_or(end, |&last| end.max(last));
        let mut lane = Self { container, ty, base, timestamps, values, end, levels: Vec::new() };
        let mut level: Vec<SampleNode> = (0..lane.len().div_ceil(FAN))
            .map(|block| lane.combine_directly(block * FAN..lane.len().min((block + 1) * FAN)))
            .collect();
        while !level.is_empty() {
            let next = if level.len() > 1 {
                level
                    .chunks(FAN)
                    .map(|chunk| chunk.iter().fold(SampleNode::EMPTY, |all, &node| all.join(node)))
                    .collect()
            } else {
                Vec::new()
            };
            lane.levels.push(level);
            level = next;
        }
        lane
    }

    pub(crate) fn len(&self) -> usize {
        self.timestamps.len()
    }

    pub(crate) fn start(&self, index: usize) -> i64 {
        self.timestamps[index]
    }

    pub(crate) fn end(&self, index: usize) -> i64 {
        self.timestamps.get(index + 1).copied().unwrap_or(self.end)
    }

    pub(crate) fn value(&self, index: usize) -> f64 {
        self.values[index]
    }

    /// Smallest and largest value.
    pub(crate) fn range(&self) -> Option<ValueRange> {
        self.levels.last().and_then(|level| level.first()).map(|node| ValueRange { min: node.min, max: node.max })
    }

    /// Positions of the samples that overlap a time range. A sample without duration at the very
    /// end counts at its timestamp.
    pub(crate) fn overlapping_range(&self, time_range: TimeRange) -> std::ops::Range<usize> {
        let started_count = self.timestamps.partition_point(|&timestamp| timestamp <= time_range.from.0);
        let mut first = started_count.saturating_sub(1);
        if started_count > 0 && self.end(first) <= time_range.from.0 && self.start(first) < time_range.from.0 {
            first = started_count;
        }
        first..self.timestamps.partition_point(|&timestamp| timestamp < time_range.to.0).max(first)
    }

    /// Minimum, maximum and mean over a time range; `None` if it has no value. O(log n).
    pub(crate) fn column(&self, time_range: TimeRange) -> Option<SeriesColumn> {
        let range = self.overlapping_range(time_range);
        let last = range.clone().next_back()?;
        let clip = |index: usize| {
            let value = self.value(index);
            let time = self.end(index).min(time_range.to.0) - self.start(index).max(time_range.from.0);
            SampleNode { min: value, max: value, integral: value * time.max(0) as f64 }
        };
        let mut sum = clip(range.start);
        if last > range.start {
            sum = sum.join(clip(last)).join(self.combine_samples(range.start + 1..last));
        }
        let covered_nanos = self.end(last).min(time_range.to.0) - self.start(range.start).max(time_range.from.0);
        let mean = if covered_nanos > 0 { sum.integral / covered_nanos as f64 } else { self.value(last) };
        // Rounding must not move the mean out of the range.
        Some(SeriesColumn { min: sum.min, max: sum.max, mean: mean.clamp(sum.min, sum.max) })
    }

    /// Combines whole samples of a range, with the largest possible nodes.
    fn combine_samples(&self, range: std::ops::Range<usize>) -> SampleNode {
        let (mut low, mut high) = (range.start.div_ceil(FAN), range.end / FAN);
        if low >= high {
            return self.combine_directly(range);
        }
        let mut all = self.combine_directly(range.start..low * FAN).join(self.combine_directly(high * FAN..range.end));
        for level in &self.levels {
            let (inner_low, inner_high) = (low.div_ceil(FAN), high / FAN);
            let nodes = |range: std::ops::Range<usize>| {
                level[range].iter().fold(SampleNode::EMPTY, |sum, &node| sum.join(node))
            };
            if inner_low >= inner_high {
                return all.join(nodes(low..high));
            }
            all = all.join(nodes(low..inner_low * FAN)).join(nodes(inner_high * FAN..high));
            (low, high) = (inner_low, inner_high);
        }
        all
    }

    fn combine_directly(&self, range: std::ops::Range<usize>) -> SampleNode {
        range.fold(SampleNode::EMPTY, |all, index| {
            let value = self.value(index);
            let integral = value * (self.end(index) - self.start(index)) as f64;
            all.join(SampleNode { min: value, max: value, integral })
        })
    }
}
