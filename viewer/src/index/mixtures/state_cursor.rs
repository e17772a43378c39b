//! A position between the states of a lane, which moves to the right. And the states of a block,
//! unpacked once for all columns that overlap it.

use std::ops::Range;

use crate::index::file::file_layout::BLOCK;
use crate::index::lanes::states::{IndexStateLane, StateBlock, end, start};

/// Maximum number of states of a block that a linear search passes before bisection.
pub(crate) const STEPS: usize = 4;

/// A position between the states of a lane.
#[derive(Clone, Copy)]
pub(crate) struct StateCursor<'a> {
    /// The block of the last state before the position, or the first block.
    pub(crate) block: StateBlock<'a>,
    /// Number of states of that block before the position.
    pub(crate) index: usize,
    /// Start of the last state before the position, as a number of `ordered`. The next field: start
    /// of the first state after it.
    pub(crate) last: u64,
    pub(crate) next: u64,
    /// Value and end of the last state before the position.
    pub(crate) last_state: (u64, i64),
}

impl<'a> StateCursor<'a> {
    /// The position before all states.
    pub(crate) fn new(lane: &IndexStateLane<'a>) -> Self {
        let block = lane.table.block(0);
        let next = if block.len > 0 { block.columns[0].get(0) } else { u64::MAX };
        Self { block, index: 0, last: 0, next, last_state: (0, i64::MIN) }
    }

    /// Number of states before the position.
    pub(crate) fn row(&self) -> u64 {
        self.block.row + self.index as u64
    }

    /// Whether exactly the states that start before `timestamp` are before the position.
    #[inline]
    pub(crate) fn is_at(&self, timestamp: u64) -> bool {
        timestamp <= self.next && (timestamp > self.last || self.index == 0)
    }

    /// Moves right, to the position after all states that start before `timestamp`.
    pub(crate) fn seek(&mut self, lane: &IndexStateLane<'a>, timestamp: u64) {
        if timestamp <= self.next {
            return;
        }
        let next_row = self.block.row + self.block.len as u64;
        let is_last = next_row >= lane.len();
        if !is_last && self.block.next < timestamp {
            self.block = lane.table.last_block_before(next_row / BLOCK as u64, timestamp);
            self.index = 0;
        }
        let starts = &self.block.columns[0];
        let len = self.block.len;
        // The next state is known to start before `timestamp`.
        let mut index = (self.index + 1).min(len);
        let linear = len.min(index + STEPS);
        while index < linear && starts.get(index) < timestamp {
            index += 1;
        }
        if index == linear && index < len {
            index = starts.lower_bound(index, len, timestamp);
        }
        self.index = index;
        self.next = match () {
            () if index < len => starts.get(index),
            () if self.block.row + (len as u64) < lane.len() && len > 0 => self.block.next,
            () => u64::MAX,
        };
        if let Some(last) = index.checked_sub(1) {
            self.last = starts.get(last);
            self.last_state = (self.block.columns[2].get(last), end(&self.block, last));
        }
    }

    /// Duration of the last state before the position after a timestamp.
    pub(crate) fn duration_before(&self, timestamp: i64) -> i64 {
        if self.index > 0 { self.last_state.1.saturating_sub(timestamp).max(0) } else { 0 }
    }
}

/// Value and duration of the states of the current block, unpacked once for all queries on it.
#[derive(Clone)]
pub(crate) struct UnpackedStates {
    /// The first row of the block; `u64::MAX` if there is no current block.
    row: u64,
    values: [u64; BLOCK],
    times: [u64; BLOCK],
}

impl UnpackedStates {
    /// Without a current block.
    pub(crate) fn new() -> Self {
        Self { row: u64::MAX, values: [0; BLOCK], times: [0; BLOCK] }
    }

    /// Passes value and duration of each of these states to `visit`. A few states of another block
    /// are decoded one by one, which is faster.
    #[inline]
    pub(crate) fn durations(&mut self, block: &StateBlock<'_>, part: Range<usize>, mut visit: impl FnMut(u64, i64)) {
        if self.row != block.row {
            if part.len() <= STEPS {
                let values = &block.columns[2];
                part.for_each(|index| visit(values.get(index), end(block, index).wrapping_sub(start(block, index))));
                return;
            }
            self.unpack(block);
        }
        let (values, times) = (self.values.get(part.clone()), self.times.get(part));
        for (value, time) in values.into_iter().flatten().zip(times.into_iter().flatten()) {
            visit(*value, time.cast_signed());
        }
    }

    fn unpack(&mut self, block: &StateBlock<'_>) {
        let [starts, durations, values, _] = &block.columns;
        let states = 0..block.len;
        self.row = block.row;
        values.unpack(states.clone(), &mut self.values);
        if !block.is_gapless() {
            return durations.unpack(states, &mut self.times);
        }
        starts.unpack(states, &mut self.times);
        for index in 1..block.len {
            self.times[index - 1] = self.times[index].wrapping_sub(self.times[index - 1]);
        }
        if let Some(last) = block.len.checked_sub(1) {
            self.times[last] = block.next.wrapping_sub(self.times[last]);
        }
    }
}
