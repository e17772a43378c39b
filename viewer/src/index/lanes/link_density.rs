//! Counts of equal links: how many links of each value connect two containers, per bin of time and
//! for several bin widths. So the cost of an image of ten million links depends on its visible
//! content.
//!
//! Bin widths are powers of two, each four times the previous one. A width is stored only if it
//! groups enough links. The links that begin in a time range are composed of the widest bins inside
//! it, of narrower bins at both its edges, and of single rows at the very ends.

use std::io;

use rustc_hash::FxHashMap;
use tumit_paje::{ContainerId, ValueId};
use tumit_spill::deferred_section::DeferredSection;
use tumit_spill::temporary_space::TemporarySpace;

use crate::index::file::bit_fields::{sortable_timestamp, timestamp};
use crate::index::file::file_layout::{PageBytes, TableRef};
use crate::index::file::index_bytes::IndexBytes;
use crate::index::file::packed_table::{PackedTable, PackedTableWriter};
use crate::index::file::page_writer::PageWriter;
use crate::query::{EntityId, GlobalNanos, LinkCount, LinkRow, LinkVisitor, QueryError, TimeRange, TimestampExtent};

/// Columns: bin of the earlier timestamp; start; end; value; bins to the later timestamp × 2 (+ 1
/// if the end comes first); number of links minus one; number of the first link.
const COLUMNS: usize = 7;
/// Bytes of a row in a [`DeferredSection`].
const ROW_BYTES: usize = 8 * COLUMNS;
/// Bytes of the memory budget per row of equal links that is in memory.
const BYTES_PER_ROW: usize = 256;
/// Two to the power of this is about the number of the narrowest bins in a trace.
const MAX_BITS: u32 = 16;
/// Minimum number of the widest bins in a trace.
const MIN_BINS: u64 = 16;
/// Each bin width is two to the power of this times the previous one.
const STEP: u8 = 2;
/// A width is stored only if there are at least this many links per row of it, and if it has at
/// most half as many rows as the next narrower width that is stored. Otherwise, counting the links
/// again is as fast.
const LINKS_PER_ROW: u64 = 8;
/// Below this number of links of a type, counting them again is as fast.
const MIN_LINKS: u64 = 1 << 10;
/// Maximum number of widths of a type.
const MAX_LEVELS: u64 = 16;

/// Properties that equal links share in a bin: start; end; value; bins to the later timestamp × 2
/// (+ 1 if the end comes first).
type LinkGroupKey = [u64; 4];

/// A number of equal links.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct EqualLinks {
    count: u64,
    /// Number of the first of them.
    first: u64,
}

struct DensityLevel {
    exponent: u8,
    bin: i64,
    groups: FxHashMap<LinkGroupKey, EqualLinks>,
    rows: DeferredSection,
    row_count: u64,
    is_kept: bool,
}

/// Counts the links of a type while they are written, in the order of their earlier timestamps.
pub(crate) struct LinkDensityWriter {
    /// Narrowest bins first.
    levels: Vec<DensityLevel>,
    links: u64,
    /// Maximum number of rows of a bin in memory; beyond it, they are written before the bin ends.
    max_groups: usize,
}

impl LinkDensityWriter {
    /// A writer for a trace of this extent.
    pub(crate) fn new(room: &TemporarySpace, extent: TimestampExtent) -> Self {
        let span = extent.last.saturating_sub(extent.first).max(0).cast_unsigned();
        let narrowest = (span.checked_ilog2().unwrap_or(0) + 1).saturating_sub(MAX_BITS).max(1) as u8;
        let exponents = (narrowest..63).step_by(STEP.into()).take_while(|exponent| span >> exponent >= MIN_BINS);
        let level = |exponent| DensityLevel {
            exponent,
            bin: 0,
            groups: FxHashMap::default(),
            rows: DeferredSection::new(&room.part(8)),
            row_count: 0,
            is_kept: true,
        };
        Self { levels: exponents.map(level).collect(), links: 0, max_groups: (room.memory() / BYTES_PER_ROW).max(64) }
    }

    /// Adds the next link.
    pub(crate) fn push(&mut self, row: &LinkRow, number: u64) -> io::Result<()> {
        self.links += 1;
        let Some(level) = self.levels.first() else { return Ok(()) };
        let (low, high) =
            (row.earlier_timestamp() >> level.exponent, row.start_time.max(row.end_time) >> level.exponent);
        let direction_bit = u64::from(row.end_time < row.start_time);
        let span = high.wrapping_sub(low).cast_unsigned() << 1 | direction_bit;
        self.add(
            0,
            low,
            [row.start.0.into(), row.end.0.into(), row.value.0.into(), span],
            EqualLinks { count: 1, first: number },
        )
    }

    fn add(&mut self, level_index: usize, bin: i64, group: LinkGroupKey, links: EqualLinks) -> io::Result<()> {
        let Some(level) = self.levels.get(level_index) else { return Ok(()) };
        if level.bin != bin || level.groups.len() >= self.max_groups {
            self.write(level_index)?;
            self.levels[level_index].bin = bin;
        }
        let sum = self.levels[level_index].groups.entry(group).or_insert(EqualLinks { count: 0, first: links.first });
        *sum = EqualLinks { count: sum.count + links.count, first: sum.first.min(links.first) };
        Ok(())
    }

    /// Writes the rows of the current bin, and adds them to the next width.
    fn write(&mut self, level_index: usize) -> io::Result<()> {
        let links = self.links;
        let level = &mut self.levels[level_index];
        let bin = level.bin;
        let mut rows: Vec<(LinkGroupKey, EqualLinks)> = level.groups.drain().collect();
        rows.sort_unstable();
        level.row_count += rows.len() as u64;
        // If most links are different, the width is dropped.
        if level.is_kept && level.row_count > self.max_groups as u64 && level.row_count > links / (LINKS_PER_ROW / 2) {
            (level.is_kept, level.rows) = (false, level.rows.empty());
        }
        if level.is_kept {
            for &([start, end, value, span], EqualLinks { count, first }) in &rows {
                let row: [u64; COLUMNS] = [sortable_timestamp(bin), start, end, value, span, count - 1, first];
                // One write per row, because whole rows are read again.
                level.rows.write(row.map(u64::to_le_bytes).as_flattened())?;
            }
        }
        for ([start, end, value, span], equal_links) in rows {
            let high = bin.wrapping_add((span >> 1).cast_signed());
            let wider = (high >> STEP).wrapping_sub(bin >> STEP).cast_unsigned() << 1 | span & 1;
            self.add(level_index + 1, bin >> STEP, [start, end, value, wider], equal_links)?;
        }
        Ok(())
    }

    /// Writes the tables and their list. Positions in the list are relative to `from`. Returns the
    /// offset of the list from `from`, or 0 if there is no list.
    pub(crate) fn finish(mut self, room: &TemporarySpace, out: &mut PageWriter, from: u64) -> io::Result<u64> {
        for level_index in 0..self.levels.len() {
            self.write(level_index)?;
        }
        let (mut list, mut min_links) = (Vec::new(), self.links / LINKS_PER_ROW);
        for level in self.levels {
            if self.links < MIN_LINKS || !level.is_kept || level.row_count > min_links {
                continue;
            }
            min_links = level.row_count / 2;
            let mut table = PackedTableWriter::<COLUMNS>::new(room, out)?;
            level.rows.for_each_portion(ROW_BYTES, |rows| {
                rows.chunks_exact(ROW_BYTES).try_for_each(|row| {
                    let word = |word_index: usize| {
                        row[8 * word_index..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
                    };
                    table.push(out, std::array::from_fn(word))
                })
            })?;
            let table = table.finish(out, 0)?;
            list.extend([u64::from(level.exponent), table.rows, table.payload - from, table.directory - from]);
        }
        if list.is_empty() {
            return Ok(0);
        }
        let offset = out.align()?;
        out.write(&(list.len() as u64 / 4).to_le_bytes())?;
        list.iter().try_for_each(|word| out.write(&word.to_le_bytes()))?;
        Ok(offset - from)
    }
}

/// The counts of the links of a type in an index: binary logarithms of widths, and their tables,
/// the widest first.
#[derive(Debug)]
pub(crate) struct LinkDensity<'a>(Vec<(u8, PackedTable<'a, COLUMNS>)>);

impl<'a> LinkDensity<'a> {
    /// The widths up to `max_width`. The list is `place.len` bytes after `place.offset`.
    pub(crate) fn new(index_bytes: &'a IndexBytes, place: PageBytes, max_width: u8) -> Self {
        if place.len == 0 {
            return Self(Vec::new());
        }
        let offset = place.offset.saturating_add(place.len);
        let level = |number: u64| {
            let word = |word_index: u64| index_bytes.word(offset.saturating_add(8 + 32 * number + 8 * word_index));
            let absolute = |by: u64| place.offset.saturating_add(by);
            let of = TableRef { rows: word(1), payload: absolute(word(2)), directory: absolute(word(3)) };
            (word(0).clamp(1, 63) as u8, PackedTable::new(index_bytes, of))
        };
        let levels = (0..index_bytes.word(offset).min(MAX_LEVELS)).rev().map(level);
        Self(levels.filter(|level| level.0 <= max_width).collect())
    }

    /// Visits the counts of all links with an earlier timestamp in a time range. For parts of it
    /// without counts, it calls `rows`, which visits single links.
    pub(crate) fn visit(
        &self,
        time_range: TimeRange,
        exponent: u8,
        visit: &mut LinkVisitor<'_>,
        rows: &mut dyn FnMut(TimeRange, &mut LinkVisitor<'_>) -> Result<(), QueryError>,
    ) -> Result<(), QueryError> {
        visit_part(&self.0, time_range, exponent, visit, rows)
    }
}

fn visit_part(
    levels: &[(u8, PackedTable<'_, COLUMNS>)],
    time_range: TimeRange,
    exponent: u8,
    visit: &mut LinkVisitor<'_>,
    rows: &mut dyn FnMut(TimeRange, &mut LinkVisitor<'_>) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    let (from, to) = (time_range.from.0, time_range.to.0);
    if from >= to {
        return Ok(());
    }
    let Some((&(level_exponent, table), narrower_levels)) = levels.split_first() else {
        return rows(time_range, visit);
    };
    let (first, last) =
        ((from >> level_exponent) + i64::from((from >> level_exponent) << level_exponent < from), to >> level_exponent);
    if first >= last {
        return visit_part(narrower_levels, time_range, exponent, visit, rows);
    }
    let before = TimeRange { to: GlobalNanos(first << level_exponent), ..time_range };
    visit_part(narrower_levels, before, exponent, visit, rows)?;
    let begin = table.lower_bound(0, sortable_timestamp(first));
    let mut result = Ok(());
    table.visit_rows(begin..table.lower_bound(begin, sortable_timestamp(last)), |block, index| {
        let [bin, start, end, value, span, more, number] = block.columns.map(|column| column.get(index));
        let low = timestamp(bin);
        let (low, high) = (
            low >> (exponent - level_exponent),
            low.wrapping_add((span >> 1).cast_signed()) >> (exponent - level_exponent),
        );
        let is_reversed = span & 1 == 1;
        let (start_bin, end_bin) = if is_reversed { (high, low) } else { (low, high) };
        result = visit(&LinkCount {
            start: ContainerId(start as u32),
            end: ContainerId(end as u32),
            value: ValueId(value as u32),
            start_bin,
            end_bin,
            is_reversed,
            count: more.saturating_add(1),
            first: EntityId::Link(number as u32),
        });
        result.is_ok()
    });
    result?;
    let after = TimeRange { from: GlobalNanos(last << level_exponent), ..time_range };
    visit_part(narrower_levels, after, exponent, visit, rows)
}
