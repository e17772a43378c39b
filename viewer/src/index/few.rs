//! What a lane of few values has in many columns, or in one interval: at each edge of a column the time of each value before it is
//! known, and a column has the difference of its two edges.
//!
//! An edge belongs to two columns and is found once. From one to the next the states between them are added, where they are fewer in the
//! block than those up to the nearest sums that are kept; else it starts from these. Within one state an edge costs two comparisons.
//!
//! Where each edge lies in a block of its own, memory is what is waited for. So blocks are found some edges ahead, and the processor is told
//! of them.

use std::ops::Range;

use converter::paje::ValueId;

use super::bits::ordered;
use super::cursor::Cursor;
use super::format::BLOCK;
use super::states::{DENSE, DENSE_VALUES, StateBlock, StateLane, WITHIN};
use crate::query::{CellWriter, Interval};

/// Bits of the place of a value among those of its lane.
const PLACE_BITS: u32 = DENSE_VALUES.ilog2();

/// So many edges ahead the processor is told of a block.
const AHEAD: usize = 6;

/// Time of each value.
type Times<const N: usize> = [i64; N];

/// The walk over a lane of at most `N` values, a power of two, from left to right.
pub(super) struct FewWalk<'l, 'a, const N: usize> {
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
    pub(super) fn new(lane: &'l StateLane<'a>) -> Option<Self> {
        let count = usize::try_from(lane.record.values.len).ok().filter(|&count| count <= N)?;
        let mut values = [ValueId(0); N];
        (0..).zip(&mut values[..count]).for_each(|(own, value)| *value = lane.value(own));
        let mut order = std::array::from_fn(|own| own as u8);
        order[..count].sort_unstable_by_key(|&own| values[usize::from(own)]);
        Some(Self { lane, values, count, order, at: Cursor::new(lane), date: i64::MIN, before: [0; N] })
    }

    /// The mixture of values in each of some columns, which come from left to right: the `most` largest shares.
    pub(super) fn cells(
        mut self,
        columns: impl Iterator<Item = Interval> + Clone,
        most: usize,
        blocks: &mut Vec<u64>,
        cells: &mut CellWriter,
    ) {
        self.find_blocks(columns.clone(), blocks);
        for (at, column) in columns.enumerate() {
            if column.from.0 != self.date {
                self.go(column.from.0, 0);
            }
            if let Some(&ahead) = blocks.get(at + AHEAD) {
                self.lane.table.prefetch(ahead);
                self.lane.image.prefetch(self.sums_at(ahead), 16 * self.count);
            }
            if self.at.is_at(ordered(column.to.0)) {
                self.within_one(column.to.0, most, cells);
                continue;
            }
            let before = self.before;
            self.go(column.to.0, blocks.get(at).copied().unwrap_or(0));
            self.mixture(&before, most, cells);
        }
    }

    /// The block of the right edge of each column; none where they are so near to each other that most share one.
    fn find_blocks(&self, columns: impl Iterator<Item = Interval> + Clone, blocks: &mut Vec<u64>) {
        blocks.clear();
        let Some(first) = columns.clone().next() else { return };
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

    /// Appends what there is from an edge to this place: the `most` largest shares, those of equal time by value.
    fn mixture(&self, before: &Times<N>, most: usize, cells: &mut CellWriter) {
        let mut times = self.before;
        times.iter_mut().zip(before).for_each(|(time, before)| *time = time.wrapping_sub(*before));
        let order = &self.order[..self.count.min(N)];
        // A time and the place of its value, in one number each, are soon put in order: none of these steps has to be guessed.
        if times.iter().any(|&time| time >> (63 - PLACE_BITS) > 0) {
            let shares = order.iter().map(|&own| (self.values[usize::from(own) % N], times[usize::from(own) % N]));
            return cells.push_unordered(shares.filter(|share| share.1 > 0), most);
        }
        let (mut keys, mut count) = ([0; N], 0);
        for (at, &own) in order.iter().enumerate() {
            let time = times[usize::from(own) % N];
            let mut key = (time.max(0).cast_unsigned() << PLACE_BITS) | (N - 1 - at) as u64;
            count += usize::from(time > 0);
            for larger in &mut keys[..=at] {
                (*larger, key) = ((*larger).max(key), (*larger).min(key));
            }
        }
        let time = |key: u64| (key >> PLACE_BITS).cast_signed();
        let value = |key: u64| self.values[usize::from(self.order[N - 1 - key as usize % N]) % N];
        let (largest, others) = keys[..count].split_at(most.min(count));
        let rest = others.iter().map(|&key| time(key)).sum();
        cells.push(largest.iter().map(|&key| (value(key), time(key))), rest);
    }

    /// Adds the time of each value in an interval to that of all values.
    pub(super) fn add_times(mut self, interval: Interval, times: &mut [i64]) {
        self.go(interval.from.0, 0);
        let before = self.before;
        self.go(interval.to.0, 0);
        for ((value, before), after) in self.values[..self.count].iter().zip(before).zip(self.before) {
            if let Some(sum) = times.get_mut(value.index()) {
                *sum = sum.wrapping_add(after.wrapping_sub(before));
            }
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

    /// Goes to a date; the block of it is known not to be before `near`.
    fn go(&mut self, date: i64, near: u64) {
        let bound = ordered(date);
        // Columns narrower than a nanosecond overlap.
        if bound <= self.at.last && self.at.index > 0 {
            (self.at, self.before, self.date) = (Cursor::new(self.lane), [0; N], i64::MIN);
        }
        let (row, block, open, behind) = (self.at.index, self.at.block.row, self.at.open.0, self.at.behind(self.date));
        self.at.seek(self.lane, bound, near);
        self.date = date;
        let edge = &self.at;
        let number = edge.block.row / BLOCK as u64;
        let is_summed = self.lane.record.sums.len == DENSE;
        // From the nearest sums of the block, before or behind.
        let part = ((edge.index + WITHIN / 2) / WITHIN).min(edge.block.len / WITHIN);
        let near = part * WITHIN;
        if edge.block.row == block && (!is_summed || edge.index.saturating_sub(row) <= near.abs_diff(edge.index)) {
            add(&mut self.before, open, behind);
            join(&mut self.before, &times(&edge.block, row..edge.index), i64::wrapping_add);
        } else if is_summed {
            let is_last = near == BLOCK;
            let bytes = self.lane.image.bytes(self.sums_at(number + u64::from(is_last)), 8 * self.count);
            self.before = [0; N];
            for (sum, word) in self.before.iter_mut().zip(bytes.chunks_exact(8)) {
                *sum = i64::from_le_bytes(*word.first_chunk().unwrap_or(&[0; 8]));
            }
            if part > 0 && !is_last {
                let within = edge.block.within(part, self.count);
                self.before.iter_mut().zip(within).for_each(|(sum, time)| *sum = sum.wrapping_add_unsigned(time));
            }
            if near > edge.index {
                join(&mut self.before, &times(&edge.block, edge.index..near), i64::wrapping_sub);
            } else {
                join(&mut self.before, &times(&edge.block, near..edge.index), i64::wrapping_add);
            }
        } else {
            // There are few blocks.
            add(&mut self.before, open, behind);
            for number in block / BLOCK as u64..=number {
                let of = self.lane.table.block(number);
                let from = if of.row == block { row } else { 0 };
                let to = if of.row == edge.block.row { edge.index } else { of.len };
                join(&mut self.before, &times(&of, from..to), i64::wrapping_add);
            }
        }
        add(&mut self.before, self.at.open.0, self.at.behind(date).wrapping_neg());
    }
}

#[inline]
fn add<const N: usize>(times: &mut Times<N>, value: u64, time: i64) {
    if let Some(sum) = times.get_mut(value as usize) {
        *sum = sum.wrapping_add(time);
    }
}

#[inline]
fn join<const N: usize>(times: &mut Times<N>, others: &Times<N>, how: impl Fn(i64, i64) -> i64) {
    times.iter_mut().zip(others).for_each(|(time, other)| *time = how(*time, *other));
}

/// How long each value is in these states.
#[inline]
fn times<const N: usize>(block: &StateBlock<'_>, part: Range<usize>) -> Times<N> {
    let [starts, durations, values, _] = &block.columns;
    let mut steps = [0_u64; N];
    let mut add = |value: u64, step: u64| {
        let sum = &mut steps[value as usize % N];
        *sum = sum.wrapping_add(step);
    };
    let of = values.from(part.start).take(part.len());
    if !block.is_gapless() {
        of.zip(durations.from(part.start)).for_each(|(value, time)| add(value, time));
        return steps.map(u64::cast_signed);
    }
    // Starts stay as they are in the column, and become time at the end.
    let last = part.end.checked_sub(1).filter(|_| part.end == block.len && !part.is_empty());
    let inner = part.len() - usize::from(last.is_some());
    let mut start = starts.kept(part.start).next().unwrap_or(0);
    for (value, next) in of.take(inner).zip(starts.kept(part.start + 1)) {
        add(value, next.wrapping_sub(start));
        start = next;
    }
    let mut times: Times<N> = steps.map(|sum| (sum << starts.shift()).cast_signed());
    if let Some(last) = last {
        let value = values.get(last) as usize % N;
        times[value] = times[value].wrapping_add(block.next.wrapping_sub(starts.get(last)).cast_signed());
    }
    times
}
