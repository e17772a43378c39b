//! How many events of each value come before some rows of a lane: so that a column of a picture costs its two edges, however many events
//! lie between them.

use std::io;
use std::ops::Range;

use tumit_paje::ValueId;

use super::assembly::value;
use super::format::{BLOCK, Place};
use super::image::{Image, touch};
use super::packed_table::Table;
use super::page_writer::Output;
use super::state_writer::OwnValues;
use super::temporary_streams::{Room, Section, Taken};

/// Lanes of fewer events have no such numbers: they are as soon counted.
const LEAST_ROWS: u64 = 1 << 13;
/// So many rows lie between two of these numbers, at least …
const LEAST_STRIDE: u64 = 1 << 10;
/// … and so many for each value, so that they take little room beside the rows.
const ROWS_PER_VALUE: u64 = 64;
/// Beyond this number of values they lie too far apart to be of use.
const MOST_VALUES: usize = 256;

/// Rows between two entries, for so many values.
fn stride(values: usize) -> u64 {
    (ROWS_PER_VALUE * values as u64).max(LEAST_STRIDE)
}

/// Counts while a lane is written.
pub(crate) struct TallyWriter {
    values: OwnValues,
    /// Of each value, before the next row.
    counts: Vec<u32>,
    entries: Section,
    rows: u64,
}

impl TallyWriter {
    /// Of a lane with so many rows; none where it is not worth it. The values are found in a pass over the rows before that which writes them.
    pub(crate) fn new(room: &Room, rows: &Taken, len: u64) -> io::Result<Option<Self>> {
        if len < LEAST_ROWS {
            return Ok(None);
        }
        let (mut values, mut from) = (OwnValues::default(), rows.read()?);
        for _ in 0..len {
            from.number()?;
            values.insert(value(&mut from)?.0);
            if values.values.len() > MOST_VALUES {
                return Ok(None);
            }
        }
        let counts = vec![0; values.values.len()];
        Ok(Some(Self { values, counts, entries: Section::new(room), rows: 0 }))
    }

    /// Takes the value of the next row, in the order of the table.
    pub(crate) fn push(&mut self, value: u64) -> io::Result<()> {
        if self.rows.is_multiple_of(stride(self.counts.len())) {
            self.counts.iter().try_for_each(|count| self.entries.write(&count.to_le_bytes()))?;
        }
        self.rows += 1;
        if let Some(count) = self.counts.get_mut(self.values.place(value) as usize) {
            *count += 1;
        }
        Ok(())
    }

    /// Writes the values, and where the numbers are.
    pub(crate) fn finish(self, out: &mut Output) -> io::Result<(Place, Place)> {
        let values = Place { at: out.align()?, len: self.values.values.len() as u64 };
        self.values.values.iter().try_for_each(|&value| out.write(&(value as u32).to_le_bytes()))?;
        let sums = Place { at: out.align()?, len: self.rows.div_ceil(stride(self.counts.len())) };
        self.entries.copy_to(out)?;
        Ok((values, sums))
    }
}

/// The numbers of a lane in an image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tally<'a> {
    image: &'a Image,
    /// Values of the lane, four bytes each.
    values: Place,
    /// Entries: as many numbers of four bytes each as there are values.
    sums: Place,
}

impl<'a> Tally<'a> {
    pub(crate) fn new(image: &'a Image, values: Place, sums: Place) -> Self {
        let fits = values.len <= MOST_VALUES as u64;
        Self { image, values: if fits { values } else { Place::default() }, sums }
    }

    fn numbers(&self, at: u64) -> impl Iterator<Item = u32> + use<'a> {
        let bytes = self.image.bytes(at, 4 * self.values.len as usize);
        bytes.chunks_exact(4).map(|number| number.first_chunk().map_or(0, |number| u32::from_le_bytes(*number)))
    }

    fn entry(&self, number: u64) -> impl Iterator<Item = u32> + use<'a> {
        touch();
        self.numbers(self.sums.at.saturating_add(number.saturating_mul(4 * self.values.len)))
    }

    /// Adds what is in a range of rows to `counts`; the values are in column `column` of the table.
    pub(crate) fn add<const K: usize>(
        &self,
        table: Table<'_, K>,
        column: usize,
        rows: Range<u64>,
        counts: &mut Counts,
    ) {
        if self.values.len > 0 {
            let stride = stride(self.values.len as usize);
            let (first, last) = (rows.start.div_ceil(stride), (rows.end / stride).min(self.sums.len.saturating_sub(1)));
            if first < last {
                let (before, after) = (self.entry(first), self.entry(last));
                for (value, (before, after)) in self.numbers(self.values.at).zip(before.zip(after)) {
                    counts.add(value, u64::from(after.saturating_sub(before)));
                }
                one_by_one(table, column, rows.start..first * stride, counts);
                return one_by_one(table, column, last * stride..rows.end, counts);
            }
        }
        one_by_one(table, column, rows, counts);
    }
}

fn one_by_one<const K: usize>(table: Table<'_, K>, column: usize, rows: Range<u64>, counts: &mut Counts) {
    let mut values = [0; BLOCK];
    table.each_block(rows, |block, range| {
        block.columns[column].unpack(range.clone(), &mut values);
        values[range].iter().for_each(|&value| counts.add(value as u32, 1));
        true
    });
}

/// Numbers by value, for one column after the other.
#[derive(Debug)]
pub(crate) struct Counts {
    of: Vec<u64>,
    /// Values that have a number.
    touched: Vec<u32>,
}

impl Counts {
    /// For values below `values`.
    pub(crate) fn new(values: usize) -> Self {
        Self { of: vec![0; values], touched: Vec::new() }
    }

    #[inline]
    fn add(&mut self, value: u32, number: u64) {
        if let Some(count) = self.of.get_mut(value as usize).filter(|_| number > 0) {
            if *count == 0 {
                self.touched.push(value);
            }
            *count += number;
        }
    }

    /// Gives the numbers, and begins anew.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = (ValueId, u64)> + '_ {
        self.touched.drain(..).map(|value| (ValueId(value), std::mem::take(&mut self.of[value as usize])))
    }
}
