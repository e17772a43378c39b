//! Reads a stream in order of time, although rules give some actions other timestamps than their
//! record.
//!
//! Records and actions wait in a heap until no later part of the stream can contain an earlier
//! item. The first pass has noted the required limit for each block. Only blocks that overlap in
//! time are therefore kept. Items that exceed the memory budget wait in a temporary file.

pub(crate) mod spill;

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::io;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use tracer_format::columns::BlockColumns;
use tracer_format::record::DroppedRecords;

use super::merge::loser_tree::TimeOrdered;
use super::plan::{ConversionPlan, TypeColumns};
use crate::clock::TimestampMap;
use crate::rules::{RecordProgram, Symbols};
use crate::run::{BlockPosition, BudgetShare, RecordPosition, RunReadError, RunStreamReader, waiting_budget};
use spill::SpilledItems;

/// Reads a stream in order of time.
#[derive(Debug)]
pub(crate) struct OrderedStream<'r> {
    plan: &'r ConversionPlan<'r>,
    pub(crate) stream: usize,
    reader: RunStreamReader<'r>,
    current: Option<OrderedItem>,
    waiting: Option<HeldRecords>,
    last: i64,
    scratch: String,
    symbols: Symbols,
    taking: ItemSelection,
    /// The record after the gap that was returned last.
    behind_gap: Option<(i64, RecordPosition)>,
    /// Number of records read since the last call of [`Self::take_read`].
    read: u64,
    /// Number of records with a timestamp before that of their predecessor.
    pub(crate) backward: u64,
    /// Number of timestamps before the start of the run.
    pub(crate) early: u64,
}

/// The records and gaps of a stream that become items.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ItemSelection {
    /// Selects record types by their compiled rules. Records of a type without rules are always
    /// items.
    pub(crate) wanted: fn(&RecordProgram) -> bool,
    /// Whether gaps between records and marks of truncated records are items, too.
    pub(crate) gaps: bool,
}

impl ItemSelection {
    /// All records, without gaps.
    pub(crate) const RECORDS: Self = Self { wanted: |_| true, gaps: false };
    /// All records and the gaps between them.
    pub(crate) const ALL: Self = Self { wanted: |_| true, gaps: true };
}

/// Bytes of waiting items in memory, of all streams.
static HELD: AtomicUsize = AtomicUsize::new(0);
/// A stream updates [`HELD`] in steps of at least this number of bytes.
const COUNTED: usize = 1 << 16;
/// Bytes of an item without its block.
const ITEM_BYTES: usize = size_of::<OrderedItem>();

/// The items that wait.
#[derive(Debug)]
struct HeldRecords {
    heap: BinaryHeap<Reverse<OrderedItem>>,
    /// Bytes of the items in `heap` and of their blocks.
    held: usize,
    /// The part of `held` that is counted in [`HELD`].
    counted: usize,
    /// Address of the block of the last item.
    last_block: usize,
    spilled: SpilledItems,
    /// For each block: the minimum timestamp in it and all later blocks.
    floors: Vec<i64>,
    at_end: bool,
}

/// A record, or one action of it that has a timestamp of its own.
#[derive(Debug)]
pub(crate) struct OrderedItem {
    /// The corrected timestamp at which the item is processed.
    pub(crate) corrected: i64,
    /// The raw timestamp from which `corrected` is computed.
    raw: i64,
    /// The raw timestamp of the record.
    pub(crate) record_time: i64,
    /// The action. `None` for all actions without a timestamp of their own.
    pub(crate) only: Option<u16>,
    /// Order among the items of one record.
    rank: u16,
    pub(crate) place: RecordPosition,
    /// The block of the record, if it is not the current block of the reader.
    block: Option<HeldBlock>,
}

/// A decoded block that is kept while its records wait.
type HeldBlock = Rc<Vec<u8>>;

impl<'r> OrderedStream<'r> {
    /// Reads a stream. `floors` is required if actions set their own timestamps.
    pub(crate) fn new(
        plan: &'r ConversionPlan<'r>,
        stream: usize,
        reader: RunStreamReader<'r>,
        floors: Option<Vec<i64>>,
        taking: ItemSelection,
    ) -> Result<Self, RunReadError> {
        let mut feed = Self::new_unread(plan, stream, reader, floors, taking);
        feed.advance()?;
        Ok(feed)
    }

    /// As [`Self::new`], but does not read the first item.
    pub(crate) fn new_unread(
        plan: &'r ConversionPlan<'r>,
        stream: usize,
        reader: RunStreamReader<'r>,
        floors: Option<Vec<i64>>,
        taking: ItemSelection,
    ) -> Self {
        let waiting = floors.map(HeldRecords::new);
        Self {
            plan,
            stream,
            reader,
            current: None,
            waiting,
            last: 0,
            scratch: String::new(),
            symbols: Symbols::default(),
            taking,
            behind_gap: None,
            read: 0,
            backward: 0,
            early: 0,
        }
    }

    /// The required columns of the next block. `None` if its records must be read one by one,
    /// because their order changes or for reasons of the reader.
    pub(crate) fn next_columns(
        &mut self,
        needs: &[TypeColumns],
    ) -> Result<Option<(BlockColumns, BlockPosition)>, RunReadError> {
        if self.waiting.is_some() || self.behind_gap.is_some() {
            return Ok(None);
        }
        let Self { plan, stream, last, reader, .. } = self;
        let is_wanted = |id: u16, part| needs.get(usize::from(id)).is_some_and(|need| need.has(part));
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
        self.waiting.is_none() && self.behind_gap.is_none() && self.reader.is_between_blocks()
    }

    /// Whether the stream is known to have ended. `false` if this is not known without reading
    /// further.
    pub(crate) fn is_at_end(&self) -> bool {
        self.is_between_blocks() && self.reader.is_at_end()
    }

    /// The current item and the bytes of its record.
    pub(crate) fn item(&self) -> Option<(&OrderedItem, &[u8])> {
        let item = self.current.as_ref()?;
        let body = match &item.block {
            Some(block) => item.place.body(block),
            None => self.reader.body(&item.place),
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
        if self.behind_gap.is_some() {
            return false;
        }
        let timestamp_map = &self.plan.timestamp_maps[self.stream];
        while let Some(place) = self.reader.advance_plainly() {
            self.read += 1;
            let time = self.plan.raw_timestamp(self.stream, place.ticks.0);
            self.backward += u64::from(time < self.last);
            self.last = self.last.max(time);
            if self.plan.is_wanted(self.stream, place.id, self.taking.wanted) {
                let time = self.last;
                let date = timestamp_map.corrected(time, place.ordinal);
                self.current = Some(OrderedItem {
                    corrected: date,
                    raw: time,
                    record_time: time,
                    only: None,
                    rank: 0,
                    place,
                    block: None,
                });
                return true;
            }
        }
        false
    }

    /// Reads a wanted record, or a gap with its bytes. The returned raw timestamps do not decrease.
    fn read(&mut self) -> Result<Option<(i64, RecordPosition, Option<HeldBlock>)>, RunReadError> {
        if let Some((date, mut place)) = self.behind_gap.take() {
            if self.taking.gaps && std::mem::take(&mut place.truncated) {
                let (ticks, ordinal) = (place.ticks.0, place.ordinal);
                self.behind_gap = Some((date, place));
                let mark = DroppedRecords::of_truncated(self.reader.missing_bytes(), ticks).encode().to_vec();
                return Ok(Some((date, RecordPosition::of_gap(ticks, ordinal), Some(Rc::new(mark)))));
            }
            return Ok(Some((date, place, None)));
        }
        let before = self.last;
        loop {
            let place = self.reader.advance()?;
            if let Some(place) = &place {
                self.read += 1;
                let date = self.plan.raw_timestamp(self.stream, place.ticks.0);
                if date < self.last {
                    self.backward += 1;
                }
                self.last = self.last.max(date);
            }
            let gap = self.reader.take_gap().filter(|_| self.taking.gaps);
            let place = match place {
                Some(place) if self.plan.is_wanted(self.stream, place.id, self.taking.wanted) => Some(place),
                Some(_) if gap.is_none() => continue,
                _ => None,
            };
            let is_marked = self.taking.gaps && place.as_ref().is_some_and(|place| place.truncated);
            if gap.is_none() && !is_marked {
                return Ok(place.map(|place| (self.last, place, None)));
            }
            self.behind_gap = place.map(|place| (self.last, place));
            let Some(gap) = gap else { return self.read() };
            return Ok(Some(self.gap(&gap, before)));
        }
    }

    /// The item of a gap. Its timestamp is that of the first missing record, if known, limited to
    /// the range between its neighbours.
    fn gap(&self, gap: &DroppedRecords, before: i64) -> (i64, RecordPosition, Option<HeldBlock>) {
        let (records, ticks) = self.reader.position();
        let ordinal = records - u64::from(self.behind_gap.is_some());
        let behind = self.plan.raw_timestamp(self.stream, ticks).max(self.last);
        let date = self.plan.raw_timestamp(self.stream, gap.first_ticks).clamp(before, behind);
        (date, RecordPosition::of_gap(gap.first_ticks, ordinal), Some(Rc::new(gap.encode().to_vec())))
    }

    fn spill_error(&self, why: &io::Error) -> RunReadError {
        let source = io::Error::other(format!(
            "cannot write waiting records to a temporary file: {why}; set TMPDIR to another folder"
        ));
        RunReadError { file: self.reader.process().path.clone(), offset: 0, source }
    }

    /// Reads a record into the heap. Each action with a timestamp of its own is a separate item.
    fn read_ahead(&mut self) -> Result<bool, RunReadError> {
        let Some((time, place, block)) = self.read()? else { return Ok(false) };
        let block = block.unwrap_or_else(|| self.reader.block());
        let Some(waiting) = &mut self.waiting else { return Ok(false) };
        let program = self.plan.program(self.stream, place.id).filter(|program| program.dated);
        let Some(program) = program else {
            let item = OrderedItem {
                corrected: time,
                raw: time,
                record_time: time,
                only: None,
                rank: 0,
                place,
                block: Some(block),
            };
            waiting.push(item);
            return Ok(true);
        };
        let scope = self.plan.scope(self.stream, program, time, (place.site, place.ordinal), place.body(&block));
        let mut plain = false;
        for (number, action) in program.actions.iter().enumerate() {
            let number = u16::try_from(number).unwrap_or(u16::MAX);
            let item = |due, only| {
                let (place, block) = (place.clone(), Some(Rc::clone(&block)));
                OrderedItem { corrected: due, raw: due, record_time: time, only, rank: number, place, block }
            };
            if let Some(at) = &action.at {
                self.scratch.clear();
                let date = scope.eval(at, &mut self.scratch, &self.symbols).integer();
                let date = date.and_then(|date| i64::try_from(date).ok()).unwrap_or(time);
                let first = first_not_early(&self.plan.timestamp_maps[self.stream], (date, time), place.ordinal);
                self.early += u64::from(first != date);
                waiting.push(item(first, Some(number)));
            } else if !plain {
                plain = true;
                waiting.push(item(time, None));
            }
        }
        Ok(true)
    }
}

/// The first raw timestamp, from `date` to `time`, with a corrected timestamp that is not before
/// the start of the run. `time` is the timestamp of the record.
fn first_not_early(timestamp_map: &TimestampMap, (date, time): (i64, i64), ordinal: u64) -> i64 {
    let is_early = |coarse: i64| timestamp_map.corrected(coarse, ordinal) < 0;
    if !is_early(date) {
        return date;
    }
    let (mut early, mut good) = (date, time.max(date.saturating_add(1)));
    while good.saturating_sub(early) > 1 {
        let middle = early.midpoint(good);
        if is_early(middle) { early = middle } else { good = middle }
    }
    good
}

impl HeldRecords {
    fn new(floors: Vec<i64>) -> Self {
        let (heap, spilled) = (BinaryHeap::new(), SpilledItems::default());
        Self { heap, held: 0, counted: 0, last_block: 0, spilled, floors, at_end: false }
    }

    fn push(&mut self, item: OrderedItem) {
        let block = item.block.as_ref().map_or(0, |block| Rc::as_ptr(block).addr());
        if block != self.last_block {
            self.last_block = block;
            self.held += item.block.as_ref().map_or(0, |block| block.len());
        }
        self.held += ITEM_BYTES;
        self.heap.push(Reverse(item));
    }

    /// The next item, if no earlier one can follow.
    fn take_next(&mut self, blocks_read: usize) -> io::Result<Option<OrderedItem>> {
        let in_memory = self.heap.peek().map(|Reverse(item)| item);
        let (next, is_spilled) = match (in_memory, self.spilled.peek()) {
            (Some(here), Some(there)) if there < here => (there, true),
            (None, Some(there)) => (there, true),
            (Some(here), _) => (here, false),
            (None, None) => return Ok(None),
        };
        let floor = self.floors.get(blocks_read.wrapping_sub(1)).copied().unwrap_or(i64::MIN);
        if !self.at_end && next.raw > floor {
            return Ok(None);
        }
        if is_spilled {
            return self.spilled.pop();
        }
        let item = self.heap.pop().map(|Reverse(item)| item);
        // The last item of a block that the reader has left frees the block.
        let block = item.as_ref().and_then(|item| item.block.as_ref()).filter(|block| Rc::strong_count(block) == 1);
        self.held = self.held.saturating_sub(ITEM_BYTES + block.map_or(0, |block| block.len()));
        if self.heap.is_empty() {
            self.held = 0;
        }
        Ok(item)
    }

    /// Moves the items to a file if the waiting items of all streams exceed the memory budget.
    fn make_room(&mut self) -> io::Result<()> {
        if self.held.abs_diff(self.counted) < COUNTED {
            return Ok(());
        }
        self.count(self.held);
        if self.held < COUNTED || HELD.load(Relaxed) <= waiting_budget() {
            return Ok(());
        }
        let mut items = std::mem::take(&mut self.heap).into_sorted_vec();
        items.reverse();
        self.spilled.add(items.into_iter().map(|Reverse(item)| item))?;
        (self.held, self.last_block) = (0, 0);
        self.count(0);
        Ok(())
    }

    fn count(&mut self, held: usize) {
        HELD.fetch_add(held, Relaxed);
        HELD.fetch_sub(self.counted, Relaxed);
        self.counted = held;
    }
}

impl Drop for HeldRecords {
    fn drop(&mut self) {
        self.count(0);
    }
}

impl TimeOrdered for OrderedStream<'_> {
    type Error = RunReadError;

    fn timestamp(&self) -> Option<i64> {
        self.current.as_ref().map(|item| item.corrected)
    }

    fn advance(&mut self) -> Result<(), RunReadError> {
        if self.waiting.is_none() {
            if self.advance_plainly() {
                return Ok(());
            }
            self.current = self.read()?.map(|(time, place, block)| {
                let date = self.plan.timestamp_maps[self.stream].corrected(time, place.ordinal);
                OrderedItem { corrected: date, raw: time, record_time: time, only: None, rank: 0, place, block }
            });
            return Ok(());
        }
        loop {
            let blocks = self.reader.blocks_read();
            let Some(waiting) = &mut self.waiting else { return Ok(()) };
            let next = match waiting.make_room().and_then(|()| waiting.take_next(blocks)) {
                Ok(next) => next,
                Err(why) => return Err(self.spill_error(&why)),
            };
            if next.is_some() || waiting.at_end {
                let timestamp_map = &self.plan.timestamp_maps[self.stream];
                self.current = next.map(|item| OrderedItem {
                    corrected: timestamp_map.corrected(item.raw, item.place.ordinal),
                    ..item
                });
                return Ok(());
            }
            if !self.read_ahead()?
                && let Some(waiting) = &mut self.waiting
            {
                waiting.at_end = true;
            }
        }
    }
}

impl OrderedItem {
    /// A gap comes before the record that follows it.
    fn key(&self) -> (i64, u64, bool, u16) {
        (self.raw, self.place.ordinal, !self.place.is_gap(), self.rank)
    }
}

impl PartialEq for OrderedItem {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for OrderedItem {}

impl PartialOrd for OrderedItem {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OrderedItem {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}
