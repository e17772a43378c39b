//! Pieces of an index: some lanes each, read from their streams, packed, and summed on the way. Threads write them side by side, each with
//! places counted from its own beginning; where they stand in the file is known when they are put one behind the other.
//!
//! What a piece is does not depend on the machine, so that neither does the file.

use std::io;
use std::sync::Arc;

use super::assembly::value;
use super::bit_fields::ordered;
use super::builder::{LINK_WORDS, Lane, unfold};
use super::format::{LaneRecord, Place, TableRef};
use super::link_density::CrowdWriter;
use super::links;
use super::nested_sums::{self, NestedLanes};
use super::overview::OverviewWriter;
use super::packed_table::TableWriter;
use super::page_writer::Output;
use super::prefix_counts::TallyWriter;
use super::sort::Sorter;
use super::state_writer::{self, OwnValues};
use super::temporary_streams::{Room, Section, Taken};
use super::tree::TreeWriter;
use super::variables::NodeWriter;
use crate::query::effective_end;

/// States are in so many pieces, or one more, unless they are few.
const STATE_PIECES: usize = 4;
/// A lane, and its entities.
pub(crate) struct Gathered {
    pub(crate) lane: Lane,
    /// Number of the first entity.
    pub(crate) base: u32,
    pub(crate) rows: Arc<Taken>,
}

/// Lanes other than those of states.
pub(crate) struct Rest {
    pub(crate) marks: Vec<Gathered>,
    pub(crate) variables: Vec<Gathered>,
    pub(crate) links: Sorter<LINK_WORDS, 2>,
    /// Types that there are.
    pub(crate) types: u64,
}

/// What becomes a piece.
pub(crate) enum Job {
    /// Lanes of states, and the number of the first in the overview.
    States(Vec<Gathered>, u64),
    Rest(Rest),
    /// Nested states, by container and type.
    Nested(Vec<NestedLanes>),
}

/// What was written of some lanes, and what was learnt on the way.
pub(crate) struct Piece {
    pub(crate) out: Output,
    /// End of what can be seen of them.
    pub(crate) end: i64,
    /// Lanes of states, events, variables and links, and sums of nested states.
    pub(crate) directories: [Directory; 5],
    /// Ends of links by container, where links are in it.
    pub ends: Option<TableRef>,
    pub(crate) overview: Option<OverviewWriter>,
}

/// A directory of lanes while it grows.
pub(crate) struct Directory {
    records: Section,
    /// Entities of the lanes.
    pub(crate) entities: u64,
}

impl Directory {
    pub(crate) fn new(room: &Room) -> Self {
        Self { records: Section::new(room), entities: 0 }
    }

    fn push(&mut self, record: &LaneRecord) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(LaneRecord::BYTES);
        record.encode(&mut bytes);
        self.entities += record.table.rows;
        self.records.write(&bytes)
    }

    /// Takes the lanes of a piece that stands `by` bytes further back than it knows.
    pub(crate) fn append(&mut self, other: Self, by: u64) -> io::Result<()> {
        let mut bytes = Vec::new();
        other.records.each(LaneRecord::BYTES, |records| {
            bytes.clear();
            for record in records.chunks_exact(LaneRecord::BYTES) {
                LaneRecord::decode(record).moved(by).encode(&mut bytes);
            }
            self.records.write(&bytes)
        })?;
        self.entities += other.entities;
        Ok(())
    }

    pub(crate) fn write(self, out: &mut Output) -> io::Result<Place> {
        let len = self.records.len() / LaneRecord::BYTES as u64;
        let at = out.align()?;
        self.records.copy_to(out)?;
        Ok(Place { at, len })
    }
}

/// All pieces of an index, what takes longest first.
pub(crate) fn jobs(mut states: Vec<Gathered>, rest: Rest, room: &Room) -> Vec<Job> {
    let rows: u64 = states.iter().map(|lane| lane.lane.rows).sum();
    let wanted = if rows <= room.few_states() { rows.max(1) } else { rows.div_ceil(STATE_PIECES as u64) };
    let mut jobs = vec![Job::Rest(rest)];
    let nested = nested_sums::groups(&states);
    let mut number = 0;
    while !states.is_empty() {
        // At least one, and as many more as begin before there are enough.
        let before = states.iter().scan(0, |before, lane| Some(std::mem::replace(before, *before + lane.lane.rows)));
        let later = states.split_off(before.take_while(|&before| before < wanted).count());
        let now = std::mem::replace(&mut states, later);
        let first = number;
        number += now.len() as u64;
        jobs.push(Job::States(now, first));
    }
    if !nested.is_empty() {
        jobs.push(Job::Nested(nested));
    }
    jobs
}

impl Job {
    /// Writes the piece, of a trace from `extent.0` to `extent.1`.
    pub(crate) fn write(self, room: &Room, extent: (i64, i64)) -> io::Result<Piece> {
        // Several are in memory at a time; what sorts is only one of them.
        let small = room.part(STATE_PIECES);
        let mut piece = Piece {
            out: Output::piece(&small),
            end: i64::MIN,
            directories: std::array::from_fn(|_| Directory::new(&small)),
            ends: None,
            overview: None,
        };
        match self {
            Self::Nested(groups) => {
                for group in groups {
                    let record = group.write(&small, &mut piece.out)?;
                    piece.directories[4].push(&record)?;
                }
            }
            Self::States(lanes, first) => piece.states(&small, lanes, first, extent.0)?,
            Self::Rest(Rest { marks, variables, links, types }) => {
                piece.marks(room, marks)?;
                piece.variables(room, variables)?;
                piece.links((room, &small), links, types, extent)?;
            }
        }
        Ok(piece)
    }
}

fn record(lane: &Lane, base: u32) -> LaneRecord {
    let (container, ty) = (lane.container.0, lane.ty.0);
    LaneRecord { container, ty, depth: lane.depth, base, ..LaneRecord::default() }
}

impl Piece {
    fn see(&mut self, start: i64, end: i64) {
        self.end = self.end.max(effective_end(start, end));
    }

    fn states(&mut self, room: &Room, lanes: Vec<Gathered>, first: u64, origin: i64) -> io::Result<()> {
        let (mut own, mut overview) = (OwnValues::default(), OverviewWriter::new(room, origin));
        for (number, Gathered { lane, base, rows }) in (first..).zip(lanes) {
            let new = LaneRecord { extra: number, ..record(&lane, base) };
            let beside = (&mut overview, &mut own);
            let (written, last) = state_writer::write((room, &rows), &mut self.out, beside, &lane, new)?;
            self.see(last.from.0, last.to.0);
            self.directories[0].push(&written)?;
        }
        self.overview = Some(overview);
        Ok(())
    }

    fn marks(&mut self, room: &Room, lanes: Vec<Gathered>) -> io::Result<()> {
        for Gathered { lane, base, rows } in lanes {
            let (mut from, mut last) = (rows.read()?, 0_i64);
            let mut table = TableWriter::<3>::new(room, &mut self.out)?;
            let mut unsorted = Sorter::<3, 1>::new(room);
            let mut latest = i64::MIN;
            let mut tally = TallyWriter::new(room, &rows, lane.rows)?;
            for _ in 0..lane.rows {
                last = last.wrapping_add(unfold(from.number()?));
                latest = latest.max(last);
                let (value, detail) = value(&mut from)?;
                let row = [ordered(last), value, detail];
                if lane.is_sorted {
                    table.push(&mut self.out, row)?;
                    tally.as_mut().map_or(Ok(()), |tally| tally.push(row[1]))?;
                } else {
                    unsorted.push(row);
                    unsorted.flush()?;
                }
            }
            let mut sorted = unsorted.finish()?;
            while let Some(row) = sorted.next()? {
                table.push(&mut self.out, row)?;
                tally.as_mut().map_or(Ok(()), |tally| tally.push(row[1]))?;
            }
            let table = table.finish(&mut self.out, 0)?;
            let (values, sums) = tally.map_or_else(|| Ok(Default::default()), |tally| tally.finish(&mut self.out))?;
            self.see(latest, latest);
            self.directories[1].push(&LaneRecord { table, values, sums, ..record(&lane, base) })?;
        }
        Ok(())
    }

    fn variables(&mut self, room: &Room, lanes: Vec<Gathered>) -> io::Result<()> {
        for Gathered { lane, base, rows } in lanes {
            let mut from = rows.read()?;
            let mut table = TableWriter::<2>::new(room, &mut self.out)?;
            let mut nodes = NodeWriter::default();
            let (mut now, mut waiting) = (0_i64, None);
            for _ in 0..lane.rows {
                now = now.wrapping_add(unfold(from.number()?));
                let value = f64::from_bits(from.number()?.swap_bytes());
                table.push(&mut self.out, [ordered(now), value.to_bits()])?;
                if let Some((start, value)) = waiting.replace((now, value)) {
                    nodes.push(value, now.wrapping_sub(start));
                }
            }
            let end = lane.end.max(now);
            if let Some((start, value)) = waiting {
                nodes.push(value, end.wrapping_sub(start));
            }
            let table = table.finish(&mut self.out, ordered(end))?;
            let sums = Place { at: nodes.finish(&mut self.out)?, len: 0 };
            self.see(now, end);
            self.directories[2].push(&LaneRecord { table, sums, ..record(&lane, base) })?;
        }
        Ok(())
    }

    fn links(
        &mut self,
        (room, small): (&Room, &Room),
        links: Sorter<LINK_WORDS, 2>,
        types: u64,
        extent: (i64, i64),
    ) -> io::Result<()> {
        let mut both = Sorter::<3, 3>::new(room);
        let mut sorted = links.finish()?;
        let mut next = sorted.next()?;
        while let Some([ty, ..]) = next.filter(|words| words[0] < types) {
            let mut table = TableWriter::<{ links::COLUMNS }>::new(room, &mut self.out)?;
            let (mut tree, mut ends) = (TreeWriter::default(), Sorter::<1, 1>::new(room));
            let mut crowds = CrowdWriter::new(small, extent);
            let base = u32::try_from(self.directories[3].entities).unwrap_or(u32::MAX);
            let mut number = u64::from(base);
            while let Some([_, words @ ..]) = next.filter(|words| words[0] == ty) {
                table.push(&mut self.out, words)?;
                let row = links::row(words);
                let (low, high) = (row.start_time.min(row.end_time), row.start_time.max(row.end_time));
                tree.push(effective_end(low, high));
                ends.push([ordered(effective_end(low, high))]);
                ends.flush()?;
                both.push([row.start.0.into(), ordered(row.start_time), number]);
                if (row.end, row.end_time) != (row.start, row.start_time) {
                    both.push([row.end.0.into(), ordered(row.end_time), number]);
                }
                both.flush()?;
                crowds.push(&row, number)?;
                number += 1;
                self.see(low, low);
                next = sorted.next()?;
            }
            let table = table.finish(&mut self.out, 0)?;
            let at = tree.finish(&mut self.out)?;
            let sums = Place { at, len: crowds.finish(small, &mut self.out, at)? };
            let (mut ends, mut column) = (ends.finish()?, TableWriter::<1>::new(room, &mut self.out)?);
            while let Some(end) = ends.next()? {
                column.push(&mut self.out, end)?;
            }
            let ends = column.finish(&mut self.out, 0)?;
            let values = Place { at: ends.payload, len: ends.rows };
            let (ty, extra) = (ty as u32, ends.directory - ends.payload);
            self.directories[3].push(&LaneRecord { ty, base, table, values, sums, extra, ..LaneRecord::default() })?;
        }
        let (mut both, mut table) = (both.finish()?, TableWriter::<3>::new(room, &mut self.out)?);
        while let Some(row) = both.next()? {
            table.push(&mut self.out, row)?;
        }
        self.ends = Some(table.finish(&mut self.out, 0)?);
        Ok(())
    }
}
