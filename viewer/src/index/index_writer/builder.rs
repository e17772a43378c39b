//! [`IndexBuilder`]: receives entities from the simulation when they end, and appends them to one
//! byte stream per lane.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tumit_paje::time::GlobalNanos;
use tumit_paje::{ExtraField, SourcePosition, ValueId};
use tumit_spill::byte_streams::ByteStreams;
use tumit_spill::endpoint_map::OverflowStore;
use tumit_spill::row_sorter::RowSorter;
use tumit_spill::temporary_space::TemporarySpace;
use tumit_spill::varint;

use super::lane_summaries::{LaneSummary, write_value};
use super::operation_parts::OperationPartWriter;
use crate::index::details::DetailTableWriter;
use crate::index::lanes::links;
use crate::index::lanes::open_links::{OPEN_LINK_COLUMNS, open_link_words};
use crate::query::TimeRange;
use crate::query::effective_end;
use crate::sim::{EndedLink, EndedState, EntityPlace, EntitySink, OpenLinkStart};

/// Number of operations between two checks for cancellation.
const OPERATIONS_PER_CHECK: u32 = 1 << 12;

/// Words of a link's row: its type, and the columns of its table.
pub(crate) const LINK_WORDS: usize = 1 + links::COLUMNS;

/// All data that is collected while the trace is read.
#[derive(Debug)]
pub(crate) struct IndexBuilder {
    pub(crate) room: TemporarySpace,
    pub(crate) byte_streams: ByteStreams,
    /// The lanes of states by their container and type (a number of the simulation), then by depth.
    pub(crate) states: Vec<Vec<LaneSummary>>,
    pub(crate) marks: Vec<Option<LaneSummary>>,
    pub(crate) variables: Vec<Option<LaneSummary>>,
    pub(crate) links: RowSorter<LINK_WORDS, 2>,
    /// The links that never end, by type, start and key.
    pub(crate) open_links: RowSorter<OPEN_LINK_COLUMNS, 6>,
    pub(crate) details: DetailTableWriter,
    /// Byte stream of the states that refer to containers: container, start, effective end, byte
    /// stream, row.
    pub(crate) references: usize,
    pub(crate) reference_count: u64,
    /// The parts of collective operations.
    pub(crate) parts: OperationPartWriter,
    /// The first error of storing an open link.
    failure: Option<io::Error>,
    cancel: Option<Arc<AtomicBool>>,
    operations: u32,
}

impl IndexBuilder {
    /// An empty recorder that uses this room. Setting `cancel` stops it.
    pub(crate) fn new(room: &TemporarySpace, cancel: Option<Arc<AtomicBool>>) -> Self {
        let mut byte_streams = ByteStreams::new(room);
        let details = DetailTableWriter::new(room, &mut byte_streams);
        let references = byte_streams.open();
        let parts = OperationPartWriter::new(&mut byte_streams);
        Self {
            room: room.clone(),
            byte_streams,
            states: Vec::new(),
            marks: Vec::new(),
            variables: Vec::new(),
            links: RowSorter::new(&room.part(2)),
            open_links: RowSorter::new(&room.part(8)),
            failure: None,
            details,
            references,
            reference_count: 0,
            parts,
            cancel,
            operations: 0,
        }
    }

    /// Returns an error if the user has cancelled the index.
    pub(crate) fn check_cancelled(&self) -> io::Result<()> {
        match &self.cancel {
            Some(cancel) if cancel.load(Ordering::Relaxed) => Err(io::ErrorKind::Interrupted.into()),
            _ => Ok(()),
        }
    }
}

fn lane<'a>(
    lanes: &'a mut Vec<Option<LaneSummary>>,
    place: EntityPlace,
    byte_streams: &mut ByteStreams,
) -> &'a mut LaneSummary {
    let index = place.number as usize;
    if lanes.len() <= index {
        lanes.resize(index + 1, None);
    }
    lanes[index].get_or_insert_with(|| new_lane(place, 0, byte_streams))
}

fn new_lane(place: EntityPlace, depth: u32, byte_streams: &mut ByteStreams) -> LaneSummary {
    let (container, ty, byte_stream) = (place.container, place.ty, byte_streams.open());
    LaneSummary { container, ty, depth, byte_stream, rows: 0, last: 0, end: 0, is_sorted: true }
}

impl EntitySink for IndexBuilder {
    /// Entity numbers have 32 bits.
    const MOST: u64 = u32::MAX as u64;

    fn detail(&mut self, extra: &[ExtraField<'_>], source: Option<SourcePosition<'_>>) -> u32 {
        self.details.add(&mut self.byte_streams, extra, source)
    }

    fn join(&mut self, start: u32, end: u32) -> u32 {
        self.details.join(&mut self.byte_streams, start, end)
    }

    fn part(&mut self, detail: u32, operation: u64) {
        self.parts.begin(detail, operation);
    }

    fn free_detail(&mut self, detail: u32) {
        self.details.free_row(detail);
    }

    /// An open link needs no references to containers. They serve to find states; links are found
    /// by their endpoints.
    fn wait(&mut self, detail: u32) {
        self.details.free_row(detail);
    }

    fn overflow(&self) -> OverflowStore {
        // Fewer endpoints with a small budget.
        let default = OverflowStore::default();
        OverflowStore {
            folder: self.room.folder().to_owned(),
            max_entries: default.max_entries.min(self.room.memory() / 256),
        }
    }

    fn name_key(&mut self, key: u64, text: &str) {
        self.details.name_key(&mut self.byte_streams, key, text);
    }

    #[inline]
    fn state(&mut self, place: EntityPlace, state: EndedState) {
        let index = place.number as usize;
        if self.states.len() <= index {
            self.states.resize_with(index + 1, Vec::new);
        }
        let lanes = &mut self.states[index];
        while lanes.len() <= state.depth as usize {
            let depth = lanes.len() as u32;
            lanes.push(new_lane(place, depth, &mut self.byte_streams));
        }
        let lane = &mut lanes[state.depth as usize];
        let (start, end) = (state.life.from.0, state.life.to.0);
        let last = std::mem::replace(&mut lane.last, end);
        self.byte_streams.append(lane.byte_stream, |out| {
            varint::push(out, start.wrapping_sub(last).cast_unsigned());
            varint::push(out, end.wrapping_sub(start).cast_unsigned());
            write_value(out, state.value, state.detail);
        });
        let (byte_stream, row) = (lane.byte_stream, lane.rows);
        lane.rows += 1;
        if state.detail != 0 {
            self.parts.end(&mut self.byte_streams, state.detail, start, (byte_stream, row));
            let mut containers = self.details.references(state.detail);
            // A state may refer to a container twice, for example as the reason of waiting and as
            // its owner.
            containers.sort_unstable();
            containers.dedup();
            self.reference_count += containers.len() as u64;
            for container in containers {
                self.byte_streams.append(self.references, |out| {
                    varint::push(out, container.0.into());
                    varint::push(out, varint::zigzag(start));
                    varint::push(out, effective_end(start, end).wrapping_sub(start).cast_unsigned());
                    varint::push(out, byte_stream as u64);
                    varint::push(out, row);
                });
            }
        }
    }

    fn event(&mut self, place: EntityPlace, time: GlobalNanos, value: ValueId, detail: u32) {
        self.details.free_row(detail);
        let lane = lane(&mut self.marks, place, &mut self.byte_streams);
        lane.is_sorted &= lane.rows == 0 || lane.last <= time.0;
        let last = std::mem::replace(&mut lane.last, time.0);
        lane.rows += 1;
        self.byte_streams.append(lane.byte_stream, |out| {
            varint::push(out, varint::zigzag(time.0.wrapping_sub(last)));
            write_value(out, value, detail);
        });
    }

    fn sample(&mut self, place: EntityPlace, life: TimeRange, value: f64) {
        let lane = lane(&mut self.variables, place, &mut self.byte_streams);
        let last = std::mem::replace(&mut lane.last, life.from.0);
        (lane.rows, lane.end) = (lane.rows + 1, life.to.0);
        self.byte_streams.append(lane.byte_stream, |out| {
            varint::push(out, varint::zigzag(life.from.0.wrapping_sub(last)));
            varint::push(out, value.to_bits().swap_bytes());
        });
    }

    fn link(&mut self, link: &EndedLink) {
        let mut words = [0; LINK_WORDS];
        words[0] = link.ty.0.into();
        words[1..].copy_from_slice(&links::words(&link.row()));
        self.links.push(words);
    }

    fn keeps_open_links(&self) -> bool {
        true
    }

    fn open_link(&mut self, link: &OpenLinkStart) {
        self.open_links.push(open_link_words(&link.row()));
        if let Err(error) = self.open_links.flush() {
            self.failure.get_or_insert(error);
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }

    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        self.operations += 1;
        if self.operations >= OPERATIONS_PER_CHECK {
            self.operations = 0;
            self.check_cancelled()?;
        }
        self.byte_streams.flush()?;
        self.links.flush()?;
        self.details.flush()
    }
}
