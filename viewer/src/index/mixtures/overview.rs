//! The overview: for lanes of many values, the largest shares of aligned columns.
//!
//! The edges of aligned columns are multiples of a power of two. So the cost of an image depends on
//! its visible content, and the first image of a whole trace is read from one range of the file.
//!
//! There is one table per column width, with all lanes in sequence. The rows of a column are its
//! largest shares, followed by the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use tumit_paje::ValueId;
use tumit_spill::byte_streams::ByteStreams;
use tumit_spill::temporary_space::TemporarySpace;
use tumit_spill::varint;

use crate::index::file::file_layout::{BLOCK, PageBytes, TableRef};
use crate::index::file::index_bytes::IndexBytes;
use crate::index::file::packed_table::{PackedTable, PackedTableWriter};
use crate::index::file::page_writer::PageWriter;
use crate::index::lanes::states::IndexTimeSums;
use crate::query::{MixtureCell, MixtureCellWriter, TimeRange, TimestampExtent};

/// Columns: key of lane and column; value + 1, or 0 for the rest; time.
const COLUMNS: usize = 3;
/// Number of shares that are stored per column.
pub(crate) const SHARES: usize = 8;
/// Minimum number of states per narrowest column, averaged over the lane. Summing fewer states is
/// as fast.
const STATES: u64 = BLOCK as u64;
/// Minimum number of the widest columns in a lane.
const MIN_COLUMNS: u64 = 64;
/// Bits of the column number in a key. The bits above contain the lane number.
const COLUMN_BITS: u32 = 40;
/// Lanes with timestamps beyond ±`LATEST` are in no overview, so that no sum of timestamps
/// overflows.
const LATEST: i64 = 1 << 61;
/// Bytes of a table's description.
const LEVEL_BYTES: u64 = 32;

/// Number of the first column, with a width of two to the power of `exponent`, of a trace that
/// begins at `origin`.
fn first_column(origin: i64, exponent: u8) -> i64 {
    origin >> exponent.min(63)
}

/// Key of a column; `None` if the column or the lane is out of range.
fn key(lane: u64, column: i64, origin: i64, exponent: u8) -> Option<u64> {
    let column = column.checked_sub(first_column(origin, exponent)).and_then(|number| u64::try_from(number).ok())?;
    (column >> COLUMN_BITS == 0 && lane >> (64 - COLUMN_BITS) == 0).then_some(lane << COLUMN_BITS | column)
}

/// The rows of one column width while they are collected.
#[derive(Debug)]
struct OverviewRows {
    byte_stream: usize,
    count: u64,
    latest_key: u64,
}

/// Writes the overview while lanes are written.
#[derive(Debug)]
pub(crate) struct OverviewWriter {
    byte_streams: ByteStreams,
    /// The rows of each column width, by its exponent.
    levels: BTreeMap<u8, OverviewRows>,
    origin: i64,
}

impl OverviewWriter {
    /// A writer for a trace that begins at `origin`.
    pub(crate) fn new(room: &TemporarySpace, origin: i64) -> Self {
        Self { byte_streams: ByteStreams::new(&room.part(4)), levels: BTreeMap::new(), origin }
    }

    /// Starts a lane with `rows` states of this extent. `None` if the lane has too few
    /// states for an overview.
    pub(crate) fn lane(
        &mut self,
        number: u64,
        rows: u64,
        extent: TimestampExtent,
        values: &[u64],
    ) -> Option<LaneOverview<'_>> {
        let in_range = extent.first >= self.origin && extent.first > -LATEST && extent.last < LATEST;
        let span = extent.last.checked_sub(extent.first)?.cast_unsigned();
        if !in_range || span == 0 || rows < STATES * MIN_COLUMNS {
            return None;
        }
        let narrowest = (u128::from(span) * u128::from(STATES)).div_ceil(u128::from(rows)).next_power_of_two();
        let first = narrowest.trailing_zeros() as u8;
        let wide = |exponent: &u8| *exponent == first || span >> exponent >= MIN_COLUMNS;
        let level =
            |exponent| OverviewLevel { exponent, column: i64::MIN, sums: IndexTimeSums::default(), times: Vec::new() };
        let mut levels: Vec<OverviewLevel> = (first..62).take_while(wide).map(level).collect();
        levels.iter_mut().for_each(|level| level.sums.reset(values.len()));
        let values = values.iter().map(|&value| ValueId(value as u32)).collect();
        Some(LaneOverview { writer: self, number, values, levels, shares: Vec::new() })
    }
}

/// Writes the tables, widest columns first. Each table has the lanes of all writers, in the order
/// of the writers.
pub(crate) fn write(
    mut writers: Vec<OverviewWriter>,
    room: &TemporarySpace,
    out: &mut PageWriter,
) -> io::Result<PageBytes> {
    let exponents: BTreeSet<u8> = writers.iter().flat_map(|writer| writer.levels.keys().copied()).collect();
    let mut head = Vec::new();
    for exponent in exponents.into_iter().rev() {
        let mut table = PackedTableWriter::<COLUMNS>::new(room, out)?;
        for writer in &mut writers {
            let Some(rows) = writer.levels.get(&exponent) else { continue };
            let byte_stream = writer.byte_streams.finish_stream(rows.byte_stream);
            let (mut from, mut key) = (byte_stream.read()?, 0_u64);
            for _ in 0..rows.count {
                key += from.number()?;
                table.push(out, [key, from.number()?, from.number()?])?;
            }
        }
        let TableRef { rows, payload, directory } = table.finish(out, u64::MAX)?;
        head.extend([u64::from(exponent), rows, payload, directory]);
    }
    let offset = out.align()?;
    head.iter().try_for_each(|word| out.write(&word.to_le_bytes()))?;
    Ok(PageBytes { offset, len: head.len() as u64 * 8 / LEVEL_BYTES })
}

/// Sums the columns of one lane, from left to right.
#[derive(Debug)]
pub(crate) struct LaneOverview<'a> {
    writer: &'a mut OverviewWriter,
    number: u64,
    values: Vec<ValueId>,
    /// Narrowest columns first.
    levels: Vec<OverviewLevel>,
    /// Buffer: the shares of the column that ends.
    shares: Vec<(ValueId, i64)>,
}

/// The columns of one width. Only the latest one is in memory.
#[derive(Debug)]
struct OverviewLevel {
    exponent: u8,
    column: i64,
    sums: IndexTimeSums,
    /// Buffer: times of the column that ends, by the lane's own values.
    times: Vec<(u32, i64)>,
}

impl LaneOverview<'_> {
    /// Adds the next state. `value` is the lane's own number of the value.
    pub(crate) fn add(&mut self, start: i64, end: i64, value: u64) -> io::Result<()> {
        let exponent = self.levels[0].exponent;
        let mut from = start;
        while from < end {
            let column = from >> exponent;
            let to = ((column + 1) << exponent).min(end);
            self.add_to(0, column, value, to - from)?;
            from = to;
        }
        Ok(())
    }

    fn add_to(&mut self, level: usize, column: i64, value: u64, time: i64) -> io::Result<()> {
        if self.levels[level].column != column {
            self.end_column(level)?;
            self.levels[level].column = column;
        }
        self.levels[level].sums.add(value, time);
        Ok(())
    }

    /// Writes a column, and adds it to the column of twice the width.
    fn end_column(&mut self, level: usize) -> io::Result<()> {
        let OverviewLevel { exponent, column, sums, times } = &mut self.levels[level];
        let (exponent, column, mut all) = (*exponent, *column, std::mem::take(times));
        all.clear();
        all.extend(sums.positive_times());
        sums.reset(self.values.len());
        if all.is_empty() {
            return Ok(());
        }
        self.shares.clear();
        self.shares.extend(all.iter().map(|&(value, time)| (self.values[value as usize], time)));
        let MixtureCell { shares, unlisted_time } = MixtureCell::of(&mut self.shares[..], SHARES);
        if let Some(key) = key(self.number, column, self.writer.origin, exponent) {
            let OverviewWriter { byte_streams, levels, .. } = &mut *self.writer;
            let rows = levels.entry(exponent).or_insert_with(|| OverviewRows {
                byte_stream: byte_streams.open(),
                count: 0,
                latest_key: 0,
            });
            let remainder = (unlisted_time > 0).then_some((0, unlisted_time));
            for (value, time) in shares.iter().map(|share| (u64::from(share.0.0) + 1, share.1)).chain(remainder) {
                let more = key - std::mem::replace(&mut rows.latest_key, key);
                rows.count += 1;
                byte_streams.append(rows.byte_stream, |bytes| {
                    varint::push(bytes, more);
                    varint::push(bytes, value);
                    varint::push(bytes, time.cast_unsigned());
                });
            }
            byte_streams.flush()?;
        }
        if level + 1 < self.levels.len() {
            for &(value, time) in &all {
                self.add_to(level + 1, column >> 1, value.into(), time)?;
            }
        }
        self.levels[level].times = all;
        Ok(())
    }

    /// Writes the last column of each width.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        (0..self.levels.len()).try_for_each(|level| self.end_column(level))
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct CellRequest {
    pub(crate) time_range: TimeRange,
    pub(crate) columns: u32,
    /// Maximum number of shares of a cell.
    pub(crate) max_shares: usize,
}

/// The cells of aligned columns, from the table of their width.
#[derive(Debug)]
pub(crate) struct OverviewTable<'a> {
    table: PackedTable<'a, COLUMNS>,
    exponent: u8,
    origin: i64,
    /// Number of the first requested column. The next field: the number of columns.
    first: i64,
    columns: u32,
    /// Maximum number of shares of a cell.
    max_shares: usize,
}

impl<'a> OverviewTable<'a> {
    /// Finds the table for the requested columns. `None` if they are not aligned, or if no table
    /// has their width or enough shares.
    pub(crate) fn new(
        index_bytes: &'a IndexBytes,
        CellRequest { time_range, columns, max_shares }: CellRequest,
        origin: i64,
    ) -> Option<Self> {
        let length = time_range.to.0.checked_sub(time_range.from.0)?;
        let width = length.checked_div(columns.into())?;
        let exponent = width.cast_unsigned().trailing_zeros() as u8;
        let is_aligned = width > 0
            && width.cast_unsigned().is_power_of_two()
            && time_range.from.0.trailing_zeros() >= exponent.into()
            && width.checked_mul(columns.into()) == Some(length);
        if !is_aligned || max_shares > SHARES {
            return None;
        }
        let table = table(index_bytes, exponent)?;
        Some(Self { table, exponent, origin, first: time_range.from.0 >> exponent, columns, max_shares })
    }

    /// Appends the cells of a lane, without empty ones at the end. Appends nothing and returns
    /// `false` if the table has no columns of the lane.
    pub(crate) fn cells(&self, lane: u64, cells: &mut MixtureCellWriter) -> bool {
        // There are no columns before the beginning of the trace.
        let before = first_column(self.origin, self.exponent).saturating_sub(self.first);
        let columns_before_trace = before.clamp(0, self.columns.into());
        let column = |number: i64| key(lane, self.first.checked_add(number)?, self.origin, self.exponent);
        let (begin, end) =
            (column(columns_before_trace.min(i64::from(self.columns) - 1).max(0)), column(self.columns.into()));
        let (Some(begin), Some(end)) = (begin, end) else {
            // All columns lie before the trace, or in a range without stored columns.
            return columns_before_trace == i64::from(self.columns);
        };
        let (mut row, rows) = (self.table.lower_bound(0, begin), self.table.rows());
        if !self.has(lane, row, end) {
            return false;
        }
        let first = cells.len() + columns_before_trace.cast_unsigned() as usize;
        cells.fill(cells.len() + self.columns as usize);
        let [mut keys, mut values, mut times] = [[0; BLOCK]; COLUMNS];
        while row < rows {
            let (block, mut index) = self.table.block_at(row);
            let [key, value, time] = &block.columns;
            key.unpack(index..block.len, &mut keys);
            value.unpack(index..block.len, &mut values);
            time.unpack(index..block.len, &mut times);
            while index < block.len {
                let key = keys[index];
                let rows = keys[index..block.len].iter().take_while(|&&candidate| candidate == key).count();
                let row_range = index..index + rows;
                index = row_range.end;
                if key >= end {
                    return true;
                }
                // The next block may contain further rows of this column.
                let others = row_range.clone().find(|&index| values[index] == 0).unwrap_or(row_range.end);
                let share = |index: usize| (ValueId(values[index].wrapping_sub(1) as u32), times[index].cast_signed());
                let rest =
                    times[others..row_range.end].iter().fold(0_i64, |sum, time| sum.wrapping_add(time.cast_signed()));
                let cell = first.saturating_add(key.wrapping_sub(begin) as usize);
                cells.append(cell, (row_range.start..others).map(share), self.max_shares, rest);
            }
            if block.len == 0 {
                break;
            }
            row = block.row + block.len as u64;
        }
        true
    }
}

impl OverviewTable<'_> {
    /// Whether the table has columns of a lane. Each lane has the widths that suit its duration and
    /// number of states, while a table spans all lanes.
    ///
    /// `row` is the first row with a key of at least that of the first requested column. `end` is
    /// the key after the last requested column.
    fn has(&self, lane: u64, row: u64, end: u64) -> bool {
        let is_there = |row: u64| (row < self.table.rows()).then(|| self.table.row(row)[0]);
        is_there(row).is_some_and(|key| key < end)
            || is_there(self.table.lower_bound(0, lane << COLUMN_BITS)).is_some_and(|key| key >> COLUMN_BITS == lane)
    }
}

/// The table of a column width.
fn table(index_bytes: &IndexBytes, exponent: u8) -> Option<PackedTable<'_, COLUMNS>> {
    let PageBytes { offset, len } = index_bytes.header.overview;
    for level in 0..len.min(64) {
        let offset = offset.saturating_add(level * LEVEL_BYTES);
        if index_bytes.word(offset) == u64::from(exponent) {
            let word = |number: u64| index_bytes.word(offset + 8 * number);
            return Some(PackedTable::new(
                index_bytes,
                TableRef { rows: word(1), payload: word(2), directory: word(3) },
            ));
        }
    }
    None
}
