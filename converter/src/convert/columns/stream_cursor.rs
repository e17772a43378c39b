//! Reads a stream in order of time, block by block. Each block yields timestamps for the merge, and
//! operations and records for the rules.
//!
//! [`ColumnEvaluator`] turns records into operations where possible. The other required records are
//! copied into a [`RowBatch`]. [`OrderedStream`] reads record by record in three cases:
//! blocks with dropped records, blocks with records of varying size, and streams with actions that
//! have a timestamp of their own.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use tracer_format::columns::{BlockColumns, ColumnBytes, FixedSizeRows, TypeRecords};

use super::evaluate::{ColumnEvaluator, StreamTemplates};
use super::ops::OpBatch;
use super::single_records::RowBatch;
use crate::convert::planning::plan::{ColumnValue, ConversionPlan, RequiredColumns};
use crate::convert::time_order::loser_tree::TimeOrdered;
use crate::convert::time_order::ordered_stream::OrderedStream;
use crate::rules::ValueColumn;
use crate::run::{BlockPosition, RunReadError};

/// Maximum number of records of a [`RowBatch`] that is assembled record by record.
const BATCH_RECORDS: usize = 256;
/// Maximum size of such a batch, in records, if memory is short.
const SMALL_BATCH_RECORDS: usize = 16;
/// Maximum size of such a batch, in bytes.
const BATCH_BYTES: usize = 1 << 16;

/// Counts of a stream's records, and its last timestamp.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StreamTally {
    /// Number of records with a timestamp before that of their predecessor.
    pub(crate) backward_records: u64,
    /// Number of action timestamps before the start of the run. They are moved to the start.
    pub(crate) early_actions: u64,
    /// Number of damaged records.
    pub(crate) damaged_records: u64,
    /// Number of records read.
    pub(crate) records: u64,
    /// The maximum of all timestamps, in ns.
    pub(crate) end: i64,
}

/// Values that occur in columns, each with the first record that has it.
pub(crate) type FirstValues = FxHashMap<ColumnValue, FirstRecord>;

/// The first record with a value. The fields are in the order of comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FirstRecord {
    pub(crate) time: i64,
    pub(crate) stream: u32,
    /// The position in the stream.
    pub(crate) ordinal: u64,
}

/// The values found so far in a column that an action needs.
#[derive(Debug)]
struct ActionValues {
    /// The record id.
    id: u16,
    action: u16,
    values: SeenValues,
}

/// A stream being read.
#[derive(Debug)]
pub(crate) struct StreamCursor<'r> {
    plan: &'r ConversionPlan<'r>,
    source: OrderedStream<'r>,
    required_columns: Arc<RequiredColumns>,
    /// The values found so far, for each record id and action that needs the values of a column.
    /// Two actions may use one column for two value types.
    action_values: Vec<ActionValues>,
    templates: StreamTemplates,
    records: u64,
    end: i64,
}

impl<'r> StreamCursor<'r> {
    pub(crate) fn new(
        plan: &'r ConversionPlan<'r>,
        source: OrderedStream<'r>,
        required_columns: Arc<RequiredColumns>,
    ) -> Self {
        Self {
            plan,
            source,
            required_columns,
            action_values: Vec::new(),
            templates: StreamTemplates::default(),
            records: 0,
            end: 0,
        }
    }

    /// The number of records read since the last call.
    pub(crate) fn take_read(&mut self) -> u64 {
        let read = self.source.take_read();
        self.records += read;
        read
    }

    pub(crate) fn tally(&mut self) -> StreamTally {
        self.take_read();
        let Self { source, records, end, .. } = self;
        let damaged_records = source.reader().damaged_records();
        StreamTally {
            backward_records: source.backward_records,
            early_actions: source.early_count,
            damaged_records,
            records: *records,
            end: *end,
        }
    }

    /// Reads the next block or [`RowBatch`] that has required records. Fills `timestamps` with
    /// their timestamps and `batch` with their operations. Both are empty at the end of the stream.
    /// Returns whether these records are known to be the last. Adds the values found in columns to
    /// `values`.
    pub(crate) fn fill(
        &mut self,
        evaluator: &mut ColumnEvaluator<'_>,
        values: &mut FirstValues,
        timestamps: &mut Vec<i64>,
        batch: &mut OpBatch,
    ) -> Result<bool, RunReadError> {
        loop {
            let needs = self.required_columns.of(self.plan.streams[self.source.stream].process);
            if let Some((columns, block)) = self.source.next_columns(needs)? {
                self.evaluate_block(&columns, &block, evaluator, values, timestamps, batch);
                if !timestamps.is_empty() {
                    return Ok(self.source.is_at_end());
                }
                continue;
            }
            timestamps.clear();
            let Some(rows) = self.read_records()? else { return Ok(true) };
            if !rows.corrected_times.is_empty() {
                timestamps.extend_from_slice(&rows.corrected_times);
                *batch = OpBatch::from_rows(rows);
                return Ok(false);
            }
        }
    }

    /// Evaluates a block that was read by columns.
    fn evaluate_block(
        &mut self,
        columns: &BlockColumns,
        block: &BlockPosition,
        evaluator: &mut ColumnEvaluator<'_>,
        values: &mut FirstValues,
        timestamps: &mut Vec<i64>,
        batch: &mut OpBatch,
    ) {
        let needs = self.required_columns.of(self.plan.streams[self.source.stream].process);
        let is_wanted = |id: u16| needs.get(usize::from(id)).is_some_and(|need| need.rows);
        let (position, first) = ((self.source.stream, block.first_ordinal), block.first_ordinal);
        evaluator.evaluate(columns, position, is_wanted, &mut self.templates, batch);
        self.note_column_values(columns, block, values);
        batch.memory = self.source.take_memory();
        let last = self.source.raw_timestamps(block, &evaluator.ticks, timestamps);
        let last_ordinal = first + (columns.records() as u64).saturating_sub(1);
        let map = &self.plan.timestamp_maps[self.source.stream];
        self.end = self.end.max(map.correct(last, last_ordinal));
        let times = batch.row_values(timestamps);
        if !map.is_identity() {
            timestamps
                .iter_mut()
                .enumerate()
                .for_each(|(index, timestamp)| *timestamp = map.correct(*timestamp, batch.ordinal(index)));
        }
        let Some(times) = times else { return };
        let mut fixed_rows = FixedSizeRows::default();
        let is_whole = columns.rows(&mut fixed_rows, |id| evaluator.keeps_records(id)).is_some();
        debug_assert!(is_whole, "the wanted columns were read");
        let (timestamps, times) = match map.is_identity() {
            true => (times, Vec::new()),
            false => (batch.row_values(timestamps).unwrap_or_default(), times),
        };
        let places = if fixed_rows.places.len() == columns.records() { Vec::new() } else { fixed_rows.places };
        let FixedSizeRows { bytes, starts, .. } = fixed_rows;
        batch.rows = RowBatch {
            bytes,
            starts,
            corrected_times: timestamps,
            raw: times,
            first,
            places,
            block: block.number,
            details: Vec::new(),
        };
    }

    /// Notes the values that occur in columns, each with its first record.
    fn note_column_values(&mut self, columns: &BlockColumns, block: &BlockPosition, values: &mut FirstValues) {
        let process = self.plan.streams[self.source.stream].process;
        let needs = Arc::clone(&self.required_columns);
        for (kind, TypeRecords { id, .. }) in (0u16..).zip(columns.kinds()) {
            let Some(need) = needs.of(process).get(usize::from(id)) else { continue };
            for &ValueColumn { action, part } in &need.columns {
                let Some(ColumnBytes { width, bytes }) = columns.column(id, part) else { continue };
                let position = self.action_values.iter().position(|values| (values.id, values.action) == (id, action));
                let index = position.unwrap_or_else(|| {
                    self.action_values.push(ActionValues { id, action, values: SeenValues::default() });
                    self.action_values.len() - 1
                });
                let new = self.action_values[index].values.new_values(bytes, width);
                if new.is_empty() {
                    continue;
                }
                let ticks = columns.ticks();
                let mut places = (0u64..).zip(columns.order()).zip(ticks).filter(|((_, its), _)| *its == kind);
                let mut passed = 0;
                for (number, value) in new {
                    let Some(((position, _), ticks)) = places.nth(number - passed) else { break };
                    passed = number + 1;
                    let stream = u32::try_from(self.source.stream).unwrap_or(u32::MAX);
                    let (time, ordinal) = (self.source.raw_timestamp(block, ticks), block.first_ordinal + position);
                    let record = FirstRecord { time, stream, ordinal };
                    let process = u32::try_from(process).unwrap_or(u32::MAX);
                    let key = ColumnValue { program: need.program, action, process, value };
                    let first = values.entry(key).or_insert(record);
                    *first = record.min(*first);
                }
            }
        }
    }

    /// Reads the next records one by one. `None` at the end.
    fn read_records(&mut self) -> Result<Option<RowBatch>, RunReadError> {
        let mut rows = RowBatch::default();
        loop {
            self.source.advance()?;
            let Some((item, body)) = self.source.item() else {
                return Ok(Some(rows).filter(|rows| !rows.corrected_times.is_empty()));
            };
            self.end = self.end.max(item.corrected_time);
            let program = self.plan.program(self.source.stream, item.position.id);
            if program.is_some() || item.position.is_gap() {
                let is_located = program.is_some_and(|program| program.has_location);
                rows.add(item, body, is_located, self.source.reader().blocks_read());
            }
            let max_records =
                if self.source.reader().has_further_pieces() { SMALL_BATCH_RECORDS } else { BATCH_RECORDS };
            if rows.corrected_times.len() >= max_records
                || rows.bytes.len() >= BATCH_BYTES
                || self.source.is_between_blocks()
            {
                return Ok(Some(rows));
            }
        }
    }
}

/// The values found in a column of a stream.
#[derive(Debug, Default)]
struct SeenValues {
    /// Values below [`BITMAP_VALUES`], one bit each.
    bits: Vec<u64>,
    large_values: FxHashSet<u64>,
}

/// Values below this are stored as bits.
const BITMAP_VALUES: u64 = 1 << 16;

impl SeenValues {
    /// The values of a column that are new, with their indexes. Marks them as found. Linear in the
    /// number of values.
    fn new_values(&mut self, bytes: &[u8], width: usize) -> Vec<(usize, u64)> {
        let mut new = Vec::new();
        if self.has_all(bytes, width) {
            return new;
        }
        match width {
            1 => self.note_column(bytes.as_chunks().0, |[byte]: [u8; 1]| byte.into(), &mut new),
            2 => self.note_column(bytes.as_chunks().0, |value| u16::from_le_bytes(value).into(), &mut new),
            4 => self.note_column(bytes.as_chunks().0, |value| u32::from_le_bytes(value).into(), &mut new),
            _ => self.note_column(bytes.as_chunks().0, u64::from_le_bytes, &mut new),
        }
        new
    }

    /// Whether all values of a column are below [`BITMAP_VALUES`] and were found before. This holds
    /// for nearly all blocks, so the test has no branches. Linear in the number of values.
    fn has_all(&self, bytes: &[u8], width: usize) -> bool {
        let bit_of = |value: u64| match self.bits.get((value / 64) as usize) {
            Some(bits) => bits >> (value % 64),
            None => 0,
        };
        let has_all = match width {
            1 => bytes.iter().fold(1, |all, byte| all & bit_of((*byte).into())),
            2 => bytes.as_chunks().0.iter().fold(1, |all, value| all & bit_of(u16::from_le_bytes(*value).into())),
            4 => bytes.as_chunks().0.iter().fold(1, |all, value| all & bit_of(u32::from_le_bytes(*value).into())),
            _ => bytes.as_chunks().0.iter().fold(1, |all, value| all & bit_of(u64::from_le_bytes(*value))),
        };
        has_all == 1
    }

    fn note_column<const N: usize>(
        &mut self,
        values: &[[u8; N]],
        number: impl Fn([u8; N]) -> u64,
        new: &mut Vec<(usize, u64)>,
    ) {
        for (index, value) in values.iter().enumerate() {
            let value = number(*value);
            let is_met = match self.bits.get((value / 64) as usize) {
                Some(bits) => bits >> (value % 64) & 1 == 1,
                None => value >= BITMAP_VALUES && self.large_values.contains(&value),
            };
            if !is_met {
                new.push((index, value));
                self.note_value(value);
            }
        }
    }

    #[cold]
    fn note_value(&mut self, value: u64) {
        if value >= BITMAP_VALUES {
            self.large_values.insert(value);
            return;
        }
        let index = (value / 64) as usize;
        self.bits.resize(self.bits.len().max(index + 1), 0);
        self.bits[index] |= 1 << (value % 64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_value_is_new_once(columns in prop::collection::vec(prop::collection::vec(
            prop_oneof![0u64..200, BITMAP_VALUES - 3..BITMAP_VALUES + 3, any::<u64>()], 0..50), 0..4)) {
            let (mut value_log, mut values) = (SeenValues::default(), FxHashSet::default());
            for column in columns {
                let bytes: Vec<u8> = column.iter().flat_map(|value| value.to_le_bytes()).collect();
                let expected: Vec<(usize, u64)> =
                    column.iter().copied().enumerate().filter(|(_, value)| values.insert(*value)).collect();
                prop_assert_eq!(value_log.new_values(&bytes, 8), expected);
            }
        }
    }
}
