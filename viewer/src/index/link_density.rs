//! Links that are alike, counted: for stretches of time of some widths, how many links of a value lead from one container to another. So that
//! a picture of ten million of them costs what it shows.
//!
//! Widths are powers of two, each four times the one before. A width is kept where links are alike in it; all links that begin in an interval
//! are those of the widest stretches that lie in it, of narrower ones at both its edges, and of single rows beyond.

use std::io;

use rustc_hash::FxHashMap;
use tumit_paje::{ContainerId, ValueId};

use super::bit_fields::{date, ordered};
use super::format::Place;
use super::image::Image;
use super::packed_table::{Table, TableWriter};
use super::page_writer::Output;
use super::temporary_streams::{Room, Section};
use crate::query::LinkRow;
use crate::query::{EntityId, LinkCount, LinkVisitor, QueryError};

/// Columns: number of the stretch of the earlier date, start, end, value, stretches to the later date × 2 + whether the end comes first,
/// how many more than one, number of the first.
const COLUMNS: usize = 7;
/// Bytes of a row while rows are gathered.
const ROW_BYTES: usize = 8 * COLUMNS;
/// The narrowest stretches are so many in a trace, about: two to the power of this.
const MOST_BITS: u32 = 16;
/// The widest are so many, at least.
const LEAST_STRETCHES: u64 = 16;
/// Each width is two to the power of this times the one before.
const STEP: u8 = 2;
/// A width is kept if it has at most one row for so many links, and one for two of the width below: what is less is as soon counted anew.
const LINKS_PER_ROW: u64 = 8;
/// Fewer links of a type are as soon counted.
const LEAST_LINKS: u64 = 1 << 10;
/// Widths of a type, at most.
const MOST_LEVELS: u64 = 16;

/// Links that are alike in a stretch: start, end, value, stretches to the later date × 2 + whether the end comes first.
type Alike = [u64; 4];

struct Level {
    exponent: u8,
    stretch: i64,
    /// How many, and the number of the first.
    alike: FxHashMap<Alike, (u64, u64)>,
    rows: Section,
    written: u64,
    is_kept: bool,
}

/// Counts the links of a type while they are written, which they are by their earlier dates.
pub(crate) struct CrowdWriter {
    /// Narrow stretches first.
    levels: Vec<Level>,
    links: u64,
    /// So many rows of a stretch are gathered before they are written, whether it is over or not.
    gathered: usize,
}

impl CrowdWriter {
    /// Of a trace from `extent.0` to `extent.1`.
    pub(crate) fn new(room: &Room, extent: (i64, i64)) -> Self {
        let span = extent.1.saturating_sub(extent.0).max(0).cast_unsigned();
        let narrowest = (span.checked_ilog2().unwrap_or(0) + 1).saturating_sub(MOST_BITS).max(1) as u8;
        let exponents = (narrowest..63).step_by(STEP.into()).take_while(|exponent| span >> exponent >= LEAST_STRETCHES);
        let level = |exponent| Level {
            exponent,
            stretch: 0,
            alike: FxHashMap::default(),
            rows: Section::new(room),
            written: 0,
            is_kept: true,
        };
        Self { levels: exponents.map(level).collect(), links: 0, gathered: room.gathered_rows() }
    }

    /// Takes the next link.
    pub(crate) fn push(&mut self, row: &LinkRow, number: u64) -> io::Result<()> {
        self.links += 1;
        let Some(level) = self.levels.first() else { return Ok(()) };
        let (low, high) = (row.low() >> level.exponent, row.start_time.max(row.end_time) >> level.exponent);
        let reversed = u64::from(row.end_time < row.start_time);
        let span = high.wrapping_sub(low).cast_unsigned() << 1 | reversed;
        self.add(0, low, [row.start.0.into(), row.end.0.into(), row.value.0.into(), span], (1, number))
    }

    fn add(&mut self, at: usize, stretch: i64, alike: Alike, (count, first): (u64, u64)) -> io::Result<()> {
        let Some(level) = self.levels.get(at) else { return Ok(()) };
        if level.stretch != stretch || level.alike.len() >= self.gathered {
            self.write(at)?;
            self.levels[at].stretch = stretch;
        }
        let (sum, least) = self.levels[at].alike.entry(alike).or_insert((0, first));
        (*sum, *least) = (*sum + count, first.min(*least));
        Ok(())
    }

    /// Writes what was gathered of a stretch, and gives it to the next width.
    fn write(&mut self, at: usize) -> io::Result<()> {
        let links = self.links;
        let level = &mut self.levels[at];
        let stretch = level.stretch;
        let mut rows: Vec<(Alike, (u64, u64))> = level.alike.drain().collect();
        rows.sort_unstable();
        level.written += rows.len() as u64;
        // Where most links are unlike, nothing more of them need be kept.
        if level.is_kept && level.written > self.gathered as u64 && level.written > links / (LINKS_PER_ROW / 2) {
            (level.is_kept, level.rows) = (false, level.rows.empty());
        }
        if level.is_kept {
            for &([start, end, value, span], (count, first)) in &rows {
                let row: [u64; COLUMNS] = [ordered(stretch), start, end, value, span, count - 1, first];
                // At once: whole rows are read again.
                level.rows.write(row.map(u64::to_le_bytes).as_flattened())?;
            }
        }
        for ([start, end, value, span], counted) in rows {
            let high = stretch.wrapping_add((span >> 1).cast_signed());
            let wider = (high >> STEP).wrapping_sub(stretch >> STEP).cast_unsigned() << 1 | span & 1;
            self.add(at + 1, stretch >> STEP, [start, end, value, wider], counted)?;
        }
        Ok(())
    }

    /// Writes the tables and their list, `from` bytes behind which it is told where they are. Gives how far behind the list is; 0 when there
    /// is none.
    pub(crate) fn finish(mut self, room: &Room, out: &mut Output, from: u64) -> io::Result<u64> {
        for at in 0..self.levels.len() {
            self.write(at)?;
        }
        let (mut list, mut least) = (Vec::new(), self.links / LINKS_PER_ROW);
        for level in self.levels {
            if self.links < LEAST_LINKS || !level.is_kept || level.written > least {
                continue;
            }
            least = level.written / 2;
            let mut table = TableWriter::<COLUMNS>::new(room, out)?;
            level.rows.each(ROW_BYTES, |rows| {
                rows.chunks_exact(ROW_BYTES).try_for_each(|row| {
                    let word = |at: usize| row[8 * at..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
                    table.push(out, std::array::from_fn(word))
                })
            })?;
            let table = table.finish(out, 0)?;
            list.extend([u64::from(level.exponent), table.rows, table.payload - from, table.directory - from]);
        }
        if list.is_empty() {
            return Ok(0);
        }
        let at = out.align()?;
        out.write(&(list.len() as u64 / 4).to_le_bytes())?;
        list.iter().try_for_each(|word| out.write(&word.to_le_bytes()))?;
        Ok(at - from)
    }
}

/// The counts of the links of a type in an image: widths, and their tables, the widest first.
#[derive(Debug)]
pub(crate) struct Crowds<'a>(Vec<(u8, Table<'a, COLUMNS>)>);

impl<'a> Crowds<'a> {
    /// Whatever is not wider than is asked for. The list is `place.len` bytes behind `place.at`.
    pub(crate) fn new(image: &'a Image, place: Place, widest: u8) -> Self {
        if place.len == 0 {
            return Self(Vec::new());
        }
        let at = place.at.saturating_add(place.len);
        let level = |number: u64| {
            let word = |at_word: u64| image.word(at.saturating_add(8 + 32 * number + 8 * at_word));
            let behind = |by: u64| place.at.saturating_add(by);
            let of = super::format::TableRef { rows: word(1), payload: behind(word(2)), directory: behind(word(3)) };
            (word(0).clamp(1, 63) as u8, Table::new(image, of))
        };
        let levels = (0..image.word(at).min(MOST_LEVELS)).rev().map(level);
        Self(levels.filter(|level| level.0 <= widest).collect())
    }

    /// Visits the counts of all links whose earlier date is at least `from` and before `to`: what `rows` visits stretch by stretch, where
    /// there are no counts.
    pub(crate) fn visit(
        &self,
        (from, to): (i64, i64),
        exponent: u8,
        visit: &mut LinkVisitor<'_>,
        rows: &mut dyn FnMut(i64, i64, &mut LinkVisitor<'_>) -> Result<(), QueryError>,
    ) -> Result<(), QueryError> {
        visit_from(&self.0, (from, to), exponent, visit, rows)
    }
}

fn visit_from(
    levels: &[(u8, Table<'_, COLUMNS>)],
    (from, to): (i64, i64),
    exponent: u8,
    visit: &mut LinkVisitor<'_>,
    rows: &mut dyn FnMut(i64, i64, &mut LinkVisitor<'_>) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    if from >= to {
        return Ok(());
    }
    let Some((&(own, table), narrower)) = levels.split_first() else { return rows(from, to, visit) };
    let (first, last) = ((from >> own) + i64::from((from >> own) << own < from), to >> own);
    if first >= last {
        return visit_from(narrower, (from, to), exponent, visit, rows);
    }
    visit_from(narrower, (from, first << own), exponent, visit, rows)?;
    let begin = table.lower(0, ordered(first));
    let mut result = Ok(());
    table.each(begin..table.lower(begin, ordered(last)), |block, index| {
        let [stretch, start, end, value, span, more, number] = block.columns.map(|column| column.get(index));
        let low = date(stretch);
        let (low, high) = (low >> (exponent - own), low.wrapping_add((span >> 1).cast_signed()) >> (exponent - own));
        let reversed = span & 1 == 1;
        let (start_bin, end_bin) = if reversed { (high, low) } else { (low, high) };
        result = visit(&LinkCount {
            start: ContainerId(start as u32),
            end: ContainerId(end as u32),
            value: ValueId(value as u32),
            start_bin,
            end_bin,
            reversed,
            count: more.saturating_add(1),
            first: EntityId::Link(number as u32),
        });
        result.is_ok()
    });
    result?;
    visit_from(narrower, (last << own, to), exponent, visit, rows)
}
