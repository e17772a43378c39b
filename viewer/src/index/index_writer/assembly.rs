//! Writes the index file from the recorded data: first the lanes, in pieces of [`lane_writer`],
//! then the shared sections. Memory does not grow with the number of entities.

use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::sync::Arc;

use tumit_spill::byte_streams::ByteStreams;
use tumit_spill::row_sorter::RowSorter;
use tumit_spill::temporary_space::TemporarySpace;
use tumit_spill::varint;
use twox_hash::XxHash3_64;

use super::builder::IndexBuilder;
use super::lane_summaries::{GatheredLane, LaneSummary};
use super::lane_writer::{self, LaneDirectory, LaneJob, LanePiece, OtherLanes};
use crate::index::description_section::DescriptionSection;
use crate::index::details::DetailTableWriter;
use crate::index::file::bit_fields::{sortable_timestamp, timestamp};
use crate::index::file::file_layout::{IndexHeader, IndexKey, PageBytes};
use crate::index::file::max_end_tree::MaxEndTreeWriter;
use crate::index::file::packed_table::PackedTableWriter;
use crate::index::file::page_writer::{FinishedPages, PageWriter};
use crate::index::lanes::open_links::OPEN_LINK_COLUMNS;
use crate::index::mixtures::overview::{self, OverviewWriter};
use crate::parallel_map::map_in_order;
use crate::query::{GlobalNanos, TimeRange, TimestampExtent, effective_end};
use crate::sim::SimOutcome;
use crate::store::{depth_first, model};

/// The file while it is written, and facts that the writing yields.
struct IndexAssembly<'a> {
    room: &'a TemporarySpace,
    byte_streams: &'a mut ByteStreams,
    out: PageWriter,
    header: IndexHeader,
    /// End of the visible time range.
    end: i64,
    /// Number of the first state of each byte stream.
    bases: Vec<u32>,
}

/// The lanes in the order of writing. Their entities are numbered consecutively over all lanes.
fn ordered_lanes(lanes: impl Iterator<Item = LaneSummary>, byte_streams: &mut ByteStreams) -> Vec<GatheredLane> {
    let mut lanes: Vec<LaneSummary> = lanes.filter(|lane| lane.rows > 0).collect();
    lanes.sort_unstable_by_key(|lane| (lane.container, lane.ty, lane.depth));
    let mut next = 0_u64;
    let mut number = |lane: LaneSummary| {
        // The simulation rejects entities after the last number.
        let base = u32::try_from(next).unwrap_or(u32::MAX);
        next += lane.rows;
        GatheredLane { lane, base, rows: Arc::new(byte_streams.finish_stream(lane.byte_stream)) }
    };
    lanes.into_iter().map(&mut number).collect()
}

/// Writes the index of a simulated trace into an empty file.
pub(crate) fn write(outcome: SimOutcome<IndexBuilder>, key: IndexKey, file: File) -> io::Result<()> {
    let SimOutcome { entities, name, types, values, containers, container_details, extent, diagnostics, wall_clock } =
        outcome;
    entities.check_cancelled()?;
    let type_count = types.len() as u64;
    let model = model(types, values);
    let containers = depth_first(containers).containers;
    let IndexBuilder {
        room,
        mut byte_streams,
        states,
        marks,
        variables,
        links,
        open_links,
        details,
        references,
        reference_count,
        parts,
        ..
    } = entities;
    let mut bases = vec![0; byte_streams.len()];
    let states = ordered_lanes(states.into_iter().flatten(), &mut byte_streams);
    states.iter().for_each(|lane| bases[lane.lane.byte_stream] = lane.base);
    let marks = ordered_lanes(marks.into_iter().flatten(), &mut byte_streams);
    let variables = ordered_lanes(variables.into_iter().flatten(), &mut byte_streams);
    let jobs = lane_writer::jobs(states, OtherLanes { marks, variables, links, types: type_count }, &room);
    let mut assembly = IndexAssembly {
        room: &room,
        bases,
        byte_streams: &mut byte_streams,
        out: PageWriter::new(file)?,
        header: IndexHeader { key, ..IndexHeader::default() },
        end: effective_end(extent.first, extent.last),
    };
    let ([states, marks, variables, links, nested_sums], overviews) = assembly.pieces(jobs, extent)?;
    assembly.references(references, reference_count)?;
    assembly.header.parts = parts.write(assembly.byte_streams, &assembly.bases, &room, &mut assembly.out)?;
    assembly.open_links(open_links)?;
    let mut summary = crate::query::TraceSummary {
        name,
        extent: TimeRange { from: GlobalNanos(extent.first), to: GlobalNanos(assembly.end) },
        containers: containers.len().saturating_sub(1) as u64,
        states: states.entities,
        events: marks.entities,
        links: links.entities,
        samples: variables.entities,
        diagnostics,
        wall_clock,
        generation: 1,
    };
    summary.diagnostics.shrink_to_fit();
    let description = DescriptionSection { summary, model, containers, details: container_details };
    assembly.finish(details, [states, marks, variables, links, nested_sums], overviews, &description)
}

impl IndexAssembly<'_> {
    /// Writes all lanes. Threads write them in separate pieces, which are then appended one after
    /// another.
    fn pieces(
        &mut self,
        jobs: Vec<LaneJob>,
        extent: TimestampExtent,
    ) -> io::Result<([LaneDirectory; 5], Vec<OverviewWriter>)> {
        let room = self.room;
        // Two threads, because each has a piece in memory.
        let pieces = map_in_order(jobs, 2, |job| job.write(room, extent));
        let mut directories = std::array::from_fn(|_| LaneDirectory::new(self.room));
        let mut overviews = Vec::new();
        for piece in pieces {
            let LanePiece { out, end, directories: own, ends, overview } = piece?;
            self.end = self.end.max(end);
            let offset = self.out.append(out)?;
            for (all, own) in directories.iter_mut().zip(own) {
                all.append(own, offset)?;
            }
            if let Some(ends) = ends {
                self.header.ends = ends.shift_by(offset);
            }
            overviews.extend(overview);
        }
        Ok((directories, overviews))
    }

    fn references(&mut self, byte_stream: usize, count: u64) -> io::Result<()> {
        let (mut from, mut rows) = (self.byte_streams.read(byte_stream)?, RowSorter::<4, 4>::new(&self.room.part(2)));
        for _ in 0..count {
            let container = from.number()?;
            let start = varint::unzigzag(from.number()?);
            let end = start.wrapping_add(from.number()?.cast_signed());
            let (byte_stream, row) = (from.number()?, from.number()?);
            let base = self.bases.get(byte_stream as usize).copied().unwrap_or(0);
            rows.push([container, sortable_timestamp(start), sortable_timestamp(end), u64::from(base) + row]);
            rows.flush()?;
        }
        let (mut rows, mut table) = (rows.finish()?, PackedTableWriter::<4>::new(self.room, &mut self.out)?);
        let mut tree = MaxEndTreeWriter::default();
        while let Some(row) = rows.next()? {
            tree.push(timestamp(row[2]));
            table.push(&mut self.out, row)?;
        }
        self.header.references = table.finish(&mut self.out, 0)?;
        self.header.reference_tree = tree.finish(&mut self.out)?;
        Ok(())
    }

    fn open_links(&mut self, rows: RowSorter<OPEN_LINK_COLUMNS, 6>) -> io::Result<()> {
        let mut rows = rows.finish()?;
        let mut table = PackedTableWriter::<OPEN_LINK_COLUMNS>::new(self.room, &mut self.out)?;
        while let Some(row) = rows.next()? {
            let start = timestamp(row[1]);
            self.end = self.end.max(effective_end(start, start));
            table.push(&mut self.out, row)?;
        }
        self.header.open_links = table.finish(&mut self.out, 0)?;
        Ok(())
    }

    /// Writes the sections that are needed to open the file last, in one range; then the header, at
    /// the front.
    fn finish(
        self,
        details: DetailTableWriter,
        lanes: [LaneDirectory; 5],
        overviews: Vec<OverviewWriter>,
        description: &DescriptionSection,
    ) -> io::Result<()> {
        let Self { room, byte_streams, mut out, mut header, .. } = self;
        header.overview = overview::write(overviews, room, &mut out)?;
        details.write(byte_streams, room, &mut out, &mut header)?;
        let [states, marks, variables, links, nested_sums] = lanes;
        header.states = states.write(&mut out)?;
        header.marks = marks.write(&mut out)?;
        header.variables = variables.write(&mut out)?;
        header.links = links.write(&mut out)?;
        header.nested_sums = nested_sums.write(&mut out)?;
        let model = description.encode();
        header.model = PageBytes { offset: out.align()?, len: model.len() as u64 };
        out.write(&model)?;
        let FinishedPages { mut file, checksums_at, checksums } = out.finish()?;
        header.checksums = PageBytes { offset: checksums_at, len: checksums.len() as u64 };
        header.checksums_hash = XxHash3_64::oneshot(&checksums);
        header.length = checksums_at + header.checksums.len;
        file.rewind()?;
        file.write_all(&header.encode())?;
        file.flush()
    }
}
