//! Writes a lane of states: two passes over its stream, the first for the values that occur, the second for blocks, sums and the
//! overview.

use std::io;

use super::assembly::value;
use super::bit_fields::{SLACK, ordered, pack, width};
use super::builder::Lane;
use super::format::{BLOCK, LaneRecord, Place};
use super::overview::OverviewWriter;
use super::packed_table::TableWriter;
use super::page_writer::Output;
use super::states::{CHECKPOINTS, COLUMNS, DENSE, DENSE_VALUES, DIRECT, GAPLESS, NO_SUMS, WITHIN, stride};
use super::temporary_streams::{Room, Section, Taken};
use crate::query::{GlobalNanos, Interval};

/// Writes the lane. Gives its record, and when its last state is. What the record has in `extra` becomes its number in the overview.
pub(crate) fn write(
    (room, rows): (&Room, &Taken),
    out: &mut Output,
    (overview, own): (&mut OverviewWriter, &mut OwnValues),
    lane: &Lane,
    record: LaneRecord,
) -> io::Result<(LaneRecord, Interval)> {
    let Survey { life, time } = Survey::of(rows, lane, own)?;
    let values = &own.values;
    let mut sums = Sums::new(room, lane.rows, values.len(), time);
    let mut columns =
        if values.len() > DENSE_VALUES { overview.lane(record.extra, lane.rows, life, values) } else { None };
    let extra = if columns.is_some() { record.extra + 1 } else { 0 };
    sums.begin()?;
    let mut table = TableWriter::<COLUMNS>::new(room, out)?;
    let mut block = Waiting::new(if sums.is_dense() { values.len() } else { 0 });
    let (mut from, mut last) = (rows.read()?, 0_i64);
    let mut life = (0, 0);
    for _ in 0..lane.rows {
        let start = last.wrapping_add(from.number()?.cast_signed());
        last = start.wrapping_add(from.number()?.cast_signed());
        life = (start, last);
        let (value, detail) = value(&mut from)?;
        if block.ends.len() == BLOCK {
            block.write(&mut table, out, start)?;
        }
        let value = own.place(value);
        block.push(start, last, value, detail);
        sums.add(value, last.wrapping_sub(start), block.ends.len() == BLOCK)?;
        if let Some(columns) = &mut columns {
            columns.add(start, last, value)?;
        }
    }
    block.write(&mut table, out, last)?;
    if let Some(columns) = columns {
        columns.finish()?;
    }
    let table = table.finish(out, ordered(last))?;
    let at = out.align()?;
    for value in values {
        out.write(&(*value as u32).to_le_bytes())?;
    }
    let values = Place { at, len: values.len() as u64 };
    let sums = sums.finish(out)?;
    let life = Interval { from: GlobalNanos(life.0), to: GlobalNanos(life.1) };
    Ok((LaneRecord { table, values, sums, extra, ..record }, life))
}

/// The values of a lane, in the order in which they first occur, and their places in that list. It serves one lane after the other.
#[derive(Debug, Default)]
pub(crate) struct OwnValues {
    pub(crate) values: Vec<u64>,
    /// Place plus 1 by value; 0 where it does not occur. Values are numbered from 0 without gaps.
    places: Vec<u32>,
}

impl OwnValues {
    pub(crate) fn clear(&mut self) {
        self.values.drain(..).for_each(|value| self.places[value as usize] = 0);
    }

    pub(crate) fn insert(&mut self, value: u64) {
        let at = value as usize;
        if self.places.len() <= at {
            self.places.resize(at + 1, 0);
        }
        if self.places[at] == 0 {
            self.values.push(value);
            self.places[at] = self.values.len() as u32;
        }
    }

    pub(crate) fn place(&self, value: u64) -> u64 {
        self.places.get(value as usize).map_or(0, |&place| u64::from(place.saturating_sub(1)))
    }
}

/// What the first pass over a lane tells, beside its values.
struct Survey {
    /// From the first date to the last.
    life: (i64, i64),
    /// All states together.
    time: u64,
}

impl Survey {
    fn of(rows: &Taken, lane: &Lane, own: &mut OwnValues) -> io::Result<Self> {
        own.clear();
        let mut survey = Self { life: (0, 0), time: 0 };
        let mut from = rows.read()?;
        for row in 0..lane.rows {
            let start = survey.life.1.wrapping_add(from.number()?.cast_signed());
            let time = from.number()?;
            if row == 0 {
                survey.life.0 = start;
            }
            survey.life.1 = start.wrapping_add(time.cast_signed());
            survey.time = survey.time.saturating_add(time);
            let (value, _) = value(&mut from)?;
            own.insert(value);
        }
        Ok(survey)
    }
}

/// A block that waits for the start of the next state.
struct Waiting {
    columns: [Vec<u64>; COLUMNS],
    ends: Vec<i64>,
    /// Time of each value in the block so far; of none where no sums are kept within blocks.
    times: Vec<u64>,
    /// The same before each of some states.
    within: Vec<u64>,
    packed: Vec<u8>,
}

impl Waiting {
    /// With sums of so many values within blocks.
    fn new(values: usize) -> Self {
        let (columns, times) = (std::array::from_fn(|_| Vec::with_capacity(BLOCK)), vec![0; values]);
        Self { columns, ends: Vec::with_capacity(BLOCK), times, within: Vec::new(), packed: Vec::new() }
    }

    fn push(&mut self, start: i64, end: i64, value: u64, detail: u64) {
        let time = end.wrapping_sub(start).cast_unsigned();
        let row = [ordered(start), time, value, detail];
        self.columns.iter_mut().zip(row).for_each(|(column, number)| column.push(number));
        self.ends.push(end);
        if let Some(sum) = self.times.get_mut(value as usize) {
            *sum = sum.wrapping_add(time);
            if self.ends.len().is_multiple_of(WITHIN) && self.ends.len() < BLOCK {
                self.within.extend_from_slice(&self.times);
            }
        }
    }

    /// `next` is where the next state starts, or the last one ends.
    fn write(&mut self, table: &mut TableWriter<COLUMNS>, out: &mut Output, next: i64) -> io::Result<()> {
        let starts = self.columns[0].iter().skip(1).copied().chain([ordered(next)]);
        let gapless = self.ends.iter().zip(starts).all(|(&end, start)| ordered(end) == start);
        if gapless {
            self.columns[1].fill(0);
        }
        let span = self.columns[0].first().map_or(0, |&first| ordered(next).wrapping_sub(first));
        self.packed.clear();
        pack(&mut self.packed, self.within.drain(..), width(span));
        self.times.fill(0);
        let columns = self.columns.each_ref().map(Vec::as_slice);
        table.push_block(out, columns, if gapless { GAPLESS } else { 0 }, &self.packed)?;
        self.columns.iter_mut().for_each(Vec::clear);
        self.ends.clear();
        Ok(())
    }
}

/// Sums of time while a lane is written: the totals so far, now and then.
enum Sums {
    None,
    Kept { totals: Vec<i64>, rows: Section, blocks: usize, stride: usize, width: Option<u8> },
}

impl Sums {
    /// `time` is more than any total.
    fn new(room: &Room, states: u64, values: usize, time: u64) -> Self {
        let (rows, totals) = (Section::new(room), vec![0; values]);
        match values {
            _ if states <= DIRECT => Self::None,
            0..=DENSE_VALUES => Self::Kept { totals, rows, blocks: 0, stride: 1, width: None },
            _ => Self::Kept { totals, rows, blocks: 0, stride: stride(values), width: Some(width(time)) },
        }
    }

    /// Whether there are sums of all values before every block.
    fn is_dense(&self) -> bool {
        matches!(self, Self::Kept { width: None, .. })
    }

    fn begin(&mut self) -> io::Result<()> {
        match self {
            Self::Kept { totals, rows, width, .. } => write_totals(totals, rows, *width),
            Self::None => Ok(()),
        }
    }

    fn add(&mut self, value: u64, time: i64, ends_block: bool) -> io::Result<()> {
        let Self::Kept { totals, rows, blocks, stride, width } = self else { return Ok(()) };
        totals[value as usize] = totals[value as usize].wrapping_add(time);
        *blocks += usize::from(ends_block);
        if ends_block && blocks.is_multiple_of(*stride) { write_totals(totals, rows, *width) } else { Ok(()) }
    }

    fn finish(self, out: &mut Output) -> io::Result<Place> {
        let Self::Kept { rows, width, .. } = self else { return Ok(Place { at: 0, len: NO_SUMS }) };
        let at = out.align()?;
        if let Some(width) = width {
            out.write(&u64::from(width).to_le_bytes())?;
        }
        rows.copy_to(out)?;
        // The last numbers are read with bytes behind them.
        out.write(&[0; SLACK])?;
        Ok(Place { at, len: if width.is_some() { CHECKPOINTS } else { DENSE } })
    }
}

fn write_totals(totals: &[i64], rows: &mut Section, width: Option<u8>) -> io::Result<()> {
    let Some(width) = width else {
        return totals.iter().try_for_each(|total| rows.write(&total.to_le_bytes()));
    };
    let mut bytes = Vec::new();
    pack(&mut bytes, totals.iter().map(|total| total.cast_unsigned()), width);
    rows.write(&bytes)
}
