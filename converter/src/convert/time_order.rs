//! One stream in order of date, although rules give some arrows other dates than their record's.
//!
//! A record and its arrows wait in a heap until nothing that is still to be read from the stream can be earlier. What that
//! is, the first pass has noted for each block: so no more than the blocks that overlap in date are held. Items without room in
//! memory wait in a temporary file.

pub(crate) mod spill;

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::io;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use tracer_format::columns::Columns;
use tracer_format::record::Lost;

use super::merge::loser_tree::Dated;
use super::plan::{Need, Plan};
use crate::clock::Fine;
use crate::rules::{Program, Symbols};
use crate::run::{BlockPlace, Memory, Place, ReadError, StreamReader, waiting_budget};
use spill::Spilled;

/// A stream being read in order of date.
#[derive(Debug)]
pub(crate) struct Feed<'r> {
    plan: &'r Plan<'r>,
    pub(crate) stream: usize,
    reader: StreamReader<'r>,
    current: Option<Item>,
    waiting: Option<Waiting>,
    last: i64,
    scratch: String,
    symbols: Symbols,
    taking: Taking,
    /// The record in front of which something is missing.
    behind_gap: Option<(i64, Place)>,
    /// Records that were read since this was last asked for.
    read: u64,
    /// Records dated before the one before them.
    pub(crate) backward: u64,
    /// Dates before the start of the run.
    pub(crate) early: u64,
}

/// What of a stream becomes items.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taking {
    /// Only records whose program says so.
    pub(crate) wanted: fn(&Program) -> bool,
    /// Each drop between them, and each mark of a truncated record, is an item, too.
    pub(crate) gaps: bool,
}

impl Taking {
    /// All records, and nothing else.
    pub(crate) const RECORDS: Self = Self { wanted: |_| true, gaps: false };
    /// All records, and what is missing between them.
    pub(crate) const ALL: Self = Self { wanted: |_| true, gaps: true };
}

/// Bytes of waiting items in memory, of all streams.
static HELD: AtomicUsize = AtomicUsize::new(0);
/// A stream counts its bytes in [`HELD`] in steps of so many.
const COUNTED: usize = 1 << 16;
/// Bytes of an item without its block.
const ITEM_BYTES: usize = size_of::<Item>();

/// The records that wait.
#[derive(Debug)]
struct Waiting {
    heap: BinaryHeap<Reverse<Item>>,
    /// Bytes of the items in `heap` and of their blocks.
    held: usize,
    /// How much of `held` is counted in [`HELD`].
    counted: usize,
    /// Address of the block of the last item.
    last_block: usize,
    spilled: Spilled,
    /// The smallest date in this block or a later one.
    floors: Vec<i64>,
    at_end: bool,
}

/// A record, or one arrow of it that has a date of its own.
#[derive(Debug)]
pub(crate) struct Item {
    /// When it is due: the final date.
    pub(crate) date: i64,
    /// The same as a coarse date.
    due: i64,
    /// The record's own date, coarse.
    pub(crate) time: i64,
    /// The arrow; `None` for all that have no date of their own.
    pub(crate) only: Option<u16>,
    /// Order among items of one record.
    rank: u16,
    pub(crate) place: Place,
    /// Its block, when it is not the reader's current one.
    block: Option<Block>,
}

/// An unpacked block that is kept while its records wait.
type Block = Rc<Vec<u8>>;

impl<'r> Feed<'r> {
    /// Reads a stream; `floors` are needed where arrows have dates of their own.
    pub(crate) fn new(
        plan: &'r Plan<'r>,
        stream: usize,
        reader: StreamReader<'r>,
        floors: Option<Vec<i64>>,
        taking: Taking,
    ) -> Result<Self, ReadError> {
        let mut feed = Self::idle(plan, stream, reader, floors, taking);
        feed.advance()?;
        Ok(feed)
    }

    /// The same, before its first item.
    pub(crate) fn idle(
        plan: &'r Plan<'r>,
        stream: usize,
        reader: StreamReader<'r>,
        floors: Option<Vec<i64>>,
        taking: Taking,
    ) -> Self {
        let waiting = floors.map(Waiting::new);
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

    /// The next block by columns, as far as they are needed. `None` when its records have to be read one by one, as dates are moved among
    /// them, or for the reader's reasons.
    pub(crate) fn next_columns(&mut self, needs: &[Need]) -> Result<Option<(Columns, BlockPlace)>, ReadError> {
        if self.waiting.is_some() || self.behind_gap.is_some() {
            return Ok(None);
        }
        let Self { plan, stream, last, reader, .. } = self;
        let is_wanted = |id: u16, part| needs.get(usize::from(id)).is_some_and(|need| need.has(part));
        let found = reader.next_columns(is_wanted, |ticks| plan.date(*stream, ticks) >= *last)?;
        self.read += found.as_ref().map_or(0, |(columns, _)| columns.records() as u64);
        Ok(found)
    }

    /// The memory of such a block; see [`StreamReader::take_memory`].
    pub(crate) fn take_memory(&mut self) -> Memory {
        self.reader.take_memory()
    }

    /// Fills in the coarse dates of records of a block that was read by columns, so many ticks from its beginning; gives back that of its last
    /// record.
    pub(crate) fn dates_of(&mut self, block: &BlockPlace, ticks: &[u64], dates: &mut Vec<i64>) -> i64 {
        self.plan.dates(self.stream, block.first_ticks, ticks, dates);
        self.last = self.last.max(self.plan.date(self.stream, block.last_ticks));
        self.last
    }

    /// The coarse date of a record of such a block.
    pub(crate) fn coarse(&self, block: &BlockPlace, ticks: u64) -> i64 {
        self.plan.date(self.stream, block.first_ticks.wrapping_add(ticks))
    }

    /// Whether the next record is the first of a block, and none waits.
    pub(crate) fn is_between_blocks(&self) -> bool {
        self.waiting.is_none() && self.behind_gap.is_none() && self.reader.is_between_blocks()
    }

    /// Whether nothing comes any more, as far as that is known without reading on.
    pub(crate) fn is_at_end(&self) -> bool {
        self.is_between_blocks() && self.reader.is_at_end()
    }

    /// The current item and the bytes of its record.
    pub(crate) fn item(&self) -> Option<(&Item, &[u8])> {
        let item = self.current.as_ref()?;
        let body = match &item.block {
            Some(block) => item.place.body(block),
            None => self.reader.body(&item.place),
        };
        Some((item, body))
    }

    /// The reader, for its account of losses.
    pub(crate) fn reader(&self) -> &StreamReader<'r> {
        &self.reader
    }

    /// How many records were read since this was last asked for.
    pub(crate) fn take_read(&mut self) -> u64 {
        std::mem::take(&mut self.read)
    }

    /// Goes to the next record when that is of the current block, wanted, and no date of its stream is moved: nearly always.
    #[inline]
    fn advance_plainly(&mut self) -> bool {
        if self.behind_gap.is_some() {
            return false;
        }
        let fine = &self.plan.fines[self.stream];
        while let Some(place) = self.reader.advance_plainly() {
            self.read += 1;
            let time = self.plan.date(self.stream, place.ticks.0);
            self.backward += u64::from(time < self.last);
            self.last = self.last.max(time);
            if self.plan.is_wanted(self.stream, place.id, self.taking.wanted) {
                let time = self.last;
                let date = fine.date(time, place.ordinal);
                self.current = Some(Item { date, due: time, time, only: None, rank: 0, place, block: None });
                return true;
            }
        }
        false
    }

    /// Reads a record that is wanted, or a gap with its bytes; its coarse date is made not to decrease in the stream.
    fn read(&mut self) -> Result<Option<(i64, Place, Option<Block>)>, ReadError> {
        if let Some((date, mut place)) = self.behind_gap.take() {
            if self.taking.gaps && std::mem::take(&mut place.truncated) {
                let (ticks, ordinal) = (place.ticks.0, place.ordinal);
                self.behind_gap = Some((date, place));
                let mark = Lost::of_truncated(self.reader.missing_bytes(), ticks).encode().to_vec();
                return Ok(Some((date, Place::of_gap(ticks, ordinal), Some(Rc::new(mark)))));
            }
            return Ok(Some((date, place, None)));
        }
        let before = self.last;
        loop {
            let place = self.reader.advance()?;
            if let Some(place) = &place {
                self.read += 1;
                let date = self.plan.date(self.stream, place.ticks.0);
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

    /// The item of a gap: it begins with the first lost record, as far as that is known, but between its neighbours.
    fn gap(&self, gap: &Lost, before: i64) -> (i64, Place, Option<Block>) {
        let (records, ticks) = self.reader.position();
        let ordinal = records - u64::from(self.behind_gap.is_some());
        let behind = self.plan.date(self.stream, ticks).max(self.last);
        let date = self.plan.date(self.stream, gap.first_ticks).clamp(before, behind);
        (date, Place::of_gap(gap.first_ticks, ordinal), Some(Rc::new(gap.encode().to_vec())))
    }

    fn spill_error(&self, why: &io::Error) -> ReadError {
        let source = io::Error::other(format!(
            "cannot use a temporary file for records that wait: {why}; TMPDIR names another folder"
        ));
        ReadError { file: self.reader.process().path.clone(), offset: 0, source }
    }

    /// Reads a record into the heap, arrow by arrow where they have dates of their own.
    fn read_ahead(&mut self) -> Result<bool, ReadError> {
        let Some((time, place, block)) = self.read()? else { return Ok(false) };
        let block = block.unwrap_or_else(|| self.reader.block());
        let Some(waiting) = &mut self.waiting else { return Ok(false) };
        let program = self.plan.program(self.stream, place.id).filter(|program| program.dated);
        let Some(program) = program else {
            let item = Item { date: time, due: time, time, only: None, rank: 0, place, block: Some(block) };
            waiting.push(item);
            return Ok(true);
        };
        let scope = self.plan.scope(self.stream, program, time, (place.site, place.ordinal), place.body(&block));
        let mut plain = false;
        for (number, arrow) in program.arrows.iter().enumerate() {
            let number = u16::try_from(number).unwrap_or(u16::MAX);
            let item = |due, only| {
                let (place, block) = (place.clone(), Some(Rc::clone(&block)));
                Item { date: due, due, time, only, rank: number, place, block }
            };
            if let Some(at) = &arrow.at {
                self.scratch.clear();
                let date = scope.eval(at, &mut self.scratch, &self.symbols).integer();
                let date = date.and_then(|date| i64::try_from(date).ok()).unwrap_or(time);
                let first = first_not_early(&self.plan.fines[self.stream], (date, time), place.ordinal);
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

/// A coarse date, or the first one after it, up to that of its record, that is not before the start of the run when clocks are corrected.
fn first_not_early(fine: &Fine, (date, time): (i64, i64), ordinal: u64) -> i64 {
    let is_early = |coarse: i64| fine.date(coarse, ordinal) < 0;
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

impl Waiting {
    fn new(floors: Vec<i64>) -> Self {
        let (heap, spilled) = (BinaryHeap::new(), Spilled::default());
        Self { heap, held: 0, counted: 0, last_block: 0, spilled, floors, at_end: false }
    }

    fn push(&mut self, item: Item) {
        let block = item.block.as_ref().map_or(0, |block| Rc::as_ptr(block).addr());
        if block != self.last_block {
            self.last_block = block;
            self.held += item.block.as_ref().map_or(0, |block| block.len());
        }
        self.held += ITEM_BYTES;
        self.heap.push(Reverse(item));
    }

    /// The next item, when nothing earlier can come any more.
    fn take(&mut self, blocks_read: usize) -> io::Result<Option<Item>> {
        let in_memory = self.heap.peek().map(|Reverse(item)| item);
        let (next, is_spilled) = match (in_memory, self.spilled.peek()) {
            (Some(here), Some(there)) if there < here => (there, true),
            (None, Some(there)) => (there, true),
            (Some(here), _) => (here, false),
            (None, None) => return Ok(None),
        };
        let floor = self.floors.get(blocks_read.wrapping_sub(1)).copied().unwrap_or(i64::MIN);
        if !self.at_end && next.due > floor {
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

    /// Moves the items to a file when the waiting items of all streams have more than their share of memory.
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

impl Drop for Waiting {
    fn drop(&mut self) {
        self.count(0);
    }
}

impl Dated for Feed<'_> {
    type Error = ReadError;

    fn date(&self) -> Option<i64> {
        self.current.as_ref().map(|item| item.date)
    }

    fn advance(&mut self) -> Result<(), ReadError> {
        if self.waiting.is_none() {
            if self.advance_plainly() {
                return Ok(());
            }
            self.current = self.read()?.map(|(time, place, block)| {
                let date = self.plan.fines[self.stream].date(time, place.ordinal);
                Item { date, due: time, time, only: None, rank: 0, place, block }
            });
            return Ok(());
        }
        loop {
            let blocks = self.reader.blocks_read();
            let Some(waiting) = &mut self.waiting else { return Ok(()) };
            let next = match waiting.make_room().and_then(|()| waiting.take(blocks)) {
                Ok(next) => next,
                Err(why) => return Err(self.spill_error(&why)),
            };
            if next.is_some() || waiting.at_end {
                let fine = &self.plan.fines[self.stream];
                self.current = next.map(|item| Item { date: fine.date(item.due, item.place.ordinal), ..item });
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

impl Item {
    /// What is missing in front of a record comes before it.
    fn key(&self) -> (i64, u64, bool, u16) {
        (self.due, self.place.ordinal, !self.place.is_gap(), self.rank)
    }
}

impl PartialEq for Item {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Item {}

impl PartialOrd for Item {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Item {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}
