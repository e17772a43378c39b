//! What a lane of few values has in many columns, or in one interval: at each edge of a column the time of each value before it is
//! known, and a column has the difference of its two edges.
//!
//! An edge belongs to two columns and is found once. From one to the next the states between them are added, where they are fewer in the
//! block than those up to the nearest sums that are kept; else it starts from these. Within one state an edge costs two comparisons.
//!
//! Where each edge lies in a block of its own, memory is what is waited for. So blocks are found some edges ahead, and the processor is told
//! of them.

use std::ops::Range;

use tumit_paje::ValueId;

use super::bit_fields::ordered;
use super::format::BLOCK;
use super::state_cursor::Cursor;
use super::states::{DENSE, DENSE_VALUES, StateBlock, StateLane, WITHIN, end};
use crate::query::{CellWriter, Interval};

/// Bits of the place of a value among those of its lane.
const PLACE_BITS: u32 = DENSE_VALUES.ilog2();

/// So many edges ahead the processor is told of a block.
const AHEAD: usize = 6;

/// Time of each value.
type Times<const N: usize> = [i64; N];

/// The walk over a lane of at most `N` values, a power of two, from left to right.
pub(crate) struct FewWalk<'l, 'a, const N: usize> {
    lane: &'l StateLane<'a>,
    values: [ValueId; N],
    count: usize,
    /// The lane's own numbers of its values, in the order of these.
    order: [u8; N],
    at: Cursor<'a>,
    /// The date of the place, and the time of each value before it.
    date: i64,
    before: Times<N>,
}

impl<'l, 'a, const N: usize> FewWalk<'l, 'a, N> {
    /// A walk, unless the lane has too many values.
    pub(crate) fn new(lane: &'l StateLane<'a>) -> Option<Self> {
        let count = usize::try_from(lane.record.values.len).ok().filter(|&count| count <= N)?;
        let mut values = [ValueId(0); N];
        (0..).zip(&mut values[..count]).for_each(|(own, value)| *value = lane.value(own));
        let mut order = std::array::from_fn(|own| own as u8);
        order[..count].sort_unstable_by_key(|&own| values[usize::from(own)]);
        Some(Self { lane, values, count, order, at: Cursor::new(lane), date: i64::MIN, before: [0; N] })
    }

    /// The mixture of values in each of some columns, which come from left to right: the `most` largest shares.
    pub(crate) fn cells(
        mut self,
        columns: impl Iterator<Item = Interval> + Clone,
        most: usize,
        blocks: &mut Vec<u64>,
        cells: &mut CellWriter,
    ) {
        self.find_blocks(columns.clone(), blocks);
        if !blocks.is_empty() {
            return self.far_apart(columns, most, blocks, cells);
        }
        for column in columns {
            if column.from.0 != self.date {
                self.go(column.from.0);
            }
            if self.at.is_at(ordered(column.to.0)) {
                self.within_one(column.to.0, most, cells);
                continue;
            }
            let before = self.before;
            self.go(column.to.0);
            self.mixture(&before, &self.before, most, cells);
        }
    }

    /// The same of columns of which each edge lies in a block of its own, as a rule: that of the right edge of each is known.
    fn far_apart(&self, columns: impl Iterator<Item = Interval>, most: usize, blocks: &[u64], cells: &mut CellWriter) {
        let mut before = None;
        for (at, (column, &block)) in columns.zip(blocks).enumerate() {
            if let Some(&ahead) = blocks.get(at + AHEAD) {
                self.lane.table.prefetch(ahead);
                self.lane.image.prefetch(self.sums_at(ahead), 16 * self.count);
            }
            let left = before.unwrap_or_else(|| self.before(column.from.0));
            let right = self.before_in(block, column.to.0);
            self.mixture(&left, &right, most, cells);
            before = Some(right);
        }
    }

    /// The block of the right edge of each column; none where they are so near to each other that most share one, or where there are no
    /// sums.
    fn find_blocks(&self, columns: impl Iterator<Item = Interval> + Clone, blocks: &mut Vec<u64>) {
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
            near = table.blocks_before(near, ordered(column.to.0)).saturating_sub(1).max(near);
            blocks.push(near);
        }
    }

    /// Where the sums before a block are.
    fn sums_at(&self, block: u64) -> u64 {
        self.lane.record.sums.at.saturating_add(block.saturating_mul(8 * self.count as u64))
    }

    /// The time of each value before a date. There are sums.
    fn before(&self, date: i64) -> Times<N> {
        self.before_in(self.lane.table.blocks_before(0, ordered(date)).saturating_sub(1), date)
    }

    /// The same; the date is in this block, or before the next one.
    #[inline]
    fn before_in(&self, number: u64, date: i64) -> Times<N> {
        let block = self.lane.table.block_here(number);
        let index = block.columns[0].lower(0, block.len, ordered(date));
        let mut times = self.sums(&block, index);
        if let Some(last) = index.checked_sub(1) {
            let behind = end(&block, last).saturating_sub(date).max(0);
            add(&mut times, block.columns[2].get(last), behind.wrapping_neg());
        }
        times
    }

    /// The time of each value before a state of a block, from the nearest sums, before or behind.
    #[inline]
    fn sums(&self, block: &StateBlock<'_>, index: usize) -> Times<N> {
        let part = nearest(block, index);
        let (near, is_last) = (part * WITHIN, part * WITHIN == BLOCK);
        let number = block.row / BLOCK as u64 + u64::from(is_last);
        let (mut times, bytes) = ([0; N], self.lane.image.bytes(self.sums_at(number), 8 * self.count));
        for (sum, word) in times.iter_mut().zip(bytes.chunks_exact(8)) {
            *sum = i64::from_le_bytes(*word.first_chunk().unwrap_or(&[0; 8]));
        }
        if part > 0 && !is_last {
            let within = block.within(part, self.count);
            times.iter_mut().zip(within).for_each(|(sum, time)| *sum = sum.wrapping_add_unsigned(time));
        }
        if near > index {
            add_states::<N, true>(&mut times, block, index..near);
        } else {
            add_states::<N, false>(&mut times, block, near..index);
        }
        times
    }

    /// Appends what there is between two edges: the `most` largest shares, those of equal time by value.
    #[inline]
    fn mixture(&self, before: &Times<N>, after: &Times<N>, most: usize, cells: &mut CellWriter) {
        let order = &self.order[..self.count.min(N)];
        let time_of = |own: u8| after[usize::from(own) % N].wrapping_sub(before[usize::from(own) % N]).max(0);
        // A time and the place of its value, in one number each, are soon put in order: none of these steps has to be guessed.
        let (mut keys, mut count, mut all) = ([0; N], 0, 0);
        for (at, &own) in order.iter().enumerate() {
            let time = time_of(own);
            let mut key = (time.cast_unsigned() << PLACE_BITS) | (N - 1 - at) as u64;
            count += usize::from(time > 0);
            all |= time;
            for larger in &mut keys[..=at] {
                (*larger, key) = ((*larger).max(key), (*larger).min(key));
            }
        }
        if all >> (63 - PLACE_BITS) > 0 {
            let shares = order.iter().map(|&own| (self.values[usize::from(own) % N], time_of(own)));
            return cells.push_unordered(shares.filter(|share| share.1 > 0), most);
        }
        let time = |key: u64| (key >> PLACE_BITS).cast_signed();
        let value = |key: u64| self.values[usize::from(self.order[N - 1 - key as usize % N]) % N];
        let (largest, others) = keys[..count].split_at(most.min(count));
        let rest = others.iter().map(|&key| time(key)).sum();
        cells.push(largest.iter().map(|&key| (value(key), time(key))), rest);
    }

    /// Adds the time of each value in an interval to that of all values.
    pub(crate) fn add_times(mut self, interval: Interval, mut add: impl FnMut(u32, i64)) {
        let (from, to) = (interval.from.0, interval.to.0);
        let (before, after) = if self.lane.record.sums.len == DENSE {
            (self.before(from), self.before(to))
        } else {
            self.go(from);
            let before = self.before;
            self.go(to);
            (before, self.before)
        };
        for ((value, before), after) in self.values[..self.count].iter().zip(before).zip(after) {
            add(value.0, after.wrapping_sub(before));
        }
    }

    /// Appends the column from here to a date before which no other state starts.
    fn within_one(&mut self, to: i64, most: usize, cells: &mut CellWriter) {
        let (value, end) = self.at.open;
        let from = std::mem::replace(&mut self.date, to);
        if self.at.index == 0 || end <= from {
            return cells.fill(cells.len() + 1);
        }
        add(&mut self.before, value, self.at.behind(from).wrapping_sub(self.at.behind(to)));
        let value = self.values[value as usize % N];
        cells.push_one((value, end.min(to).wrapping_sub(from)), most);
    }

    /// Goes to a date.
    fn go(&mut self, date: i64) {
        let bound = ordered(date);
        // Columns narrower than a nanosecond overlap.
        if bound <= self.at.last && self.at.index > 0 {
            (self.at, self.before, self.date) = (Cursor::new(self.lane), [0; N], i64::MIN);
        }
        let (row, block, open, behind) = (self.at.index, self.at.block.row, self.at.open.0, self.at.behind(self.date));
        self.at.seek(self.lane, bound);
        self.date = date;
        let edge = &self.at;
        let is_summed = self.lane.record.sums.len == DENSE;
        let distance = (nearest(&edge.block, edge.index) * WITHIN).abs_diff(edge.index);
        if edge.block.row == block && (!is_summed || edge.index.saturating_sub(row) <= distance) {
            add(&mut self.before, open, behind);
            add_states::<N, false>(&mut self.before, &edge.block, row..edge.index);
        } else if is_summed {
            self.before = self.sums(&edge.block, edge.index);
        } else {
            // There are few blocks.
            add(&mut self.before, open, behind);
            for number in block / BLOCK as u64..=edge.block.row / BLOCK as u64 {
                let of = self.lane.table.block(number);
                let from = if of.row == block { row } else { 0 };
                let to = if of.row == edge.block.row { edge.index } else { of.len };
                add_states::<N, false>(&mut self.before, &of, from..to);
            }
        }
        add(&mut self.before, self.at.open.0, self.at.behind(date).wrapping_neg());
    }
}

/// Which sums within a block are nearest to a state: so many times [`WITHIN`] states are before them.
#[inline]
fn nearest(block: &StateBlock<'_>, index: usize) -> usize {
    ((index + WITHIN / 2) / WITHIN).min(block.len / WITHIN)
}

#[inline]
fn add<const N: usize>(times: &mut Times<N>, value: u64, time: i64) {
    if let Some(sum) = times.get_mut(value as usize) {
        *sum = sum.wrapping_add(time);
    }
}

/// Adds how long each value is in these states, or takes it away.
#[inline]
fn add_states<const N: usize, const IS_LESS: bool>(times: &mut Times<N>, block: &StateBlock<'_>, part: Range<usize>) {
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
    let (mut start, shift) = (starts.kept(part.start).next().unwrap_or(0), starts.shift());
    for (value, next) in of.take(part.len() - usize::from(last.is_some())).zip(starts.kept(part.start + 1)) {
        add(value, next.wrapping_sub(start) << shift);
        start = next;
    }
    if let Some(last) = last {
        add(values.get(last), block.next.wrapping_sub(starts.get(last)));
    }
}
