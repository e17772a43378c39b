//! Reads a stream in order of time, although rules give some actions other timestamps than their
//! record.
//!
//! Records and actions wait in a heap until no later part of the stream can contain an earlier
//! item. The first pass has noted the required limit for each block. Only blocks that overlap in
//! time are therefore kept. Items that exceed the memory budget wait in a temporary file.

use std::io;
use std::rc::Rc;

use tracer_format::columns::BlockColumns;
use tracer_format::record::DroppedRecords;

use super::loser_tree::TimeOrdered;
use super::ordered_item::{ItemSelection, OrderedItem, TimedRecord};
use super::waiting_items::WaitingItems;
use crate::clock::TimestampMap;
use crate::convert::planning::plan::{ConversionPlan, RecordOrigin, TypeColumns};
use crate::rules::Symbols;
use crate::run::{BlockPosition, BudgetShare, RecordPosition, RunReadError, RunStreamReader};

/// Reads a stream in order of time.
#[derive(Debug)]
pub(crate) struct OrderedStream<'r> {
    plan: &'r ConversionPlan<'r>,
    pub(crate) stream: usize,
    reader: RunStreamReader<'r>,
    item: Option<OrderedItem>,
    waiting_items: Option<WaitingItems>,
    last: i64,
    scratch: String,
    symbols: Symbols,
    item_selection: ItemSelection,
    /// The record after the gap that was returned last.
    after_gap: Option<TimedRecord>,
    /// Number of records read since the last call of [`Self::take_read`].
    read: u64,
    /// Number of records with a timestamp before that of their predecessor.
    pub(crate) backward_records: u64,
    /// Number of timestamps before the start of the run.
    pub(crate) early_count: u64,
}

impl<'r> OrderedStream<'r> {
    /// Reads a stream. `floors` is required if actions set their own timestamps.
    pub(crate) fn new(
        plan: &'r ConversionPlan<'r>,
        stream: usize,
        reader: RunStreamReader<'r>,
        floors: Option<Vec<i64>>,
        item_selection: ItemSelection,
    ) -> Result<Self, RunReadError> {
        let mut ordered_stream = Self::new_unread(plan, stream, reader, floors, item_selection);
        ordered_stream.advance()?;
        Ok(ordered_stream)
    }

    /// As [`Self::new`], but does not read the first item.
    pub(crate) fn new_unread(
        plan: &'r ConversionPlan<'r>,
        stream: usize,
        reader: RunStreamReader<'r>,
        floors: Option<Vec<i64>>,
        item_selection: ItemSelection,
    ) -> Self {
        let waiting_items = floors.map(WaitingItems::new);
        Self {
            plan,
            stream,
            reader,
            item: None,
            waiting_items,
            last: 0,
            scratch: String::new(),
            symbols: Symbols::default(),
            item_selection,
            after_gap: None,
            read: 0,
            backward_records: 0,
            early_count: 0,
        }
    }

    /// The required columns of the next block. `None` if its records must be read one by one,
    /// because their order changes or for reasons of the reader.
    pub(crate) fn next_columns(
        &mut self,
        type_columns: &[TypeColumns],
    ) -> Result<Option<(BlockColumns, BlockPosition)>, RunReadError> {
        if self.waiting_items.is_some() || self.after_gap.is_some() {
            return Ok(None);
        }
        let Self { plan, stream, last, reader, .. } = self;
        let is_wanted = |id: u16, part| type_columns.get(usize::from(id)).is_some_and(|need| need.has(part));
        let found = reader.next_columns(is_wanted, |ticks| plan.raw_timestamp(*stream, ticks) >= *last)?;
        self.read += found.as_ref().map_or(0, |(columns, _)| columns.records() as u64);
        Ok(found)
    }

    /// The memory of a block that was read by columns; see [`RunStreamReader::take_memory`].
    pub(crate) fn take_memory(&mut self) -> BudgetShare {
        self.reader.take_memory()
    }

    /// Fills `timestamps` with the raw timestamps of records of a block that was read by columns.
    /// `ticks` are relative to the start of the block. Returns the timestamp of the last record of
    /// the block.
    pub(crate) fn raw_timestamps(&mut self, block: &BlockPosition, ticks: &[u64], timestamps: &mut Vec<i64>) -> i64 {
        self.plan.raw_timestamps(self.stream, block.first_ticks, ticks, timestamps);
        self.last = self.last.max(self.plan.raw_timestamp(self.stream, block.last_ticks));
        self.last
    }

    /// The raw timestamp of a record of such a block. `ticks` is relative to the start of the
    /// block.
    pub(crate) fn raw_timestamp(&self, block: &BlockPosition, ticks: u64) -> i64 {
        self.plan.raw_timestamp(self.stream, block.first_ticks.wrapping_add(ticks))
    }

    /// Whether the next record is the first of a block, and no item waits.
    pub(crate) fn is_between_blocks(&self) -> bool {
        self.waiting_items.is_none() && self.after_gap.is_none() && self.reader.is_between_blocks()
    }

    /// Whether the stream is known to have ended. `false` if this is not known without reading
    /// further.
    pub(crate) fn is_at_end(&self) -> bool {
        self.is_between_blocks() && self.reader.has_no_further_block()
    }

    /// The current item and the bytes of its record.
    pub(crate) fn item(&self) -> Option<(&OrderedItem, &[u8])> {
        let item = self.item.as_ref()?;
        let body = match &item.block {
            Some(block) => item.position.body(block),
            None => self.reader.body(&item.position),
        };
        Some((item, body))
    }

    /// The reader, which counts damaged records.
    pub(crate) fn reader(&self) -> &RunStreamReader<'r> {
        &self.reader
    }

    /// The number of records read since the last call.
    pub(crate) fn take_read(&mut self) -> u64 {
        std::mem::take(&mut self.read)
    }

    /// Advances to the next record within the current block, if it is wanted and no timestamps of
    /// its stream change their order. Nearly all records take this path.
    #[inline]
    fn advance_plainly(&mut self) -> bool {
        if self.after_gap.is_some() {
            return false;
        }
        let timestamp_map = &self.plan.timestamp_maps[self.stream];
        while let Some(position) = self.reader.advance_plainly() {
            self.read += 1;
            let time = self.plan.raw_timestamp(self.stream, position.ticks.0);
            self.backward_records += u64::from(time < self.last);
            self.last = self.last.max(time);
            if self.plan.is_wanted(self.stream, position.id, self.item_selection.selects) {
                let raw = self.last;
                let corrected = timestamp_map.correct(raw, position.ordinal);
                self.item = Some(OrderedItem::of_record(corrected, TimedRecord { raw, position, block: None }));
                return true;
            }
        }
        false
    }

    /// Reads a wanted record, or a gap with its bytes. The raw timestamps do not decrease.
    fn read(&mut self) -> Result<Option<TimedRecord>, RunReadError> {
        if let Some(mut record) = self.after_gap.take() {
            let TimedRecord { raw, ref mut position, .. } = record;
            if self.item_selection.gaps && std::mem::take(&mut position.is_truncated) {
                let (ticks, ordinal) = (position.ticks.0, position.ordinal);
                self.after_gap = Some(record);
                let mark = DroppedRecords::of_truncated(self.reader.missing_bytes(), ticks);
                return Ok(Some(gap_record(raw, &mark, ticks, ordinal)));
            }
            return Ok(Some(record));
        }
        let old_last = self.last;
        loop {
            let position = self.reader.advance()?;
            if let Some(position) = &position {
                self.read += 1;
                let raw = self.plan.raw_timestamp(self.stream, position.ticks.0);
                if raw < self.last {
                    self.backward_records += 1;
                }
                self.last = self.last.max(raw);
            }
            let gap = self.reader.take_gap().filter(|_| self.item_selection.gaps);
            let position = match position {
                Some(position) if self.plan.is_wanted(self.stream, position.id, self.item_selection.selects) => {
                    Some(position)
                }
                Some(_) if gap.is_none() => continue,
                _ => None,
            };
            let is_marked = self.item_selection.gaps && position.as_ref().is_some_and(|position| position.is_truncated);
            let record = position.map(|position| TimedRecord { raw: self.last, position, block: None });
            if gap.is_none() && !is_marked {
                return Ok(record);
            }
            self.after_gap = record;
            let Some(gap) = gap else { return self.read() };
            return Ok(Some(self.gap(&gap, old_last)));
        }
    }

    /// The gap before the current record. Its timestamp is that of the first missing record, if
    /// known, limited to the range between its neighbours.
    fn gap(&self, gap: &DroppedRecords, end: i64) -> TimedRecord {
        let (records, ticks) = (self.reader.records_read(), self.reader.ticks());
        let ordinal = records - u64::from(self.after_gap.is_some());
        let after = self.plan.raw_timestamp(self.stream, ticks).max(self.last);
        let raw = self.plan.raw_timestamp(self.stream, gap.first_ticks).clamp(end, after);
        gap_record(raw, gap, gap.first_ticks, ordinal)
    }

    fn spill_error(&self, error: &io::Error) -> RunReadError {
        let source = io::Error::other(format!(
            "cannot write waiting records to a temporary file: {error}; set TMPDIR to another folder"
        ));
        RunReadError { file: self.reader.process().path.clone(), offset: 0, source }
    }

    /// Reads a record into the heap. Each action with a timestamp of its own is a separate item.
    fn read_ahead(&mut self) -> Result<bool, RunReadError> {
        let Some(TimedRecord { raw, position, block }) = self.read()? else { return Ok(false) };
        let block = block.unwrap_or_else(|| self.reader.block());
        let Some(waiting_items) = &mut self.waiting_items else { return Ok(false) };
        let program = self.plan.program(self.stream, position.id).filter(|program| program.sets_timestamps);
        let Some(program) = program else {
            waiting_items.push(OrderedItem::of_record(raw, TimedRecord { raw, position, block: Some(block) }));
            return Ok(true);
        };
        let origin = RecordOrigin { site: position.site, ordinal: position.ordinal };
        let scope = self.plan.scope(self.stream, program, raw, origin, position.body(&block));
        let mut is_record_added = false;
        for (number, action) in program.actions.iter().enumerate() {
            let number = u16::try_from(number).unwrap_or(u16::MAX);
            let item = |time, single_action| {
                let (position, block) = (position.clone(), Some(Rc::clone(&block)));
                OrderedItem {
                    corrected_time: time,
                    raw: time,
                    record_time: raw,
                    single_action,
                    rank: number,
                    position,
                    block,
                }
            };
            if let Some(timestamp) = &action.timestamp {
                self.scratch.clear();
                let time = scope.eval(timestamp, &mut self.scratch, &self.symbols).integer();
                let time = time.and_then(|time| i64::try_from(time).ok()).unwrap_or(raw);
                let first = first_not_early(&self.plan.timestamp_maps[self.stream], time, raw, position.ordinal);
                self.early_count += u64::from(first != time);
                waiting_items.push(item(first, Some(number)));
            } else if !is_record_added {
                is_record_added = true;
                waiting_items.push(item(raw, None));
            }
        }
        Ok(true)
    }
}

/// Converts a gap to a record. Its bytes contain the count of the missing records.
fn gap_record(raw: i64, gap: &DroppedRecords, ticks: u64, ordinal: u64) -> TimedRecord {
    TimedRecord { raw, position: RecordPosition::of_gap(ticks, ordinal), block: Some(Rc::new(gap.encode().to_vec())) }
}

/// The first raw timestamp, from `action_time` to the timestamp of the record, with a corrected
/// timestamp that is not before the start of the run.
fn first_not_early(timestamp_map: &TimestampMap, action_time: i64, record_time: i64, ordinal: u64) -> i64 {
    let is_early = |raw: i64| timestamp_map.correct(raw, ordinal) < 0;
    if !is_early(action_time) {
        return action_time;
    }
    let (mut early, mut good) = (action_time, record_time.max(action_time.saturating_add(1)));
    while good.saturating_sub(early) > 1 {
        let middle = early.midpoint(good);
        if is_early(middle) { early = middle } else { good = middle }
    }
    good
}

impl TimeOrdered for OrderedStream<'_> {
    type Error = RunReadError;

    fn timestamp(&self) -> Option<i64> {
        self.item.as_ref().map(|item| item.corrected_time)
    }

    fn advance(&mut self) -> Result<(), RunReadError> {
        if self.waiting_items.is_none() {
            if self.advance_plainly() {
                return Ok(());
            }
            self.item = self.read()?.map(|record| {
                let timestamp_map = &self.plan.timestamp_maps[self.stream];
                OrderedItem::of_record(timestamp_map.correct(record.raw, record.position.ordinal), record)
            });
            return Ok(());
        }
        loop {
            let blocks = self.reader.blocks_read();
            let Some(waiting_items) = &mut self.waiting_items else { return Ok(()) };
            let next = match waiting_items.make_room().and_then(|()| waiting_items.take_next(blocks)) {
                Ok(next) => next,
                Err(error) => return Err(self.spill_error(&error)),
            };
            if next.is_some() || waiting_items.at_end {
                let timestamp_map = &self.plan.timestamp_maps[self.stream];
                self.item = next.map(|item| OrderedItem {
                    corrected_time: timestamp_map.correct(item.raw, item.position.ordinal),
                    ..item
                });
                return Ok(());
            }
            if !self.read_ahead()?
                && let Some(waiting) = &mut self.waiting_items
            {
                waiting.at_end = true;
            }
        }
    }
}
