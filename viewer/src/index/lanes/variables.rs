//! A variable in an index: timestamps and values, and a tree with minimum, maximum and integral
//! over blocks of samples.

use std::io;
use std::ops::Range;

use crate::index::file::bit_fields::{sortable_timestamp, timestamp};
use crate::index::file::file_layout::{BLOCK, LaneRecord};
use crate::index::file::index_bytes::IndexBytes;
use crate::index::file::packed_table::{PackedTable, TableBlock};
use crate::index::file::page_writer::PageWriter;
use crate::query::{EntityId, GlobalNanos, SeriesColumn, TimeRange, ValueRange, VariableSample};

/// Columns: timestamp, and the bits of the value.
pub(crate) const COLUMNS: usize = 2;
/// Children per node of the tree.
const FAN: u64 = 16;
/// Bytes of a node.
const NODE: u64 = 24;

/// Summary of some samples of a variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VariableNode {
    pub(crate) min: f64,
    pub(crate) max: f64,
    /// Value × nanoseconds.
    pub(crate) integral: f64,
}

impl VariableNode {
    const EMPTY: Self = Self { min: f64::INFINITY, max: f64::NEG_INFINITY, integral: 0.0 };

    fn of(value: f64, time: i64) -> Self {
        Self { min: value, max: value, integral: value * time as f64 }
    }

    fn join(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max), integral: self.integral + other.integral }
    }
}

/// Collects the nodes of a tree.
#[derive(Debug, Default)]
pub(crate) struct VariableNodeWriter {
    blocks: Vec<VariableNode>,
    rows: usize,
}

impl VariableNodeWriter {
    /// Adds the next sample.
    pub(crate) fn push(&mut self, value: f64, time: i64) {
        let node = VariableNode::of(value, time);
        match self.blocks.last_mut() {
            Some(block) if !self.rows.is_multiple_of(BLOCK) => *block = block.join(node),
            _ => self.blocks.push(node),
        }
        self.rows += 1;
    }

    /// Writes all levels, lowest first. Returns their position.
    pub(crate) fn finish(self, out: &mut PageWriter) -> io::Result<u64> {
        let offset = out.align()?;
        let mut level = self.blocks;
        loop {
            for number in level.iter().flat_map(|node| [node.min, node.max, node.integral]) {
                out.write(&number.to_le_bytes())?;
            }
            if level.len() <= 1 {
                return Ok(offset);
            }
            let join = |group: &[VariableNode]| group.iter().fold(VariableNode::EMPTY, |all, &node| all.join(node));
            level = level.chunks(FAN as usize).map(join).collect();
        }
    }
}

/// A variable of a container. Each sample lasts until the next one. The last one lasts until the
/// end that the table stores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexVariableLane<'a> {
    pub(crate) record: LaneRecord,
    index_bytes: &'a IndexBytes,
    table: PackedTable<'a, COLUMNS>,
}

type SampleBlock<'a> = TableBlock<'a, COLUMNS>;

fn start(block: &SampleBlock<'_>, index: usize) -> i64 {
    timestamp(block.columns[0].get(index))
}

fn end(block: &SampleBlock<'_>, index: usize) -> i64 {
    if index + 1 < block.len { start(block, index + 1) } else { timestamp(block.next) }
}

fn value(block: &SampleBlock<'_>, index: usize) -> f64 {
    f64::from_bits(block.columns[1].get(index))
}

impl<'a> IndexVariableLane<'a> {
    pub(crate) fn new(index_bytes: &'a IndexBytes, record: LaneRecord) -> Self {
        Self { record, index_bytes, table: PackedTable::new(index_bytes, record.table) }
    }

    /// The time range and the value of a sample.
    pub(crate) fn row(&self, row: u64) -> (TimeRange, f64) {
        let (block, index) = self.table.block_at(row);
        let life = TimeRange { from: GlobalNanos(start(&block, index)), to: GlobalNanos(end(&block, index)) };
        (life, value(&block, index))
    }

    /// Smallest and largest value.
    pub(crate) fn range(&self) -> Option<ValueRange> {
        let (mut nodes, mut level) = (self.table.blocks(), self.record.sums.offset);
        while nodes > 1 {
            level = level.saturating_add(NODE * nodes);
            nodes = nodes.div_ceil(FAN);
        }
        (nodes == 1).then(|| self.node(level, 0)).map(|node| ValueRange { min: node.min, max: node.max })
    }

    /// Samples that overlap a time range. A sample without duration at the very end counts at its
    /// timestamp.
    pub(crate) fn overlapping_range(&self, time_range: TimeRange) -> Range<u64> {
        let from = time_range.from.0;
        let after =
            from.checked_add(1).map_or(self.table.rows(), |after| self.table.lower_bound(0, sortable_timestamp(after)));
        let mut first = after.saturating_sub(1);
        if after > 0 {
            let (life, _) = self.row(first);
            if life.to.0 <= from && life.from.0 < from {
                first = after;
            }
        }
        first..self.table.lower_bound(first, sortable_timestamp(time_range.to.0)).max(first)
    }

    /// At most `limit` samples of a range, in order.
    pub(crate) fn list(&self, rows: Range<u64>, limit: usize) -> Vec<VariableSample> {
        self.table.list(rows, limit, |block, index| VariableSample {
            id: EntityId::Sample(self.record.base.wrapping_add((block.row + index as u64) as u32)),
            life: TimeRange { from: GlobalNanos(start(block, index)), to: GlobalNanos(end(block, index)) },
            value: value(block, index),
        })
    }

    /// Minimum, maximum and mean over each time range; `None` if it has no value. The time ranges
    /// are in order of time.
    ///
    /// Each costs O(log n), plus the samples in the blocks of its two edges. A block is unpacked
    /// once for all time ranges in it.
    pub(crate) fn columns(&self, time_ranges: impl Iterator<Item = TimeRange>) -> Vec<Option<SeriesColumn>> {
        let mut course = SampleWalk::new(*self);
        time_ranges.map(|time_range| course.column(time_range)).collect()
    }

    fn node(&self, level: u64, node: u64) -> VariableNode {
        let offset = level.saturating_add(NODE * node);
        let number = |step: u64| f64::from_bits(self.index_bytes.word(offset.saturating_add(8 * step)));
        VariableNode { min: number(0), max: number(1), integral: number(2) }
    }

    /// Combines whole blocks, with the largest possible nodes.
    fn whole_blocks(&self, blocks: Range<u64>) -> VariableNode {
        let (mut low, mut high, mut all) = (blocks.start, blocks.end, VariableNode::EMPTY);
        let (mut level, mut nodes) = (self.record.sums.offset, self.table.blocks());
        while low < high {
            let sum_of =
                |range: Range<u64>| range.fold(VariableNode::EMPTY, |sum, node| sum.join(self.node(level, node)));
            let (inner_low, inner_high) = (low.div_ceil(FAN), high / FAN);
            if inner_low >= inner_high {
                return all.join(sum_of(low..high));
            }
            all = all.join(sum_of(low..inner_low * FAN)).join(sum_of(inner_high * FAN..high));
            (low, high) = (inner_low, inner_high);
            level = level.saturating_add(NODE * nodes);
            nodes = nodes.div_ceil(FAN);
        }
        all
    }
}

/// A sample of an unpacked block.
#[derive(Clone, Copy)]
struct UnpackedSample {
    start: i64,
    end: i64,
    value: f64,
}

/// A walk over the samples of a variable, from left to right, with one unpacked block.
struct SampleWalk<'a> {
    lane: IndexVariableLane<'a>,
    block: SampleBlock<'a>,
    /// The start of each sample of the block, and the end of the last one.
    starts: [u64; BLOCK + 1],
    values: [u64; BLOCK],
    /// The first sample of the latest time range. The next time ranges begin with this sample or a
    /// later one.
    hint: u64,
}

impl<'a> SampleWalk<'a> {
    fn new(lane: IndexVariableLane<'a>) -> Self {
        let mut course = Self { lane, block: lane.table.block(0), starts: [0; BLOCK + 1], values: [0; BLOCK], hint: 0 };
        course.unpack();
        course
    }

    fn unpack(&mut self) {
        let (len, mut starts) = (self.block.len, [0; BLOCK]);
        self.block.columns[0].unpack(0..len, &mut starts);
        self.block.columns[1].unpack(0..len, &mut self.values);
        self.starts[..BLOCK].copy_from_slice(&starts);
        self.starts[len.min(BLOCK)] = self.block.next;
    }

    /// Unpacks block `number`, if it exists.
    fn load(&mut self, number: u64) {
        if self.block.row != number * BLOCK as u64 && number < self.lane.table.blocks() {
            self.block = self.lane.table.block(number);
            self.unpack();
        }
    }

    /// Number of the block after the unpacked one; `None` if that is the last.
    fn next_block(&self) -> Option<u64> {
        let next = self.block.row / BLOCK as u64 + 1;
        (next < self.lane.table.blocks()).then_some(next)
    }

    /// Number of samples that begin before a timestamp. The timestamp must be in the unpacked
    /// block, or later; its block is then unpacked.
    fn samples_before(&mut self, timestamp: u64) -> u64 {
        if let Some(next) = self.next_block().filter(|_| self.block.next < timestamp) {
            self.load(self.lane.table.blocks_before(next, timestamp).saturating_sub(1).max(next));
        }
        self.block.row + self.starts[..self.block.len].partition_point(|&start| start < timestamp) as u64
    }

    fn sample(&self, index: usize) -> UnpackedSample {
        let (start, end) = (timestamp(self.starts[index % BLOCK]), timestamp(self.starts[index % BLOCK + 1]));
        UnpackedSample { start, end, value: f64::from_bits(self.values[index % BLOCK]) }
    }

    /// Minimum, maximum and mean over a time range.
    fn column(&mut self, time_range: TimeRange) -> Option<SeriesColumn> {
        let (from, to) = (time_range.from.0, time_range.to.0);
        self.load(self.hint / BLOCK as u64);
        // The last of several samples with the same timestamp counts.
        let started_count = match from.checked_add(1) {
            Some(after) => self.samples_before(sortable_timestamp(after)),
            None => self.lane.table.rows(),
        };
        let mut first = started_count.saturating_sub(1);
        self.load(first / BLOCK as u64);
        if started_count > 0 {
            let sample = self.sample((first % BLOCK as u64) as usize);
            first += u64::from(sample.end <= from && sample.start < from);
        }
        self.hint = first;
        if first >= self.lane.table.rows() {
            return None;
        }
        self.load(first / BLOCK as u64);
        let (index, bound) = ((first % BLOCK as u64) as usize, sortable_timestamp(to));
        if index >= self.block.len || self.starts[index] >= bound {
            return None;
        }
        let clip = |sample: UnpackedSample| {
            VariableNode::of(sample.value, sample.end.min(to).saturating_sub(sample.start.max(from)).max(0))
        };
        let (first_sample, mut last) = (self.sample(index), None);
        let mut sum = clip(first_sample);
        match self.next_block().filter(|_| self.block.next < bound) {
            Some(next) => {
                sum = sum.join(self.combine_samples(index + 1..self.block.len));
                let number = self.lane.table.blocks_before(next, bound).saturating_sub(1).max(next);
                sum = sum.join(self.lane.whole_blocks(next..number));
                self.load(number);
                let end = self.starts[..self.block.len].partition_point(|&start| start < bound);
                if let Some(before) = end.checked_sub(1) {
                    sum = sum.join(self.combine_samples(0..before));
                    last = Some(before);
                }
            }
            None => {
                let end = self.starts[..self.block.len].partition_point(|&start| start < bound);
                if let Some(before) = end.checked_sub(1).filter(|&before| before > index) {
                    sum = sum.join(self.combine_samples(index + 1..before));
                    last = Some(before);
                }
            }
        }
        let last = last.map_or(first_sample, |last| {
            let last = self.sample(last);
            sum = sum.join(clip(last));
            last
        });
        let covered_nanos = last.end.min(to).saturating_sub(first_sample.start.max(from));
        let mean = if covered_nanos > 0 { sum.integral / covered_nanos as f64 } else { last.value };
        // Rounding must not move the mean out of the range. A damaged file may have no order at
        // all.
        Some(SeriesColumn { min: sum.min, max: sum.max, mean: mean.max(sum.min).min(sum.max) })
    }

    /// Combines whole samples of the block.
    fn combine_samples(&self, part: Range<usize>) -> VariableNode {
        let (starts, values) = (self.starts.get(part.start..=part.end), self.values.get(part));
        let steps = starts.unwrap_or(&[]).windows(2).map(|edges| edges[1].wrapping_sub(edges[0]).cast_signed());
        let nodes =
            values.unwrap_or(&[]).iter().zip(steps).map(|(&value, time)| VariableNode::of(f64::from_bits(value), time));
        nodes.fold(VariableNode::EMPTY, VariableNode::join)
    }
}
