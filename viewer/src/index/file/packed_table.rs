//! Tables of `K` columns of unsigned numbers, in blocks of 64 rows.
//!
//! Within a block, each column uses a fixed number of bits per number, derived from the range of
//! the column's numbers in the block. So any number is found in one step.
//!
//! A directory has one entry of 16 bytes per block: the first number of the first column, the
//! block's position in words of 8 bytes, and flags. One more entry at the end gives the end of the
//! last block; its number is free for the writer's use.

use std::io;
use std::ops::Range;

use tumit_spill::deferred_section::DeferredSection;
use tumit_spill::temporary_space::TemporarySpace;

use super::bit_fields::{self, SLACK};
use super::bit_unpacking;
use super::file_layout::{BLOCK, TableRef};
use super::index_bytes::{IndexBytes, touch};
use super::page_writer::PageWriter;

/// Bytes of a directory entry.
const ENTRY: usize = 16;
/// Flag in a column's shift byte: 8 bytes of base, added to each number, follow the head.
const HAS_BASE: u8 = 0x80;

/// Maximum bytes of a block to prefetch.
const PREFETCHED: u64 = 512;

/// Maximum bytes of the sums after the columns of a block.
pub(crate) const MAX_TRAILER_BYTES: usize = 384;

/// Number of blocks that a search examines one by one first: their directory entries are adjacent.
const STEPS: u64 = 8;

/// If more blocks than this remain, the search guesses the position.
const FAR: u64 = 64;

/// Writes a table at the end of an output.
#[derive(Debug)]
pub(crate) struct PackedTableWriter<const K: usize> {
    rows: u64,
    pending_columns: [Vec<u64>; K],
    payload: u64,
    directory: DeferredSection,
    block: Vec<u8>,
}

impl<const K: usize> PackedTableWriter<K> {
    pub(crate) fn new(room: &TemporarySpace, out: &mut PageWriter) -> io::Result<Self> {
        Ok(Self {
            rows: 0,
            pending_columns: std::array::from_fn(|_| Vec::with_capacity(BLOCK)),
            payload: out.align()?,
            directory: DeferredSection::new(&room.part(8)),
            block: Vec::new(),
        })
    }

    pub(crate) fn push(&mut self, out: &mut PageWriter, row: [u64; K]) -> io::Result<()> {
        self.pending_columns.iter_mut().zip(row).for_each(|(column, number)| column.push(number));
        if self.pending_columns[0].len() == BLOCK {
            self.flush(out)?;
        }
        Ok(())
    }

    fn flush(&mut self, out: &mut PageWriter) -> io::Result<()> {
        let columns = std::mem::replace(&mut self.pending_columns, std::array::from_fn(|_| Vec::new()));
        self.push_block(out, columns.each_ref().map(Vec::as_slice), 0, &[])?;
        self.pending_columns = columns;
        self.pending_columns.iter_mut().for_each(Vec::clear);
        Ok(())
    }

    fn entry(&mut self, out: &PageWriter, first: u64, flags: u32) -> io::Result<()> {
        // The limit is 32 GiB of packed rows in one table: more than the entity numbers allow.
        let Ok(place) = u32::try_from((out.place() - self.payload) / 8) else {
            return Err(io::Error::other("a single lane of the trace is too large for an index"));
        };
        self.directory.write(&first.to_le_bytes())?;
        self.directory.write(&place.to_le_bytes())?;
        self.directory.write(&flags.to_le_bytes())
    }

    /// Appends a whole block, and `trailer`, bytes to be kept after its columns, in whole words. A
    /// table takes either all or none of its blocks this way. Only the last block may have fewer
    /// than 64 rows.
    pub(crate) fn push_block(
        &mut self,
        out: &mut PageWriter,
        columns: [&[u64]; K],
        flags: u32,
        trailer: &[u8],
    ) -> io::Result<()> {
        let Some(&first) = columns[0].first() else { return Ok(()) };
        self.entry(out, first, flags)?;
        let head_bytes = (2 * K).next_multiple_of(8);
        self.block.clear();
        self.block.resize(head_bytes, 0);
        let mut shapes = [(0, 0, 0); K];
        for (column_index, column) in columns.into_iter().enumerate() {
            // The directory contains the base of the first column if its first number is its least,
            // as in a sorted column.
            let smallest = column.iter().copied().min().unwrap_or(0);
            let (mut largest, mut bits) = (0, 0);
            for &number in column {
                largest = largest.max(number - smallest);
                bits |= number - smallest;
            }
            let shift = if bits == 0 { 0 } else { bits.trailing_zeros() as u8 };
            let base = if column_index == 0 { smallest.wrapping_sub(first) } else { smallest };
            shapes[column_index] = (smallest, shift, bit_fields::width(largest >> shift));
            self.block[column_index] = shapes[column_index].2;
            self.block[K + column_index] = shift | if base == 0 { 0 } else { HAS_BASE };
            if base != 0 {
                self.block.extend_from_slice(&base.to_le_bytes());
            }
        }
        for (column, (smallest, shift, width)) in columns.into_iter().zip(shapes) {
            bit_fields::pack(&mut self.block, column.iter().map(|number| (number - smallest) >> shift), width);
        }
        self.rows += columns[0].len() as u64;
        self.block.extend_from_slice(trailer);
        out.write(&self.block)
    }

    /// Writes the directory. `last` becomes the number of its last entry.
    pub(crate) fn finish(mut self, out: &mut PageWriter, last: u64) -> io::Result<TableRef> {
        if !self.pending_columns[0].is_empty() {
            self.flush(out)?;
        }
        self.entry(out, last, 0)?;
        let Self { rows, payload, directory, .. } = self;
        // A read of the last numbers also touches the bytes after them.
        out.write(&[0; SLACK])?;
        let directory_offset = out.align()?;
        directory.for_each_portion(1, |bytes| out.write(bytes))?;
        Ok(TableRef { rows, payload, directory: directory_offset })
    }
}

/// A table in an index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackedTable<'a, const K: usize> {
    index_bytes: &'a IndexBytes,
    table_ref: TableRef,
}

/// One column of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableColumn<'a> {
    bytes: &'a [u8],
    base: u64,
    /// The lowest `width` bits are ones.
    mask: u64,
    width: u8,
    shift: u8,
}

impl<'a> TableColumn<'a> {
    const NONE: Self = TableColumn { bytes: &[], base: 0, mask: 0, width: 0, shift: 0 };

    #[inline]
    pub(crate) fn get(&self, index: usize) -> u64 {
        let number = bit_fields::word(self.bytes, index * usize::from(self.width)) & self.mask;
        self.base.wrapping_add(number << self.shift)
    }

    /// The numbers from `index` on, without end. Numbers after the column's last one are
    /// meaningless.
    #[inline]
    pub(crate) fn from(&self, index: usize) -> impl Iterator<Item = u64> + use<'a> {
        let Self { base, shift, .. } = *self;
        self.stored_numbers(index).map(move |number| base.wrapping_add(number << shift))
    }

    /// The numbers from `index` on as stored. A difference of stored numbers, shifted left by
    /// [`Self::shift`], is the difference of the numbers.
    #[inline]
    pub(crate) fn stored_numbers(&self, index: usize) -> impl Iterator<Item = u64> + use<'a> {
        let Self { bytes, mask, width, .. } = *self;
        let mut bit = index * usize::from(width);
        std::iter::repeat_with(move || {
            let number = bit_fields::word(bytes, bit) & mask;
            bit += usize::from(width);
            number
        })
    }

    pub(crate) fn shift(&self) -> u8 {
        self.shift
    }

    /// Writes the numbers of a range to the same indexes of `out`; may overwrite other elements.
    #[inline]
    pub(crate) fn unpack(&self, range: Range<usize>, out: &mut [u64; BLOCK]) {
        let Self { bytes, base, width, shift, .. } = *self;
        // For a few numbers, reading them one by one is faster.
        if range.len() > BLOCK / 4 && bit_unpacking::block(bytes, width, out) {
            if shift != 0 || base != 0 {
                out.iter_mut().for_each(|number| *number = base.wrapping_add(*number << shift));
            }
            return;
        }
        for (number, index) in out.get_mut(range.clone()).into_iter().flatten().zip(range) {
            *number = self.get(index);
        }
    }

    /// The first index in `low..high` with a number that is not less than `bound`. The column must
    /// be sorted, and base plus number must not exceed the largest `u64`.
    #[inline]
    pub(crate) fn lower_bound(&self, mut low: usize, high: usize, bound: u64) -> usize {
        let Some(above) = bound.checked_sub(self.base) else { return low };
        // The bound in stored units, rounded up: numbers below the next multiple of the step are
        // less than it.
        let bound = (above >> self.shift) + u64::from(above & bit_fields::mask(self.shift) > 0);
        // A branch on the comparison would be mispredicted every other time.
        let mut len = high.saturating_sub(low);
        while len > 0 {
            let half = len / 2;
            let number = bit_fields::word(self.bytes, (low + half) * usize::from(self.width)) & self.mask;
            let is_less = number < bound;
            low = std::hint::select_unpredictable(is_less, low + half + 1, low);
            len = std::hint::select_unpredictable(is_less, len - half - 1, half);
        }
        low
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TableBlock<'a, const K: usize> {
    /// Row of the table at index 0.
    pub(crate) row: u64,
    /// Rows in it.
    pub(crate) len: usize,
    pub(crate) flags: u32,
    pub(crate) columns: [TableColumn<'a>; K],
    /// First number of the next block; for the last block, the free number of the directory.
    pub(crate) next: u64,
    /// The bytes that the writer put after the columns, and further bytes.
    pub(crate) trailer: &'a [u8],
}

impl<'a, const K: usize> PackedTable<'a, K> {
    pub(crate) fn new(index_bytes: &'a IndexBytes, table: TableRef) -> Self {
        // A number of rows that does not fit in the file counts as 0.
        let max_rows = index_bytes.header.checksums.offset.saturating_mul(4);
        Self { index_bytes, table_ref: if table.rows > max_rows { TableRef::default() } else { table } }
    }

    pub(crate) fn rows(&self) -> u64 {
        self.table_ref.rows
    }

    pub(crate) fn blocks(&self) -> u64 {
        self.table_ref.rows.div_ceil(BLOCK as u64)
    }

    /// The first number of a block. For `block == blocks()`, it is the writer's free number.
    #[inline]
    pub(crate) fn first(&self, block: u64) -> u64 {
        self.index_bytes.word(self.table_ref.directory.saturating_add(block * ENTRY as u64))
    }

    /// A block. It is empty if no such block exists, or if the file is damaged.
    pub(crate) fn block(&self, number: u64) -> TableBlock<'a, K> {
        self.block_here(number)
    }

    /// Same as [`Self::block`], but inlined, so that the compiler omits the unused fields.
    #[inline(always)]
    pub(crate) fn block_here(&self, number: u64) -> TableBlock<'a, K> {
        touch();
        let row = number * BLOCK as u64;
        let len = self.table_ref.rows.saturating_sub(row).min(BLOCK as u64) as usize;
        let mut block = TableBlock { row, len, flags: 0, columns: [TableColumn::NONE; K], next: 0, trailer: &[] };
        let entries = self.index_bytes.slice(self.table_ref.directory.saturating_add(number * ENTRY as u64), 2 * ENTRY);
        let Some(&entries) = entries.first_chunk::<{ 2 * ENTRY }>().filter(|_| len > 0) else {
            return TableBlock { len: 0, ..block };
        };
        let word = |offset: usize| u64::from_le_bytes(*entries[offset..].first_chunk().unwrap_or(&[0; 8]));
        let (first, place, end) = (word(0), word(8) & u64::from(u32::MAX), word(24) & u64::from(u32::MAX));
        (block.flags, block.next) = ((word(8) >> 32) as u32, word(16));
        let max_bytes = (2 * K).next_multiple_of(8) + K * (8 + 8 * BLOCK) + MAX_TRAILER_BYTES;
        let bytes = end.saturating_sub(place).saturating_mul(8).min(max_bytes as u64) as usize;
        let bytes = self.index_bytes.slice(self.table_ref.payload.saturating_add(place * 8), bytes + SLACK);
        let Some((head, mut rest)) = bytes.split_at_checked((2 * K).next_multiple_of(8)) else {
            return TableBlock { len: 0, ..block };
        };
        for (column_index, column) in block.columns.iter_mut().enumerate() {
            let shift = head[K + column_index];
            (column.width, column.shift) = (head[column_index].min(64), shift & 0x3F);
            column.mask = bit_fields::mask(column.width);
            column.base = if column_index == 0 { first } else { 0 };
            if shift & HAS_BASE != 0
                && let Some((base, after)) = rest.split_first_chunk()
            {
                column.base = column.base.wrapping_add(u64::from_le_bytes(*base));
                rest = after;
            }
        }
        for column in &mut block.columns {
            column.bytes = rest;
            rest = rest.get(bit_fields::packed_bytes(len, column.width)..).unwrap_or(&[]);
        }
        block.trailer = rest;
        block
    }

    /// Prefetches a block that will be read soon.
    #[inline]
    pub(crate) fn prefetch(&self, number: u64) {
        let entries = self.index_bytes.slice(self.table_ref.directory.saturating_add(number * ENTRY as u64), 2 * ENTRY);
        let Some(entries) = entries.first_chunk::<{ 2 * ENTRY }>() else { return };
        let place =
            |offset: usize| entries[offset..].first_chunk().map_or(0, |place| u64::from(u32::from_le_bytes(*place)));
        let (place, end) = (place(8), place(8 + ENTRY));
        let bytes = end.saturating_sub(place).saturating_mul(8).min(PREFETCHED) as usize;
        self.index_bytes.prefetch(self.table_ref.payload.saturating_add(place * 8), bytes);
    }

    /// The block of a row, and the row's index in it.
    #[inline]
    pub(crate) fn block_at(&self, row: u64) -> (TableBlock<'a, K>, usize) {
        (self.block(row / BLOCK as u64), (row % BLOCK as u64) as usize)
    }

    /// A whole row.
    pub(crate) fn row(&self, row: u64) -> [u64; K] {
        let (block, index) = self.block_at(row);
        block.columns.map(|column| column.get(index))
    }

    /// Number of rows with a number less than `bound` in the first column, which must be sorted.
    ///
    /// The result must be known to be at least `hint`. A walk from left to right with `hint` costs
    /// about as much as one search.
    pub(crate) fn lower_bound(&self, hint: u64, bound: u64) -> u64 {
        let Some(last) = self.blocks_before(hint / BLOCK as u64, bound).checked_sub(1) else { return 0 };
        let block = self.block(last);
        block.row + block.columns[0].lower_bound(0, block.len, bound) as u64
    }

    /// The last block with a first number less than `bound`. Block `hint` is known to have such a
    /// number.
    pub(crate) fn last_block_before(&self, hint: u64, bound: u64) -> TableBlock<'a, K> {
        self.block(self.blocks_before(hint, bound).saturating_sub(1).max(hint))
    }

    /// Number of blocks with a first number less than `bound`; known to be at least `hint`.
    ///
    /// It examines some blocks one by one, then takes doubling steps, then bisects. If many blocks
    /// remain, it first guesses the position by linear interpolation.
    pub(crate) fn blocks_before(&self, hint: u64, bound: u64) -> u64 {
        let blocks = self.blocks();
        let mut low = hint.min(blocks);
        let steps = STEPS.min(blocks - low);
        let entries = self.table_ref.directory.saturating_add(low * ENTRY as u64);
        for entry in self.index_bytes.slice(entries, steps as usize * ENTRY).chunks_exact(ENTRY) {
            if entry.first_chunk().is_none_or(|first| u64::from_le_bytes(*first) >= bound) {
                return low;
            }
            low += 1;
        }
        let mut high = blocks;
        if low + FAR < high {
            let guess = self.guess(low, bound);
            Range { start: low, end: high } = self.bracket_block(guess, low..high, bound);
        } else {
            let mut step = STEPS;
            while low + step <= blocks && self.first(low + step - 1) < bound {
                low += step;
                step *= 2;
            }
            high = blocks.min(low + step);
        }
        while low < high {
            let middle = low.midpoint(high);
            if self.first(middle) < bound { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// Guesses the first block with a first number of at least `bound`, as if first numbers grew
    /// evenly from block `low` on.
    fn guess(&self, low: u64, bound: u64) -> u64 {
        let last = self.blocks().saturating_sub(1);
        let (from, to) = (self.first(low), self.first(last));
        if bound <= from || to <= from {
            return low;
        }
        let part = u128::from(bound - from) * u128::from(last - low) / u128::from(to - from);
        u64::try_from(part).map_or(last, |part| low.saturating_add(part).min(last))
    }

    /// A range that contains the first block with a first number of at least `bound`. It is found
    /// by doubling steps from a guess.
    fn bracket_block(&self, guess: u64, blocks: Range<u64>, bound: u64) -> Range<u64> {
        let Range { start: mut low, end: mut high } = blocks;
        let mut step = STEPS / 2;
        if self.first(guess) < bound {
            low = guess + 1;
            while low + step < high && self.first(low + step) < bound {
                low += step + 1;
                step *= 2;
            }
            high = high.min(low + step);
        } else {
            high = guess;
            while high > low + step && self.first(high - step) >= bound {
                high -= step;
                step *= 2;
            }
            low = low.max(high.saturating_sub(step));
        }
        low..high
    }

    /// Maps rows in order with `column`, which gets a block and an index; at most `limit` rows.
    pub(crate) fn list<T>(
        &self,
        rows: Range<u64>,
        limit: usize,
        column: impl Fn(&TableBlock<'a, K>, usize) -> T,
    ) -> Vec<T> {
        let end = rows.end.min(rows.start.saturating_add(limit as u64));
        let mut items = Vec::with_capacity((end.saturating_sub(rows.start)).min(1 << 16) as usize);
        self.visit_blocks(rows.start..end, |block, range| {
            items.extend(range.map(|index| column(block, index)));
            true
        });
        items
    }

    /// Visits rows in order, until `visit` returns `false`.
    pub(crate) fn visit_rows(&self, rows: Range<u64>, mut visit: impl FnMut(&TableBlock<'a, K>, usize) -> bool) {
        self.visit_blocks(rows, |block, mut range| range.all(|index| visit(block, index)));
    }

    /// Visits rows block by block, with the range of their indexes in each block, until `visit`
    /// returns `false`.
    pub(crate) fn visit_blocks(
        &self,
        rows: Range<u64>,
        mut visit: impl FnMut(&TableBlock<'a, K>, Range<usize>) -> bool,
    ) {
        let mut row = rows.start;
        while row < rows.end {
            let (block, first) = self.block_at(row);
            let last = block.len.min((rows.end - block.row) as usize);
            if first >= last || !visit(&block, first..last) {
                return;
            }
            row = block.row + last as u64;
        }
    }
}
