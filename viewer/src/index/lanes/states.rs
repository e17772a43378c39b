//! A lane of states in an index: columns sorted by start, and sums of time before blocks of 64
//! states.
//!
//! The times of the values in any time range cost two edges. An edge costs a search and some
//! states. Lanes of few values store the time of each value before every block, and within it
//! before every 16 states; so an edge takes at most 8 states. Lanes of more values store such sums
//! for fewer blocks. An edge then takes about as many states as the lane has values, counted from
//! the nearest sums.

use tumit_paje::ValueId;

use crate::index::file::bit_fields::{self, sortable_timestamp, timestamp};
use crate::index::file::file_layout::{BLOCK, LaneRecord};
use crate::index::file::index_bytes::IndexBytes;
use crate::index::file::packed_table::{MAX_TRAILER_BYTES, PackedTable, TableBlock};
use crate::query::{EntityId, GlobalNanos, StateEntity, TimeRange, TimestampExtent};

/// Columns: start, duration, value (an index into the lane's own values), detail row.
pub(crate) const COLUMNS: usize = 4;
/// Block flag: each state ends where the next one starts, so the block stores no durations.
pub(crate) const GAPLESS: u32 = 1;

/// Kind of sums: none, because the lane has few states.
pub(crate) const NO_SUMS: u64 = 0;
/// Kind of sums: all values before each block, eight bytes each.
pub(crate) const DENSE: u64 = 1;
/// Kind of sums: the number of bits of a sum, then all values before each [`stride`] of blocks,
/// packed.
pub(crate) const CHECKPOINTS: u64 = 2;
/// Sums are dense for up to this many values.
pub(crate) const DENSE_VALUES: usize = 16;
/// Number of states between the sums within a block, if sums are dense. The first of these sums
/// follows the first `STATES_PER_SUM` states.
pub(crate) const STATES_PER_SUM: usize = BLOCK / 4;
const _: () = assert!(
    (BLOCK / STATES_PER_SUM - 1) * DENSE_VALUES * 8 <= MAX_TRAILER_BYTES,
    "the buffer has space after the columns"
);
/// Time ranges of up to this many states are summed state by state. Lanes of up to this many states
/// have no sums.
pub(crate) const DIRECT: u64 = 2 * BLOCK as u64;

/// Average number of stored sums per block. A larger number takes more space. With a smaller
/// number, the nearest sums are farther away, and an edge takes longer.
const VALUES_PER_BLOCK: usize = 24;

/// Number of blocks per row of sums in a lane with many values. It grows with the number of values,
/// so that the space for sums per state stays the same.
pub(crate) fn stride(values: usize) -> usize {
    values.div_ceil(VALUES_PER_BLOCK).max(1)
}

pub(crate) type StateBlock<'a> = TableBlock<'a, COLUMNS>;

impl StateBlock<'_> {
    /// Whether each state ends where the next one starts.
    pub(crate) fn is_gapless(&self) -> bool {
        self.flags & GAPLESS != 0
    }

    /// The time of each of `values` values in the first `part` × [`STATES_PER_SUM`] states. `part`
    /// is at least 1, and at most the number of such sums in the block.
    pub(crate) fn part_sums(&self, part: usize, values: usize) -> impl Iterator<Item = u64> + use<'_> {
        let width = bit_fields::width(self.next.wrapping_sub(self.columns[0].get(0)));
        let first = part.saturating_sub(1) * values;
        (first..first + values).map(move |index| bit_fields::get(self.trailer, index, width))
    }
}

/// One nesting depth of one state type of one container.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexStateLane<'a> {
    pub(crate) record: LaneRecord,
    pub(crate) index_bytes: &'a IndexBytes,
    pub(crate) table: PackedTable<'a, COLUMNS>,
}

/// Time per value, numbered as in the lane. It is filled and read alternately. Only touched values
/// are reset and read, because few of possibly thousands of values occur in one column.
#[derive(Debug, Default)]
pub(crate) struct IndexTimeSums {
    /// The time, and the number of the reset after which it was last changed.
    times: Vec<(i64, u32)>,
    touched_values: Vec<u32>,
    turn: u32,
}

impl IndexTimeSums {
    /// Empties it, for `values` values.
    pub(crate) fn reset(&mut self, values: usize) {
        self.touched_values.clear();
        self.turn = self.turn.wrapping_add(1);
        if self.turn == 0 {
            self.times.fill((0, 0));
            self.turn = 1;
        }
        if self.times.len() < values {
            self.times.resize(values, (0, 0));
        }
    }

    /// Adds to the time of a value. Values that are out of range are ignored.
    #[inline]
    pub(crate) fn add(&mut self, value: u64, time: i64) {
        if let Some((sum, turn)) = self.times.get_mut(value as usize) {
            if *turn != self.turn {
                (*sum, *turn) = (0, self.turn);
                self.touched_values.push(value as u32);
            }
            *sum = sum.wrapping_add(time);
        }
    }

    /// The values with a positive time.
    pub(crate) fn positive_times(&self) -> impl Iterator<Item = (u32, i64)> + Clone {
        self.touched_values.iter().map(|&value| (value, self.times[value as usize].0)).filter(|share| share.1 > 0)
    }
}

#[inline]
pub(crate) fn start(block: &StateBlock<'_>, index: usize) -> i64 {
    timestamp(block.columns[0].get(index))
}

#[inline]
pub(crate) fn end(block: &StateBlock<'_>, index: usize) -> i64 {
    if !block.is_gapless() {
        start(block, index).wrapping_add(block.columns[1].get(index).cast_signed())
    } else if index + 1 < block.len {
        start(block, index + 1)
    } else {
        timestamp(block.next)
    }
}

impl<'a> IndexStateLane<'a> {
    pub(crate) fn new(index_bytes: &'a IndexBytes, mut record: LaneRecord) -> Self {
        // A list of values that does not fit in the file counts as empty. Otherwise, memory for the
        // sums could grow without limit.
        if record.values.len > index_bytes.header.length / 4 {
            record.values.len = 0;
        }
        Self { record, index_bytes, table: PackedTable::new(index_bytes, record.table) }
    }

    pub(crate) fn len(&self) -> u64 {
        self.table.rows()
    }

    /// The block of a state, and the state's index in it.
    pub(crate) fn block_at(&self, row: u64) -> (StateBlock<'a>, usize) {
        self.table.block_at(row)
    }

    /// The value for one of the lane's own numbers.
    pub(crate) fn value(&self, local: u64) -> ValueId {
        let bytes = self.index_bytes.slice(self.record.values.offset.saturating_add(4 * local), 4);
        ValueId(bytes.first_chunk().map_or(0, |value| u32::from_le_bytes(*value)))
    }

    /// The list that [`Self::value`] reads, four bytes per value.
    pub(crate) fn values(&self) -> &'a [u8] {
        self.index_bytes.slice(self.record.values.offset, 4 * self.record.values.len as usize)
    }

    /// Number of the entity in a row.
    pub(crate) fn number(&self, row: u64) -> u32 {
        self.record.base.wrapping_add(row as u32)
    }

    /// States that overlap a time range.
    pub(crate) fn overlapping_range(&self, time_range: TimeRange) -> std::ops::Range<u64> {
        let (from, to) = (time_range.from.0, time_range.to.0);
        let first = self.first_unless(from, |end| end <= from);
        first..self.table.lower_bound(first, sortable_timestamp(to)).max(first)
    }

    /// States that touch an extent: `start <= last` and `end >= first`.
    pub(crate) fn touching_range(&self, extent: TimestampExtent) -> std::ops::Range<u64> {
        let first = self.first_unless(extent.first, |end| end < extent.first);
        let after = extent
            .last
            .checked_add(1)
            .map_or(self.len(), |after| self.table.lower_bound(first, sortable_timestamp(after)));
        first..after.max(first)
    }

    /// The last state that starts before a timestamp, or the next one if `is_before` is true for
    /// its end.
    fn first_unless(&self, timestamp: i64, is_before: impl Fn(i64) -> bool) -> u64 {
        let row = self.table.lower_bound(0, sortable_timestamp(timestamp));
        let Some(last) = row.checked_sub(1) else { return row };
        let (block, index) = self.block_at(last);
        if index >= block.len || is_before(end(&block, index)) { row } else { last }
    }

    /// At most `limit` states of a range, in order.
    pub(crate) fn list(&self, rows: std::ops::Range<u64>, limit: usize) -> Vec<StateEntity> {
        let end = rows.end.min(rows.start.saturating_add(limit as u64));
        let mut items = Vec::with_capacity(end.saturating_sub(rows.start).min(1 << 16) as usize);
        let values = self.values();
        let value = |local: u64| {
            let place = usize::try_from(local).ok().and_then(|local| local.checked_mul(4));
            let bytes = place.and_then(|place| values.get(place..)?.first_chunk());
            ValueId(bytes.map_or(0, |value| u32::from_le_bytes(*value)))
        };
        // Unpacking a column at once costs less than reading its numbers one by one.
        let [mut starts, mut lengths, mut locals] = [[0_u64; BLOCK]; 3];
        self.table.visit_blocks(rows.start..end, |block, range| {
            block.columns[0].unpack(range.clone(), &mut starts);
            block.columns[2].unpack(range.clone(), &mut locals);
            let is_gapless = block.is_gapless();
            if !is_gapless {
                block.columns[1].unpack(range.clone(), &mut lengths);
            }
            let last = range.end - 1;
            items.extend(range.map(|index| {
                let from = timestamp(starts[index]);
                let to = match is_gapless {
                    false => from.wrapping_add(lengths[index].cast_signed()),
                    true if index < last => timestamp(starts[index + 1]),
                    true => self::end(block, index),
                };
                StateEntity {
                    id: EntityId::State(self.number(block.row + index as u64)),
                    value: value(locals[index]),
                    life: TimeRange { from: GlobalNanos(from), to: GlobalNanos(to) },
                    depth: self.record.depth,
                }
            }));
            true
        });
        items
    }
}
