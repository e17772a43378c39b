//! Pieces of an index: each contains some lanes, which are read from their byte streams, packed and
//! summed. Several threads write pieces in parallel, with positions relative to the piece. The
//! positions in the file are known when the pieces are concatenated.
//!
//! The division into pieces does not depend on the machine, so the file does not, either.

use std::io;

use tumit_spill::deferred_section::DeferredSection;
use tumit_spill::row_sorter::RowSorter;
use tumit_spill::temporary_space::TemporarySpace;
use tumit_spill::varint;

use super::builder::LINK_WORDS;
use super::lane_summaries::{DetailedValue, GatheredLane, LaneSummary, read_value};
use super::lane_values::LaneValues;
use super::nested_sums::{self, NestedLanes};
use super::prefix_count_writer::{PrefixCountSections, PrefixCountWriter};
use super::state_writer::{self, StateOutputs, WrittenStateLane};
use crate::index::file::bit_fields::sortable_timestamp;
use crate::index::file::file_layout::{LaneRecord, PageBytes, TableRef};
use crate::index::file::max_end_tree::MaxEndTreeWriter;
use crate::index::file::packed_table::PackedTableWriter;
use crate::index::file::page_writer::PageWriter;
use crate::index::lanes::link_density::LinkDensityWriter;
use crate::index::lanes::links;
use crate::index::lanes::variables::VariableNodeWriter;
use crate::index::mixtures::overview::OverviewWriter;
use crate::query::{TimestampExtent, effective_end};

/// Maximum number of index pieces that contain states. Few states are one piece.
const MAX_STATE_PIECES: usize = 4;
/// Bytes of the memory budget per state below which threads for parts of the states do not pay off:
/// 65,536 states with the default budget.
const BYTES_PER_STATE: usize = 512;

/// All lanes other than those of states.
pub(crate) struct OtherLanes {
    pub(crate) marks: Vec<GatheredLane>,
    pub(crate) variables: Vec<GatheredLane>,
    pub(crate) links: RowSorter<LINK_WORDS, 2>,
    /// Number of types.
    pub(crate) types: u64,
}

/// The content of a piece.
pub(crate) enum LaneJob {
    /// Lanes of states, and the number of the first one in the overview.
    States(Vec<GatheredLane>, u64),
    Others(OtherLanes),
    /// Nested states, by container and type.
    Nested(Vec<NestedLanes>),
}

/// The written bytes of some lanes, and facts that the writing yields.
pub(crate) struct LanePiece {
    pub(crate) out: PageWriter,
    /// End of their visible time range.
    pub(crate) end: i64,
    /// Lanes of states, events, variables and links, and sums of nested states.
    pub(crate) directories: [LaneDirectory; 5],
    /// Endpoints of links by container, if the piece contains links.
    pub ends: Option<TableRef>,
    pub(crate) overview: Option<OverviewWriter>,
}

/// A directory of lanes while it grows.
pub(crate) struct LaneDirectory {
    records: DeferredSection,
    /// Number of entities in the lanes.
    pub(crate) entities: u64,
}

impl LaneDirectory {
    pub(crate) fn new(room: &TemporarySpace) -> Self {
        Self { records: DeferredSection::new(&room.part(8)), entities: 0 }
    }

    fn push(&mut self, record: &LaneRecord) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(LaneRecord::BYTES);
        record.encode(&mut bytes);
        self.entities += record.table.rows;
        self.records.write(&bytes)
    }

    /// Appends the lanes of a piece that starts `offset` bytes after the position that its records
    /// assume.
    pub(crate) fn append(&mut self, other: Self, offset: u64) -> io::Result<()> {
        let mut bytes = Vec::new();
        other.records.for_each_portion(LaneRecord::BYTES, |records| {
            bytes.clear();
            for record in records.chunks_exact(LaneRecord::BYTES) {
                LaneRecord::decode(record).shift_by(offset).encode(&mut bytes);
            }
            self.records.write(&bytes)
        })?;
        self.entities += other.entities;
        Ok(())
    }

    pub(crate) fn write(self, out: &mut PageWriter) -> io::Result<PageBytes> {
        let len = self.records.len() / LaneRecord::BYTES as u64;
        let offset = out.align()?;
        self.records.for_each_portion(1, |bytes| out.write(bytes))?;
        Ok(PageBytes { offset, len })
    }
}

/// The jobs of all pieces, the longest one first.
pub(crate) fn jobs(mut states: Vec<GatheredLane>, other_lanes: OtherLanes, room: &TemporarySpace) -> Vec<LaneJob> {
    let rows: u64 = states.iter().map(|lane| lane.lane.rows).sum();
    let target = if rows <= (room.memory() / BYTES_PER_STATE) as u64 {
        rows.max(1)
    } else {
        rows.div_ceil(MAX_STATE_PIECES as u64)
    };
    let mut jobs = vec![LaneJob::Others(other_lanes)];
    let nested_groups = nested_sums::groups(&states);
    let mut number = 0;
    while !states.is_empty() {
        // Takes the first lane, and further lanes while the ones before have fewer than `target`
        // states.
        let before = states.iter().scan(0, |before, lane| Some(std::mem::replace(before, *before + lane.lane.rows)));
        let remainder = states.split_off(before.take_while(|&before| before < target).count());
        let now = std::mem::replace(&mut states, remainder);
        let first = number;
        number += now.len() as u64;
        jobs.push(LaneJob::States(now, first));
    }
    if !nested_groups.is_empty() {
        jobs.push(LaneJob::Nested(nested_groups));
    }
    jobs
}

impl LaneJob {
    /// Writes the piece, for a trace of this extent.
    pub(crate) fn write(self, room: &TemporarySpace, extent: TimestampExtent) -> io::Result<LanePiece> {
        // Several pieces are in memory at a time, but only one of them sorts.
        let small = room.part(MAX_STATE_PIECES);
        let mut piece = LanePiece {
            out: PageWriter::piece(&small),
            end: i64::MIN,
            directories: std::array::from_fn(|_| LaneDirectory::new(&small)),
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
            Self::States(lanes, first) => piece.states(&small, lanes, first, extent.first)?,
            Self::Others(OtherLanes { marks, variables, links, types }) => {
                piece.marks(room, marks)?;
                piece.variables(room, variables)?;
                piece.links((room, &small), links, types, extent)?;
            }
        }
        Ok(piece)
    }
}

fn record(lane: &LaneSummary, base: u32) -> LaneRecord {
    let (container, ty) = (lane.container.0, lane.ty.0);
    LaneRecord { container, ty, depth: lane.depth, base, ..LaneRecord::default() }
}

impl LanePiece {
    fn include_times(&mut self, start: i64, end: i64) {
        self.end = self.end.max(effective_end(start, end));
    }

    fn states(&mut self, room: &TemporarySpace, lanes: Vec<GatheredLane>, first: u64, origin: i64) -> io::Result<()> {
        let (mut lane_values, mut overview) = (LaneValues::default(), OverviewWriter::new(room, origin));
        for (number, GatheredLane { lane, base, rows }) in (first..).zip(lanes) {
            let new = LaneRecord { extra: number, ..record(&lane, base) };
            let (out, overview, lane_values) = (&mut self.out, &mut overview, &mut lane_values);
            let outputs = StateOutputs { room, out, overview, lane_values };
            let WrittenStateLane { record, last } = state_writer::write(outputs, &rows, &lane, new)?;
            self.include_times(last.from.0, last.to.0);
            self.directories[0].push(&record)?;
        }
        self.overview = Some(overview);
        Ok(())
    }

    fn marks(&mut self, room: &TemporarySpace, lanes: Vec<GatheredLane>) -> io::Result<()> {
        for GatheredLane { lane, base, rows } in lanes {
            let (mut from, mut last) = (rows.read()?, 0_i64);
            let mut table = PackedTableWriter::<3>::new(room, &mut self.out)?;
            let mut sorter = RowSorter::<3, 1>::new(&room.part(2));
            let mut max_timestamp = i64::MIN;
            let mut tally = PrefixCountWriter::new(room, &rows, lane.rows)?;
            for _ in 0..lane.rows {
                last = last.wrapping_add(varint::unzigzag(from.number()?));
                max_timestamp = max_timestamp.max(last);
                let DetailedValue { value, detail } = read_value(&mut from)?;
                let row = [sortable_timestamp(last), value, detail];
                if lane.is_sorted {
                    table.push(&mut self.out, row)?;
                    tally.as_mut().map_or(Ok(()), |tally| tally.push(row[1]))?;
                } else {
                    sorter.push(row);
                    sorter.flush()?;
                }
            }
            let mut row_order = sorter.finish()?;
            while let Some(row) = row_order.next()? {
                table.push(&mut self.out, row)?;
                tally.as_mut().map_or(Ok(()), |tally| tally.push(row[1]))?;
            }
            let table = table.finish(&mut self.out, 0)?;
            let counts = tally.map_or_else(|| Ok(Default::default()), |tally| tally.finish(&mut self.out))?;
            let PrefixCountSections { values, sums } = counts;
            self.include_times(max_timestamp, max_timestamp);
            self.directories[1].push(&LaneRecord { table, values, sums, ..record(&lane, base) })?;
        }
        Ok(())
    }

    fn variables(&mut self, room: &TemporarySpace, lanes: Vec<GatheredLane>) -> io::Result<()> {
        for GatheredLane { lane, base, rows } in lanes {
            let mut from = rows.read()?;
            let mut table = PackedTableWriter::<2>::new(room, &mut self.out)?;
            let mut nodes = VariableNodeWriter::default();
            let (mut now, mut preceding_sample) = (0_i64, None);
            for _ in 0..lane.rows {
                now = now.wrapping_add(varint::unzigzag(from.number()?));
                let value = f64::from_bits(from.number()?.swap_bytes());
                table.push(&mut self.out, [sortable_timestamp(now), value.to_bits()])?;
                if let Some((start, value)) = preceding_sample.replace((now, value)) {
                    nodes.push(value, now.wrapping_sub(start));
                }
            }
            let end = lane.end.max(now);
            if let Some((start, value)) = preceding_sample {
                nodes.push(value, end.wrapping_sub(start));
            }
            let table = table.finish(&mut self.out, sortable_timestamp(end))?;
            let sums = PageBytes { offset: nodes.finish(&mut self.out)?, len: 0 };
            self.include_times(now, end);
            self.directories[2].push(&LaneRecord { table, sums, ..record(&lane, base) })?;
        }
        Ok(())
    }

    fn links(
        &mut self,
        (room, small_space): (&TemporarySpace, &TemporarySpace),
        links: RowSorter<LINK_WORDS, 2>,
        types: u64,
        extent: TimestampExtent,
    ) -> io::Result<()> {
        let mut endpoints = RowSorter::<3, 3>::new(&room.part(2));
        let mut rows = links.finish()?;
        let mut next = rows.next()?;
        while let Some([ty, ..]) = next.filter(|words| words[0] < types) {
            let mut table = PackedTableWriter::<{ links::COLUMNS }>::new(room, &mut self.out)?;
            let (mut tree, mut ends) = (MaxEndTreeWriter::default(), RowSorter::<1, 1>::new(&room.part(2)));
            let mut density = LinkDensityWriter::new(small_space, extent);
            let base = u32::try_from(self.directories[3].entities).unwrap_or(u32::MAX);
            let mut number = u64::from(base);
            while let Some([_, words @ ..]) = next.filter(|words| words[0] == ty) {
                table.push(&mut self.out, words)?;
                let row = links::row(words);
                let (low, high) = (row.start_time.min(row.end_time), row.start_time.max(row.end_time));
                tree.push(effective_end(low, high));
                ends.push([sortable_timestamp(effective_end(low, high))]);
                ends.flush()?;
                endpoints.push([row.start.0.into(), sortable_timestamp(row.start_time), number]);
                if (row.end, row.end_time) != (row.start, row.start_time) {
                    endpoints.push([row.end.0.into(), sortable_timestamp(row.end_time), number]);
                }
                endpoints.flush()?;
                density.push(&row, number)?;
                number += 1;
                self.include_times(low, low);
                next = rows.next()?;
            }
            let table = table.finish(&mut self.out, 0)?;
            let offset = tree.finish(&mut self.out)?;
            let sums = PageBytes { offset, len: density.finish(small_space, &mut self.out, offset)? };
            let (mut ends, mut column) = (ends.finish()?, PackedTableWriter::<1>::new(room, &mut self.out)?);
            while let Some(end) = ends.next()? {
                column.push(&mut self.out, end)?;
            }
            let ends = column.finish(&mut self.out, 0)?;
            let values = PageBytes { offset: ends.payload, len: ends.rows };
            let (ty, extra) = (ty as u32, ends.directory - ends.payload);
            self.directories[3].push(&LaneRecord { ty, base, table, values, sums, extra, ..LaneRecord::default() })?;
        }
        let (mut endpoints, mut table) = (endpoints.finish()?, PackedTableWriter::<3>::new(room, &mut self.out)?);
        while let Some(row) = endpoints.next()? {
            table.push(&mut self.out, row)?;
        }
        self.ends = Some(table.finish(&mut self.out, 0)?);
        Ok(())
    }
}
