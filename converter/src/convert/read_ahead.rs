//! The blocks of all streams, each asked for when the one before it is used up: read, unpacked and dated there and then, or ahead, by threads that
//! share the streams.
//!
//! A thread reads the blocks of its streams in the order in which they will be asked for, which is that in which the blocks before them end. So
//! it is a few blocks ahead, however many streams there are.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::fs::File;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};

use super::columnar::evaluate::{Maker, Numbers, Purpose};
use super::columnar::ops::Made;
use super::columnar::stream::{Lane, Tally, Values};
use super::plan::{Needs, Plan};
use super::time_order::{Feed, Taking};
use crate::run::ReadError;

/// By stream: the smallest date in each block or a later one, where arrows have dates of their own.
pub(crate) type Floors = Vec<Option<Vec<i64>>>;

/// A pass, to be run.
pub(crate) struct Pass<'p> {
    pub(crate) plan: &'p Plan<'p>,
    pub(crate) floors: Floors,
    pub(crate) taking: Taking,
    pub(crate) needs: Needs,
    /// What operations are made for.
    pub(crate) purpose: Purpose<'p>,
    /// Whether records are merged ahead in a thread of their own.
    pub(crate) ahead: bool,
    /// How many threads read for it; one is no other thread.
    pub(crate) readers: usize,
}

/// What is known at the end of a pass.
#[derive(Debug, Default)]
pub(crate) struct Passed {
    /// By stream.
    pub(crate) tallies: Vec<Tally>,
    /// Values that occur in columns.
    pub(crate) values: Values,
}

/// How many blocks a thread is ahead.
const BLOCKS: usize = 4;

/// A block of a stream, or some records of it.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) stream: usize,
    /// When each of its records is due of which something becomes; none at the end of the stream.
    pub(crate) dates: Vec<i64>,
    /// It is known that there are no more.
    pub(crate) is_last: bool,
    pub(crate) made: Made,
    /// How many records were read for it.
    pub(crate) read: u64,
}

/// What a reader needs of a stream: its number, its file, its floors.
type Opened = (usize, Arc<File>, Option<Vec<i64>>);

/// How streams are read.
#[derive(Clone)]
struct How<'p> {
    plan: &'p Plan<'p>,
    taking: Taking,
    needs: Arc<Needs>,
    purpose: Purpose<'p>,
    /// Readers share the streams: each reads one in so many.
    readers: usize,
    /// By stream: a lower bound of its timestamps.
    begins: Arc<[i64]>,
}

/// Reads streams.
pub(crate) struct Reader<'p> {
    lanes: Vec<Reading<'p>>,
    maker: Maker<'p>,
    values: Values,
    how: How<'p>,
}

/// State of a stream. One that has not begun or has ended uses little memory.
enum Reading<'p> {
    Before(Opened),
    Begun(Box<Lane<'p>>),
    Ended(Tally),
}

impl<'p> Reader<'p> {
    /// Of all streams of a pass.
    ///
    /// # Errors
    /// When a file cannot be opened.
    pub(crate) fn of_all(pass: Pass<'p>) -> Result<Self, ReadError> {
        let (how, mut shares) = share(pass, 1)?;
        Ok(Self::new(how, 0, shares.pop().unwrap_or_default()))
    }

    fn new(how: How<'p>, number: usize, streams: Vec<Opened>) -> Self {
        Self {
            lanes: streams.into_iter().map(Reading::Before).collect(),
            maker: Maker::new(how.plan, how.purpose, Numbers::of(number, how.readers)),
            values: Values::default(),
            how,
        }
    }

    /// Reads on in a stream, into the memory of another block.
    pub(crate) fn read(&mut self, stream: usize, block: &mut Block) -> Result<(), ReadError> {
        let Block { dates, made, .. } = block;
        block.stream = stream;
        let reading = &mut self.lanes[stream / self.how.readers];
        if let Reading::Before((_, file, floors)) = reading {
            let How { plan, taking, needs, .. } = &self.how;
            let feed = Feed::idle(plan, stream, plan.reader(stream, Arc::clone(file)), floors.take(), *taking);
            *reading = Reading::Begun(Box::new(Lane::new(plan, feed, Arc::clone(needs))));
        }
        let Reading::Begun(lane) = reading else {
            dates.clear();
            (block.is_last, block.read) = (true, 0);
            return Ok(());
        };
        block.is_last = lane.fill(&mut self.maker, &mut self.values, dates, made)?;
        block.read = lane.take_read();
        if dates.is_empty() {
            *reading = Reading::Ended(lane.tally());
        }
        Ok(())
    }

    /// What is known when all was read.
    pub(crate) fn finish(mut self) -> Passed {
        let tally = |reading: &mut Reading<'_>| match reading {
            Reading::Before(_) => Tally::default(),
            Reading::Begun(lane) => lane.tally(),
            Reading::Ended(tally) => *tally,
        };
        Passed { tallies: self.lanes.iter_mut().map(tally).collect(), values: self.values }
    }

    /// Reads everything ahead, until nobody wants it any more.
    fn run(mut self, number: usize, full: &SyncSender<Block>, used: &Receiver<Block>) -> Result<Passed, ReadError> {
        let streams = (0..self.lanes.len()).map(|lane| lane * self.how.readers + number);
        let begin = |stream: usize| self.how.begins.get(stream).copied().unwrap_or(i64::MIN);
        let mut due: BinaryHeap<_> = streams.map(|stream| Reverse((begin(stream), stream))).collect();
        while let Some(Reverse((_, stream))) = due.pop() {
            let mut block = used.try_recv().unwrap_or_default();
            self.read(stream, &mut block)?;
            due.extend(block.dates.last().map(|last| Reverse((*last, stream))));
            if full.send(block).is_err() {
                break;
            }
        }
        Ok(self.finish())
    }
}

/// Opens the streams of a pass, and shares them out.
fn share(pass: Pass<'_>, readers: usize) -> Result<(How<'_>, Vec<Vec<Opened>>), ReadError> {
    let Pass { plan, floors, taking, needs, purpose, .. } = pass;
    let begins = plan.begins(&floors).into();
    let mut shares: Vec<Vec<Opened>> = (0..readers).map(|_| Vec::new()).collect();
    for (stream, (file, floors)) in plan.files()?.into_iter().zip(floors).enumerate() {
        shares[stream % readers].push((stream, file, floors));
    }
    Ok((How { plan, taking, needs: Arc::new(needs), purpose, readers, begins }, shares))
}

/// Threads that read ahead.
pub(crate) struct Readers<'s> {
    threads: Vec<Thread<'s>>,
    /// By stream: blocks that came before they were asked for.
    early: Vec<VecDeque<Block>>,
}

struct Thread<'s> {
    filled: Receiver<Block>,
    used: SyncSender<Block>,
    handle: ScopedJoinHandle<'s, Result<Passed, ReadError>>,
}

impl<'s> Readers<'s> {
    /// Begins to read all streams of a pass in so many threads.
    ///
    /// # Errors
    /// When a file cannot be opened.
    pub(crate) fn start<'env>(scope: &'s Scope<'s, 'env>, pass: Pass<'env>, readers: usize) -> Result<Self, ReadError> {
        let early = pass.plan.streams.iter().map(|_| VecDeque::new()).collect();
        let (how, shares) = share(pass, readers)?;
        let start = |(number, streams)| {
            let (full, filled) = sync_channel(BLOCKS);
            let (used, emptied) = sync_channel(2 * BLOCKS);
            let how = how.clone();
            let handle = scope.spawn(move || Reader::new(how, number, streams).run(number, &full, &emptied));
            Thread { filled, used, handle }
        };
        Ok(Self { threads: shares.into_iter().enumerate().map(start).collect(), early })
    }

    /// The next block of a stream, instead of one whose memory is used again. `None` when its thread has failed.
    pub(crate) fn next(&mut self, stream: usize, block: &mut Block) -> Option<()> {
        let thread = &self.threads[stream % self.threads.len()];
        let found = match self.early[stream].pop_front() {
            Some(found) => {
                // The queue is freed: it has room for four blocks, and a run may have a million streams.
                if self.early[stream].is_empty() {
                    self.early[stream] = VecDeque::new();
                }
                found
            }
            None => loop {
                let found = thread.filled.recv().ok()?;
                if found.stream == stream {
                    break found;
                }
                self.early[found.stream].push_back(found);
            },
        };
        let used = std::mem::replace(block, found);
        // The thread may be done, or have enough.
        let _ = thread.used.try_send(used);
        Some(())
    }

    /// Ends the threads; gives back what is known when all was read.
    ///
    /// # Errors
    /// When a file could not be read.
    pub(crate) fn finish(self) -> Result<Passed, ReadError> {
        let Self { threads, early } = self;
        let readers = threads.len();
        let mut all = Passed::default();
        let mut tallies = Vec::new();
        for Thread { filled, used, handle } in threads {
            // A thread that still reads stops.
            drop((filled, used));
            let passed = handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            #[expect(clippy::iter_over_hash_type, reason = "the least of each, in whatever order")]
            for (place, first) in passed.values {
                let known = all.values.entry(place).or_insert(first);
                *known = first.min(*known);
            }
            tallies.push(passed.tallies);
        }
        let tally = |stream: usize| tallies.get(stream % readers)?.get(stream / readers).copied();
        all.tallies = (0..early.len()).filter_map(tally).collect();
        Ok(all)
    }
}
