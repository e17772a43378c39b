//! What a lane of states has in many columns, or in one interval: a walk over their edges from left to right.
//!
//! An edge belongs to two columns and is found once, from the one before it: within the block that is at hand, else by steps over the
//! directory that double. A column within one state costs two comparisons. A column with more states than a few costs its two edges: each
//! the sums kept nearest, and the states up to there.

use std::ops::Range;

use converter::paje::ValueId;

use super::bits::{self, SLACK, ordered, packed_bytes};
use super::format::BLOCK;
use super::image::touch;
use super::states::{Accumulator, DENSE, DENSE_VALUES, DIRECT, NO_SUMS, StateBlock, StateLane, end, start, stride};
use super::unpack;
use crate::query::{Cell, Interval, Shares};

/// Up to so many states of a lane of few values are added one by one.
const FEW: u64 = DIRECT / 4;
/// Up to so many states of a block are passed one by one before halves are tried.
const STEPS: usize = 4;

/// Time of each value before a row.
type Sums = [i64; DENSE_VALUES];

/// A place between the states of a lane.
#[derive(Clone, Copy)]
struct Cursor<'a> {
    /// The block of the last state before it; the first one where there is none.
    block: StateBlock<'a>,
    /// States of that block before it.
    index: usize,
    /// Where the last state before it starts, and the first one behind. As numbers that sort.
    last: u64,
    next: u64,
    /// Value and end of the last state before it.
    open: (u64, i64),
}

impl<'a> Cursor<'a> {
    /// Before all states.
    fn new(lane: &StateLane<'a>) -> Self {
        let block = lane.table.block(0);
        let next = if block.len > 0 { block.columns[0].get(0) } else { u64::MAX };
        Self { block, index: 0, last: 0, next, open: (0, i64::MIN) }
    }

    /// States before it.
    fn row(&self) -> u64 {
        self.block.row + self.index as u64
    }

    /// Whether it is where states start before `date`, and no others.
    #[inline]
    fn is_at(&self, date: u64) -> bool {
        date <= self.next && (date > self.last || self.index == 0)
    }

    /// Goes to the right, to where the states that start before `date` end.
    fn seek(&mut self, lane: &StateLane<'a>, date: u64) {
        if date <= self.next {
            return;
        }
        let behind = self.block.row + self.block.len as u64;
        let is_last = behind >= lane.len();
        if !is_last && self.block.next < date {
            self.block = lane.table.last_block_before(behind / BLOCK as u64, date);
            self.index = 0;
        }
        let starts = &self.block.columns[0];
        let len = self.block.len;
        // The next one starts before the date, as is known.
        let mut at = (self.index + 1).min(len);
        let linear = len.min(at + STEPS);
        while at < linear && starts.get(at) < date {
            at += 1;
        }
        if at == linear && at < len {
            at = starts.lower(at, len, date);
        }
        self.index = at;
        self.next = match () {
            () if at < len => starts.get(at),
            () if self.block.row + (len as u64) < lane.len() && len > 0 => self.block.next,
            () => u64::MAX,
        };
        if let Some(last) = at.checked_sub(1) {
            self.last = starts.get(last);
            self.open = (self.block.columns[2].get(last), end(&self.block, last));
        }
    }

    /// How much of the state before it lies right of a date.
    fn behind(&self, date: i64) -> i64 {
        if self.index > 0 { self.open.1.saturating_sub(date).max(0) } else { 0 }
    }
}

/// The walk over a lane.
pub(super) struct Walk<'l, 'a> {
    lane: &'l StateLane<'a>,
    /// The lane's values, four bytes each.
    values: &'a [u8],
    at: Cursor<'a>,
    /// The sums that were last needed, and the row.
    sums: Option<(u64, Sums)>,
}

impl<'l, 'a> Walk<'l, 'a> {
    pub(super) fn new(lane: &'l StateLane<'a>) -> Self {
        Self { lane, values: lane.values(), at: Cursor::new(lane), sums: None }
    }

    fn value(&self, own: u64) -> ValueId {
        value(self.values, own)
    }

    /// The mixture of values in each of some columns, which come from left to right: the `most` largest shares.
    pub(super) fn cells(
        mut self,
        columns: impl Iterator<Item = Interval>,
        most: usize,
        times: &mut Accumulator,
        cells: &mut Vec<Cell>,
    ) {
        let (mut left, mut shares) = (self.at, Vec::new());
        let count = self.lane.record.values.len as usize;
        let few: Option<Vec<ValueId>> =
            (count <= DENSE_VALUES).then(|| (0..count as u64).map(|own| self.value(own)).collect());
        for part in columns {
            let (from, to) = (ordered(part.from.0), ordered(part.to.0));
            // Columns narrower than a nanosecond overlap.
            if from <= self.at.last && self.at.index > 0 {
                self.at = left;
            }
            self.at.seek(self.lane, from);
            if self.at.is_at(to) {
                let time = self.at.open.1.min(part.to.0).wrapping_sub(part.from.0);
                let is_open = self.at.index > 0 && self.at.open.1 > part.from.0;
                cells.push(match most {
                    _ if !is_open => Cell::default(),
                    0 => Cell { shares: Shares::new(), rest: time },
                    _ => Cell { shares: Shares::from_buf([(self.value(self.at.open.0), time)]), rest: 0 },
                });
                continue;
            }
            left = self.at;
            self.at.seek(self.lane, to);
            shares.clear();
            if let Some(values) = &few {
                let mut times: Sums = [0; DENSE_VALUES];
                self.sum(&left, part, |value, time| {
                    if let Some(sum) = times.get_mut(value as usize) {
                        *sum = sum.wrapping_add(time);
                    }
                });
                shares.extend(values.iter().copied().zip(times).filter(|share| share.1 > 0));
            } else {
                times.reset(count);
                self.sum(&left, part, |value, time| times.add(value, time));
                shares.extend(times.nonzero().map(|(value, time)| (self.value(value.into()), time)));
            }
            cells.push(Cell::of(&mut shares[..], most));
        }
    }

    /// Adds the time of each value in an interval to that of all values.
    pub(super) fn add_times(mut self, interval: Interval, times: &mut [i64]) {
        self.at.seek(self.lane, ordered(interval.from.0));
        let left = self.at;
        self.at.seek(self.lane, ordered(interval.to.0));
        let values = self.values;
        self.sum(&left, interval, |own, time| {
            if let Some(sum) = times.get_mut(value(values, own).index()) {
                *sum = sum.wrapping_add(time);
            }
        });
    }

    /// Time per value between two edges, the right one being where the walk is.
    fn sum(&mut self, left: &Cursor<'a>, part: Interval, mut add: impl FnMut(u64, i64)) {
        let right = self.at;
        let rows = left.row()..right.row().max(left.row());
        let count = rows.end - rows.start;
        let kind = self.lane.record.sums.len;
        add(left.open.0, left.behind(part.from.0));
        if kind == NO_SUMS || count <= if kind == DENSE { FEW } else { DIRECT } {
            self.between(left, &right, &mut add);
        } else if kind == DENSE {
            let before = match self.sums {
                Some((row, sums)) if row == rows.start => sums,
                _ => self.sums_before(left),
            };
            let after = self.sums_before(&right);
            let values = self.lane.record.values.len as usize;
            for (value, (before, after)) in before.iter().zip(after).enumerate().take(values) {
                add(value as u64, after.wrapping_sub(*before));
            }
            self.sums = Some((rows.end, after));
        } else {
            self.sum_checkpoints(rows, (left, &right), &mut add);
        }
        add(right.open.0, -right.behind(part.to.0));
    }

    fn sums_before(&self, edge: &Cursor<'a>) -> Sums {
        let lane = self.lane;
        let width = lane.record.values.len.min(DENSE_VALUES as u64) as usize;
        let (block, index) = (edge.row() / BLOCK as u64, edge.row() as usize % BLOCK);
        // From the nearer side of the block.
        let backward = index > BLOCK / 2 && block < lane.len() / BLOCK as u64;
        let at = (block + u64::from(backward)).saturating_mul(8 * width as u64);
        let bytes = lane.image.bytes(lane.record.sums.at.saturating_add(at), 8 * width);
        let mut sums = [0; DENSE_VALUES];
        for (sum, word) in sums.iter_mut().zip(bytes.chunks_exact(8)) {
            *sum = i64::from_le_bytes(*word.first_chunk().unwrap_or(&[0; 8]));
        }
        let part = if backward { index..edge.block.len } else { 0..index };
        if index > 0 {
            durations(&edge.block, part, |value, time| {
                if let Some(sum) = sums.get_mut(value as usize) {
                    *sum = if backward { sum.wrapping_sub(time) } else { sum.wrapping_add(time) };
                }
            });
        }
        sums
    }

    /// Adds what lies between two rows, by the totals that are kept nearest to each.
    fn sum_checkpoints(
        &self,
        rows: Range<u64>,
        (left, right): (&Cursor<'a>, &Cursor<'a>),
        add: &mut impl FnMut(u64, i64),
    ) {
        let lane = self.lane;
        let values = (lane.record.values.len as usize).min(lane.len() as usize);
        let every = (stride(values) * BLOCK) as u64;
        let nearest = |row: u64| ((row + every / 2) / every).min(lane.len() / every);
        let (low, high) = (nearest(rows.start), nearest(rows.end));
        if low >= high {
            return self.between(left, right, add);
        }
        let width = (lane.image.word(lane.record.sums.at) as u8).min(64);
        let size = packed_bytes(values, width);
        let totals = |checkpoint: u64| {
            touch();
            let at = checkpoint.saturating_mul(size as u64).saturating_add(8);
            lane.image.bytes(lane.record.sums.at.saturating_add(at), size + SLACK)
        };
        let (before, after) = (totals(low), totals(high));
        let (mut old, mut new) = ([0; BLOCK], [0; BLOCK]);
        for first in (0..values).step_by(BLOCK) {
            let part = first..values.min(first + BLOCK);
            for (totals, out) in [(before, &mut old), (after, &mut new)] {
                // A whole number of words lies before.
                let rest = totals.get(packed_bytes(first, width)..).unwrap_or(&[]);
                if !unpack::block(rest, width, out) {
                    (0..part.len()).for_each(|at| out[at] = bits::get(rest, at, width));
                }
            }
            for (value, (old, new)) in part.zip(old.iter().zip(&new)) {
                if old != new {
                    add(value as u64, new.wrapping_sub(*old).cast_signed());
                }
            }
        }
        // What is between a row and its checkpoint is missing, or too much.
        self.signed(rows.start, low * every, add);
        self.signed(high * every, rows.end, add);
    }

    /// Adds the states from one row to another, or takes away those from the other to the one.
    fn signed(&self, from: u64, to: u64, add: &mut impl FnMut(u64, i64)) {
        if from <= to {
            self.visit(from..to, &mut *add);
        } else {
            self.visit(to..from, |value, time| add(value, time.wrapping_neg()));
        }
    }

    /// Adds the states between two places.
    fn between(&self, left: &Cursor<'a>, right: &Cursor<'a>, add: &mut impl FnMut(u64, i64)) {
        if left.block.row == right.block.row {
            return durations(&left.block, left.index..right.index, add);
        }
        durations(&left.block, left.index..left.block.len, &mut *add);
        self.visit(left.block.row + left.block.len as u64..right.block.row, &mut *add);
        durations(&right.block, 0..right.index, add);
    }

    /// Gives value and duration of each state.
    fn visit(&self, rows: Range<u64>, mut give: impl FnMut(u64, i64)) {
        let mut row = rows.start;
        while row < rows.end {
            let (block, first) = self.lane.at(row);
            let last = block.len.min((rows.end - block.row) as usize);
            if first >= last {
                break;
            }
            durations(&block, first..last, &mut give);
            row = block.row + last as u64;
        }
    }
}

fn value(values: &[u8], own: u64) -> ValueId {
    let bytes = values.get(4 * own as usize..).and_then(<[u8]>::first_chunk);
    ValueId(bytes.map_or(0, |value| u32::from_le_bytes(*value)))
}

/// Gives the value and the duration of each of these states.
#[inline]
fn durations(block: &StateBlock<'_>, part: Range<usize>, mut give: impl FnMut(u64, i64)) {
    let [starts, durations, values, _] = &block.columns;
    if part.len() <= STEPS {
        part.for_each(|index| give(values.get(index), end(block, index).wrapping_sub(start(block, index))));
        return;
    }
    let (mut of, mut times) = ([0; BLOCK], [0; BLOCK]);
    values.unpack(part.clone(), &mut of);
    if block.is_gapless() {
        starts.unpack(part.clone(), &mut times);
        let mut next = if part.end < block.len { starts.get(part.end) } else { block.next };
        for (value, start) in of[part.clone()].iter().zip(&times[part]).rev() {
            give(*value, next.wrapping_sub(*start).cast_signed());
            next = *start;
        }
    } else {
        durations.unpack(part.clone(), &mut times);
        of[part.clone()].iter().zip(&times[part]).for_each(|(value, time)| give(*value, time.cast_signed()));
    }
}
