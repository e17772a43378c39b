//! Prefix counts: the number of events of each value before some rows of a lane. With them, a
//! column of an image costs its two edges, independent of the number of events between them.

use std::ops::Range;

use tumit_paje::ValueId;

use crate::index::file::file_layout::{BLOCK, PageBytes};
use crate::index::file::index_bytes::{IndexBytes, touch};
use crate::index::file::packed_table::PackedTable;
use crate::query::EventValueCount;

/// Minimum number of rows between two entries.
const MIN_STRIDE: u64 = 1 << 10;
/// Minimum number of rows between two entries, per value. It limits the space of the entries
/// relative to the rows.
const ROWS_PER_VALUE: u64 = 64;
/// With more values, entries would be too far apart to be useful.
pub(crate) const MAX_VALUES: usize = 256;

/// Number of rows between two entries, for this number of values.
pub(crate) fn stride(values: usize) -> u64 {
    (ROWS_PER_VALUE * values as u64).max(MIN_STRIDE)
}

/// The prefix counts of a lane in an index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrefixCounts<'a> {
    index_bytes: &'a IndexBytes,
    /// Values of the lane, four bytes each.
    values: PageBytes,
    /// Entries. Each has a number of four bytes per value.
    sums: PageBytes,
}

impl<'a> PrefixCounts<'a> {
    pub(crate) fn new(index_bytes: &'a IndexBytes, values: PageBytes, sums: PageBytes) -> Self {
        let fits = values.len <= MAX_VALUES as u64;
        Self { index_bytes, values: if fits { values } else { PageBytes::default() }, sums }
    }

    fn numbers(&self, offset: u64) -> impl Iterator<Item = u32> + use<'a> {
        let bytes = self.index_bytes.slice(offset, 4 * self.values.len as usize);
        bytes.chunks_exact(4).map(|number| number.first_chunk().map_or(0, |number| u32::from_le_bytes(*number)))
    }

    fn entry(&self, number: u64) -> impl Iterator<Item = u32> + use<'a> {
        touch();
        self.numbers(self.sums.offset.saturating_add(number.saturating_mul(4 * self.values.len)))
    }

    /// Adds the events in a range of rows to `counts`. The values are in column `column` of the
    /// table.
    pub(crate) fn add<const K: usize>(
        &self,
        table: PackedTable<'_, K>,
        column: usize,
        rows: Range<u64>,
        counts: &mut CountsByValue,
    ) {
        if self.values.len > 0 {
            let stride = stride(self.values.len as usize);
            let (first, last) = (rows.start.div_ceil(stride), (rows.end / stride).min(self.sums.len.saturating_sub(1)));
            if first < last {
                let (before, after) = (self.entry(first), self.entry(last));
                for (value, (before, after)) in self.numbers(self.values.offset).zip(before.zip(after)) {
                    counts.add(value, u64::from(after.saturating_sub(before)));
                }
                count_rows(table, column, rows.start..first * stride, counts);
                return count_rows(table, column, last * stride..rows.end, counts);
            }
        }
        count_rows(table, column, rows, counts);
    }
}

fn count_rows<const K: usize>(table: PackedTable<'_, K>, column: usize, rows: Range<u64>, counts: &mut CountsByValue) {
    let mut values = [0; BLOCK];
    table.visit_blocks(rows, |block, range| {
        block.columns[column].unpack(range.clone(), &mut values);
        values[range].iter().for_each(|&value| counts.add(value as u32, 1));
        true
    });
}

/// Numbers by value, reused for one column after another.
#[derive(Debug)]
pub(crate) struct CountsByValue {
    counts: Vec<u64>,
    /// Values with a nonzero number.
    nonzero_values: Vec<u32>,
}

impl CountsByValue {
    /// Counts for values below `values`.
    pub(crate) fn new(values: usize) -> Self {
        Self { counts: vec![0; values], nonzero_values: Vec::new() }
    }

    #[inline]
    fn add(&mut self, value: u32, number: u64) {
        if let Some(count) = self.counts.get_mut(value as usize).filter(|_| number > 0) {
            if *count == 0 {
                self.nonzero_values.push(value);
            }
            *count += number;
        }
    }

    /// Removes and returns the numbers, and so starts again.
    pub(crate) fn take_counts(&mut self) -> impl Iterator<Item = EventValueCount> + '_ {
        let count =
            |value| EventValueCount { value: ValueId(value), count: std::mem::take(&mut self.counts[value as usize]) };
        self.nonzero_values.drain(..).map(count)
    }
}
