//! Mixtures of a lane with few values, for many columns or for one time range.
//!
//! At each edge of a column, the time of each value before the edge is known. The mixture of a
//! column is the difference between its two edges.
//!
//! Adjacent columns share an edge, which is computed once. From one edge to the next, the code adds
//! the states between them if these are fewer, within the block, than the states up to the nearest
//! stored sums. Otherwise, it starts from the stored sums. Within one state, an edge costs two
//! comparisons.
//!
//! If each edge lies in a separate block, memory latency dominates. So the code finds the blocks
//! some edges ahead, and prefetches them.

use std::ops::Range;

use tumit_paje::ValueId;

use super::state_cursor::StateCursor;
use crate::index::file::bit_fields::sortable_timestamp;
use crate::index::file::file_layout::BLOCK;
use crate::index::lanes::states::{DENSE, DENSE_VALUES, IndexStateLane, STATES_PER_SUM, StateBlock, end};
use crate::query::{MixtureCellWriter, TimeRange};

/// Bits of the index of a value in its lane.
const PLACE_BITS: u32 = DENSE_VALUES.ilog2();

/// Number of edges by which a block is prefetched ahead.
const AHEAD: usize = 6;

type ValueTimes<const N: usize> = [i64; N];

/// The walk from left to right over a lane of at most `N` values. `N` is a power of two.
pub(crate) struct FewValuesWalk<'l, 'a, const N: usize> {
    lane: &'l IndexStateLane<'a>,
    values: [ValueId; N],
    count: usize,
    /// The lane's own numbers of its values, sorted by value.
    order: [u8; N],
    cursor: StateCursor<'a>,
    /// The timestamp of the current edge. The next field: the time of each value before it.
    timestamp: i64,
    earlier_times: ValueTimes<N>,
}

impl<'l, 'a, const N: usize> FewValuesWalk<'l, 'a, N> {
    /// A walk; `None` if the lane has more than `N` values.
    pub(crate) fn new(lane: &'l IndexStateLane<'a>) -> Option<Self> {
        let count = usize::try_from(lane.record.values.len).ok().filter(|&count| count <= N)?;
        let mut values = [ValueId(0); N];
        (0..).zip(&mut values[..count]).for_each(|(local, value)| *value = lane.value(local));
        let mut order = std::array::from_fn(|local| local as u8);
        order[..count].sort_unstable_by_key(|&local| values[usize::from(local)]);
        Some(Self {
            lane,
            values,
            count,
            order,
            cursor: StateCursor::new(lane),
            timestamp: i64::MIN,
            earlier_times: [0; N],
        })
    }

    /// Appends the mixture of values of each column: the `max_shares` largest shares. Columns are
    /// ordered from left to right.
    pub(crate) fn cells(
        mut self,
        columns: impl Iterator<Item = TimeRange> + Clone,
        max_shares: usize,
        blocks: &mut Vec<u64>,
        cells: &mut MixtureCellWriter,
    ) {
        self.find_blocks(columns.clone(), blocks);
        if !blocks.is_empty() {
            return self.far_apart(columns, max_shares, blocks, cells);
        }
        for column in columns {
            if column.from.0 != self.timestamp {
                self.move_to(column.from.0);
            }
            if self.cursor.is_at(sortable_timestamp(column.to.0)) {
                self.within_one(column.to.0, max_shares, cells);
                continue;
            }
            let before = self.earlier_times;
            self.move_to(column.to.0);
            self.mixture(&before, &self.earlier_times, max_shares, cells);
        }
    }

    /// Same as [`Self::cells`] for columns with edges mostly in separate blocks. `blocks` has the
    /// block of each right edge.
    fn far_apart(
        &self,
        columns: impl Iterator<Item = TimeRange>,
        max_shares: usize,
        blocks: &[u64],
        cells: &mut MixtureCellWriter,
    ) {
        let mut before = None;
        for (column_index, (column, &block)) in columns.zip(blocks).enumerate() {
            if let Some(&upcoming) = blocks.get(column_index + AHEAD) {
                self.lane.table.prefetch(upcoming);
                self.lane.index_bytes.prefetch(self.sums_at(upcoming), 16 * self.count);
            }
            let left = before.unwrap_or_else(|| self.times_before(column.from.0));
            let right = self.before_in(block, column.to.0);
            self.mixture(&left, &right, max_shares, cells);
            before = Some(right);
        }
    }

    /// Finds the block of the right edge of each column. `blocks` stays empty if the columns are so
    /// narrow that most edges share a block, or if the lane has no dense sums.
    fn find_blocks(&self, columns: impl Iterator<Item = TimeRange> + Clone, blocks: &mut Vec<u64>) {
        blocks.clear();
        let Some(first) = columns.clone().next().filter(|_| self.lane.record.sums.len == DENSE) else { return };
        let width = first.to.0.wrapping_sub(first.from.0).cast_unsigned();
        let (table, all) = (&self.lane.table, self.lane.table.blocks());
        let life = table.first(all).wrapping_sub(table.first(0));
        // Columns narrower than a nanosecond overlap.
        if width < 2 || width < life / all.max(1) {
            return;
        }
        let mut near = 0;
        for column in columns {
            near = table.blocks_before(near, sortable_timestamp(column.to.0)).saturating_sub(1).max(near);
            blocks.push(near);
        }
    }

    /// The position of the sums before a block.
    fn sums_at(&self, block: u64) -> u64 {
        self.lane.record.sums.offset.saturating_add(block.saturating_mul(8 * self.count as u64))
    }

    /// The time of each value before a timestamp. The lane must have dense sums.
    fn times_before(&self, timestamp: i64) -> ValueTimes<N> {
        self.before_in(self.lane.table.blocks_before(0, sortable_timestamp(timestamp)).saturating_sub(1), timestamp)
    }

    /// Same as [`Self::times_before`]; the timestamp must lie in block `number`, or between it and
    /// the next one.
    #[inline]
    fn before_in(&self, number: u64, timestamp: i64) -> ValueTimes<N> {
        let block = self.lane.table.block_here(number);
        let index = block.columns[0].lower_bound(0, block.len, sortable_timestamp(timestamp));
        let mut times = self.sums(&block, index);
        if let Some(last) = index.checked_sub(1) {
            let excess = end(&block, last).saturating_sub(timestamp).max(0);
            add(&mut times, block.columns[2].get(last), excess.wrapping_neg());
        }
        times
    }

    /// The time of each value before a state of a block, computed from the nearest sums on either
    /// side.
    #[inline]
    fn sums(&self, block: &StateBlock<'_>, index: usize) -> ValueTimes<N> {
        let part = nearest_sums(block, index);
        let (near, is_last) = (part * STATES_PER_SUM, part * STATES_PER_SUM == BLOCK);
        let number = block.row / BLOCK as u64 + u64::from(is_last);
        let (mut times, bytes) = ([0; N], self.lane.index_bytes.slice(self.sums_at(number), 8 * self.count));
        for (sum, word) in times.iter_mut().zip(bytes.chunks_exact(8)) {
            *sum = i64::from_le_bytes(*word.first_chunk().unwrap_or(&[0; 8]));
        }
        if part > 0 && !is_last {
            let sums = block.part_sums(part, self.count);
            times.iter_mut().zip(sums).for_each(|(sum, time)| *sum = sum.wrapping_add_unsigned(time));
        }
        if near > index {
            add_states::<N, true>(&mut times, block, index..near);
        } else {
            add_states::<N, false>(&mut times, block, near..index);
        }
        times
    }

    /// Appends the mixture between two edges: the `max_shares` largest shares. Shares of equal time
    /// are ordered by value.
    #[inline]
    fn mixture(
        &self,
        start_times: &ValueTimes<N>,
        end_times: &ValueTimes<N>,
        max_shares: usize,
        cells: &mut MixtureCellWriter,
    ) {
        let order = &self.order[..self.count.min(N)];
        let time_of =
            |local: u8| end_times[usize::from(local) % N].wrapping_sub(start_times[usize::from(local) % N]).max(0);
        // One number combines a time and the index of its value. Such numbers are sorted without
        // unpredictable branches.
        let (mut keys, mut count, mut time_bits) = ([0; N], 0, 0);
        for (rank, &local) in order.iter().enumerate() {
            let time = time_of(local);
            let mut key = (time.cast_unsigned() << PLACE_BITS) | (N - 1 - rank) as u64;
            count += usize::from(time > 0);
            time_bits |= time;
            for larger in &mut keys[..=rank] {
                (*larger, key) = ((*larger).max(key), (*larger).min(key));
            }
        }
        if time_bits >> (63 - PLACE_BITS) > 0 {
            let shares = order.iter().map(|&local| (self.values[usize::from(local) % N], time_of(local)));
            return cells.push_unordered(shares.filter(|share| share.1 > 0), max_shares);
        }
        let time = |key: u64| (key >> PLACE_BITS).cast_signed();
        let value = |key: u64| self.values[usize::from(self.order[N - 1 - key as usize % N]) % N];
        let (largest, others) = keys[..count].split_at(max_shares.min(count));
        let rest = others.iter().map(|&key| time(key)).sum();
        cells.push(largest.iter().map(|&key| (value(key), time(key))), rest);
    }

    /// Adds the time of each value in a time range.
    pub(crate) fn add_times(mut self, time_range: TimeRange, mut add_time: impl FnMut(u32, i64)) {
        let (from, to) = (time_range.from.0, time_range.to.0);
        let (before, after) = if self.lane.record.sums.len == DENSE {
            (self.times_before(from), self.times_before(to))
        } else {
            self.move_to(from);
            let before = self.earlier_times;
            self.move_to(to);
            (before, self.earlier_times)
        };
        for ((value, before), after) in self.values[..self.count].iter().zip(before).zip(after) {
            add_time(value.0, after.wrapping_sub(before));
        }
    }

    /// Appends the column from the current edge to a timestamp. No other state starts between them.
    fn within_one(&mut self, to: i64, max_shares: usize, cells: &mut MixtureCellWriter) {
        let (value, end) = self.cursor.last_state;
        let from = std::mem::replace(&mut self.timestamp, to);
        if self.cursor.index == 0 || end <= from {
            return cells.fill(cells.len() + 1);
        }
        add(
            &mut self.earlier_times,
            value,
            self.cursor.duration_before(from).wrapping_sub(self.cursor.duration_before(to)),
        );
        let value = self.values[value as usize % N];
        cells.push_one((value, end.min(to).wrapping_sub(from)), max_shares);
    }

    /// Moves to the edge at a timestamp.
    fn move_to(&mut self, timestamp: i64) {
        let bound = sortable_timestamp(timestamp);
        // Columns narrower than a nanosecond overlap.
        if bound <= self.cursor.last && self.cursor.index > 0 {
            (self.cursor, self.earlier_times, self.timestamp) = (StateCursor::new(self.lane), [0; N], i64::MIN);
        }
        let (row, block, open, rest_time) = (
            self.cursor.index,
            self.cursor.block.row,
            self.cursor.last_state.0,
            self.cursor.duration_before(self.timestamp),
        );
        self.cursor.seek(self.lane, bound);
        self.timestamp = timestamp;
        let edge = &self.cursor;
        let is_summed = self.lane.record.sums.len == DENSE;
        let distance = (nearest_sums(&edge.block, edge.index) * STATES_PER_SUM).abs_diff(edge.index);
        if edge.block.row == block && (!is_summed || edge.index.saturating_sub(row) <= distance) {
            add(&mut self.earlier_times, open, rest_time);
            add_states::<N, false>(&mut self.earlier_times, &edge.block, row..edge.index);
        } else if is_summed {
            self.earlier_times = self.sums(&edge.block, edge.index);
        } else {
            // A lane without dense sums has few blocks.
            add(&mut self.earlier_times, open, rest_time);
            for number in block / BLOCK as u64..=edge.block.row / BLOCK as u64 {
                let of = self.lane.table.block(number);
                let from = if of.row == block { row } else { 0 };
                let to = if of.row == edge.block.row { edge.index } else { of.len };
                add_states::<N, false>(&mut self.earlier_times, &of, from..to);
            }
        }
        add(&mut self.earlier_times, self.cursor.last_state.0, self.cursor.duration_before(timestamp).wrapping_neg());
    }
}

/// The number of the sums within a block that are nearest to a state. Sums number `n` follow the
/// first `n` × [`STATES_PER_SUM`] states.
#[inline]
fn nearest_sums(block: &StateBlock<'_>, index: usize) -> usize {
    ((index + STATES_PER_SUM / 2) / STATES_PER_SUM).min(block.len / STATES_PER_SUM)
}

#[inline]
fn add<const N: usize>(times: &mut ValueTimes<N>, value: u64, time: i64) {
    if let Some(sum) = times.get_mut(value as usize) {
        *sum = sum.wrapping_add(time);
    }
}

/// Adds the durations of these states to the times of their values; subtracts them if `IS_LESS`.
#[inline]
fn add_states<const N: usize, const IS_LESS: bool>(
    times: &mut ValueTimes<N>,
    block: &StateBlock<'_>,
    part: Range<usize>,
) {
    let [starts, durations, values, _] = &block.columns;
    let mut add = |value: u64, time: u64| {
        let sum = &mut times[value as usize % N];
        let time = time.cast_signed();
        *sum = if IS_LESS { sum.wrapping_sub(time) } else { sum.wrapping_add(time) };
    };
    let of = values.from(part.start).take(part.len());
    if !block.is_gapless() {
        return of.zip(durations.from(part.start)).for_each(|(value, time)| add(value, time));
    }
    let last = part.end.checked_sub(1).filter(|_| part.end == block.len && !part.is_empty());
    let (mut start, shift) = (starts.stored_numbers(part.start).next().unwrap_or(0), starts.shift());
    for (value, next) in of.take(part.len() - usize::from(last.is_some())).zip(starts.stored_numbers(part.start + 1)) {
        add(value, next.wrapping_sub(start) << shift);
        start = next;
    }
    if let Some(last) = last {
        add(values.get(last), block.next.wrapping_sub(starts.get(last)));
    }
}
