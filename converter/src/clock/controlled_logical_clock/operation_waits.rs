//! [`OperationWaits`]: the collective operations that the causal pass has visited in part.

use std::collections::BTreeMap;
use std::io;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::causal_node::VisitedStart;
use crate::clock::part_counts::{OperationSize, OperationSizes, PartCounts};

/// The operations that are not completely visited.
#[derive(Debug)]
pub(super) struct OperationWaits<'l> {
    sizes: OperationSizes<'l>,
    open_operations: FxHashMap<u64, OpenOperation>,
    failure: Option<io::Error>,
}

/// The state of an operation.
#[derive(Debug)]
struct OpenOperation {
    /// The parts that are not visited.
    unvisited: OperationSize,
    /// The latest visited source.
    latest_source: Option<VisitedStart>,
    /// The streams that wait for sources.
    waiting_streams: SmallVec<[usize; 4]>,
    /// The streams with unvisited sources in their queues.
    queued_sources: BTreeMap<usize, u32>,
}

impl<'l> OperationWaits<'l> {
    pub(super) fn new(counts: &'l PartCounts) -> Self {
        Self { sizes: counts.sizes(), open_operations: FxHashMap::default(), failure: None }
    }

    /// The first failure to read a temporary file.
    pub(super) fn finish(self) -> io::Result<()> {
        self.failure.map_or(Ok(()), Err)
    }

    fn open(&mut self, operation: u64) -> &mut OpenOperation {
        let Self { sizes, open_operations, failure } = self;
        open_operations.entry(operation).or_insert_with(|| {
            let unvisited = sizes.of(operation).unwrap_or_else(|error| {
                failure.get_or_insert(error);
                OperationSize::default()
            });
            OpenOperation {
                unvisited,
                latest_source: None,
                waiting_streams: SmallVec::new(),
                queued_sources: BTreeMap::new(),
            }
        })
    }

    /// Notes a source in the queue of a stream.
    pub(super) fn add_source(&mut self, operation: u64, stream: usize) {
        *self.open(operation).queued_sources.entry(stream).or_default() += 1;
    }

    /// Notes a target in the queue of a stream.
    pub(super) fn add_target(&mut self, operation: u64) {
        self.open(operation);
    }

    /// Whether a target still waits for sources other than its own ones.
    pub(super) fn waits(&self, operation: u64, own_sources: u64) -> bool {
        self.open_operations.get(&operation).is_some_and(|open| open.unvisited.sources > own_sources)
    }

    /// Notes that a stream waits for the sources of an operation.
    pub(super) fn add_waiting(&mut self, operation: u64, stream: usize) {
        self.open(operation).waiting_streams.push(stream);
    }

    /// A stream whose queue contains an unvisited source.
    pub(super) fn stream_with_source(&self, operation: u64) -> Option<usize> {
        self.open_operations.get(&operation)?.queued_sources.keys().next().copied()
    }

    /// Visits a target. Returns the latest source.
    pub(super) fn visit_target(&mut self, operation: u64) -> Option<VisitedStart> {
        let open = self.open(operation);
        open.unvisited.targets = open.unvisited.targets.saturating_sub(1);
        let latest = open.latest_source;
        self.remove_complete(operation);
        latest
    }

    /// Visits a source in a stream. Returns the streams that may continue.
    pub(super) fn visit_source(&mut self, operation: u64, stream: usize, start: VisitedStart) -> SmallVec<[usize; 4]> {
        let open = self.open(operation);
        open.unvisited.sources = open.unvisited.sources.saturating_sub(1);
        if let Some(count) = open.queued_sources.get_mut(&stream) {
            *count -= 1;
            if *count == 0 {
                open.queued_sources.remove(&stream);
            }
        }
        open.latest_source = Some(match open.latest_source {
            Some(latest) => VisitedStart {
                unshifted_time: latest.unshifted_time.max(start.unshifted_time),
                shifted_time: latest.shifted_time.max(start.shifted_time),
            },
            None => start,
        });
        // With one source left, the target of the same node may continue.
        let runnable =
            if open.unvisited.sources <= 1 { std::mem::take(&mut open.waiting_streams) } else { SmallVec::new() };
        self.remove_complete(operation);
        runnable
    }

    /// Gives up a target of a stream that waits.
    pub(super) fn release(&mut self, operation: u64, stream: usize) {
        let open = self.open(operation);
        open.waiting_streams.retain(|waiting| *waiting != stream);
        open.unvisited.targets = open.unvisited.targets.saturating_sub(1);
        self.remove_complete(operation);
    }

    fn remove_complete(&mut self, operation: u64) {
        if self.open_operations.get(&operation).is_some_and(|open| open.unvisited == OperationSize::default()) {
            self.open_operations.remove(&operation);
        }
    }
}
