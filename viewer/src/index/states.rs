//! A lane of states in an image: columns sorted by start, and sums of time over blocks of 64.
//!
//! What any interval holds is found at the cost of its two edges. An edge costs a search and at most 32 states, since lanes of
//! few values have the time of each value before every block; with more values, there is such a row of sums for fewer blocks, and an
//! edge costs as many states as there are values, about, from the nearest of them.

use converter::paje::ValueId;

use super::bits::date;
use super::format::{BLOCK, LaneRecord};
use super::image::{Image, touch};
use super::table::{Block, Table};
use crate::query::{Cell, EntityId, GlobalNanos, Interval, State};

/// Columns: start, duration, value (an index into the lane's own), detail row.
pub(super) const COLUMNS: usize = 4;
/// Flag of a block in which each state ends where the next one starts: no durations are kept.
pub(super) const GAPLESS: u32 = 1;

/// Sums of a lane: none, for few states.
pub(super) const NO_SUMS: u64 = 0;
/// All values before each block, eight bytes each.
pub(super) const DENSE: u64 = 1;
/// The bits of a sum, then all values before each [`stride`] of blocks, packed.
pub(super) const CHECKPOINTS: u64 = 2;
/// Up to this many values the sums are dense.
pub(super) const DENSE_VALUES: usize = 16;
/// Up to this many states an interval is summed state by state; lanes that are no longer have no sums.
pub(super) const DIRECT: u64 = 2 * BLOCK as u64;

/// Values whose sums have room in a block: fewer take more room, more take longer to be counted from the nearest sums.
const VALUES_PER_BLOCK: usize = 12;

/// How many blocks of a lane with many values share a row of sums: so many that sums take as much for each state however many values
/// there are.
pub(super) fn stride(values: usize) -> usize {
    values.div_ceil(VALUES_PER_BLOCK).max(1)
}

type StateBlock<'a> = Block<'a, COLUMNS>;

/// One nesting depth of one state type of one container.
#[derive(Clone, Copy, Debug)]
pub(super) struct StateLane<'a> {
    pub(super) record: LaneRecord,
    image: &'a Image,
    table: Table<'a, COLUMNS>,
}

/// Time per value of a lane's own, filled and read by turns. With thousands of values, few occur in one column: only those are
/// touched.
#[derive(Debug, Default)]
pub(super) struct Accumulator {
    /// The time, and the turn in which it was last touched.
    times: Vec<(i64, u32)>,
    touched: Vec<u32>,
    turn: u32,
}

impl Accumulator {
    /// Empty, for so many values.
    pub(super) fn reset(&mut self, values: usize) {
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
    pub(super) fn add(&mut self, value: u64, time: i64) {
        if let Some((sum, turn)) = self.times.get_mut(value as usize) {
            if *turn != self.turn {
                (*sum, *turn) = (0, self.turn);
                self.touched.push(value as u32);
            }
            *sum = sum.wrapping_add(time);
        }
    }

    /// Values that have any time.
    fn nonzero(&self) -> impl Iterator<Item = (u32, i64)> {
        self.touched.iter().map(|&value| (value, self.times[value as usize].0)).filter(|share| share.1 > 0)
    }

    /// The same, by value.
    pub(super) fn sorted(&mut self) -> impl Iterator<Item = (u32, i64)> {
        self.touched.sort_unstable();
        self.nonzero()
    }
}

/// What lies left of a date.
struct Edge<'a> {
    date: i64,
    /// States that start before it.
    row: u64,
    /// The block of the last of them.
    block: Option<StateBlock<'a>>,
    /// Value of that state, and how much of it lies right of the date.
    open: (u64, i64),
    /// Time per value of all states that start before, in lanes with dense sums.
    sums: Option<[i64; DENSE_VALUES]>,
}

pub(super) fn start(block: &StateBlock<'_>, index: usize) -> i64 {
    date(block.columns[0].get(index))
}

pub(super) fn end(block: &StateBlock<'_>, index: usize) -> i64 {
    if block.flags & GAPLESS == 0 {
        start(block, index).wrapping_add(block.columns[1].get(index).cast_signed())
    } else if index + 1 < block.len {
        start(block, index + 1)
    } else {
        date(block.next)
    }
}

impl<'a> StateLane<'a> {
    pub(super) fn new(image: &'a Image, mut record: LaneRecord) -> Self {
        // A list of values that cannot be in the file is none: sums have room for as many.
        if record.values.len > image.header.length / 4 {
            record.values.len = 0;
        }
        Self { record, image, table: Table::new(image, record.table) }
    }

    pub(super) fn len(&self) -> u64 {
        self.table.rows()
    }

    /// The block that a state is in, and its index there.
    pub(super) fn at(&self, row: u64) -> (StateBlock<'a>, usize) {
        self.table.at(row)
    }

    /// The value that the lane's own number stands for.
    pub(super) fn value(&self, own: u64) -> ValueId {
        let bytes = self.image.bytes(self.record.values.at.saturating_add(4 * own), 4);
        ValueId(bytes.first_chunk().map_or(0, |value| u32::from_le_bytes(*value)))
    }

    /// Number of an entity, from its row.
    pub(super) fn number(&self, row: u64) -> u32 {
        self.record.base.wrapping_add(row as u32)
    }

    /// States that overlap an interval.
    pub(super) fn overlapping(&self, interval: Interval) -> std::ops::Range<u64> {
        let from = self.edge(0, interval.from.0);
        let first = from.row - u64::from(from.open.1 > 0);
        first..self.table.lower(first, super::bits::ordered(interval.to.0)).max(first)
    }

    /// States that touch a closed interval: `start <= to` and `end >= from`.
    pub(super) fn touching(&self, from: i64, to: i64) -> std::ops::Range<u64> {
        let edge = self.edge(0, from);
        let last = edge.row.saturating_sub(1);
        let last_touches = edge.block.is_some_and(|block| end(&block, (last % BLOCK as u64) as usize) >= from);
        let first = if last_touches { last } else { edge.row };
        let after = to.checked_add(1).map_or(self.len(), |after| self.table.lower(first, super::bits::ordered(after)));
        first..after.max(first)
    }

    /// At most `limit` states from a range, in order.
    pub(super) fn list(&self, rows: std::ops::Range<u64>, limit: usize) -> Vec<State> {
        self.table.list(rows, limit, |block, index| State {
            id: EntityId::State(self.number(block.row + index as u64)),
            value: self.value(block.columns[2].get(index)),
            life: Interval { from: GlobalNanos(start(block, index)), to: GlobalNanos(end(block, index)) },
            depth: self.record.depth,
        })
    }

    /// `near` is a row that starts at or before the date.
    fn edge(&self, near: u64, date: i64) -> Edge<'a> {
        let (row, block) = self.table.lower_with_block(near, super::bits::ordered(date));
        let open = match (&block, row.checked_sub(1)) {
            (Some(block), Some(last)) => {
                let index = (last % BLOCK as u64) as usize;
                (block.columns[2].get(index), end(block, index).saturating_sub(date).max(0))
            }
            _ => (0, 0),
        };
        Edge { date, row, block, open, sums: None }
    }

    /// The mixture of values in each of the columns: the `most` largest shares.
    pub(super) fn cells(
        &self,
        (interval, columns, most): (Interval, u32, usize),
        times: &mut Accumulator,
        cells: &mut Vec<Cell>,
    ) {
        let mut from: Option<Edge<'a>> = None;
        let mut near = 0;
        for column in 0..columns {
            let part = interval.column(column, columns);
            let mut left = match from.take() {
                Some(edge) if edge.date == part.from.0 => edge,
                // Columns narrower than a nanosecond overlap.
                _ => self.edge(near, part.from.0),
            };
            near = left.row;
            let mut right = self.edge(left.row, part.to.0);
            times.reset(self.record.values.len as usize);
            self.sum(&mut left, &mut right, times);
            let shares = times.nonzero().map(|(value, time)| (self.value(value.into()), time));
            cells.push(Cell::of(shares.collect(), most));
            from = Some(right);
        }
    }

    /// Time per value between two edges.
    fn sum(&self, left: &mut Edge<'a>, right: &mut Edge<'a>, times: &mut Accumulator) {
        times.add(left.open.0, left.open.1);
        let rows = left.row..right.row.max(left.row);
        let (count, is_dense) = (rows.end - rows.start, self.record.sums.len == DENSE);
        if count <= if is_dense { DIRECT / 4 } else { DIRECT } || self.record.sums.len == NO_SUMS {
            self.sum_directly(rows, times);
        } else if is_dense {
            let (before, after) = (self.sums_before(left), self.sums_before(right));
            for (value, (before, after)) in before.iter().zip(after).enumerate() {
                times.add(value as u64, after.wrapping_sub(*before));
            }
        } else {
            self.sum_checkpoints(rows, times);
        }
        times.add(right.open.0, -right.open.1);
    }

    fn sums_before(&self, edge: &mut Edge<'a>) -> [i64; DENSE_VALUES] {
        if let Some(sums) = edge.sums {
            return sums;
        }
        let width = self.record.values.len.min(DENSE_VALUES as u64) as usize;
        let (block, index) = (edge.row / BLOCK as u64, (edge.row % BLOCK as u64) as usize);
        // From the nearer side of the block.
        let backward = index > BLOCK / 2 && block < self.len() / BLOCK as u64;
        let at = (block + u64::from(backward)).saturating_mul(8 * width as u64);
        let bytes = self.image.bytes(self.record.sums.at.saturating_add(at), 8 * width);
        let mut sums = [0; DENSE_VALUES];
        for (sum, word) in sums.iter_mut().zip(bytes.chunks_exact(8)) {
            *sum = i64::from_le_bytes(*word.first_chunk().unwrap_or(&[0; 8]));
        }
        let part = if backward { index..BLOCK } else { 0..index };
        if let Some(block) = edge.block.filter(|_| index > 0) {
            durations(&block, part, |value, time| {
                if let Some(sum) = sums.get_mut(value as usize) {
                    *sum = if backward { sum.wrapping_sub(time) } else { sum.wrapping_add(time) };
                }
            });
        }
        edge.sums = Some(sums);
        sums
    }

    /// Adds what lies between two rows, by the totals that are kept nearest to each.
    fn sum_checkpoints(&self, rows: std::ops::Range<u64>, times: &mut Accumulator) {
        let values = (self.record.values.len as usize).min(self.len() as usize);
        let every = (stride(values) * BLOCK) as u64;
        let nearest = |row: u64| ((row + every / 2) / every).min(self.len() / every);
        let (low, high) = (nearest(rows.start), nearest(rows.end));
        if low >= high {
            return self.sum_directly(rows, times);
        }
        let width = (self.image.word(self.record.sums.at) as u8).min(64);
        let size = super::bits::packed_bytes(values, width);
        let totals = |checkpoint: u64| {
            touch();
            let at = checkpoint.saturating_mul(size as u64).saturating_add(8);
            self.image.bytes(self.record.sums.at.saturating_add(at), size + super::bits::SLACK)
        };
        let (before, after) = (totals(low), totals(high));
        for value in 0..values {
            let of = |totals| super::bits::get(totals, value, width);
            let time = of(after).wrapping_sub(of(before)).cast_signed();
            if time != 0 {
                times.add(value as u64, time);
            }
        }
        // What is between a row and its checkpoint is missing, or too much.
        self.sum_signed(rows.start, low * every, times);
        self.sum_signed(high * every, rows.end, times);
    }

    /// Adds the states from one row to another, or takes away those from the other to the one.
    fn sum_signed(&self, from: u64, to: u64, times: &mut Accumulator) {
        if from <= to {
            self.visit(from..to, |value, time| times.add(value, time));
        } else {
            self.visit(to..from, |value, time| times.add(value, time.wrapping_neg()));
        }
    }

    fn sum_directly(&self, rows: std::ops::Range<u64>, times: &mut Accumulator) {
        self.visit(rows, |value, time| times.add(value, time));
    }

    /// Gives value and duration of each state.
    #[inline]
    fn visit(&self, rows: std::ops::Range<u64>, mut give: impl FnMut(u64, i64)) {
        let mut row = rows.start;
        while row < rows.end {
            let (block, first) = self.at(row);
            let last = block.len.min((rows.end - block.row) as usize);
            if first >= last {
                break;
            }
            durations(&block, first..last, &mut give);
            row = block.row + last as u64;
        }
    }
}

/// Gives the value and the duration of each of these states.
#[inline]
fn durations(block: &StateBlock<'_>, part: std::ops::Range<usize>, mut give: impl FnMut(u64, i64)) {
    let [starts, durations, values, _] = &block.columns;
    if block.flags & GAPLESS == 0 {
        part.for_each(|index| give(values.get(index), durations.get(index).cast_signed()));
        return;
    }
    let mut from = starts.get(part.start);
    for index in part {
        let to = if index + 1 < block.len { starts.get(index + 1) } else { block.next };
        give(values.get(index), to.wrapping_sub(from).cast_signed());
        from = to;
    }
}
