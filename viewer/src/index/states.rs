//! A lane of states in an image: columns sorted by start, and sums of time over blocks of 64.
//!
//! What any interval holds is found at the cost of its two edges. An edge costs a search and at most 8 states, since lanes of
//! few values have the time of each value before every block, and within it before every 16 states; with more values, there is
//! such a row of sums for fewer blocks, and an edge costs as many states as there are values, about, from the nearest of them.

use tumit_paje::ValueId;

use super::bit_fields::{self, date, ordered};
use super::format::{BLOCK, LaneRecord};
use super::image::Image;
use super::packed_table::{Block, MOST_BEHIND, Table};
use crate::query::{EntityId, GlobalNanos, Interval, State};

/// Columns: start, duration, value (an index into the lane's own), detail row.
pub(crate) const COLUMNS: usize = 4;
/// Flag of a block in which each state ends where the next one starts: no durations are kept.
pub(crate) const GAPLESS: u32 = 1;

/// Sums of a lane: none, for few states.
pub(crate) const NO_SUMS: u64 = 0;
/// All values before each block, eight bytes each.
pub(crate) const DENSE: u64 = 1;
/// The bits of a sum, then all values before each [`stride`] of blocks, packed.
pub(crate) const CHECKPOINTS: u64 = 2;
/// Up to this many values the sums are dense.
pub(crate) const DENSE_VALUES: usize = 16;
/// Where sums are dense, they are within blocks, too, before each of so many states but the first.
pub(crate) const WITHIN: usize = BLOCK / 4;
const _: () = assert!((BLOCK / WITHIN - 1) * DENSE_VALUES * 8 <= MOST_BEHIND, "there is room behind the columns");
/// Up to this many states an interval is summed state by state; lanes that are no longer have no sums.
pub(crate) const DIRECT: u64 = 2 * BLOCK as u64;

/// Values whose sums have room in a block: fewer take more room, more take longer to be counted from the nearest sums.
const VALUES_PER_BLOCK: usize = 24;

/// How many blocks of a lane with many values share a row of sums: so many that sums take as much for each state however many values
/// there are.
pub(crate) fn stride(values: usize) -> usize {
    values.div_ceil(VALUES_PER_BLOCK).max(1)
}

/// A block of states.
pub(crate) type StateBlock<'a> = Block<'a, COLUMNS>;

impl StateBlock<'_> {
    /// Whether each state ends where the next one starts.
    pub(crate) fn is_gapless(&self) -> bool {
        self.flags & GAPLESS != 0
    }

    /// The time of each of `values` values in the first states, `part` times [`WITHIN`] of them: 1 or more, and none behind the last.
    pub(crate) fn within(&self, part: usize, values: usize) -> impl Iterator<Item = u64> + use<'_> {
        let width = bit_fields::width(self.next.wrapping_sub(self.columns[0].get(0)));
        let first = part.saturating_sub(1) * values;
        (first..first + values).map(move |at| bit_fields::get(self.behind, at, width))
    }
}

/// One nesting depth of one state type of one container.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StateLane<'a> {
    pub(crate) record: LaneRecord,
    pub(crate) image: &'a Image,
    pub(crate) table: Table<'a, COLUMNS>,
}

/// Time per value of a lane's own, filled and read by turns. With thousands of values, few occur in one column: only those are
/// touched.
#[derive(Debug, Default)]
pub(crate) struct Accumulator {
    /// The time, and the turn in which it was last touched.
    times: Vec<(i64, u32)>,
    touched: Vec<u32>,
    turn: u32,
}

impl Accumulator {
    /// Empty, for so many values.
    pub(crate) fn reset(&mut self, values: usize) {
        self.touched.clear();
        self.turn = self.turn.wrapping_add(1);
        if self.turn == 0 {
            self.times.fill((0, 0));
            self.turn = 1;
        }
        if self.times.len() < values {
            self.times.resize(values, (0, 0));
        }
    }

    /// Adds to a value. What no lane has is left out.
    #[inline]
    pub(crate) fn add(&mut self, value: u64, time: i64) {
        if let Some((sum, turn)) = self.times.get_mut(value as usize) {
            if *turn != self.turn {
                (*sum, *turn) = (0, self.turn);
                self.touched.push(value as u32);
            }
            *sum = sum.wrapping_add(time);
        }
    }

    /// Values that have any time.
    pub(crate) fn nonzero(&self) -> impl Iterator<Item = (u32, i64)> + Clone {
        self.touched.iter().map(|&value| (value, self.times[value as usize].0)).filter(|share| share.1 > 0)
    }
}

#[inline]
pub(crate) fn start(block: &StateBlock<'_>, index: usize) -> i64 {
    date(block.columns[0].get(index))
}

#[inline]
pub(crate) fn end(block: &StateBlock<'_>, index: usize) -> i64 {
    if !block.is_gapless() {
        start(block, index).wrapping_add(block.columns[1].get(index).cast_signed())
    } else if index + 1 < block.len {
        start(block, index + 1)
    } else {
        date(block.next)
    }
}

impl<'a> StateLane<'a> {
    pub(crate) fn new(image: &'a Image, mut record: LaneRecord) -> Self {
        // A list of values that cannot be in the file is none: sums have room for as many.
        if record.values.len > image.header.length / 4 {
            record.values.len = 0;
        }
        Self { record, image, table: Table::new(image, record.table) }
    }

    pub(crate) fn len(&self) -> u64 {
        self.table.rows()
    }

    /// The block that a state is in, and its index there.
    pub(crate) fn at(&self, row: u64) -> (StateBlock<'a>, usize) {
        self.table.at(row)
    }

    /// The value that the lane's own number stands for.
    pub(crate) fn value(&self, own: u64) -> ValueId {
        let bytes = self.image.bytes(self.record.values.at.saturating_add(4 * own), 4);
        ValueId(bytes.first_chunk().map_or(0, |value| u32::from_le_bytes(*value)))
    }

    /// All that [`Self::value`] gives, four bytes each.
    pub(crate) fn values(&self) -> &'a [u8] {
        self.image.bytes(self.record.values.at, 4 * self.record.values.len as usize)
    }

    /// Number of an entity, from its row.
    pub(crate) fn number(&self, row: u64) -> u32 {
        self.record.base.wrapping_add(row as u32)
    }

    /// States that overlap an interval.
    pub(crate) fn overlapping(&self, interval: Interval) -> std::ops::Range<u64> {
        let (from, to) = (interval.from.0, interval.to.0);
        let first = self.first_unless(from, |end| end <= from);
        first..self.table.lower(first, ordered(to)).max(first)
    }

    /// States that touch a closed interval: `start <= to` and `end >= from`.
    pub(crate) fn touching(&self, from: i64, to: i64) -> std::ops::Range<u64> {
        let first = self.first_unless(from, |end| end < from);
        let after = to.checked_add(1).map_or(self.len(), |after| self.table.lower(first, ordered(after)));
        first..after.max(first)
    }

    /// The last state that starts before a date, or the one behind it if its end is `before`.
    fn first_unless(&self, date: i64, before: impl Fn(i64) -> bool) -> u64 {
        let row = self.table.lower(0, ordered(date));
        let Some(last) = row.checked_sub(1) else { return row };
        let (block, index) = self.at(last);
        if index >= block.len || before(end(&block, index)) { row } else { last }
    }

    /// At most `limit` states from a range, in order.
    pub(crate) fn list(&self, rows: std::ops::Range<u64>, limit: usize) -> Vec<State> {
        self.table.list(rows, limit, |block, index| State {
            id: EntityId::State(self.number(block.row + index as u64)),
            value: self.value(block.columns[2].get(index)),
            life: Interval { from: GlobalNanos(start(block, index)), to: GlobalNanos(end(block, index)) },
            depth: self.record.depth,
        })
    }
}
