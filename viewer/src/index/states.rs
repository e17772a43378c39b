//! A lane of states in an image: columns sorted by start, and sums of time over blocks of 64.
//!
//! What any interval holds is found at the cost of its two edges. An edge costs a search and at most 32 states, since lanes of
//! few values have the time of each value before every block; with more values, trees of eight have the values that occur in
//! 512, 4,096, … states, and an interval is taken together from the largest nodes that fit.

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
/// Nodes of [`FAN`] blocks, of as many nodes, and so on.
pub(super) const TREE: u64 = 2;
/// Up to this many values the sums are dense.
pub(super) const DENSE_VALUES: usize = 16;
/// Up to this many states an interval is summed state by state; lanes that are no longer have no sums.
pub(super) const DIRECT: u64 = 2 * BLOCK as u64;
/// Children of a node.
pub(super) const FAN: u64 = 8;

type StateBlock<'a> = Block<'a, COLUMNS>;

/// One nesting depth of one state type of one container.
#[derive(Clone, Copy, Debug)]
pub(super) struct StateLane<'a> {
    pub(super) record: LaneRecord,
    image: &'a Image,
    table: Table<'a, COLUMNS>,
}

/// Time per value of a lane's own, filled and read by turns. With thousands of values, few occur in one column: only those are
/// touched, and cleared.
#[derive(Debug, Default)]
pub(super) struct Accumulator {
    times: Vec<i64>,
    touched: Vec<u32>,
}

impl Accumulator {
    /// Empty, for so many values.
    pub(super) fn reset(&mut self, values: usize) {
        for value in self.touched.drain(..) {
            if let Some(time) = self.times.get_mut(value as usize) {
                *time = 0;
            }
        }
        if self.times.len() < values {
            self.times.resize(values, 0);
        }
    }

    /// Adds to a value. What no lane has is left out. Durations are never negative, so that 0 means untouched.
    #[inline]
    pub(super) fn add(&mut self, value: u64, time: i64) {
        if let Some(sum) = self.times.get_mut(value as usize) {
            if *sum == 0 && time != 0 {
                self.touched.push(value as u32);
            }
            *sum = sum.wrapping_add(time);
        }
    }

    /// Values with their times, by value.
    pub(super) fn sorted(&mut self) -> impl Iterator<Item = (u32, i64)> {
        self.touched.sort_unstable();
        self.touched.iter().map(|&value| (value, self.times[value as usize]))
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

    /// The mixture of values in each of the columns.
    pub(super) fn cells(&self, interval: Interval, columns: u32, times: &mut Accumulator, cells: &mut Vec<Cell>) {
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
            let nonzero = times.touched.iter().map(|&value| (value, times.times[value as usize]));
            let mut shares: Vec<(ValueId, i64)> =
                nonzero.filter(|share| share.1 > 0).map(|(value, time)| (self.value(value.into()), time)).collect();
            shares.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
            cells.push(Cell { shares });
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
            let (low, high) = (rows.start.div_ceil(BLOCK as u64), rows.end / BLOCK as u64);
            self.sum_directly(rows.start..low * BLOCK as u64, times);
            self.sum_nodes(low, high, times);
            self.sum_directly(high * BLOCK as u64..rows.end, times);
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

    fn sum_directly(&self, rows: std::ops::Range<u64>, times: &mut Accumulator) {
        let mut row = rows.start;
        while row < rows.end {
            let (block, first) = self.at(row);
            let last = block.len.min((rows.end - block.row) as usize);
            if first >= last {
                break;
            }
            durations(&block, first..last, |value, time| times.add(value, time));
            row = block.row + last as u64;
        }
    }

    /// Whole blocks `low..high`, by the largest nodes that fit.
    fn sum_nodes(&self, mut low: u64, mut high: u64, times: &mut Accumulator) {
        let levels = if self.record.sums.len == TREE { self.image.word(self.record.sums.at).min(16) } else { 0 };
        for level in 0..=levels {
            let (inner_low, inner_high) = (low.div_ceil(FAN), high / FAN);
            if level == levels || inner_low >= inner_high {
                return self.sum_level(level, low..high, times);
            }
            self.sum_level(level, low..inner_low * FAN, times);
            self.sum_level(level, inner_high * FAN..high, times);
            (low, high) = (inner_low, inner_high);
        }
    }

    fn sum_level(&self, level: u64, nodes: std::ops::Range<u64>, times: &mut Accumulator) {
        let Some(above) = level.checked_sub(1) else {
            return self.sum_directly(nodes.start * BLOCK as u64..nodes.end * BLOCK as u64, times);
        };
        // The number of levels, then where the places of the nodes of each begin.
        let places = self.image.word(self.record.sums.at.saturating_add(8 + 8 * above));
        for node in nodes {
            let at = self.image.word(places.saturating_add(8 * node));
            let head = self.image.word(at);
            let (count, widths) = ((head & u64::from(u32::MAX)) as usize, [(head >> 32) as u8, (head >> 40) as u8]);
            // A node has no more values than states, whatever it says.
            let count = count.min(self.record.values.len as usize);
            let [values, sums] = widths.map(|width| super::bits::packed_bytes(count, width.min(64)));
            let bytes = self.image.bytes(at.saturating_add(8), values + sums + super::bits::SLACK);
            touch();
            let Some((_, behind)) = bytes.split_at_checked(values) else { return };
            for index in 0..count {
                let value = super::bits::get(bytes, index, widths[0].min(64));
                times.add(value, super::bits::get(behind, index, widths[1].min(64)).cast_signed());
            }
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
