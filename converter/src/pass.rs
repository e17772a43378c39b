//! One pass over the records of a run in order of date: a thread of its own reads, unpacks, dates and merges, ahead of
//! what is done with the records. What comes out is the same with and without it.
//!
//! Records are not copied on the way: both sides hold the same chunks, and what goes over is the order in which streams take turns.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use crate::input::ReadError;
use crate::lane::{Chunk, Due, Lane, Tally, Values};
use crate::merge::Tournament;
use crate::pipeline::ConvertError;
use crate::plan::{Needs, Plan};
use crate::reorder::{Feed, Taking};

/// How many records go together from one thread to the other, at most.
const BATCH_RECORDS: usize = 4096;
/// How many batches are under way.
const BATCHES: usize = 4;

/// By stream: the smallest date in each block or a later one, where arrows have dates of their own.
pub(crate) type Floors = Vec<Option<Vec<i64>>>;

/// A pass, to be run.
pub(crate) struct Pass<'p> {
    pub(crate) plan: &'p Plan<'p>,
    pub(crate) floors: Floors,
    pub(crate) taking: Taking,
    pub(crate) needs: Needs,
    /// Whether records are read ahead in a thread of their own.
    pub(crate) ahead: bool,
}

/// What is known at the end of a pass.
#[derive(Debug, Default)]
pub(crate) struct Passed {
    /// By stream.
    pub(crate) tallies: Vec<Tally>,
    /// Values that occur in columns.
    pub(crate) values: Values,
}

impl Pass<'_> {
    /// Visits what is due, in order; `read` is told how many records more were read.
    ///
    /// # Errors
    /// When a file cannot be read, or a visit fails.
    pub(crate) fn run(
        self,
        mut read: impl FnMut(u64),
        mut visit: impl FnMut(Due<'_>) -> Result<(), ConvertError>,
    ) -> Result<Passed, ConvertError> {
        let plan = self.plan;
        let mut turns = Turns::new(plan);
        let mut take = |batch: &mut Batch| -> Result<(), ConvertError> {
            read(std::mem::take(&mut batch.read));
            turns.take(batch, plan, &mut visit)
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
        let (mut lanes, mut heads, mut values, mut batch) =
            (Vec::new(), Vec::new(), Values::default(), Batch::default());
        let needs = Arc::new(self.needs);
        for (stream, (reader, floors)) in self.plan.readers()?.into_iter().zip(self.floors).enumerate() {
            let feed = Feed::idle(self.plan, stream, reader, floors, self.taking);
            let mut lane = Lane::new(self.plan, feed, Arc::clone(&needs));
            let mut head = Head::default();
            batch.fill(stream, &mut lane, &mut values, &mut head)?;
            lanes.push(lane);
            heads.push(head);
        }
        let mut tournament = Tournament::new(heads.iter().map(Head::date));
        while let Some(number) = tournament.winner() {
            let head = &mut heads[number];
            batch.order.push(short(number));
            head.at += 1;
            if head.at >= head.dates.len() {
                batch.fill(number, &mut lanes[number], &mut values, head)?;
            }
            tournament.replay(head.date());
            if batch.order.len() >= BATCH_RECORDS {
                pass_on(&mut batch)?;
            }
        }
        pass_on(&mut batch)?;
        Ok(Passed { tallies: lanes.iter_mut().map(Lane::tally).collect(), values })
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

/// What the merge looks at of a stream, close together: the dates of its chunk, and how far it has come.
#[derive(Debug, Default)]
struct Head {
    dates: Vec<i64>,
    at: usize,
}

impl Head {
    /// The date of the next record; `None` at the end.
    #[inline]
    fn date(&self) -> Option<i64> {
        self.dates.get(self.at).copied()
    }
}

/// Records on their way from one thread to the other.
#[derive(Debug, Default)]
struct Batch {
    /// Chunks that come after those that their streams had before.
    chunks: Vec<(u32, Arc<Chunk>)>,
    /// The streams whose turn it is, one after the other.
    order: Vec<u32>,
    /// Records that were read for it, those that are of no interest among them.
    read: u64,
}

impl Batch {
    /// Lets a stream go on to its next chunk, of which the dates go to `head`: none at its end.
    fn fill(
        &mut self,
        stream: usize,
        lane: &mut Lane<'_>,
        values: &mut Values,
        head: &mut Head,
    ) -> Result<(), ReadError> {
        let chunk = lane.fill(values)?;
        self.read += lane.take_read();
        head.at = 0;
        head.dates.clear();
        if let Some(chunk) = chunk {
            head.dates.extend_from_slice(&chunk.dates);
            self.chunks.push((short(stream), chunk));
        }
        Ok(())
    }
}

/// The chunks of all streams, and how far each has come.
struct Turns<'p> {
    cursors: Vec<Cursor<'p>>,
}

#[derive(Default)]
struct Cursor<'p> {
    /// The programs of its records.
    table: &'p [u32],
    chunk: Arc<Chunk>,
    at: usize,
    next: VecDeque<Arc<Chunk>>,
}

impl<'p> Turns<'p> {
    fn new(plan: &'p Plan<'_>) -> Self {
        let cursor = |stream| Cursor { table: plan.table_of(stream), ..Cursor::default() };
        Self { cursors: (0..plan.streams.len()).map(cursor).collect() }
    }

    /// Visits the records of a batch, which is empty then.
    fn take(
        &mut self,
        batch: &mut Batch,
        plan: &Plan<'_>,
        visit: &mut impl FnMut(Due<'_>) -> Result<(), ConvertError>,
    ) -> Result<(), ConvertError> {
        for (stream, chunk) in batch.chunks.drain(..) {
            self.cursors[stream as usize].next.push_back(chunk);
        }
        for stream in batch.order.drain(..) {
            let stream = stream as usize;
            let cursor = &mut self.cursors[stream];
            if cursor.at >= cursor.chunk.dates.len() {
                cursor.chunk = cursor.next.pop_front().unwrap_or_default();
                cursor.at = 0;
            }
            let at = cursor.at;
            cursor.at += 1;
            if let Some(due) = cursor.chunk.due(at, stream, plan, cursor.table) {
                visit(due)?;
            }
        }
        Ok(())
    }
}

fn short(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
