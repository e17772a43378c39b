//! Reads the blocks of all streams.
//!
//! A block is read, decoded and given timestamps when the merge needs it, or ahead of time by
//! threads that share the streams.
//!
//! A thread reads the blocks of its streams in the order in which the merge needs them. This is the
//! order in which the preceding blocks end. A thread is therefore only a few blocks ahead,
//! independent of the number of streams.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::fs::File;
use std::sync::Arc;
use std::thread::{Scope, ScopedJoinHandle};

use super::columns::evaluate::{ColumnEvaluator, PassKind, TemplateNumbers};
use super::columns::ops::OpBatch;
use super::columns::stream_cursor::{FirstValues, StreamCursor, StreamTally};
use super::planning::plan::{ConversionPlan, RequiredColumns};
use super::time_order::ordered_item::ItemSelection;
use super::time_order::ordered_stream::OrderedStream;
use crate::run::RunReadError;
use tumit_paje::recycling_channel::{RecyclingReceiver, RecyclingSender, recycling_channel};

/// For each stream whose actions set their own timestamps: the minimum timestamp in each block and
/// all later ones.
pub(crate) type MinTimestamps = Vec<Option<Vec<i64>>>;

/// The items that a pass reads, and the form in which it needs them.
pub(crate) struct PassSelection<'p> {
    pub(crate) floors: MinTimestamps,
    pub(crate) item_selection: ItemSelection,
    /// The pass that the operations are for.
    pub(crate) pass_kind: PassKind<'p>,
}

/// A pass to run.
pub(crate) struct MergePass<'p> {
    pub(crate) plan: &'p ConversionPlan<'p>,
    pub(crate) selection: PassSelection<'p>,
    pub(crate) required_columns: RequiredColumns,
    /// Whether a separate thread merges records ahead of the consumer.
    pub(crate) reads_ahead: bool,
    /// Number of reader threads. 1 means that no separate thread reads.
    pub(crate) readers: usize,
}

/// The result of a pass.
#[derive(Debug, Default)]
pub(crate) struct PassStats {
    /// One entry per stream.
    pub(crate) tallies: Vec<StreamTally>,
    /// Values that occur in columns.
    pub(crate) values: FirstValues,
}

/// Maximum number of blocks that a thread is ahead.
const BLOCKS: usize = 4;

/// A block of a stream, or some of its records.
#[derive(Debug, Default)]
pub(crate) struct StreamBlock {
    pub(crate) stream: usize,
    /// The timestamps of its kept records. Empty at the end of the stream.
    pub(crate) corrected_times: Vec<i64>,
    /// Whether it is known to be the last one.
    pub(crate) is_last: bool,
    pub(crate) op_batch: OpBatch,
    /// Number of records read for it.
    pub(crate) read: u64,
}

/// The data that a reader needs of a stream.
struct StreamInput {
    file: Arc<File>,
    floors: Option<Vec<i64>>,
}

/// The settings of readers.
#[derive(Clone)]
struct ReadOptions<'p> {
    plan: &'p ConversionPlan<'p>,
    item_selection: ItemSelection,
    required_columns: Arc<RequiredColumns>,
    pass_kind: PassKind<'p>,
    /// Number of readers. Each reads every `readers`-th stream.
    readers: usize,
    /// For each stream: a lower bound of its timestamps.
    begins: Arc<[i64]>,
}

/// Reads streams.
pub(crate) struct AheadReader<'p> {
    lanes: Vec<StreamReadState<'p>>,
    evaluator: ColumnEvaluator<'p>,
    values: FirstValues,
    options: ReadOptions<'p>,
}

/// The state of a stream. A stream that has not begun or has ended uses little memory.
enum StreamReadState<'p> {
    Before(StreamInput),
    Begun(Box<StreamCursor<'p>>),
    Ended(StreamTally),
}

impl<'p> AheadReader<'p> {
    /// A reader of all streams of a pass.
    ///
    /// # Errors
    /// If a file cannot be opened.
    pub(crate) fn of_all(pass: MergePass<'p>) -> Result<Self, RunReadError> {
        let (options, mut shares) = share(pass, 1)?;
        Ok(Self::new(options, 0, shares.pop().unwrap_or_default()))
    }

    fn new(options: ReadOptions<'p>, number: usize, streams: Vec<StreamInput>) -> Self {
        Self {
            lanes: streams.into_iter().map(StreamReadState::Before).collect(),
            evaluator: ColumnEvaluator::new(
                options.plan,
                options.pass_kind,
                TemplateNumbers::of(number, options.readers),
            ),
            values: FirstValues::default(),
            options,
        }
    }

    /// Reads the next block of a stream into the memory of `block`.
    pub(crate) fn read(&mut self, stream: usize, block: &mut StreamBlock) -> Result<(), RunReadError> {
        let StreamBlock { corrected_times: timestamps, op_batch, .. } = block;
        block.stream = stream;
        let reading = &mut self.lanes[stream / self.options.readers];
        if let StreamReadState::Before(StreamInput { file, floors }) = reading {
            let ReadOptions { plan, item_selection, required_columns: needs, .. } = &self.options;
            let feed = OrderedStream::new_unread(
                plan,
                stream,
                plan.reader(stream, Arc::clone(file)),
                floors.take(),
                *item_selection,
            );
            *reading = StreamReadState::Begun(Box::new(StreamCursor::new(plan, feed, Arc::clone(needs))));
        }
        let StreamReadState::Begun(lane) = reading else {
            timestamps.clear();
            (block.is_last, block.read) = (true, 0);
            return Ok(());
        };
        block.is_last = lane.fill(&mut self.evaluator, &mut self.values, timestamps, op_batch)?;
        block.read = lane.take_read();
        if timestamps.is_empty() {
            *reading = StreamReadState::Ended(lane.tally());
        }
        Ok(())
    }

    /// Returns the result after all blocks.
    pub(crate) fn finish(mut self) -> PassStats {
        let tally = |reading: &mut StreamReadState<'_>| match reading {
            StreamReadState::Before(_) => StreamTally::default(),
            StreamReadState::Begun(lane) => lane.tally(),
            StreamReadState::Ended(tally) => *tally,
        };
        PassStats { tallies: self.lanes.iter_mut().map(tally).collect(), values: self.values }
    }

    /// Reads all blocks ahead, until the end or until the receiver is gone.
    fn run(mut self, number: usize, blocks: &RecyclingSender<StreamBlock>) -> Result<PassStats, RunReadError> {
        let streams = (0..self.lanes.len()).map(|lane| lane * self.options.readers + number);
        let begin = |stream: usize| self.options.begins.get(stream).copied().unwrap_or(i64::MIN);
        let mut next_streams: BinaryHeap<_> = streams.map(|stream| Reverse((begin(stream), stream))).collect();
        let mut block = StreamBlock::default();
        while let Some(Reverse((_, stream))) = next_streams.pop() {
            self.read(stream, &mut block)?;
            next_streams.extend(block.corrected_times.last().map(|last| Reverse((*last, stream))));
            if blocks.exchange(&mut block).is_err() {
                break;
            }
        }
        Ok(self.finish())
    }
}

/// Opens the streams of a pass and distributes them among the readers.
fn share(pass: MergePass<'_>, readers: usize) -> Result<(ReadOptions<'_>, Vec<Vec<StreamInput>>), RunReadError> {
    let MergePass {
        plan, selection: PassSelection { floors, item_selection, pass_kind }, required_columns: needs, ..
    } = pass;
    let begins = plan.lower_bounds(&floors).into();
    let mut shares: Vec<Vec<StreamInput>> = (0..readers).map(|_| Vec::new()).collect();
    for (stream, (file, floors)) in plan.files()?.into_iter().zip(floors).enumerate() {
        shares[stream % readers].push(StreamInput { file, floors });
    }
    Ok((ReadOptions { plan, item_selection, required_columns: Arc::new(needs), pass_kind, readers, begins }, shares))
}

pub(crate) struct ReaderThreads<'s> {
    threads: Vec<ReaderThread<'s>>,
    /// For each stream: blocks that were received before the merge needed them.
    early_blocks: Vec<VecDeque<StreamBlock>>,
}

struct ReaderThread<'s> {
    blocks: RecyclingReceiver<StreamBlock>,
    handle: ScopedJoinHandle<'s, Result<PassStats, RunReadError>>,
}

impl<'s> ReaderThreads<'s> {
    /// Starts threads that read all streams of a pass.
    ///
    /// # Errors
    /// If a file cannot be opened.
    pub(crate) fn start<'env>(
        scope: &'s Scope<'s, 'env>,
        pass: MergePass<'env>,
        readers: usize,
    ) -> Result<Self, RunReadError> {
        let early_blocks = pass.plan.streams.iter().map(|_| VecDeque::new()).collect();
        let (options, shares) = share(pass, readers)?;
        let start = |(number, streams)| {
            let (sender, receiver) = recycling_channel(BLOCKS);
            let options = options.clone();
            let handle = scope.spawn(move || AheadReader::new(options, number, streams).run(number, &sender));
            ReaderThread { blocks: receiver, handle }
        };
        Ok(Self { threads: shares.into_iter().enumerate().map(start).collect(), early_blocks })
    }

    /// Replaces `block` by the next block of its stream. The old one is returned to the thread,
    /// which reuses its memory. `None` if the thread has failed.
    pub(crate) fn next(&mut self, stream: usize, block: &mut StreamBlock) -> Option<()> {
        let thread = &self.threads[stream % self.threads.len()];
        let found = match self.early_blocks[stream].pop_front() {
            Some(early_block) => {
                // Frees the queue. It has room for four blocks, and a run may have a million
                // streams.
                if self.early_blocks[stream].is_empty() {
                    self.early_blocks[stream] = VecDeque::new();
                }
                early_block
            }
            None => loop {
                let received_block = thread.blocks.receive()?;
                if received_block.stream == stream {
                    break received_block;
                }
                self.early_blocks[received_block.stream].push_back(received_block);
            },
        };
        thread.blocks.recycle(std::mem::replace(block, found));
        Some(())
    }

    /// Ends the threads and returns the result.
    ///
    /// # Errors
    /// If a file could not be read.
    pub(crate) fn finish(self) -> Result<PassStats, RunReadError> {
        let Self { threads, early_blocks } = self;
        let readers = threads.len();
        let mut stats = PassStats::default();
        let mut tallies = Vec::new();
        for ReaderThread { blocks, handle } in threads {
            // Makes a thread that still reads stop.
            drop(blocks);
            let pass_stats = handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            #[expect(clippy::iter_over_hash_type, reason = "the minimum of each stream does not depend on the order")]
            for (column_value, first) in pass_stats.values {
                let value = stats.values.entry(column_value).or_insert(first);
                *value = first.min(*value);
            }
            tallies.push(pass_stats.tallies);
        }
        let tally = |stream: usize| tallies.get(stream % readers)?.get(stream / readers).copied();
        stats.tallies = (0..early_blocks.len()).filter_map(tally).collect();
        Ok(stats)
    }
}
