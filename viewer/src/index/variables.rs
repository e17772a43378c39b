//! A variable in an image: dates and values, and a tree of minimum, maximum and integral over blocks of samples.

use std::io;
use std::ops::Range;

use super::bits::{date, ordered};
use super::format::{BLOCK, LaneRecord};
use super::image::Image;
use super::output::Output;
use super::table::{Block, Table};
use crate::query::{EntityId, GlobalNanos, Interval, Sample, SeriesColumn};

/// Columns: date, and the bits of the value.
pub(super) const COLUMNS: usize = 2;
/// Children per node of the tree.
const FAN: u64 = 16;
/// Bytes of a node.
const NODE: u64 = 24;

/// Part of a variable's course.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) min: f64,
    pub(super) max: f64,
    /// Value × nanoseconds.
    pub(super) integral: f64,
}

impl Node {
    const EMPTY: Self = Self { min: f64::INFINITY, max: f64::NEG_INFINITY, integral: 0.0 };

    fn of(value: f64, time: i64) -> Self {
        Self { min: value, max: value, integral: value * time as f64 }
    }

    fn join(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max), integral: self.integral + other.integral }
    }
}

/// Gathers nodes.
#[derive(Debug, Default)]
pub(super) struct NodeWriter {
    blocks: Vec<Node>,
    rows: usize,
}

impl NodeWriter {
    /// The next sample.
    pub(super) fn push(&mut self, value: f64, time: i64) {
        let node = Node::of(value, time);
        match self.blocks.last_mut() {
            Some(block) if !self.rows.is_multiple_of(BLOCK) => *block = block.join(node),
            _ => self.blocks.push(node),
        }
        self.rows += 1;
    }

    /// Writes all levels, lowest first. Tells where.
    pub(super) fn finish(self, out: &mut Output) -> io::Result<u64> {
        let at = out.align()?;
        let mut level = self.blocks;
        loop {
            for number in level.iter().flat_map(|node| [node.min, node.max, node.integral]) {
                out.write(&number.to_le_bytes())?;
            }
            if level.len() <= 1 {
                return Ok(at);
            }
            let join = |group: &[Node]| group.iter().fold(Node::EMPTY, |all, &node| all.join(node));
            level = level.chunks(FAN as usize).map(join).collect();
        }
    }
}

/// A variable of a container. Each sample lasts until the next; the last one until the record's end.
#[derive(Clone, Copy, Debug)]
pub(super) struct VariableLane<'a> {
    pub(super) record: LaneRecord,
    image: &'a Image,
    table: Table<'a, COLUMNS>,
}

type SampleBlock<'a> = Block<'a, COLUMNS>;

fn start(block: &SampleBlock<'_>, index: usize) -> i64 {
    date(block.columns[0].get(index))
}

fn end(block: &SampleBlock<'_>, index: usize) -> i64 {
    if index + 1 < block.len { start(block, index + 1) } else { date(block.next) }
}

fn value(block: &SampleBlock<'_>, index: usize) -> f64 {
    f64::from_bits(block.columns[1].get(index))
}

impl<'a> VariableLane<'a> {
    pub(super) fn new(image: &'a Image, record: LaneRecord) -> Self {
        Self { record, image, table: Table::new(image, record.table) }
    }

    /// When a sample was, and its value.
    pub(super) fn row(&self, row: u64) -> (Interval, f64) {
        let (block, index) = self.table.at(row);
        let life = Interval { from: GlobalNanos(start(&block, index)), to: GlobalNanos(end(&block, index)) };
        (life, value(&block, index))
    }

    /// Smallest and largest value.
    pub(super) fn range(&self) -> Option<(f64, f64)> {
        let (mut nodes, mut level) = (self.table.blocks(), self.record.sums.at);
        while nodes > 1 {
            level = level.saturating_add(NODE * nodes);
            nodes = nodes.div_ceil(FAN);
        }
        (nodes == 1).then(|| self.node(level, 0)).map(|node| (node.min, node.max))
    }

    /// Samples that overlap an interval. One without duration, at the very end, counts at its date.
    pub(super) fn overlapping(&self, interval: Interval) -> Range<u64> {
        self.overlapping_from(0, interval)
    }

    /// The same; `near` is known not to be behind the first.
    fn overlapping_from(&self, near: u64, interval: Interval) -> Range<u64> {
        let from = interval.from.0;
        let after = from.checked_add(1).map_or(self.table.rows(), |after| self.table.lower(near, ordered(after)));
        let mut first = after.saturating_sub(1);
        if after > 0 {
            let (life, _) = self.row(first);
            if life.to.0 <= from && life.from.0 < from {
                first = after;
            }
        }
        first..self.table.lower(first, ordered(interval.to.0)).max(first)
    }

    /// At most `limit` samples from a range, in order.
    pub(super) fn list(&self, rows: Range<u64>, limit: usize) -> Vec<Sample> {
        self.table.list(rows, limit, |block, index| Sample {
            id: EntityId::Sample(self.record.base.wrapping_add((block.row + index as u64) as u32)),
            life: Interval { from: GlobalNanos(start(block, index)), to: GlobalNanos(end(block, index)) },
            value: value(block, index),
        })
    }

    /// Minimum, maximum and mean over an interval; `None` where there is no value. O(log n), also of the way from `near`, the first
    /// sample of an interval that does not begin later.
    pub(super) fn column(&self, near: &mut u64, interval: Interval) -> Option<SeriesColumn> {
        let range = self.overlapping_from(*near, interval);
        *near = range.start;
        let last = range.end.checked_sub(1).filter(|&last| last >= range.start)?;
        let ((first_life, first_value), (last_life, last_value)) = (self.row(range.start), self.row(last));
        let clipped = |life: Interval, value: f64| {
            let time = life.to.0.min(interval.to.0).saturating_sub(life.from.0.max(interval.from.0));
            Node::of(value, time.max(0))
        };
        let mut all = clipped(first_life, first_value);
        if last > range.start {
            all = all.join(clipped(last_life, last_value)).join(self.whole(range.start + 1..last));
        }
        let covered = last_life.to.0.min(interval.to.0).saturating_sub(first_life.from.0.max(interval.from.0));
        let mean = if covered > 0 { all.integral / covered as f64 } else { last_value };
        // Rounding must not push the mean out of the range; a damaged file has no order.
        Some(SeriesColumn { min: all.min, max: all.max, mean: mean.max(all.min).min(all.max) })
    }

    fn node(&self, level: u64, node: u64) -> Node {
        let at = level.saturating_add(NODE * node);
        let number = |step: u64| f64::from_bits(self.image.word(at.saturating_add(8 * step)));
        Node { min: number(0), max: number(1), integral: number(2) }
    }

    /// Whole samples of a range, by the largest nodes that fit.
    fn whole(&self, range: Range<u64>) -> Node {
        let block = BLOCK as u64;
        let (mut low, mut high) = (range.start.div_ceil(block), range.end / block);
        if low >= high {
            return self.direct(range);
        }
        let mut all = self.direct(range.start..low * block).join(self.direct(high * block..range.end));
        let (mut level, mut nodes) = (self.record.sums.at, self.table.blocks());
        loop {
            let of = |range: Range<u64>| range.fold(Node::EMPTY, |sum, node| sum.join(self.node(level, node)));
            let (inner_low, inner_high) = (low.div_ceil(FAN), high / FAN);
            if inner_low >= inner_high {
                return all.join(of(low..high));
            }
            all = all.join(of(low..inner_low * FAN)).join(of(inner_high * FAN..high));
            (low, high) = (inner_low, inner_high);
            level = level.saturating_add(NODE * nodes);
            nodes = nodes.div_ceil(FAN);
        }
    }

    fn direct(&self, rows: Range<u64>) -> Node {
        let (mut all, mut row) = (Node::EMPTY, rows.start);
        let (mut starts, mut values) = ([0; BLOCK], [0; BLOCK]);
        while row < rows.end {
            let (block, first) = self.table.at(row);
            let part = first..block.len.min((rows.end - block.row) as usize);
            if part.is_empty() {
                break;
            }
            let last = part.end - 1;
            block.columns[0].unpack(part.clone(), &mut starts);
            block.columns[1].unpack(part.clone(), &mut values);
            let starts = &starts[part.clone()];
            let ends = starts[1..].iter().map(|&next| date(next)).chain([end(&block, last)]);
            for ((&value, &start), end) in values[part].iter().zip(starts).zip(ends) {
                all = all.join(Node::of(f64::from_bits(value), end.wrapping_sub(date(start))));
            }
            row = block.row + last as u64 + 1;
        }
        all
    }
}
