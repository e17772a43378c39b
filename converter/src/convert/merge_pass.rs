//! One pass over the records of a run in order of date: a thread of its own merges, ahead of what is done with the records, and others read,
//! unpack and date for it. What comes out is the same with and without them.
//!
//! What goes over is the order in which streams take turns, and the blocks of which these are, as operations and records. Nothing is copied on the way.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::columnar::ops::{Act, Made, Step, Taken, Turn};
use super::columnar::single_records::Due;
use super::merge::window::{Window, Windows};
use super::options::ConvertError;
use super::plan::Plan;
use super::read_ahead::{Block, Pass, Passed, Reader, Readers};
use crate::run::ReadError;

/// How many batches are under way.
const BATCHES: usize = 4;

/// Who takes what is due, in order.
pub(crate) trait Visit {
    /// A record, or a gap.
    ///
    /// # Errors
    /// When what becomes of it cannot be passed on.
    fn record(&mut self, due: Due<'_>) -> Result<(), ConvertError>;

    /// Operations with this number are of this kind from now on.
    fn know(&mut self, number: u32, act: Act) {
        let _ = (number, act);
    }

    /// An operation, of which the number is of one that is known.
    ///
    /// # Errors
    /// As [`Self::record`].
    fn ready(&mut self, turn: Turn) -> Result<(), ConvertError> {
        let _ = turn;
        Ok(())
    }

    /// A wide one, with its words.
    ///
    /// # Errors
    /// As [`Self::record`].
    fn wide(&mut self, turn: Turn, words: &[u64]) -> Result<(), ConvertError> {
        let _ = (turn, words);
        Ok(())
    }
}

/// Takes records alone.
pub(crate) struct Records<F>(pub(crate) F);

impl<F: FnMut(Due<'_>) -> Result<(), ConvertError>> Visit for Records<F> {
    fn record(&mut self, due: Due<'_>) -> Result<(), ConvertError> {
        self.0(due)
    }
}

impl Pass<'_> {
    /// Visits what is due, in order; `read` is told how many records more were read.
    ///
    /// # Errors
    /// When a file cannot be read, or a visit fails.
    pub(crate) fn run(self, mut read: impl FnMut(u64), visit: &mut impl Visit) -> Result<Passed, ConvertError> {
        let plan = self.plan;
        let mut turns = Turns::new(plan);
        let mut take = |batch: &mut Batch| -> Result<(), ConvertError> {
            read(std::mem::take(&mut batch.read));
            turns.take(batch, plan, visit)
        };
        if !self.ahead {
            return self.produce(|batch| take(batch));
        }
        std::thread::scope(|scope| {
            let (full, filled): (SyncSender<Batch>, Receiver<Batch>) = sync_channel(BATCHES);
            let (empty, emptied) = sync_channel(BATCHES + 1);
            let reader = scope.spawn(move || {
                self.produce::<Stop>(|batch| {
                    let next = emptied.try_recv().unwrap_or_default();
                    full.send(std::mem::replace(batch, next)).map_err(|_unsent| Stop::Unwanted)
                })
            });
            let mut taken = Ok(());
            for mut batch in filled {
                taken = take(&mut batch);
                if taken.is_err() {
                    break;
                }
                // The other thread may be done.
                let _ = empty.try_send(batch);
            }
            // The receiver is gone by now: a reader that still reads stops.
            match (taken, reader.join()) {
                (Err(why), _) => Err(why),
                (Ok(()), Ok(Ok(passed))) => Ok(passed),
                (Ok(()), Ok(Err(Stop::Read(why)))) => Err(why.into()),
                (Ok(()), Ok(Err(Stop::Unwanted))) => Ok(Passed::default()),
                (Ok(()), Err(panic)) => std::panic::resume_unwind(panic),
            }
        })
    }

    /// Reads everything; `pass_on` takes full batches and leaves an empty one.
    fn produce<E: From<ReadError>>(self, mut pass_on: impl FnMut(&mut Batch) -> Result<(), E>) -> Result<Passed, E> {
        let (begins, readers) = (self.plan.begins(&self.floors), self.readers.min(self.plan.streams.len()));
        if readers < 2 {
            let mut reader = Reader::of_all(self)?;
            merge(&begins, |stream, block| Ok(reader.read(stream, block)?), pass_on)?;
            return Ok(reader.finish());
        }
        std::thread::scope(|scope| {
            let mut threads = Readers::start(scope, self, readers)?;
            let next = |stream, block: &mut Block| threads.next(stream, block).ok_or(None);
            let merged = merge(&begins, next, |batch| pass_on(batch).map_err(Some));
            match (merged, threads.finish()) {
                (Err(Some(why)), _) => Err(why),
                // A reader that failed says why.
                (_, passed) => Ok(passed?),
            }
        })
    }
}

/// Merges streams. `begins` holds a lower bound of the timestamps of each stream. `next` continues
/// to read one stream.
fn merge<E>(
    begins: &[i64],
    mut next: impl FnMut(usize, &mut Block) -> Result<(), E>,
    mut pass_on: impl FnMut(&mut Batch) -> Result<(), E>,
) -> Result<(), E> {
    let (mut windows, mut batch) = (Windows::new(begins), Batch::default());
    loop {
        windows.fill(|stream, dates| {
            let (made, dates_before) = (batch.used.pop().unwrap_or_default(), std::mem::take(dates));
            let mut block = Block { stream, made, dates: dates_before, ..Block::default() };
            next(stream, &mut block)?;
            *dates = block.dates;
            batch.read += block.read;
            if block.is_last || dates.is_empty() {
                batch.ended.push(short(stream));
            }
            if dates.is_empty() {
                batch.used.push(block.made);
            } else {
                batch.blocks.push((short(stream), block.made));
            }
            Ok(block.is_last)
        })?;
        windows.take(&mut batch.window);
        let is_last = batch.window.is_empty();
        pass_on(&mut batch)?;
        if is_last {
            return Ok(());
        }
    }
}

/// Why reading ahead ended early.
enum Stop {
    Read(ReadError),
    /// A visit failed.
    Unwanted,
}

impl From<ReadError> for Stop {
    fn from(why: ReadError) -> Self {
        Self::Read(why)
    }
}

/// Turns on their way from one thread to the other.
#[derive(Debug, Default)]
struct Batch {
    /// Blocks that come after those that their streams had before.
    blocks: Vec<(u32, Made)>,
    /// Streams that have no further block.
    ended: Vec<u32>,
    window: Window,
    /// Blocks that were taken, on their way back.
    used: Vec<Made>,
    /// Records that were read for it, those that are of no interest among them.
    read: u64,
}

/// The blocks of all streams, and how far each has come.
struct Turns<'p> {
    cursors: Vec<Cursor<'p>>,
}

/// The position in a stream. Its blocks exist only from the first record to the last one.
struct Cursor<'p> {
    /// The programs of its records.
    table: &'p [u32],
    blocks: Option<Box<Blocks>>,
}

/// The blocks of a stream.
#[derive(Default)]
struct Blocks {
    current: Made,
    next: VecDeque<Made>,
    /// The stream has no further block.
    is_complete: bool,
}

impl Blocks {
    fn is_done(&self) -> bool {
        self.is_complete && self.next.is_empty() && self.current.is_done()
    }
}

/// Maximum number of blocks whose memory is kept for other streams.
const MOST_USED: usize = 1024;

impl<'p> Turns<'p> {
    fn new(plan: &'p Plan<'_>) -> Self {
        let cursor = |stream| Cursor { table: plan.table_of(stream), blocks: None };
        Self { cursors: (0..plan.streams.len()).map(cursor).collect() }
    }

    /// Frees the blocks of a stream that has ended.
    fn close(&mut self, stream: u32, used: &mut Vec<Made>) {
        let blocks = self.cursors.get_mut(stream as usize).map(|cursor| &mut cursor.blocks);
        let ended = blocks.and_then(|blocks| blocks.take_if(|blocks| blocks.is_done()));
        used.extend(ended.map(|blocks| blocks.current).filter(|_| used.len() < MOST_USED));
    }

    /// Visits what a batch has; what is left of it is memory.
    fn take(&mut self, batch: &mut Batch, plan: &Plan<'_>, visit: &mut impl Visit) -> Result<(), ConvertError> {
        let Batch { blocks, ended, window, used, .. } = batch;
        for (stream, made) in blocks.drain(..) {
            self.cursors[stream as usize].blocks.get_or_insert_default().next.push_back(made);
        }
        for stream in &*ended {
            if let Some(blocks) = &mut self.cursors[*stream as usize].blocks {
                blocks.is_complete = true;
            }
        }
        let mut turns = window.turns();
        let mut fetched = [Fetched::NOTHING; FETCHED];
        let mut count = 0;
        loop {
            let ended = self.fetch(&mut turns, &mut fetched, &mut count);
            for &Fetched { date, stream, taken } in &fetched[..count] {
                match taken {
                    Taken::Operation { act, bits } => visit.ready(Turn { date, bits: bits.into(), act, stream })?,
                    Taken::Other(at) => {
                        let Some(Cursor { table, blocks }) = self.cursors.get(stream as usize) else { continue };
                        let Some(made) = blocks.as_ref().map(|blocks| &blocks.current) else { continue };
                        visit_steps(made, at, (date, stream), (plan, table), visit)?;
                    }
                }
            }
            let is_done = count < FETCHED && ended.is_none();
            count = 0;
            if let Some((stream, date)) = ended {
                let Some(blocks) = &mut self.cursors[stream as usize].blocks else { continue };
                let Blocks { current: made, next, .. } = &mut **blocks;
                used.push(std::mem::replace(made, next.pop_front().unwrap_or_default()));
                for (number, act) in made.acts.drain(..) {
                    visit.know(number, act);
                }
                fetched[0] = Fetched { date, stream, taken: made.take() };
                count = 1;
            }
            if is_done {
                break;
            }
        }
        for &stream in window.streams().iter().chain(&*ended) {
            self.close(stream, used);
        }
        ended.clear();
        Ok(())
    }

    /// Takes what comes next, as many as are fetched together; stops at a turn for which the block of its stream has no more, and gives it back.
    fn fetch(
        &mut self,
        turns: &mut impl Iterator<Item = (u32, i64)>,
        fetched: &mut [Fetched; FETCHED],
        count: &mut usize,
    ) -> Option<(u32, i64)> {
        for (place, (stream, date)) in fetched[*count..].iter_mut().zip(turns) {
            let made = &mut self.cursors.get_mut(stream as usize)?.blocks.as_mut()?.current;
            if made.is_done() {
                return Some((stream, date));
            }
            *place = Fetched { date, stream, taken: made.take() };
            *count += 1;
        }
        None
    }
}

/// So many records are fetched before the first of them is looked at: the blocks are in the memory of other processors, each record in
/// another place, and it takes no longer to wait for all of them than for one.
const FETCHED: usize = 32;

/// A record that is due.
#[derive(Clone, Copy, Debug)]
struct Fetched {
    date: i64,
    stream: u32,
    taken: Taken,
}

impl Fetched {
    const NOTHING: Self = Self { date: 0, stream: 0, taken: Taken::Other(usize::MAX) };
}

/// Visits what becomes of a record that is not just an operation.
#[inline(never)]
fn visit_steps(
    made: &Made,
    at: usize,
    when: (i64, u32),
    (plan, table): (&Plan<'_>, &[u32]),
    visit: &mut impl Visit,
) -> Result<(), ConvertError> {
    made.steps(at, when, &mut |step| match step {
        Step::Operation(turn) => visit.ready(turn),
        Step::Wide(turn, words) => visit.wide(turn, words),
        Step::Record(chunk, at) => chunk.due(at, when.1 as usize, plan, table).map_or(Ok(()), |due| visit.record(due)),
    })
}

fn short(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
