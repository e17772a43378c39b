//! Writes a lane of states in two passes over its byte stream: the first for its values, the second
//! for blocks, sums and the overview.

use std::io;

use tumit_spill::byte_streams::FinishedByteStream;
use tumit_spill::deferred_section::DeferredSection;
use tumit_spill::temporary_space::TemporarySpace;

use super::lane_summaries::{DetailedValue, LaneSummary, read_value};
use super::lane_values::LaneValues;
use crate::index::file::bit_fields::{SLACK, pack, sortable_timestamp, width};
use crate::index::file::file_layout::{BLOCK, LaneRecord, PageBytes};
use crate::index::file::packed_table::PackedTableWriter;
use crate::index::file::page_writer::PageWriter;
use crate::index::lanes::states::{
    CHECKPOINTS, COLUMNS, DENSE, DENSE_VALUES, DIRECT, GAPLESS, NO_SUMS, STATES_PER_SUM, stride,
};
use crate::index::mixtures::overview::OverviewWriter;
use crate::query::{TimeRange, TimestampExtent};

/// The outputs of the writing of lanes of states.
pub(crate) struct StateOutputs<'a> {
    pub(crate) room: &'a TemporarySpace,
    pub(crate) out: &'a mut PageWriter,
    pub(crate) overview: &'a mut OverviewWriter,
    /// A buffer, reused for one lane after another.
    pub(crate) lane_values: &'a mut LaneValues,
}

pub(crate) struct WrittenStateLane {
    pub(crate) record: LaneRecord,
    pub(crate) last: TimeRange,
}

/// Writes the lane. `record.extra` must be the number of the lane in the overview.
pub(crate) fn write(
    outputs: StateOutputs<'_>,
    rows: &FinishedByteStream,
    lane: &LaneSummary,
    record: LaneRecord,
) -> io::Result<WrittenStateLane> {
    let StateOutputs { room, out, overview, lane_values } = outputs;
    let LaneSurvey { extent, time } = LaneSurvey::of(rows, lane, lane_values)?;
    let values = &lane_values.values;
    let mut sums = TimeSumWriter::new(room, lane.rows, values.len(), time);
    let mut columns =
        if values.len() > DENSE_VALUES { overview.lane(record.extra, lane.rows, extent, values) } else { None };
    let extra = if columns.is_some() { record.extra + 1 } else { 0 };
    sums.begin()?;
    let mut table = PackedTableWriter::<COLUMNS>::new(room, out)?;
    let mut block = PendingStateBlock::new(if sums.is_dense() { values.len() } else { 0 });
    let (mut from, mut last) = (rows.read()?, 0_i64);
    let mut last_state = TimestampExtent::instant(0);
    for _ in 0..lane.rows {
        let start = last.wrapping_add(from.number()?.cast_signed());
        last = start.wrapping_add(from.number()?.cast_signed());
        last_state = TimestampExtent { first: start, last };
        let DetailedValue { value, detail } = read_value(&mut from)?;
        if block.ends.len() == BLOCK {
            block.write(&mut table, out, start)?;
        }
        let value = lane_values.place(value);
        block.push(start, last, value, detail);
        sums.add(value, last.wrapping_sub(start), block.ends.len() == BLOCK)?;
        if let Some(columns) = &mut columns {
            columns.add(start, last, value)?;
        }
    }
    block.write(&mut table, out, last)?;
    if let Some(columns) = columns {
        columns.finish()?;
    }
    let table = table.finish(out, sortable_timestamp(last))?;
    let offset = out.align()?;
    for value in values {
        out.write(&(*value as u32).to_le_bytes())?;
    }
    let values = PageBytes { offset, len: values.len() as u64 };
    let sums = sums.finish(out)?;
    let record = LaneRecord { table, values, sums, extra, ..record };
    Ok(WrittenStateLane { record, last: last_state.time_range() })
}

/// Results of the first pass over a lane, except for its values.
struct LaneSurvey {
    extent: TimestampExtent,
    /// The sum of all durations.
    time: u64,
}

impl LaneSurvey {
    fn of(rows: &FinishedByteStream, lane: &LaneSummary, lane_values: &mut LaneValues) -> io::Result<Self> {
        lane_values.clear();
        let mut survey = Self { extent: TimestampExtent::instant(0), time: 0 };
        let mut from = rows.read()?;
        for row in 0..lane.rows {
            let start = survey.extent.last.wrapping_add(from.number()?.cast_signed());
            let time = from.number()?;
            if row == 0 {
                survey.extent.first = start;
            }
            survey.extent.last = start.wrapping_add(time.cast_signed());
            survey.time = survey.time.saturating_add(time);
            lane_values.insert(read_value(&mut from)?.value);
        }
        Ok(survey)
    }
}

/// A block that is incomplete until the start of the next state is known.
struct PendingStateBlock {
    columns: [Vec<u64>; COLUMNS],
    ends: Vec<i64>,
    /// Time of each value in the block so far. It is empty if no sums are stored within blocks.
    times: Vec<u64>,
    /// The value of `times` before each multiple of [`STATES_PER_SUM`] states.
    sums_in_block: Vec<u64>,
    packed_block: Vec<u8>,
}

impl PendingStateBlock {
    /// An empty block that sums `values` values; 0 means no sums within blocks.
    fn new(values: usize) -> Self {
        let (columns, times) = (std::array::from_fn(|_| Vec::with_capacity(BLOCK)), vec![0; values]);
        Self { columns, ends: Vec::with_capacity(BLOCK), times, sums_in_block: Vec::new(), packed_block: Vec::new() }
    }

    fn push(&mut self, start: i64, end: i64, value: u64, detail: u64) {
        let time = end.wrapping_sub(start).cast_unsigned();
        let row = [sortable_timestamp(start), time, value, detail];
        self.columns.iter_mut().zip(row).for_each(|(column, number)| column.push(number));
        self.ends.push(end);
        if let Some(sum) = self.times.get_mut(value as usize) {
            *sum = sum.wrapping_add(time);
            if self.ends.len().is_multiple_of(STATES_PER_SUM) && self.ends.len() < BLOCK {
                self.sums_in_block.extend_from_slice(&self.times);
            }
        }
    }

    /// Writes the block. `next` is the start of the next state, or the end of the last one.
    fn write(&mut self, table: &mut PackedTableWriter<COLUMNS>, out: &mut PageWriter, next: i64) -> io::Result<()> {
        let starts = self.columns[0].iter().skip(1).copied().chain([sortable_timestamp(next)]);
        let gapless = self.ends.iter().zip(starts).all(|(&end, start)| sortable_timestamp(end) == start);
        if gapless {
            self.columns[1].fill(0);
        }
        let span = self.columns[0].first().map_or(0, |&first| sortable_timestamp(next).wrapping_sub(first));
        self.packed_block.clear();
        pack(&mut self.packed_block, self.sums_in_block.drain(..), width(span));
        self.times.fill(0);
        let columns = self.columns.each_ref().map(Vec::as_slice);
        table.push_block(out, columns, if gapless { GAPLESS } else { 0 }, &self.packed_block)?;
        self.columns.iter_mut().for_each(Vec::clear);
        self.ends.clear();
        Ok(())
    }
}

/// Sums of time while a lane is written: the totals so far, stored after every few blocks.
enum TimeSumWriter {
    None,
    Kept { totals: Vec<i64>, rows: DeferredSection, blocks: usize, stride: usize, width: Option<u8> },
}

impl TimeSumWriter {
    /// `time` is an upper bound of all totals.
    fn new(room: &TemporarySpace, states: u64, values: usize, time: u64) -> Self {
        let (rows, totals) = (DeferredSection::new(&room.part(8)), vec![0; values]);
        match values {
            _ if states <= DIRECT => Self::None,
            0..=DENSE_VALUES => Self::Kept { totals, rows, blocks: 0, stride: 1, width: None },
            _ => Self::Kept { totals, rows, blocks: 0, stride: stride(values), width: Some(width(time)) },
        }
    }

    /// Whether all values have sums before every block.
    fn is_dense(&self) -> bool {
        matches!(self, Self::Kept { width: None, .. })
    }

    fn begin(&mut self) -> io::Result<()> {
        match self {
            Self::Kept { totals, rows, width, .. } => write_totals(totals, rows, *width),
            Self::None => Ok(()),
        }
    }

    fn add(&mut self, value: u64, time: i64, ends_block: bool) -> io::Result<()> {
        let Self::Kept { totals, rows, blocks, stride, width } = self else { return Ok(()) };
        totals[value as usize] = totals[value as usize].wrapping_add(time);
        *blocks += usize::from(ends_block);
        if ends_block && blocks.is_multiple_of(*stride) { write_totals(totals, rows, *width) } else { Ok(()) }
    }

    fn finish(self, out: &mut PageWriter) -> io::Result<PageBytes> {
        let Self::Kept { rows, width, .. } = self else { return Ok(PageBytes { offset: 0, len: NO_SUMS }) };
        let offset = out.align()?;
        if let Some(width) = width {
            out.write(&u64::from(width).to_le_bytes())?;
        }
        rows.for_each_portion(1, |bytes| out.write(bytes))?;
        // A read of the last numbers also touches the bytes after them.
        out.write(&[0; SLACK])?;
        Ok(PageBytes { offset, len: if width.is_some() { CHECKPOINTS } else { DENSE } })
    }
}

fn write_totals(totals: &[i64], rows: &mut DeferredSection, width: Option<u8>) -> io::Result<()> {
    let Some(width) = width else {
        return totals.iter().try_for_each(|total| rows.write(&total.to_le_bytes()));
    };
    let mut bytes = Vec::new();
    pack(&mut bytes, totals.iter().map(|total| total.cast_unsigned()), width);
    rows.write(&bytes)
}
