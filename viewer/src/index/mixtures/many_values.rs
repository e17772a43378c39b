//! Mixtures of a lane with many values, for many columns or for one time range: a walk over their
//! edges from left to right.
//!
//! Adjacent columns share an edge, which is found once, starting from the previous one. The search
//! stays in the current block, or takes doubling steps over the directory. A column within one
//! state costs two comparisons. A column with many states costs its two edges: for each, the
//! nearest stored sums, and the states between them and the edge.

use std::ops::Range;

use tumit_paje::ValueId;

use super::state_cursor::{StateCursor, UnpackedStates};
use crate::index::file::bit_fields::{self, SLACK, packed_bytes, sortable_timestamp};
use crate::index::file::bit_unpacking;
use crate::index::file::file_layout::BLOCK;
use crate::index::file::index_bytes::touch;
use crate::index::lanes::states::{DIRECT, IndexStateLane, IndexTimeSums, NO_SUMS, stride};
use crate::query::{MixtureCellWriter, TimeRange};

/// The walk over a lane.
pub(crate) struct ManyValuesWalk<'l, 'a> {
    lane: &'l IndexStateLane<'a>,
    /// The lane's values, four bytes each.
    values: &'a [u8],
    cursor: StateCursor<'a>,
    states: UnpackedStates,
}

impl<'l, 'a> ManyValuesWalk<'l, 'a> {
    pub(crate) fn new(lane: &'l IndexStateLane<'a>) -> Self {
        Self { lane, values: lane.values(), cursor: StateCursor::new(lane), states: UnpackedStates::new() }
    }

    fn value(&self, local: u64) -> ValueId {
        value(self.values, local)
    }

    /// Appends the mixture of values of each column: the `max_shares` largest shares. Columns are
    /// ordered from left to right.
    pub(crate) fn cells(
        mut self,
        columns: impl Iterator<Item = TimeRange>,
        max_shares: usize,
        times: &mut IndexTimeSums,
        cells: &mut MixtureCellWriter,
    ) {
        let mut left = self.cursor;
        let count = self.lane.record.values.len as usize;
        for column_range in columns {
            let (from, to) = (sortable_timestamp(column_range.from.0), sortable_timestamp(column_range.to.0));
            // Columns narrower than a nanosecond overlap.
            if from <= self.cursor.last && self.cursor.index > 0 {
                self.cursor = left;
            }
            self.cursor.seek(self.lane, from);
            if self.cursor.is_at(to) {
                let time = self.cursor.last_state.1.min(column_range.to.0).wrapping_sub(column_range.from.0);
                if self.cursor.index > 0 && self.cursor.last_state.1 > column_range.from.0 {
                    cells.push_one((self.value(self.cursor.last_state.0), time), max_shares);
                } else {
                    cells.fill(cells.len() + 1);
                }
                continue;
            }
            left = self.cursor;
            self.cursor.seek(self.lane, to);
            let right = self.cursor;
            times.reset(count);
            self.sum((&left, &right), column_range, |value, time| times.add(value, time));
            cells.push_unordered(
                times.positive_times().map(|(local, time)| (self.value(local.into()), time)),
                max_shares,
            );
        }
    }

    /// Adds the time of each value in a time range. `sums` is a buffer for the lane's own values.
    /// It saves look-ups: a value with many additions is passed to `add_time` once.
    pub(crate) fn add_times(mut self, time_range: TimeRange, sums: &mut Vec<i64>, mut add_time: impl FnMut(u32, i64)) {
        sums.clear();
        sums.resize(self.values.len() / 4, 0);
        self.cursor.seek(self.lane, sortable_timestamp(time_range.from.0));
        let left = self.cursor;
        self.cursor.seek(self.lane, sortable_timestamp(time_range.to.0));
        let right = self.cursor;
        self.sum((&left, &right), time_range, |value, time| {
            if let Some(sum) = sums.get_mut(value as usize) {
                *sum = sum.wrapping_add(time);
            }
        });
        for (value, &time) in self.values.chunks_exact(4).zip(sums.iter()) {
            let value = value.first_chunk().map_or(0, |value| u32::from_le_bytes(*value));
            add_time(value, time);
        }
    }

    /// Adds the time per value between two edges.
    fn sum(
        &mut self,
        (left, right): (&StateCursor<'a>, &StateCursor<'a>),
        time_range: TimeRange,
        mut add_time: impl FnMut(u64, i64),
    ) {
        let rows = left.row()..right.row().max(left.row());
        let count = rows.end - rows.start;
        let kind = self.lane.record.sums.len;
        add_time(left.last_state.0, left.duration_before(time_range.from.0));
        if kind == NO_SUMS || count <= DIRECT {
            self.add_states_between(left, right, &mut add_time);
        } else {
            self.sum_checkpoints(rows, (left, right), &mut add_time);
        }
        add_time(right.last_state.0, -right.duration_before(time_range.to.0));
    }

    /// Adds the states between two rows, by means of the stored totals nearest to each row.
    fn sum_checkpoints(
        &mut self,
        rows: Range<u64>,
        (left, right): (&StateCursor<'a>, &StateCursor<'a>),
        add_time: &mut impl FnMut(u64, i64),
    ) {
        let lane = self.lane;
        let values = (lane.record.values.len as usize).min(lane.len() as usize);
        let interval = (stride(values) * BLOCK) as u64;
        let nearest = |row: u64| ((row + interval / 2) / interval).min(lane.len() / interval);
        let (low, high) = (nearest(rows.start), nearest(rows.end));
        if low >= high {
            return self.add_states_between(left, right, add_time);
        }
        let width = (lane.index_bytes.word(lane.record.sums.offset) as u8).min(64);
        let size = packed_bytes(values, width);
        let totals = |checkpoint: u64| {
            touch();
            let offset = checkpoint.saturating_mul(size as u64).saturating_add(8);
            lane.index_bytes.slice(lane.record.sums.offset.saturating_add(offset), size + SLACK)
        };
        let (before, after) = (totals(low), totals(high));
        let (mut old, mut new) = ([0; BLOCK], [0; BLOCK]);
        for first in (0..values).step_by(BLOCK) {
            let part = first..values.min(first + BLOCK);
            for (totals, out) in [(before, &mut old), (after, &mut new)] {
                // The bytes before are a whole number of words.
                let rest = totals.get(packed_bytes(first, width)..).unwrap_or(&[]);
                if !bit_unpacking::block(rest, width, out) {
                    (0..part.len()).for_each(|index| out[index] = bit_fields::get(rest, index, width));
                }
            }
            for (value, (old, new)) in part.zip(old.iter().zip(&new)) {
                if old != new {
                    add_time(value as u64, new.wrapping_sub(*old).cast_signed());
                }
            }
        }
        // The states between a row and its checkpoint are missing, or are surplus.
        self.add_range(rows.start, low * interval, add_time);
        self.add_range(high * interval, rows.end, add_time);
    }

    /// Adds the states in `from..to`; if `to` is less than `from`, subtracts those in `to..from`.
    fn add_range(&mut self, from: u64, to: u64, add_time: &mut impl FnMut(u64, i64)) {
        if from <= to {
            self.visit(from..to, &mut *add_time);
        } else {
            self.visit(to..from, |value, time| add_time(value, time.wrapping_neg()));
        }
    }

    /// Adds the states between two positions.
    fn add_states_between(
        &mut self,
        left: &StateCursor<'a>,
        right: &StateCursor<'a>,
        add_time: &mut impl FnMut(u64, i64),
    ) {
        if left.block.row == right.block.row {
            return self.states.durations(&left.block, left.index..right.index, add_time);
        }
        self.states.durations(&left.block, left.index..left.block.len, &mut *add_time);
        self.visit(left.block.row + left.block.len as u64..right.block.row, &mut *add_time);
        self.states.durations(&right.block, 0..right.index, add_time);
    }

    /// Passes value and duration of each state to `visit`.
    fn visit(&mut self, rows: Range<u64>, mut visit: impl FnMut(u64, i64)) {
        let mut row = rows.start;
        while row < rows.end {
            let (block, first) = self.lane.block_at(row);
            let last = block.len.min((rows.end - block.row) as usize);
            if first >= last {
                break;
            }
            self.states.durations(&block, first..last, &mut visit);
            row = block.row + last as u64;
        }
    }
}

fn value(values: &[u8], local: u64) -> ValueId {
    let bytes = values.get(4 * local as usize..).and_then(<[u8]>::first_chunk);
    ValueId(bytes.map_or(0, |value| u32::from_le_bytes(*value)))
}
