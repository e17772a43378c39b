//! A place between the states of a lane, and the way from one to another that is further right. And the states of a block, unpacked
//! once for all columns that have some of them.

use std::ops::Range;

use super::format::BLOCK;
use super::states::{StateBlock, StateLane, end, start};

/// Up to so many states of a block are passed one by one before halves are tried.
pub(crate) const STEPS: usize = 4;

/// A place between the states of a lane.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    /// The block of the last state before it; the first one where there is none.
    pub(crate) block: StateBlock<'a>,
    /// States of that block before it.
    pub(crate) index: usize,
    /// Where the last state before it starts, and the first one behind. As numbers that sort.
    pub(crate) last: u64,
    pub(crate) next: u64,
    /// Value and end of the last state before it.
    pub(crate) open: (u64, i64),
}

impl<'a> Cursor<'a> {
    /// Before all states.
    pub(crate) fn new(lane: &StateLane<'a>) -> Self {
        let block = lane.table.block(0);
        let next = if block.len > 0 { block.columns[0].get(0) } else { u64::MAX };
        Self { block, index: 0, last: 0, next, open: (0, i64::MIN) }
    }

    /// States before it.
    pub(crate) fn row(&self) -> u64 {
        self.block.row + self.index as u64
    }

    /// Whether it is where states start before `date`, and no others.
    #[inline]
    pub(crate) fn is_at(&self, date: u64) -> bool {
        date <= self.next && (date > self.last || self.index == 0)
    }

    /// Goes to the right, to where the states that start before `date` end.
    pub(crate) fn seek(&mut self, lane: &StateLane<'a>, date: u64) {
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
    pub(crate) fn behind(&self, date: i64) -> i64 {
        if self.index > 0 { self.open.1.saturating_sub(date).max(0) } else { 0 }
    }
}

/// Value and duration of the states of a block that is at hand, unpacked once for all that is asked of it.
#[derive(Clone)]
pub(crate) struct Unpacked {
    /// The first row of the block; none is at hand yet when it is no block's.
    row: u64,
    values: [u64; BLOCK],
    times: [u64; BLOCK],
}

impl Unpacked {
    /// No block.
    pub(crate) fn new() -> Self {
        Self { row: u64::MAX, values: [0; BLOCK], times: [0; BLOCK] }
    }

    /// Gives the value and the duration of each of these states. A few of a block that is not at hand are sooner had one by one.
    #[inline]
    pub(crate) fn durations(&mut self, block: &StateBlock<'_>, part: Range<usize>, mut give: impl FnMut(u64, i64)) {
        if self.row != block.row {
            if part.len() <= STEPS {
                let values = &block.columns[2];
                part.for_each(|index| give(values.get(index), end(block, index).wrapping_sub(start(block, index))));
                return;
            }
            self.unpack(block);
        }
        let (values, times) = (self.values.get(part.clone()), self.times.get(part));
        for (value, time) in values.into_iter().flatten().zip(times.into_iter().flatten()) {
            give(*value, time.cast_signed());
        }
    }

    fn unpack(&mut self, block: &StateBlock<'_>) {
        let [starts, durations, values, _] = &block.columns;
        let all = 0..block.len;
        self.row = block.row;
        values.unpack(all.clone(), &mut self.values);
        if !block.is_gapless() {
            return durations.unpack(all, &mut self.times);
        }
        starts.unpack(all, &mut self.times);
        for index in 1..block.len {
            self.times[index - 1] = self.times[index].wrapping_sub(self.times[index - 1]);
        }
        if let Some(last) = block.len.checked_sub(1) {
            self.times[last] = block.next.wrapping_sub(self.times[last]);
        }
    }
}
