//! One pass over the records of a run in order of time.
//!
//! A merge thread runs ahead of the consumer. Reader threads decode blocks and compute timestamps.
//! The result is the same with and without these threads.
//!
//! The merge thread sends the order of the streams, and their blocks as operations and records.
//! Nothing is copied on the way.

use std::collections::VecDeque;

use super::columns::ops::{NextOp, OpBatch, OpTemplate, PendingOp, RecordTurn, TakenRecord};
use super::columns::single_records::RecordRef;
use super::options::ConvertError;
use super::planning::plan::ConversionPlan;
use super::read_ahead::{AheadReader, MergePass, PassStats, ReaderThreads, StreamBlock};
use super::time_order::merge_window::{MergeWindow, MergedStreams};
use crate::run::RunReadError;
use tumit_paje::recycling_channel::{ReceiverGone, recycling_channel};

/// Maximum number of batches between the two threads.
const BATCHES: usize = 4;

/// The consumer of records and operations, in order of time.
pub(crate) trait RecordVisitor {
    /// Processes a record or a gap.
    ///
    /// # Errors
    /// If the result cannot be passed on.
    fn visit_record(&mut self, record: RecordRef<'_>) -> Result<(), ConvertError>;

    /// Sets the template of operations with this number, from now on.
    fn visit_template(&mut self, number: u32, template: OpTemplate) {
        let _ = (number, template);
    }

    /// Processes an operation. Its template was set before.
    ///
    /// # Errors
    /// As [`Self::visit_record`].
    fn visit_operation(&mut self, op: PendingOp) -> Result<(), ConvertError> {
        let _ = op;
        Ok(())
    }

    /// Processes a wide operation with its words.
    ///
    /// # Errors
    /// As [`Self::visit_record`].
    fn visit_wide(&mut self, op: PendingOp, words: &[u64]) -> Result<(), ConvertError> {
        let _ = (op, words);
        Ok(())
    }
}

/// A consumer of records only.
pub(crate) struct RecordVisitorFn<F>(pub(crate) F);

impl<F: FnMut(RecordRef<'_>) -> Result<(), ConvertError>> RecordVisitor for RecordVisitorFn<F> {
    fn visit_record(&mut self, record: RecordRef<'_>) -> Result<(), ConvertError> {
        self.0(record)
    }
}

impl MergePass<'_> {
    /// Visits all records and operations in order. `read` receives the number of records that were
    /// read since its last call.
    ///
    /// # Errors
    /// If a file cannot be read, or a visit fails.
    pub(crate) fn run(
        self,
        mut read: impl FnMut(u64),
        visit: &mut impl RecordVisitor,
    ) -> Result<PassStats, ConvertError> {
        let plan = self.plan;
        let mut turns = Dispatcher::new(plan);
        let mut take = |batch: &mut DispatchBatch| -> Result<(), ConvertError> {
            read(std::mem::take(&mut batch.read));
            turns.dispatch(batch, plan, visit)
        };
        if !self.reads_ahead {
            return self.produce(|batch| take(batch));
        }
        std::thread::scope(|scope| {
            let (sender, receiver) = recycling_channel(BATCHES);
            let reader = scope.spawn(move || self.produce::<StopReason>(|batch| Ok(sender.exchange(batch)?)));
            match (receiver.consume(take), reader.join()) {
                (Err(error), _) => Err(error),
                (Ok(()), Ok(Ok(passed))) => Ok(passed),
                (Ok(()), Ok(Err(StopReason::Read(why)))) => Err(why.into()),
                (Ok(()), Ok(Err(StopReason::Receiver(ReceiverGone)))) => Ok(PassStats::default()),
                (Ok(()), Err(panic)) => std::panic::resume_unwind(panic),
            }
        })
    }

    /// Reads everything. `pass_on` takes full batches and leaves an empty one.
    fn produce<E: From<RunReadError>>(
        self,
        mut pass_on: impl FnMut(&mut DispatchBatch) -> Result<(), E>,
    ) -> Result<PassStats, E> {
        let (begins, readers) =
            (self.plan.lower_bounds(&self.selection.floors), self.readers.min(self.plan.streams.len()));
        if readers < 2 {
            let mut reader = AheadReader::of_all(self)?;
            merge(&begins, |stream, block| Ok(reader.read(stream, block)?), pass_on)?;
            return Ok(reader.finish());
        }
        std::thread::scope(|scope| {
            let mut threads = ReaderThreads::start(scope, self, readers)?;
            let next = |stream, block: &mut StreamBlock| threads.next(stream, block).ok_or(None);
            let merged = merge(&begins, next, |batch| pass_on(batch).map_err(Some));
            match (merged, threads.finish()) {
                (Err(Some(error)), _) => Err(error),
                // The reader that failed has the error.
                (_, passed) => Ok(passed?),
            }
        })
    }
}

/// Merges streams. `begins` holds a lower bound of the timestamps of each stream. `next` continues
/// to read one stream.
fn merge<E>(
    begins: &[i64],
    mut next: impl FnMut(usize, &mut StreamBlock) -> Result<(), E>,
    mut pass_on: impl FnMut(&mut DispatchBatch) -> Result<(), E>,
) -> Result<(), E> {
    let (mut windows, mut batch) = (MergedStreams::new(begins), DispatchBatch::default());
    loop {
        windows.fill(|stream, timestamps| {
            let (op_batch, old_timestamps) = (batch.used_batches.pop().unwrap_or_default(), std::mem::take(timestamps));
            let mut block = StreamBlock { stream, op_batch, corrected_times: old_timestamps, ..StreamBlock::default() };
            next(stream, &mut block)?;
            *timestamps = block.corrected_times;
            batch.read += block.read;
            if block.is_last || timestamps.is_empty() {
                batch.ended_streams.push(to_u32(stream));
            }
            if timestamps.is_empty() {
                batch.used_batches.push(block.op_batch);
            } else {
                batch.blocks.push((to_u32(stream), block.op_batch));
            }
            Ok(block.is_last)
        })?;
        windows.take_window(&mut batch.window);
        let is_last = batch.window.is_empty();
        pass_on(&mut batch)?;
        if is_last {
            return Ok(());
        }
    }
}

/// The reason why reading ahead ended early.
enum StopReason {
    Read(RunReadError),
    /// A visit failed.
    Receiver(ReceiverGone),
}

impl From<RunReadError> for StopReason {
    fn from(error: RunReadError) -> Self {
        Self::Read(error)
    }
}

impl From<ReceiverGone> for StopReason {
    fn from(error: ReceiverGone) -> Self {
        Self::Receiver(error)
    }
}

/// Turns on their way from the merge thread to the consumer.
#[derive(Debug, Default)]
struct DispatchBatch {
    /// New blocks, each after the earlier ones of its stream.
    blocks: Vec<(u32, OpBatch)>,
    /// Streams that have no further block.
    ended_streams: Vec<u32>,
    window: MergeWindow,
    /// Blocks that were merged, on their way back to the reader threads, which reuse their memory.
    used_batches: Vec<OpBatch>,
    /// Number of records read, including those that are not required.
    read: u64,
}

/// The blocks of all streams, and the position in each.
struct Dispatcher<'p> {
    cursors: Vec<BlockCursor<'p>>,
}

/// The position in a stream. Its blocks exist only from the first record to the last one.
struct BlockCursor<'p> {
    /// The programs of its records.
    table: &'p [u32],
    blocks: Option<Box<StreamBlocks>>,
}

#[derive(Default)]
struct StreamBlocks {
    batch: OpBatch,
    next: VecDeque<OpBatch>,
    /// The stream has no further block.
    is_complete: bool,
}

impl StreamBlocks {
    fn is_done(&self) -> bool {
        self.is_complete && self.next.is_empty() && self.batch.is_done()
    }
}

/// Maximum number of blocks whose memory is kept for other streams.
const MAX_KEPT_BLOCKS: usize = 1024;

impl<'p> Dispatcher<'p> {
    fn new(plan: &'p ConversionPlan<'_>) -> Self {
        let cursor = |stream| BlockCursor { table: plan.table_of(stream), blocks: None };
        Self { cursors: (0..plan.streams.len()).map(cursor).collect() }
    }

    /// Frees the blocks of a stream that has ended.
    fn close(&mut self, stream: u32, used_batches: &mut Vec<OpBatch>) {
        let blocks = self.cursors.get_mut(stream as usize).map(|cursor| &mut cursor.blocks);
        let ended = blocks.and_then(|blocks| blocks.take_if(|blocks| blocks.is_done()));
        used_batches.extend(ended.map(|blocks| blocks.batch).filter(|_| used_batches.len() < MAX_KEPT_BLOCKS));
    }

    /// Visits the turns of a batch. Only reusable memory is left in it.
    fn dispatch(
        &mut self,
        batch: &mut DispatchBatch,
        plan: &ConversionPlan<'_>,
        visit: &mut impl RecordVisitor,
    ) -> Result<(), ConvertError> {
        let DispatchBatch { blocks, ended_streams, window, used_batches, .. } = batch;
        for (stream, op_batch) in blocks.drain(..) {
            self.cursors[stream as usize].blocks.get_or_insert_default().next.push_back(op_batch);
        }
        for stream in &*ended_streams {
            if let Some(blocks) = &mut self.cursors[*stream as usize].blocks {
                blocks.is_complete = true;
            }
        }
        let mut turns = window.turns();
        let mut fetched = [FetchedRecord::NOTHING; FETCHED];
        let mut count = 0;
        loop {
            let next_end = self.fetch(&mut turns, &mut fetched, &mut count);
            for &FetchedRecord { corrected_time, stream, record } in &fetched[..count] {
                match record {
                    TakenRecord::Operation { template, bits } => {
                        visit.visit_operation(PendingOp { corrected_time, bits: bits.into(), template, stream })?;
                    }
                    TakenRecord::Other(position) => {
                        let Some(BlockCursor { table, blocks }) = self.cursors.get(stream as usize) else { continue };
                        let Some(op_batch) = blocks.as_ref().map(|blocks| &blocks.batch) else { continue };
                        visit_steps(op_batch, position, RecordTurn { corrected_time, stream }, (plan, table), visit)?;
                    }
                }
            }
            let is_done = count < FETCHED && next_end.is_none();
            count = 0;
            if let Some((stream, corrected)) = next_end {
                let Some(blocks) = &mut self.cursors[stream as usize].blocks else { continue };
                let StreamBlocks { batch: op_batch, next, .. } = &mut **blocks;
                used_batches.push(std::mem::replace(op_batch, next.pop_front().unwrap_or_default()));
                for (number, template) in op_batch.templates.drain(..) {
                    visit.visit_template(number, template);
                }
                fetched[0] = FetchedRecord { corrected_time: corrected, stream, record: op_batch.take_record() };
                count = 1;
            }
            if is_done {
                break;
            }
        }
        for &stream in window.streams().iter().chain(&*ended_streams) {
            self.close(stream, used_batches);
        }
        ended_streams.clear();
        Ok(())
    }

    /// Takes the next entries, up to the size of `fetched`. Stops at a turn whose stream has no
    /// entry left in its current block, and returns this turn.
    fn fetch(
        &mut self,
        turns: &mut impl Iterator<Item = (u32, i64)>,
        fetched: &mut [FetchedRecord; FETCHED],
        count: &mut usize,
    ) -> Option<(u32, i64)> {
        for (entry, (stream, corrected_time)) in fetched[*count..].iter_mut().zip(turns) {
            let op_batch = &mut self.cursors.get_mut(stream as usize)?.blocks.as_mut()?.batch;
            if op_batch.is_done() {
                return Some((stream, corrected_time));
            }
            *entry = FetchedRecord { corrected_time, stream, record: op_batch.take_record() };
            *count += 1;
        }
        None
    }
}

/// Number of entries that are fetched before the first one is processed. The blocks are in the
/// caches of other processors, each entry at another address. The loads overlap, so
/// waiting for all of them takes no longer than waiting for one.
const FETCHED: usize = 32;

/// An entry that was fetched, with its timestamp and stream.
#[derive(Clone, Copy, Debug)]
struct FetchedRecord {
    corrected_time: i64,
    stream: u32,
    record: TakenRecord,
}

impl FetchedRecord {
    const NOTHING: Self = Self { corrected_time: 0, stream: 0, record: TakenRecord::Other(usize::MAX) };
}

/// Visits the steps of an entry that is not a short operation.
#[inline(never)]
fn visit_steps(
    op_batch: &OpBatch,
    position: usize,
    turn: RecordTurn,
    (plan, table): (&ConversionPlan<'_>, &[u32]),
    visit: &mut impl RecordVisitor,
) -> Result<(), ConvertError> {
    op_batch.steps(position, turn, &mut |step| match step {
        NextOp::Operation(op) => visit.visit_operation(op),
        NextOp::Wide(op, words) => visit.visit_wide(op, words),
        NextOp::Record(batch, position) => batch
            .record_at(position, turn.stream as usize, plan, table)
            .map_or(Ok(()), |record| visit.visit_record(record)),
    })
}

fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
