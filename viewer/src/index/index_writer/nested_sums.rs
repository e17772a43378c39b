//! Writes the sums of nested states: checkpoints of total and self time of one container and state
//! type.
//!
//! The lanes of all depths are read again and merged by start.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::io;
use std::sync::Arc;

use tumit_spill::byte_streams::{ByteStreamReader, FinishedByteStream};
use tumit_spill::deferred_section::DeferredSection;
use tumit_spill::temporary_space::TemporarySpace;

use super::lane_summaries::{GatheredLane, read_value};
use crate::index::file::file_layout::{LaneRecord, PageBytes, TableRef};
use crate::index::file::page_writer::PageWriter;
use crate::query::nested_times::{CheckpointWriter, NEEDS_CHECKPOINTS, NestedState};

/// Deeper nesting has no checkpoints: each depth needs a buffer while it is read. Queries then read
/// the states of the time range.
const MAX_DEPTHS: usize = 256;

/// The lanes of one container and state type, outermost depth first.
pub(crate) struct NestedLanes {
    container: u32,
    ty: u32,
    /// The number of states of each lane, and their location.
    lanes: Vec<(u64, Arc<FinishedByteStream>)>,
}

/// The containers and types with many nested states. `lanes` are sorted by container, type and
/// depth.
pub(crate) fn groups(lanes: &[GatheredLane]) -> Vec<NestedLanes> {
    let place = |gathered_lane: &GatheredLane| (gathered_lane.lane.container, gathered_lane.lane.ty);
    let is_nested = |lanes: &&[GatheredLane]| {
        let states: u64 = lanes.iter().map(|gathered_lane| gathered_lane.lane.rows).sum();
        (2..=MAX_DEPTHS).contains(&lanes.len()) && states >= NEEDS_CHECKPOINTS
    };
    let group = |lanes: &[GatheredLane]| NestedLanes {
        container: lanes[0].lane.container.0,
        ty: lanes[0].lane.ty.0,
        lanes: lanes.iter().map(|gathered_lane| (gathered_lane.lane.rows, Arc::clone(&gathered_lane.rows))).collect(),
    };
    lanes.chunk_by(|a, b| place(a) == place(b)).filter(is_nested).map(group).collect()
}

impl NestedLanes {
    /// Writes the sums and returns their record.
    pub(crate) fn write(&self, room: &TemporarySpace, out: &mut PageWriter) -> io::Result<LaneRecord> {
        let mut readers = Vec::with_capacity(self.lanes.len());
        let mut next = BinaryHeap::with_capacity(self.lanes.len());
        for (lane, (rows, byte_stream)) in self.lanes.iter().enumerate() {
            let mut reader = StateReader { from: byte_stream.read()?, remaining_states: *rows, last: 0 };
            next.extend(reader.next()?.map(|state| Reverse((state.start, lane, state.end, state.value))));
            readers.push(reader);
        }
        let mut writer = CheckpointWriter::new(next.peek().map_or(0, |first| first.0.0));
        let (mut rows, mut words) = (DeferredSection::new(&room.part(8)), 0);
        let mut keep = |word: u64| {
            words += 1;
            rows.write(&word.to_le_bytes())
        };
        while let Some(mut first) = next.peek_mut() {
            let Reverse((start, lane, end, value)) = *first;
            writer.push(NestedState { start, end, value }, &mut keep)?;
            match readers[lane].next()? {
                Some(state) => *first = Reverse((state.start, lane, state.end, state.value)),
                None => drop(PeekMut::pop(first)),
            }
        }
        let head = writer.finish(&mut keep)?;
        let offset = out.align()?;
        for word in &head {
            out.write(&word.to_le_bytes())?;
        }
        rows.for_each_portion(1, |bytes| out.write(bytes))?;
        let sums = PageBytes { offset, len: words + head.len() as u64 };
        let table = TableRef { rows: head[0], ..TableRef::default() };
        Ok(LaneRecord { container: self.container, ty: self.ty, table, sums, ..LaneRecord::default() })
    }
}

/// Reads the states of one lane.
struct StateReader<'a> {
    from: ByteStreamReader<'a>,
    remaining_states: u64,
    last: i64,
}

impl StateReader<'_> {
    fn next(&mut self) -> io::Result<Option<NestedState>> {
        if self.remaining_states == 0 {
            return Ok(None);
        }
        self.remaining_states -= 1;
        let start = self.last.wrapping_add(self.from.number()?.cast_signed());
        self.last = start.wrapping_add(self.from.number()?.cast_signed());
        let value = read_value(&mut self.from)?.value as u32;
        Ok(Some(NestedState { start, end: self.last, value }))
    }
}
