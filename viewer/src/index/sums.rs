//! Writes a lane of states: two passes over its stream, the first for the values that occur, the second for blocks and sums.

use std::io;
use std::path::Path;

use rustc_hash::FxHashMap;

use super::assemble::value;
use super::bits::{SLACK, ordered, pack, width};
use super::format::{BLOCK, LaneRecord, Place};
use super::output::Output;
use super::record::Lane;
use super::scratch::{Section, Streams};
use super::states::{Accumulator, COLUMNS, DENSE, DENSE_VALUES, DIRECT, FAN, GAPLESS, NO_SUMS, TREE};
use super::table::TableWriter;
use crate::query::{GlobalNanos, Interval};

/// Writes the lane. Gives its record, and when its last state is.
pub(super) fn write(
    folder: &Path,
    streams: &Streams,
    out: &mut Output,
    lane: &Lane,
    record: LaneRecord,
) -> io::Result<(LaneRecord, Interval)> {
    let (values, own) = values(streams, lane)?;
    let mut sums = match values.len() {
        _ if lane.rows <= DIRECT => Sums::None,
        0..=DENSE_VALUES => Sums::Dense { totals: vec![0; values.len()], rows: Section::new(folder) },
        _ => Sums::Tree(Nodes::new(folder, values.len())),
    };
    sums.begin()?;
    let mut table = TableWriter::<COLUMNS>::new(folder, out)?;
    let mut block = Waiting::default();
    let (mut from, mut last) = (streams.read(lane.stream)?, 0_i64);
    let mut life = (0, 0);
    for _ in 0..lane.rows {
        let start = last.wrapping_add(from.number()?.cast_signed());
        last = start.wrapping_add(from.number()?.cast_signed());
        life = (start, last);
        let (value, detail) = value(&mut from)?;
        if block.ends.len() == BLOCK {
            block.write(&mut table, out, start)?;
        }
        let value = own.get(&value).copied().unwrap_or(0);
        block.push(start, last, value, detail);
        sums.add(value, last.wrapping_sub(start), block.ends.len() == BLOCK)?;
    }
    block.write(&mut table, out, last)?;
    let table = table.finish(out, ordered(last))?;
    let at = out.align()?;
    for value in &values {
        out.write(&(*value as u32).to_le_bytes())?;
    }
    let values = Place { at, len: values.len() as u64 };
    let sums = sums.finish(out)?;
    let life = Interval { from: GlobalNanos(life.0), to: GlobalNanos(life.1) };
    Ok((LaneRecord { table, values, sums, ..record }, life))
}

/// The values of a lane in the order in which they first occur, and their places in that list.
fn values(streams: &Streams, lane: &Lane) -> io::Result<(Vec<u64>, FxHashMap<u64, u64>)> {
    let (mut list, mut own) = (Vec::new(), FxHashMap::default());
    let mut from = streams.read(lane.stream)?;
    for _ in 0..lane.rows {
        from.number()?;
        from.number()?;
        let (value, _) = value(&mut from)?;
        own.entry(value).or_insert_with(|| {
            list.push(value);
            list.len() as u64 - 1
        });
    }
    Ok((list, own))
}

/// A block that waits for the start of the next state.
#[derive(Default)]
struct Waiting {
    columns: [Vec<u64>; COLUMNS],
    ends: Vec<i64>,
}

impl Waiting {
    fn push(&mut self, start: i64, end: i64, value: u64, detail: u64) {
        let row = [ordered(start), end.wrapping_sub(start).cast_unsigned(), value, detail];
        self.columns.iter_mut().zip(row).for_each(|(column, number)| column.push(number));
        self.ends.push(end);
    }

    /// `next` is where the next state starts, or the last one ends.
    fn write(&mut self, table: &mut TableWriter<COLUMNS>, out: &mut Output, next: i64) -> io::Result<()> {
        let starts = self.columns[0].iter().skip(1).copied().chain([ordered(next)]);
        let gapless = self.ends.iter().zip(starts).all(|(&end, start)| ordered(end) == start);
        if gapless {
            self.columns[1].fill(0);
        }
        table.push_block(out, self.columns.each_ref().map(Vec::as_slice), if gapless { GAPLESS } else { 0 })?;
        self.columns.iter_mut().for_each(Vec::clear);
        self.ends.clear();
        Ok(())
    }
}

/// Sums of time while a lane is written.
enum Sums {
    None,
    Dense { totals: Vec<i64>, rows: Section },
    Tree(Nodes),
}

impl Sums {
    fn begin(&mut self) -> io::Result<()> {
        if let Self::Dense { totals, rows } = self { write_totals(totals, rows) } else { Ok(()) }
    }

    fn add(&mut self, value: u64, time: i64, ends_block: bool) -> io::Result<()> {
        match self {
            Self::None => Ok(()),
            Self::Dense { totals, rows } => {
                totals[value as usize] = totals[value as usize].wrapping_add(time);
                if ends_block { write_totals(totals, rows) } else { Ok(()) }
            }
            Self::Tree(nodes) => {
                nodes.levels[0].sums.add(value, time);
                if ends_block { nodes.end_block() } else { Ok(()) }
            }
        }
    }

    fn finish(self, out: &mut Output) -> io::Result<Place> {
        match self {
            Self::None => Ok(Place { at: 0, len: NO_SUMS }),
            Self::Dense { rows, .. } => {
                let at = out.align()?;
                rows.copy_to(out)?;
                Ok(Place { at, len: DENSE })
            }
            Self::Tree(nodes) => Ok(Place { at: nodes.finish(out)?, len: TREE }),
        }
    }
}

fn write_totals(totals: &[i64], rows: &mut Section) -> io::Result<()> {
    totals.iter().try_for_each(|total| rows.write(&total.to_le_bytes()))
}

/// The tree of a lane with many values.
struct Nodes {
    values: usize,
    levels: Vec<Level>,
    bytes: Section,
}

/// Nodes of one size, and the one that is not yet whole.
struct Level {
    sums: Accumulator,
    children: u64,
    places: Vec<u64>,
}

impl Level {
    fn new(values: usize) -> Self {
        let mut sums = Accumulator::default();
        sums.reset(values);
        Self { sums, children: 0, places: Vec::new() }
    }
}

impl Nodes {
    fn new(folder: &Path, values: usize) -> Self {
        Self { values, levels: vec![Level::new(values)], bytes: Section::new(folder) }
    }

    fn end_block(&mut self) -> io::Result<()> {
        for at in 0.. {
            let level = &mut self.levels[at];
            level.children += 1;
            if level.children < FAN {
                break;
            }
            level.children = 0;
            level.places.push(self.bytes.len());
            let node: Vec<(u32, i64)> = level.sums.sorted().collect();
            level.sums.reset(self.values);
            let widths = [
                width(node.last().map_or(0, |last| last.0.into())),
                width(node.iter().map(|sum| sum.1.cast_unsigned()).max().unwrap_or(0)),
            ];
            let mut bytes = Vec::new();
            bytes.extend_from_slice(&(node.len() as u32).to_le_bytes());
            bytes.extend_from_slice(&[widths[0], widths[1], 0, 0]);
            pack(&mut bytes, node.iter().map(|sum| sum.0.into()), widths[0]);
            pack(&mut bytes, node.iter().map(|sum| sum.1.cast_unsigned()), widths[1]);
            self.bytes.write(&bytes)?;
            if self.levels.len() == at + 1 {
                self.levels.push(Level::new(self.values));
            }
            let above = &mut self.levels[at + 1];
            node.iter().for_each(|&(value, time)| above.sums.add(value.into(), time));
        }
        Ok(())
    }

    /// Nodes, then their places level by level, then the number of levels and where those begin.
    fn finish(self, out: &mut Output) -> io::Result<u64> {
        let begin = out.align()?;
        self.bytes.copy_to(out)?;
        out.write(&[0; SLACK])?;
        out.align()?;
        let levels: Vec<Level> = self.levels.into_iter().filter(|level| !level.places.is_empty()).collect();
        let mut head = vec![levels.len() as u64];
        for level in &levels {
            head.push(out.place());
            level.places.iter().try_for_each(|place| out.write(&(begin + place).to_le_bytes()))?;
        }
        let at = out.align()?;
        head.iter().try_for_each(|word| out.write(&word.to_le_bytes()))?;
        Ok(at)
    }
}
