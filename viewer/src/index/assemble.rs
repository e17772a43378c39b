//! From what was gathered to the file: lane by lane, each read from its stream, packed, and summed on the way. Memory does not
//! grow with the number of entities.

use std::fs::File;
use std::io::{self, Seek as _, Write as _};

use twox_hash::XxHash3_64;

use super::bits::{date, ordered};
use super::details::DetailWriter;
use super::format::{Header, Key, LaneRecord, Place};
use super::links;
use super::model::Whole;
use super::output::Output;
use super::overview::OverviewWriter;
use super::record::{LINK_WORDS, Lane, Recorder, unfold};
use super::scratch::{Room, Section, StreamReader, Streams};
use super::sort::Sorter;
use super::sums::{self, OwnValues};
use super::table::TableWriter;
use super::tree::TreeWriter;
use super::variables::NodeWriter;
use crate::query::{GlobalNanos, Interval};
use crate::sim::Outcome;
use crate::store::{depth_first, effective_end, model};

/// What is written, and what is learnt on the way.
struct Assembly<'a> {
    room: &'a Room,
    streams: &'a mut Streams,
    out: Output,
    header: Header,
    /// End of what can be seen.
    end: i64,
    /// Number of the first state of each stream.
    bases: Vec<u32>,
    overview: OverviewWriter,
}

/// A directory of lanes while it grows, and the number that the next entity gets.
struct Directory {
    records: Section,
    next: u64,
}

impl Directory {
    fn new(room: &Room) -> Self {
        Self { records: Section::new(room), next: 0 }
    }

    fn base(&self) -> u32 {
        // The simulation refuses entities past the last number.
        u32::try_from(self.next).unwrap_or(u32::MAX)
    }

    fn push(&mut self, record: &LaneRecord) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(LaneRecord::BYTES);
        record.encode(&mut bytes);
        self.next += record.table.rows;
        self.records.write(&bytes)
    }

    fn write(self, out: &mut Output) -> io::Result<Place> {
        let len = self.records.len() / LaneRecord::BYTES as u64;
        let at = out.align()?;
        self.records.copy_to(out)?;
        Ok(Place { at, len })
    }
}

fn record(lane: &Lane, base: u32) -> LaneRecord {
    let (container, ty) = (lane.container.0, lane.ty.0);
    LaneRecord { container, ty, depth: lane.depth, base, ..LaneRecord::default() }
}

/// Value and detail row, as the recorder writes them.
pub(super) fn value(from: &mut StreamReader<'_>) -> io::Result<(u64, u64)> {
    let value = from.number()?;
    let detail = if value & 1 == 1 { from.number()? } else { 0 };
    Ok((value >> 1, detail))
}

/// Writes the index of a simulated trace into an empty file.
pub(super) fn write(outcome: Outcome<Recorder>, key: Key, file: File) -> io::Result<()> {
    let Outcome { entities, name, types, values, containers, container_details, extent, remarks, intact } = outcome;
    entities.look()?;
    let type_count = types.len() as u64;
    let model = model(types, values);
    let (containers, _) = depth_first(containers);
    let Recorder { room, mut streams, states, marks, variables, links, details, references, reference_count, .. } =
        entities;
    let mut assembly = Assembly {
        room: &room,
        streams: &mut streams,
        out: Output::new(file)?,
        header: Header { key, ..Header::default() },
        end: effective_end(extent.0, extent.1),
        bases: Vec::new(),
        overview: OverviewWriter::new(&room, extent.0),
    };
    let states = assembly.states(states)?;
    let marks = assembly.marks(marks)?;
    let variables = assembly.variables(variables)?;
    let links = assembly.links(links, type_count)?;
    assembly.references(references, reference_count)?;
    let mut summary = crate::query::Summary {
        name,
        extent: Interval { from: GlobalNanos(extent.0), to: GlobalNanos(assembly.end) },
        containers: containers.len().saturating_sub(1) as u64,
        states: states.next,
        events: marks.next,
        links: links.next,
        samples: variables.next,
        remarks,
        intact,
        generation: 1,
    };
    summary.remarks.shrink_to_fit();
    let whole = Whole { summary, model, containers, details: container_details };
    assembly.finish(details, [states, marks, variables, links], &whole)
}

impl Assembly<'_> {
    fn see(&mut self, start: i64, end: i64) {
        self.end = self.end.max(effective_end(start, end));
    }

    fn states(&mut self, places: Vec<Vec<Lane>>) -> io::Result<Directory> {
        let mut lanes: Vec<Lane> = places.into_iter().flatten().filter(|lane| lane.rows > 0).collect();
        lanes.sort_unstable_by_key(|lane| (lane.container, lane.ty, lane.depth));
        let (mut directory, mut own) = (Directory::new(self.room), OwnValues::default());
        for (number, lane) in (0..).zip(&lanes) {
            let base = directory.base();
            if self.bases.len() <= lane.stream {
                self.bases.resize(lane.stream + 1, 0);
            }
            self.bases[lane.stream] = base;
            let new = LaneRecord { extra: number, ..record(lane, base) };
            let beside = (&mut self.overview, &mut own);
            let (written, last) = sums::write((self.room, self.streams), &mut self.out, beside, lane, new)?;
            self.see(last.from.0, last.to.0);
            directory.push(&written)?;
            self.streams.forget(lane.stream);
        }
        Ok(directory)
    }

    fn marks(&mut self, places: Vec<Option<Lane>>) -> io::Result<Directory> {
        let mut lanes: Vec<Lane> = places.into_iter().flatten().collect();
        lanes.sort_unstable_by_key(|lane| (lane.container, lane.ty));
        let mut directory = Directory::new(self.room);
        for lane in &lanes {
            let (mut from, mut last) = (self.streams.read(lane.stream)?, 0_i64);
            let mut table = TableWriter::<3>::new(self.room, &mut self.out)?;
            let mut unsorted = Sorter::<3, 1>::new(self.room);
            let mut latest = i64::MIN;
            for _ in 0..lane.rows {
                last = last.wrapping_add(unfold(from.number()?));
                latest = latest.max(last);
                let (value, detail) = value(&mut from)?;
                let row = [ordered(last), value, detail];
                if lane.is_sorted {
                    table.push(&mut self.out, row)?;
                } else {
                    unsorted.push(row);
                    unsorted.flush()?;
                }
            }
            let mut sorted = unsorted.finish()?;
            while let Some(row) = sorted.next()? {
                table.push(&mut self.out, row)?;
            }
            let table = table.finish(&mut self.out, 0)?;
            self.streams.forget(lane.stream);
            self.see(latest, latest);
            directory.push(&LaneRecord { table, ..record(lane, directory.base()) })?;
        }
        Ok(directory)
    }

    fn variables(&mut self, places: Vec<Option<Lane>>) -> io::Result<Directory> {
        let mut lanes: Vec<Lane> = places.into_iter().flatten().collect();
        lanes.sort_unstable_by_key(|lane| (lane.container, lane.ty));
        let mut directory = Directory::new(self.room);
        for lane in &lanes {
            let mut from = self.streams.read(lane.stream)?;
            let mut table = TableWriter::<2>::new(self.room, &mut self.out)?;
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
            self.streams.forget(lane.stream);
            self.see(now, end);
            directory.push(&LaneRecord { table, sums, ..record(lane, directory.base()) })?;
        }
        Ok(directory)
    }

    fn links(&mut self, links: Sorter<LINK_WORDS, 2>, types: u64) -> io::Result<Directory> {
        let mut directory = Directory::new(self.room);
        let mut both = Sorter::<3, 3>::new(self.room);
        let mut sorted = links.finish()?;
        let mut next = sorted.next()?;
        while let Some([ty, ..]) = next.filter(|words| words[0] < types) {
            let mut table = TableWriter::<{ links::COLUMNS }>::new(self.room, &mut self.out)?;
            let (mut tree, mut ends) = (TreeWriter::default(), Sorter::<1, 1>::new(self.room));
            let base = directory.base();
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
                number += 1;
                self.see(low, low);
                next = sorted.next()?;
            }
            let table = table.finish(&mut self.out, 0)?;
            let sums = Place { at: tree.finish(&mut self.out)?, len: 0 };
            let (mut ends, mut column) = (ends.finish()?, TableWriter::<1>::new(self.room, &mut self.out)?);
            while let Some(end) = ends.next()? {
                column.push(&mut self.out, end)?;
            }
            let ends = column.finish(&mut self.out, 0)?;
            let values = Place { at: ends.payload, len: ends.rows };
            let (ty, extra) = (ty as u32, ends.directory);
            directory.push(&LaneRecord { ty, base, table, values, sums, extra, ..LaneRecord::default() })?;
        }
        let (mut both, mut table) = (both.finish()?, TableWriter::<3>::new(self.room, &mut self.out)?);
        while let Some(row) = both.next()? {
            table.push(&mut self.out, row)?;
        }
        self.header.ends = table.finish(&mut self.out, 0)?;
        Ok(directory)
    }

    fn references(&mut self, stream: usize, count: u64) -> io::Result<()> {
        let (mut from, mut rows) = (self.streams.read(stream)?, Sorter::<4, 4>::new(self.room));
        for _ in 0..count {
            let container = from.number()?;
            let start = unfold(from.number()?);
            let end = start.wrapping_add(from.number()?.cast_signed());
            let (stream, row) = (from.number()?, from.number()?);
            let base = self.bases.get(stream as usize).copied().unwrap_or(0);
            rows.push([container, ordered(start), ordered(end), u64::from(base) + row]);
            rows.flush()?;
        }
        let (mut rows, mut table) = (rows.finish()?, TableWriter::<4>::new(self.room, &mut self.out)?);
        let mut tree = TreeWriter::default();
        while let Some(row) = rows.next()? {
            tree.push(date(row[2]));
            table.push(&mut self.out, row)?;
        }
        self.header.references = table.finish(&mut self.out, 0)?;
        self.header.reference_tree = tree.finish(&mut self.out)?;
        Ok(())
    }

    /// What is needed to open the file comes last, in one piece; then the header, at the front.
    fn finish(self, details: DetailWriter, lanes: [Directory; 4], whole: &Whole) -> io::Result<()> {
        let Self { room, streams, mut out, mut header, overview, .. } = self;
        header.overview = overview.write(room, &mut out)?;
        details.write(streams, room, &mut out, &mut header)?;
        let [states, marks, variables, links] = lanes;
        header.states = states.write(&mut out)?;
        header.marks = marks.write(&mut out)?;
        header.variables = variables.write(&mut out)?;
        header.links = links.write(&mut out)?;
        let model = whole.encode();
        header.model = Place { at: out.align()?, len: model.len() as u64 };
        out.write(&model)?;
        let (mut file, at, checksums) = out.finish()?;
        header.checksums = Place { at, len: checksums.len() as u64 };
        header.checksums_hash = XxHash3_64::oneshot(&checksums);
        header.length = at + header.checksums.len;
        file.rewind()?;
        file.write_all(&header.encode())?;
        file.flush()
    }
}
