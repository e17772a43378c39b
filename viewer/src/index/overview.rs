//! The overview: for lanes of many values the largest shares of columns whose edges are multiples of a power of two, so that a
//! picture costs what it shows, and the first one of a whole trace is read from one piece of the file.
//!
//! There is a table for each width of columns, of all lanes one behind the other. Its rows are the largest shares of a column, and
//! behind them what is left.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use tumit_paje::ValueId;

use super::bit_fields::put;
use super::format::{BLOCK, Place, TableRef};
use super::image::Image;
use super::packed_table::{Table, TableWriter};
use super::page_writer::Output;
use super::states::Accumulator;
use super::temporary_streams::{Room, Streams};
use crate::query::{Cell, CellWriter, Interval};

/// Columns of a table: lane and column, value + 1 or 0 for what is left, time.
const COLUMNS: usize = 3;
/// Shares that are kept of a column.
pub(crate) const SHARES: usize = 8;
/// The narrowest columns have at least so many states, on the average of the lane: fewer are as soon summed.
const STATES: u64 = BLOCK as u64;
/// The widest columns are so many in a lane, at least.
const LEAST_COLUMNS: u64 = 64;
/// Bits of the number of a column in its key; those above are the lane's.
const COLUMN_BITS: u32 = 40;
/// Dates beyond are in no overview, so that no sum of them overflows.
const LATEST: i64 = 1 << 61;
/// Bytes that describe a table.
const LEVEL_BYTES: u64 = 32;

/// Number of the first column of a width, two to the power of `exponent`, in a trace that begins at `origin`.
fn first_column(origin: i64, exponent: u8) -> i64 {
    origin >> exponent.min(63)
}

/// Key of a column.
fn key(lane: u64, column: i64, origin: i64, exponent: u8) -> Option<u64> {
    let column = column.checked_sub(first_column(origin, exponent)).and_then(|at| u64::try_from(at).ok())?;
    (column >> COLUMN_BITS == 0 && lane >> (64 - COLUMN_BITS) == 0).then_some(lane << COLUMN_BITS | column)
}

/// The overview while lanes are written.
#[derive(Debug)]
pub(crate) struct OverviewWriter {
    streams: Streams,
    /// By exponent: the stream of its rows, their number, and the latest key.
    levels: BTreeMap<u8, (usize, u64, u64)>,
    origin: i64,
}

impl OverviewWriter {
    /// Of a trace that begins at `origin`.
    pub(crate) fn new(room: &Room, origin: i64) -> Self {
        Self { streams: Streams::holding(room, room.overview_bytes()), levels: BTreeMap::new(), origin }
    }

    /// Takes the states of a lane with so many rows from `life.0` to `life.1`; none if it is not worth it.
    pub(crate) fn lane(
        &mut self,
        number: u64,
        rows: u64,
        life: (i64, i64),
        values: &[u64],
    ) -> Option<LaneOverview<'_>> {
        let in_range = life.0 >= self.origin && life.0 > -LATEST && life.1 < LATEST;
        let span = life.1.checked_sub(life.0)?.cast_unsigned();
        if !in_range || span == 0 || rows < STATES * LEAST_COLUMNS {
            return None;
        }
        let narrowest = (u128::from(span) * u128::from(STATES)).div_ceil(u128::from(rows)).next_power_of_two();
        let first = narrowest.trailing_zeros() as u8;
        let wide = |exponent: &u8| *exponent == first || span >> exponent >= LEAST_COLUMNS;
        let level = |exponent| Level { exponent, column: i64::MIN, sums: Accumulator::default(), all: Vec::new() };
        let mut levels: Vec<Level> = (first..62).take_while(wide).map(level).collect();
        levels.iter_mut().for_each(|level| level.sums.reset(values.len()));
        let values = values.iter().map(|&value| ValueId(value as u32)).collect();
        Some(LaneOverview { of: self, number, values, levels, shares: Vec::new() })
    }
}

/// Writes the tables, widest columns first; each has the lanes of all writers, one writer's behind the other's.
pub(crate) fn write(mut writers: Vec<OverviewWriter>, room: &Room, out: &mut Output) -> io::Result<Place> {
    let exponents: BTreeSet<u8> = writers.iter().flat_map(|writer| writer.levels.keys().copied()).collect();
    let mut head = Vec::new();
    for exponent in exponents.into_iter().rev() {
        let mut table = TableWriter::<COLUMNS>::new(room, out)?;
        for writer in &mut writers {
            let Some(&(stream, rows, _)) = writer.levels.get(&exponent) else { continue };
            let rows_of = writer.streams.take(stream);
            let (mut from, mut key) = (rows_of.read()?, 0_u64);
            for _ in 0..rows {
                key += from.number()?;
                table.push(out, [key, from.number()?, from.number()?])?;
            }
        }
        let TableRef { rows, payload, directory } = table.finish(out, u64::MAX)?;
        head.extend([u64::from(exponent), rows, payload, directory]);
    }
    let at = out.align()?;
    head.iter().try_for_each(|word| out.write(&word.to_le_bytes()))?;
    Ok(Place { at, len: head.len() as u64 * 8 / LEVEL_BYTES })
}

/// The columns of one lane, from left to right.
#[derive(Debug)]
pub(crate) struct LaneOverview<'a> {
    of: &'a mut OverviewWriter,
    number: u64,
    values: Vec<ValueId>,
    /// Narrowest columns first.
    levels: Vec<Level>,
    /// A column that ends.
    shares: Vec<(ValueId, i64)>,
}

/// Columns of one width, and the latest of them.
#[derive(Debug)]
struct Level {
    exponent: u8,
    column: i64,
    sums: Accumulator,
    /// A column that ends: times by the lane's own values.
    all: Vec<(u32, i64)>,
}

impl LaneOverview<'_> {
    /// The next state. Values are the lane's own.
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

    /// Writes a column, and adds it to the one that is twice as wide.
    fn end_column(&mut self, level: usize) -> io::Result<()> {
        let Level { exponent, column, sums, all } = &mut self.levels[level];
        let (exponent, column, mut all) = (*exponent, *column, std::mem::take(all));
        all.clear();
        all.extend(sums.nonzero());
        sums.reset(self.values.len());
        if all.is_empty() {
            return Ok(());
        }
        self.shares.clear();
        self.shares.extend(all.iter().map(|&(value, time)| (self.values[value as usize], time)));
        let Cell { shares, rest } = Cell::of(&mut self.shares[..], SHARES);
        if let Some(key) = key(self.number, column, self.of.origin, exponent) {
            let OverviewWriter { streams, levels, .. } = &mut *self.of;
            let (stream, rows, last) = levels.entry(exponent).or_insert_with(|| (streams.open(), 0, 0));
            let left = (rest > 0).then_some((0, rest));
            for (value, time) in shares.iter().map(|share| (u64::from(share.0.0) + 1, share.1)).chain(left) {
                let more = key - std::mem::replace(last, key);
                *rows += 1;
                streams.append(*stream, |bytes| {
                    put(bytes, more);
                    put(bytes, value);
                    put(bytes, time.cast_unsigned());
                });
            }
            streams.flush()?;
        }
        if level + 1 < self.levels.len() {
            for &(value, time) in &all {
                self.add_to(level + 1, column >> 1, value.into(), time)?;
            }
        }
        self.levels[level].all = all;
        Ok(())
    }

    /// Writes the last columns.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        (0..self.levels.len()).try_for_each(|level| self.end_column(level))
    }
}

/// The cells of columns that are aligned, where there is a table of their width.
#[derive(Debug)]
pub(crate) struct Overview<'a> {
    table: Table<'a, COLUMNS>,
    exponent: u8,
    origin: i64,
    /// Number of the first column, and how many are asked for.
    first: i64,
    columns: u32,
    /// Shares of a cell.
    most: usize,
}

impl<'a> Overview<'a> {
    /// The table that has the cells that are asked for, if there is one.
    pub(crate) fn new(
        image: &'a Image,
        (interval, columns, most): (Interval, u32, usize),
        origin: i64,
    ) -> Option<Self> {
        let length = interval.to.0.checked_sub(interval.from.0)?;
        let width = length.checked_div(columns.into())?;
        let exponent = width.cast_unsigned().trailing_zeros() as u8;
        let aligned = width > 0
            && width.cast_unsigned().is_power_of_two()
            && interval.from.0.trailing_zeros() >= exponent.into()
            && width.checked_mul(columns.into()) == Some(length);
        if !aligned || most > SHARES {
            return None;
        }
        let table = table(image, exponent)?;
        Some(Self { table, exponent, origin, first: interval.from.0 >> exponent, columns, most })
    }

    /// Appends the cells of a lane, empty ones at the end left out. Nothing, and `false`, where no columns of this width are kept of it.
    pub(crate) fn cells(&self, lane: u64, cells: &mut CellWriter) -> bool {
        // Before the trace begins, there is nothing.
        let before = first_column(self.origin, self.exponent).saturating_sub(self.first);
        let skipped = before.clamp(0, self.columns.into());
        let column = |at: i64| key(lane, self.first.checked_add(at)?, self.origin, self.exponent);
        let (begin, end) = (column(skipped.min(i64::from(self.columns) - 1).max(0)), column(self.columns.into()));
        let (Some(begin), Some(end)) = (begin, end) else {
            // All of it lies before the trace, or where no columns are kept.
            return skipped == i64::from(self.columns);
        };
        let (mut row, rows) = (self.table.lower(0, begin), self.table.rows());
        if !self.has(lane, row, end) {
            return false;
        }
        let first = cells.len() + skipped.cast_unsigned() as usize;
        cells.fill(cells.len() + self.columns as usize);
        let [mut keys, mut values, mut times] = [[0; BLOCK]; COLUMNS];
        while row < rows {
            let (block, mut index) = self.table.at(row);
            let [key, value, time] = &block.columns;
            key.unpack(index..block.len, &mut keys);
            value.unpack(index..block.len, &mut values);
            time.unpack(index..block.len, &mut times);
            while index < block.len {
                let key = keys[index];
                let rows = keys[index..block.len].iter().take_while(|&&other| other == key).count();
                let of = index..index + rows;
                index = of.end;
                if key >= end {
                    return true;
                }
                // The rest of it may be in the next block.
                let others = of.clone().find(|&at| values[at] == 0).unwrap_or(of.end);
                let share = |at: usize| (ValueId(values[at].wrapping_sub(1) as u32), times[at].cast_signed());
                let rest = times[others..of.end].iter().fold(0_i64, |sum, time| sum.wrapping_add(time.cast_signed()));
                let cell = first.saturating_add(key.wrapping_sub(begin) as usize);
                cells.append(cell, (of.start..others).map(share), self.most, rest);
            }
            if block.len == 0 {
                break;
            }
            row = block.row + block.len as u64;
        }
        true
    }
}

impl Overview<'_> {
    /// Whether columns of this width are kept of a lane: each lane has those that suit its length and number of states, and the table is of all lanes.
    /// `row` is the first of what is asked for or behind it, which ends before the key `end`.
    fn has(&self, lane: u64, row: u64, end: u64) -> bool {
        let is_there = |row: u64| (row < self.table.rows()).then(|| self.table.row(row)[0]);
        is_there(row).is_some_and(|key| key < end)
            || is_there(self.table.lower(0, lane << COLUMN_BITS)).is_some_and(|key| key >> COLUMN_BITS == lane)
    }
}

/// The table of columns of a width.
fn table(image: &Image, exponent: u8) -> Option<Table<'_, COLUMNS>> {
    let Place { at, len } = image.header.overview;
    for level in 0..len.min(64) {
        let at = at.saturating_add(level * LEVEL_BYTES);
        if image.word(at) == u64::from(exponent) {
            let word = |number: u64| image.word(at + 8 * number);
            return Some(Table::new(image, TableRef { rows: word(1), payload: word(2), directory: word(3) }));
        }
    }
    None
}
