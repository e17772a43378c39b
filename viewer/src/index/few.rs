//! What a lane of few values has in many columns, or in one interval: at each edge of a column the time of each value before it is
//! known, and a column has the difference of its two edges.
//!
//! An edge belongs to two columns and is found once. From one to the next the states between them are added, where they are fewer in the
//! block than those up to the nearest sums that are kept; else it starts from these. Within one state an edge costs two comparisons.

use std::ops::Range;

use converter::paje::ValueId;
use smallvec::SmallVec;

use super::bits::ordered;
use super::cursor::Cursor;
use super::format::BLOCK;
use super::states::{DENSE, DENSE_VALUES, StateBlock, StateLane};
use crate::query::{Cell, Interval, Shares};

/// Bits of the place of a value among those of its lane.
const PLACE_BITS: u32 = DENSE_VALUES.ilog2();

/// Time of each value.
type Times = [i64; DENSE_VALUES];

/// The walk over a lane of at most [`DENSE_VALUES`] values, from left to right.
pub(super) struct FewWalk<'l, 'a> {
    lane: &'l StateLane<'a>,
    values: SmallVec<[ValueId; DENSE_VALUES]>,
    /// The lane's own numbers of its values, in the order of these.
    order: [u8; DENSE_VALUES],
    at: Cursor<'a>,
    /// The date of the place, and the time of each value before it.
    date: i64,
    before: Times,
}

impl<'l, 'a> FewWalk<'l, 'a> {
    /// A walk, unless the lane has too many values.
    pub(super) fn new(lane: &'l StateLane<'a>) -> Option<Self> {
        let count = lane.record.values.len;
        if count > DENSE_VALUES as u64 {
            return None;
        }
        let values: SmallVec<[ValueId; DENSE_VALUES]> = (0..count).map(|own| lane.value(own)).collect();
        let mut order = std::array::from_fn(|own| own as u8);
        order[..values.len()].sort_unstable_by_key(|&own| values[usize::from(own)]);
        let (at, before) = (Cursor::new(lane), [0; DENSE_VALUES]);
        Some(Self { lane, values, order, at, date: i64::MIN, before })
    }

    /// The mixture of values in each of some columns, which come from left to right: the `most` largest shares.
    pub(super) fn cells(mut self, columns: impl Iterator<Item = Interval>, most: usize, cells: &mut Vec<Cell>) {
        for column in columns {
            if column.from.0 != self.date {
                self.go(column.from.0);
            }
            if self.at.is_at(ordered(column.to.0)) {
                cells.push(self.within_one(column.to.0, most));
                continue;
            }
            let before = self.before;
            self.go(column.to.0);
            cells.push(self.mixture(&before, most));
        }
    }

    /// What there is from an edge to this place: the `most` largest shares, those of equal time by value.
    fn mixture(&self, before: &Times, most: usize) -> Cell {
        let mut times = self.before;
        times.iter_mut().zip(before).for_each(|(time, before)| *time = time.wrapping_sub(*before));
        let shares = || {
            self.order
                .iter()
                .take(self.values.len())
                .map(|&own| (self.values[usize::from(own)], times[usize::from(own) % DENSE_VALUES]))
        };
        // A time and the place of its value, in one number each, are soon put in order: none of these steps has to be guessed.
        if times.iter().any(|&time| time >> (63 - PLACE_BITS) > 0) {
            let mut shares: SmallVec<[_; DENSE_VALUES]> = shares().filter(|share| share.1 > 0).collect();
            return Cell::of(&mut shares[..], most);
        }
        let (mut keys, mut count) = ([0; DENSE_VALUES], 0);
        for (at, (_, time)) in shares().enumerate() {
            let mut key = (time.max(0).cast_unsigned() << PLACE_BITS) | (DENSE_VALUES - 1 - at) as u64;
            count += usize::from(time > 0);
            for larger in &mut keys[..=at] {
                (*larger, key) = ((*larger).max(key), (*larger).min(key));
            }
        }
        let mut sorted = [(ValueId(0), 0); DENSE_VALUES];
        for (share, key) in sorted.iter_mut().zip(&keys[..count]) {
            let at = DENSE_VALUES - 1 - *key as usize % DENSE_VALUES;
            let value = self.values.get(usize::from(self.order[at])).copied();
            *share = (value.unwrap_or(ValueId(0)), (key >> PLACE_BITS).cast_signed());
        }
        let (largest, others) = sorted[..count].split_at(most.min(count));
        Cell { shares: Shares::from_slice(largest), rest: others.iter().map(|share| share.1).sum() }
    }

    /// Adds the time of each value in an interval to that of all values.
    pub(super) fn add_times(mut self, interval: Interval, times: &mut [i64]) {
        self.go(interval.from.0);
        let before = self.before;
        self.go(interval.to.0);
        for ((value, before), after) in self.values.iter().zip(before).zip(self.before) {
            if let Some(sum) = times.get_mut(value.index()) {
                *sum = sum.wrapping_add(after.wrapping_sub(before));
            }
        }
    }

    /// The column from here to a date before which no other state starts.
    fn within_one(&mut self, to: i64, most: usize) -> Cell {
        let (value, end) = self.at.open;
        let from = std::mem::replace(&mut self.date, to);
        if self.at.index == 0 || end <= from {
            return Cell::default();
        }
        let time = end.min(to).wrapping_sub(from);
        add(&mut self.before, value, self.at.behind(from).wrapping_sub(self.at.behind(to)));
        match (most, self.values.get(value as usize)) {
            (0, _) => Cell { shares: Shares::new(), rest: time },
            (_, value) => Cell { shares: Shares::from_buf([(value.copied().unwrap_or(ValueId(0)), time)]), rest: 0 },
        }
    }

    /// Goes to a date.
    fn go(&mut self, date: i64) {
        let bound = ordered(date);
        // Columns narrower than a nanosecond overlap.
        if bound <= self.at.last && self.at.index > 0 {
            (self.at, self.before, self.date) = (Cursor::new(self.lane), [0; DENSE_VALUES], i64::MIN);
        }
        let (row, block, open, behind) = (self.at.index, self.at.block.row, self.at.open.0, self.at.behind(self.date));
        self.at.seek(self.lane, bound);
        self.date = date;
        let (edge, blocks) = (&self.at, self.lane.len() / BLOCK as u64);
        let number = edge.block.row / BLOCK as u64;
        let is_summed = self.lane.record.sums.len == DENSE;
        // From the nearer side of the block.
        let is_backward = edge.index > BLOCK / 2 && number < blocks;
        let nearest = if is_backward { edge.block.len.saturating_sub(edge.index) } else { edge.index };
        if edge.block.row == block && (!is_summed || edge.index.saturating_sub(row) <= nearest) {
            add(&mut self.before, open, behind);
            join(&mut self.before, &times(&edge.block, row..edge.index), i64::wrapping_add);
        } else if is_summed {
            let width = self.values.len();
            let at = (number + u64::from(is_backward)).saturating_mul(8 * width as u64);
            let bytes = self.lane.image.bytes(self.lane.record.sums.at.saturating_add(at), 8 * width);
            self.before = [0; DENSE_VALUES];
            for (sum, word) in self.before.iter_mut().zip(bytes.chunks_exact(8)) {
                *sum = i64::from_le_bytes(*word.first_chunk().unwrap_or(&[0; 8]));
            }
            if is_backward {
                join(&mut self.before, &times(&edge.block, edge.index..edge.block.len), i64::wrapping_sub);
            } else {
                join(&mut self.before, &times(&edge.block, 0..edge.index), i64::wrapping_add);
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
fn add(times: &mut Times, value: u64, time: i64) {
    if let Some(sum) = times.get_mut(value as usize) {
        *sum = sum.wrapping_add(time);
    }
}

#[inline]
fn join(times: &mut Times, others: &Times, how: impl Fn(i64, i64) -> i64) {
    times.iter_mut().zip(others).for_each(|(time, other)| *time = how(*time, *other));
}

/// How long each value is in these states.
#[inline]
fn times(block: &StateBlock<'_>, part: Range<usize>) -> Times {
    let [starts, durations, values, _] = &block.columns;
    let mut times = [0_i64; DENSE_VALUES];
    let mut add = |value: u64, time: u64| {
        let sum = &mut times[value as usize % DENSE_VALUES];
        *sum = sum.wrapping_add(time.cast_signed());
    };
    let of = values.from(part.start).take(part.len());
    if block.is_gapless() {
        let (last, mut starts) = (block.len.saturating_sub(1), starts.from(part.start));
        let mut start = starts.next().unwrap_or(0);
        for (index, value) in part.zip(of) {
            let next = if index < last { starts.next().unwrap_or(0) } else { block.next };
            add(value, next.wrapping_sub(start));
            start = next;
        }
    } else {
        of.zip(durations.from(part.start)).for_each(|(value, time)| add(value, time));
    }
    times
}
