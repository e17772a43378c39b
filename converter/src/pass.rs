//! One pass over the records of a run in order of date: a thread of its own reads, unpacks, dates and merges, ahead of
//! what is done with the records. What comes out is the same with and without it.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use tracer_format::ID_LOST;

use crate::input::ReadError;
use crate::merge::merge;
use crate::pipeline::ConvertError;
use crate::plan::Plan;
use crate::reorder::{Feed, Item, Taking};

/// How many records go together from one thread to the other, at most.
const BATCH_RECORDS: usize = 4096;
/// How many bytes of them: few long records fill a batch, too.
const BATCH_BYTES: usize = 1 << 18;
/// How many batches are under way.
const BATCHES: usize = 4;

/// By stream: the smallest date in each block or a later one, where arrows have dates of their own.
pub(crate) type Floors = Vec<Option<Vec<i64>>>;

/// A record that is due, or one arrow of it that has a date of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due<'a> {
    pub(crate) stream: usize,
    /// Record id in its file.
    pub(crate) id: u16,
    /// Id of its source position.
    pub(crate) site: u32,
    /// Position in the stream, from 0.
    pub(crate) ordinal: u64,
    /// When it is due.
    pub(crate) date: i64,
    /// The record's own date.
    pub(crate) time: i64,
    /// The arrow; `None` for all that have no date of their own.
    pub(crate) only: Option<u16>,
    /// How many blocks of the stream were read when it came.
    pub(crate) blocks_read: usize,
    /// The bytes of its fields.
    pub(crate) body: &'a [u8],
}

impl Due<'_> {
    /// Whether it is no record, but stands for records that are missing here; its bytes are those of a `lost` record.
    pub(crate) const fn is_gap(&self) -> bool {
        self.id == ID_LOST
    }
}

/// What a stream lost or had to repair.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) backward: u64,
    pub(crate) early: u64,
    pub(crate) unknown: u64,
}

/// A pass, to be run.
pub(crate) struct Pass<'p> {
    pub(crate) plan: &'p Plan<'p>,
    pub(crate) floors: Floors,
    pub(crate) taking: Taking,
    /// Whether records are read ahead in a thread of their own.
    pub(crate) ahead: bool,
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
    ) -> Result<Vec<Tally>, ConvertError> {
        let mut take = |batch: &Batch| -> Result<(), ConvertError> {
            for entry in &batch.entries {
                visit(entry.due(&batch.bytes))?;
            }
            read(batch.read);
            Ok(())
        };
        if !self.ahead {
            let mut batch = Batch::default();
            return self.produce(|full| {
                std::mem::swap(&mut batch, full);
                take(&batch)?;
                batch.clear();
                Ok(())
            });
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
                taken = take(&batch);
                if taken.is_err() {
                    break;
                }
                batch.clear();
                // The other thread may be done.
                let _ = empty.try_send(batch);
            }
            // The receiver is gone by now: a reader that still reads stops.
            match (taken, reader.join()) {
                (Err(why), _) => Err(why),
                (Ok(()), Ok(Ok(tallies))) => Ok(tallies),
                (Ok(()), Ok(Err(Stop::Read(why)))) => Err(why.into()),
                (Ok(()), Ok(Err(Stop::Unwanted))) => Ok(Vec::new()),
                (Ok(()), Err(panic)) => std::panic::resume_unwind(panic),
            }
        })
    }

    /// Reads everything; `pass_on` takes full batches and leaves an empty one.
    fn produce<E: From<ReadError>>(
        self,
        mut pass_on: impl FnMut(&mut Batch) -> Result<(), E>,
    ) -> Result<Vec<Tally>, E> {
        let mut feeds = Vec::new();
        for (stream, (reader, floors)) in self.plan.readers()?.into_iter().zip(self.floors).enumerate() {
            feeds.push(Feed::new(self.plan, stream, reader, floors, self.taking)?);
        }
        let mut batch = Batch::default();
        merge::<_, E>(&mut feeds, |_, feed| {
            batch.take(feed);
            if batch.entries.len() >= BATCH_RECORDS || batch.bytes.len() >= BATCH_BYTES {
                pass_on(&mut batch)?;
            }
            Ok(())
        })?;
        pass_on(&mut batch)?;
        Ok(feeds.iter().map(Tally::of).collect())
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

/// Records on their way from one thread to the other.
#[derive(Debug, Default)]
struct Batch {
    entries: Vec<Entry>,
    bytes: Vec<u8>,
    /// Records that were read for it, those that are of no interest among them.
    read: u64,
}

#[derive(Debug)]
struct Entry {
    date: i64,
    time: i64,
    ordinal: u64,
    stream: u32,
    site: u32,
    start: u32,
    length: u32,
    blocks_read: u32,
    id: u16,
    /// With [`Entry::is_arrow`].
    arrow: u16,
    is_arrow: bool,
}

impl Batch {
    fn clear(&mut self) {
        self.entries.clear();
        self.bytes.clear();
        self.read = 0;
    }

    /// Adds the current item of a stream.
    fn take(&mut self, feed: &mut Feed<'_>) {
        self.read += feed.take_read();
        let Some((Item { date, time, only, place, .. }, body)) = feed.item() else { return };
        let short = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        self.entries.push(Entry {
            date: *date,
            time: *time,
            ordinal: place.ordinal,
            stream: short(feed.stream),
            site: place.site,
            start: short(self.bytes.len()),
            length: short(body.len()),
            blocks_read: short(feed.reader().blocks_read()),
            id: place.id,
            arrow: only.unwrap_or(0),
            is_arrow: only.is_some(),
        });
        self.bytes.extend_from_slice(body);
    }
}

impl Entry {
    fn due<'b>(&self, bytes: &'b [u8]) -> Due<'b> {
        let start = self.start as usize;
        Due {
            stream: self.stream as usize,
            id: self.id,
            site: self.site,
            ordinal: self.ordinal,
            date: self.date,
            time: self.time,
            only: self.is_arrow.then_some(self.arrow),
            blocks_read: self.blocks_read as usize,
            body: bytes.get(start..start + self.length as usize).unwrap_or(&[]),
        }
    }
}

impl Tally {
    fn of(feed: &Feed<'_>) -> Self {
        Self { backward: feed.backward, early: feed.early, unknown: feed.reader().damage().1 }
    }
}
