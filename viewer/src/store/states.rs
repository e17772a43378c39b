//! Lanes of states: columns sorted by start, and the time of each value before each block of 64
//! states.
//!
//! The sums give the exact times in any time range. The cost is two blocks and the number of
//! values, independent of the number of states. Lanes with few values store dense sums (8 bytes ×
//! values per 64 states). Other lanes store, per value, only the blocks that contain it (12 bytes ×
//! occurrences in blocks, at most 12 bytes per state).

use tumit_paje::{ContainerId, TypeId, ValueId};

use super::details::DetailColumn;
use crate::query::effective_end;
use crate::query::{MixtureCell, TimeRange, TimestampExtent};

/// States per block.
const BLOCK: usize = 64;
/// Sums are dense for up to this many values.
const DENSE_VALUES: usize = 16;
/// Time ranges of up to this many states are summed state by state.
const DIRECT: usize = 2 * BLOCK;

/// A lane while it is collected. States come in order and do not overlap.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct RawLane {
    pub(crate) starts: Vec<i64>,
    pub ends: Vec<i64>,
    pub(crate) values: Vec<u32>,
    pub(crate) details: DetailColumn,
}

impl RawLane {
    /// Adds the next state.
    pub(crate) fn push(&mut self, start: i64, end: i64, value: ValueId, detail: u32) {
        self.details.push(self.starts.len(), detail);
        self.starts.push(start);
        self.ends.push(end);
        self.values.push(value.0);
    }
}

/// One nesting depth of one state type of one container.
#[derive(Debug)]
pub(crate) struct StoreStateLane {
    pub(crate) container: ContainerId,
    pub(crate) ty: TypeId,
    pub(crate) depth: u32,
    /// Number of the first state in the store.
    pub(crate) base: u32,
    starts: Vec<i64>,
    ends: StateEnds,
    /// Indexes into `table`.
    values: Vec<u32>,
    /// The values that occur in the lane.
    table: Vec<ValueId>,
    sums: TimeSums,
    details: DetailColumn,
}

#[derive(Debug)]
enum StateEnds {
    /// Each state ends where the next one starts. The end of the last one is stored here.
    Gapless(i64),
    Column(Vec<i64>),
}

/// For each block, the time of each value in all earlier blocks.
#[derive(Debug)]
enum TimeSums {
    /// `[block * values + value]`, for block = 0 ..= number of whole blocks.
    Dense(Vec<i64>),
    /// Per value, at `offsets[value] .. offsets[value + 1]`: the blocks that contain it, and its
    /// total time up to the ends of these blocks.
    Sparse { offsets: Vec<u32>, blocks: Vec<u32>, times: Vec<i64> },
}

/// Time per value, numbered as in the lane's table. It is filled and read alternately.
///
/// Only touched values are read and cleared, because few of possibly thousands of values occur in
/// one column.
#[derive(Debug, Default)]
pub(crate) struct StoreTimeSums {
    times: Vec<i64>,
    touched_values: Vec<u32>,
}

impl StoreTimeSums {
    fn reset(&mut self, values: usize) {
        for value in self.touched_values.drain(..) {
            self.times[value as usize] = 0;
        }
        if self.times.len() < values {
            self.times.resize(values, 0);
        }
    }

    /// Durations are never negative, so 0 means untouched.
    fn add(&mut self, value: u32, time: i64) {
        let sum = &mut self.times[value as usize];
        if *sum == 0 && time != 0 {
            self.touched_values.push(value);
        }
        *sum += time;
    }
}

impl StoreStateLane {
    /// Seals a lane.
    pub(crate) fn new(container: ContainerId, ty: TypeId, depth: u32, base: u32, raw: RawLane) -> Self {
        let RawLane { mut starts, mut ends, mut values, mut details } = raw;
        starts.shrink_to_fit();
        values.shrink_to_fit();
        details.seal();
        let mut table: Vec<u32> = Vec::new();
        let mut place = std::collections::HashMap::new();
        for value in &mut values {
            let next = table.len() as u32;
            *value = *place.entry(*value).or_insert_with_key(|&global| {
                table.push(global);
                next
            });
        }
        let gapless = ends.iter().zip(starts.iter().skip(1)).all(|(end, start)| end == start);
        let ends = match ends.last() {
            Some(&last) if gapless => StateEnds::Gapless(last),
            _ => {
                ends.shrink_to_fit();
                StateEnds::Column(ends)
            }
        };
        let table = table.into_iter().map(ValueId).collect();
        let mut lane = Self {
            container,
            ty,
            depth,
            base,
            starts,
            ends,
            values,
            table,
            sums: TimeSums::Dense(Vec::new()),
            details,
        };
        lane.sums = if lane.table.len() <= DENSE_VALUES { lane.dense_sums() } else { lane.sparse_sums() };
        lane
    }

    fn dense_sums(&self) -> TimeSums {
        let width = self.table.len();
        let mut sums = Vec::with_capacity((self.len() / BLOCK + 1) * width);
        let mut total = vec![0_i64; width];
        sums.extend_from_slice(&total);
        for index in 0..self.len() / BLOCK * BLOCK {
            total[self.values[index] as usize] += self.end(index) - self.start(index);
            if (index + 1).is_multiple_of(BLOCK) {
                sums.extend_from_slice(&total);
            }
        }
        TimeSums::Dense(sums)
    }

    fn sparse_sums(&self) -> TimeSums {
        let width = self.table.len();
        let full_blocks_len = self.len() / BLOCK * BLOCK;
        // Counting first allows one allocation for all lists.
        let mut last_block = vec![usize::MAX; width];
        let mut offsets = vec![0_u32; width + 1];
        for index in 0..full_blocks_len {
            let value = self.values[index] as usize;
            if last_block[value] != index / BLOCK {
                last_block[value] = index / BLOCK;
                offsets[value + 1] += 1;
            }
        }
        for value in 0..width {
            offsets[value + 1] += offsets[value];
        }
        let entries = offsets[width] as usize;
        let (mut blocks, mut times) = (vec![0_u32; entries], vec![0_i64; entries]);
        let mut list_ends: Vec<usize> = offsets[..width].iter().map(|&offset| offset as usize).collect();
        let mut total = vec![0_i64; width];
        for index in 0..full_blocks_len {
            let value = self.values[index] as usize;
            total[value] += self.end(index) - self.start(index);
            let first = offsets[value] as usize;
            let block = (index / BLOCK) as u32;
            if list_ends[value] == first || blocks[list_ends[value] - 1] != block {
                blocks[list_ends[value]] = block;
                list_ends[value] += 1;
            }
            times[list_ends[value] - 1] = total[value];
        }
        TimeSums::Sparse { offsets, blocks, times }
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len()
    }

    pub(crate) fn start(&self, index: usize) -> i64 {
        self.starts[index]
    }

    pub(crate) fn end(&self, index: usize) -> i64 {
        match &self.ends {
            StateEnds::Gapless(last) => self.starts.get(index + 1).copied().unwrap_or(*last),
            StateEnds::Column(ends) => ends[index],
        }
    }

    pub(crate) fn value(&self, index: usize) -> ValueId {
        self.table[self.values[index] as usize]
    }

    pub(crate) fn detail(&self, index: usize) -> u32 {
        self.details.get(index)
    }

    pub(crate) fn has_details(&self) -> bool {
        !self.details.is_empty()
    }

    /// Positions of the states that overlap a time range.
    pub(crate) fn overlapping_range(&self, time_range: TimeRange) -> std::ops::Range<usize> {
        let first = self.first_ending_after(0, time_range.from.0);
        first..self.first_starting_from(first, time_range.to.0)
    }

    /// Positions of the states that touch an extent: `start <= last` and `end >= first`.
    pub(crate) fn touching_range(&self, extent: TimestampExtent) -> std::ops::Range<usize> {
        let first = partition_point_near(0, self.len(), |index| self.end(index) < extent.first);
        first..partition_point_near(first, self.len(), |index| self.start(index) <= extent.last)
    }

    fn first_ending_after(&self, hint: usize, time: i64) -> usize {
        partition_point_near(hint, self.len(), |index| effective_end(self.start(index), self.end(index)) <= time)
    }

    fn first_starting_from(&self, hint: usize, time: i64) -> usize {
        partition_point_near(hint, self.len(), |index| self.start(index) < time)
    }

    /// The `max_count` values with the most time in `time_range`. `hint` must be at or before the
    /// first state in it, and is advanced. So a walk over columns from left to right costs about as
    /// much as one search.
    pub(crate) fn shares(
        &self,
        time_range: TimeRange,
        hint: &mut usize,
        max_count: usize,
        scratch: &mut StoreTimeSums,
    ) -> MixtureCell {
        let (from, to) = (time_range.from.0, time_range.to.0);
        let first = self.first_ending_after(*hint, from);
        *hint = first;
        let last = self.first_starting_from(first, to);
        if first == last {
            return MixtureCell::default();
        }
        scratch.reset(self.table.len());
        self.sum(first..last, scratch);
        // Only the first and the last state can extend beyond the time range. Nothing is subtracted
        // for a state without duration.
        let before = from.min(self.end(first)).saturating_sub(self.start(first)).max(0);
        scratch.times[self.values[first] as usize] -= before;
        let after = self.end(last - 1).saturating_sub(to).max(0);
        scratch.times[self.values[last - 1] as usize] -= after;
        let nonzero =
            scratch.touched_values.iter().map(|&value| (self.table[value as usize], scratch.times[value as usize]));
        MixtureCell::of(nonzero.filter(|share| share.1 > 0).collect::<Vec<_>>(), max_count)
    }

    /// Adds the whole durations of the states in a range.
    fn sum(&self, range: std::ops::Range<usize>, times: &mut StoreTimeSums) {
        let (low, high) = (range.start.div_ceil(BLOCK), range.end / BLOCK);
        // A look-up of a value costs about as much as adding some tens of states.
        let direct = if matches!(self.sums, TimeSums::Dense(_)) { DIRECT } else { DIRECT.max(32 * self.table.len()) };
        if range.len() <= direct || low >= high {
            return self.sum_directly(range, times);
        }
        self.sum_directly(range.start..low * BLOCK, times);
        self.sum_directly(high * BLOCK..range.end, times);
        let width = self.table.len();
        match &self.sums {
            TimeSums::Dense(sums) => {
                for value in 0..width {
                    times.add(value as u32, sums[high * width + value] - sums[low * width + value]);
                }
            }
            TimeSums::Sparse { offsets, blocks, times: sums } => {
                for value in 0..width {
                    let list = offsets[value] as usize..offsets[value + 1] as usize;
                    let before = |block: usize| {
                        let preceding_count = blocks[list.clone()].partition_point(|&number| (number as usize) < block);
                        if preceding_count == 0 { 0 } else { sums[list.start + preceding_count - 1] }
                    };
                    times.add(value as u32, before(high) - before(low));
                }
            }
        }
    }

    fn sum_directly(&self, range: std::ops::Range<usize>, times: &mut StoreTimeSums) {
        for index in range {
            times.add(self.values[index], self.end(index) - self.start(index));
        }
    }
}

/// First position in `near..len` for which `is_before` is false, found by doubling steps, then by
/// bisection.
fn partition_point_near(hint: usize, len: usize, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut step) = (hint, 1);
    while low + step <= len && is_before(low + step - 1) {
        low += step;
        step *= 2;
    }
    let mut high = len.min(low + step);
    while low < high {
        let position = low.midpoint(high);
        if is_before(position) {
            low = position + 1;
        } else {
            high = position;
        }
    }
    low
}
