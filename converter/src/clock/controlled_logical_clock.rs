//! The causal pass. After it, no link ends before it starts, for any error of the clocks.
//!
//! The algorithm is a controlled logical clock (R. Rabenseifner, 1997) in its forward direction
//! only. Links and the parts of collective operations are visited in causal order. An endpoint that
//! is not after the start of its link is moved after it, and so is the rest of its stream. The
//! stream then runs slower by 1e-4 until it is back on its line. The first nanoseconds of a shift,
//! up to the resolution of the clocks, are returned at once. Timestamps only move later. Shifts are
//! a function of the timestamp and the position in the stream ([`TimestampJumps`]), in integers.
//! Therefore the second pass over the run computes exactly the timestamps that this pass has
//! checked.
//!
//! An operation is one virtual node: the ends of its parts wait until all begins are visited that
//! they depend on, and its latest begin moves them. It therefore takes O(parts).
//!
//! A stream is read up to an end of a link with an unvisited start. There the stream waits. Memory
//! grows with the number of links in flight and of endpoints that wait after others. If no clock is
//! corrected and each link ends later than it starts, there is nothing to do, and the log is not
//! read. If streams wait for each other in a cycle, the links contradict the order of their own
//! streams. In this case the earliest end of the cycle is released and counted.

mod causal_node;
mod causality_report;
mod operation_waits;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::domain::timestamp_map::{TimestampJump, TimestampJumps, TimestampMap};
use super::link_log::{LinkEndpoint, LinkLog};
use causal_node::{CausalNode, UnsortedEndpoint, VisitedStart};
pub use causality_report::CausalityReport;
use operation_waits::OperationWaits;

/// Minimum length of a link that was moved, nanoseconds.
const MIN_LINK_NANOS: i64 = 1;
/// Number of waiting endpoints above which the pass searches for cycles.
const MANY: usize = 1 << 20;
/// Clocks usually reverse links if they alone reverse more than one in `USUAL`.
const USUAL: u64 = 20;
/// Maximum number of sizes in the sample.
const LOOKED_AT: usize = 1 << 16;

/// The size of usual reversals of links, nanoseconds: the 95th percentile. 0 if few links are
/// reversed.
///
/// Shifts of this size say nothing about the timestamps that follow, and would add up. Such clocks
/// stand still, or do not follow the model.
///
/// # Errors
/// When the temporary file of the log cannot be read.
pub(crate) fn usual_reversal(log: &LinkLog, maps: &[TimestampMap]) -> io::Result<i64> {
    let (mut links, mut reversed, mut interval) = (0u64, 0u64, 1u64);
    let mut sizes: Vec<i64> = Vec::new();
    let timestamp =
        |end: &LinkEndpoint| maps.get(end.stream as usize).map_or(end.timestamp, |map| map.line(end.timestamp));
    log.pairs(|start, finish| {
        links += 1;
        let excess = timestamp(start).saturating_sub(timestamp(finish));
        if excess <= 0 {
            return;
        }
        reversed += 1;
        if reversed.is_multiple_of(interval) {
            sizes.push(excess);
        }
        if sizes.len() == LOOKED_AT {
            // Keeps every second size, and samples half as many of the following ones.
            let mut position = 0;
            sizes.retain(|_| {
                position += 1;
                position % 2 == 0
            });
            interval *= 2;
        }
    })?;
    sizes.sort_unstable();
    let usual = sizes.get(sizes.len() * 19 / 20).copied().unwrap_or(0);
    Ok(if reversed * USUAL > links { usual } else { 0 })
}

/// Computes the jumps of each stream.
///
/// # Errors
/// When the temporary file of the log cannot be read.
pub(crate) fn restore_order(log: &LinkLog, maps: &mut [TimestampMap]) -> io::Result<CausalityReport> {
    // In this case the pass would find no shift and no cycle: along streams timestamps never
    // decrease, and along links they increase.
    if log.is_forward() && maps.iter().all(TimestampMap::is_identity) {
        let parts = log.parts().targets();
        return Ok(CausalityReport { parts, ..CausalityReport::of_forward(log.links()) });
    }
    visit_all(log, maps)
}

/// The pass itself.
fn visit_all(log: &LinkLog, maps: &mut [TimestampMap]) -> io::Result<CausalityReport> {
    let mut pass = CausalPass::new(log, maps);
    let mut record: SmallVec<[UnsortedEndpoint; 4]> = SmallVec::new();
    let mut stream = 0;
    log.read_entries(|entry| {
        let (number, end) = UnsortedEndpoint::of(entry);
        // The log contains the endpoints of a record one after the other.
        if record.first().is_some_and(|first| (stream, first.ordinal) != (number, end.ordinal)) {
            pass.add_endpoints(stream, &record);
            record.clear();
        }
        stream = number;
        record.push(end);
        Ok(())
    })?;
    pass.add_endpoints(stream, &record);
    pass.drain();
    let CausalPass { streams, report: mut found, operations, .. } = pass;
    operations.finish()?;
    (found.links, found.parts) = (log.links(), log.parts().targets());
    for (map, stream) in maps.iter_mut().zip(streams) {
        map.jumps = TimestampJumps(stream.jumps.into());
    }
    Ok(found)
}

/// State of a stream.
#[derive(Debug, Default)]
struct CausalStream {
    /// Nodes in order. They wait for the first of them.
    queue: VecDeque<CausalNode>,
    /// For streams with endpoints that are not in order of timestamps: endpoints that an earlier
    /// one may still precede.
    unsorted_endpoints: BinaryHeap<Reverse<UnsortedEndpoint>>,
    ends: u64,
    /// The dependence that stops the first node of the queue.
    waits_for: Option<CausalWait>,
    jumps: Vec<TimestampJump>,
}

/// A dependence that is not yet visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CausalWait {
    /// The start of a link.
    Link(u64),
    /// The sources of a collective operation.
    Operation(u64),
}

struct CausalPass<'p> {
    log: &'p LinkLog,
    maps: &'p [TimestampMap],
    streams: Vec<CausalStream>,
    /// Visited starts of links with unvisited ends.
    visited_starts: FxHashMap<u64, VisitedStart>,
    /// Waiting streams by the link that they wait for.
    waiting_streams: FxHashMap<u64, usize>,
    operations: OperationWaits<'p>,
    /// By link: the stream with its start, if the start is in a queue.
    queued_starts: FxHashMap<u64, usize>,
    /// Links that were given up because of cycles.
    released_operations: FxHashSet<u64>,
    waiting_ends: usize,
    look_at: usize,
    report: CausalityReport,
}

impl<'p> CausalPass<'p> {
    fn new(log: &'p LinkLog, maps: &'p [TimestampMap]) -> Self {
        let mut streams = Vec::new();
        streams.resize_with(maps.len().max(log.streams()), CausalStream::default);
        Self {
            log,
            maps,
            streams,
            visited_starts: FxHashMap::default(),
            waiting_streams: FxHashMap::default(),
            operations: OperationWaits::new(log.parts()),
            queued_starts: FxHashMap::default(),
            released_operations: FxHashSet::default(),
            waiting_ends: 0,
            look_at: MANY,
            report: CausalityReport::default(),
        }
    }

    /// Adds the endpoints of one record of a stream.
    fn add_endpoints(&mut self, number: usize, ends: &[UnsortedEndpoint]) {
        let Some(first) = ends.first() else { return };
        if self.log.is_unsorted(number) {
            self.take_unsorted(number, ends);
            return;
        }
        let mut node = self.node(number, first.raw, first.ordinal);
        for end in ends {
            if end.raw != node.raw {
                let next = self.node(number, end.raw, end.ordinal);
                self.enqueue(number, std::mem::replace(&mut node, next));
            }
            node.add(*end);
        }
        self.enqueue(number, node);
        self.advance(number);
    }

    fn take_unsorted(&mut self, number: usize, ends: &[UnsortedEndpoint]) {
        let stream = &mut self.streams[number];
        stream.unsorted_endpoints.extend(ends.iter().copied().map(Reverse));
        stream.ends += ends.len() as u64;
        self.waiting_ends += ends.len();
        let floor = self.log.floor(number, stream.ends);
        self.sorted_until(number, floor);
        self.advance(number);
    }

    /// Moves endpoints with timestamps up to `floor` from the heap of a stream to its queue. No
    /// earlier endpoint can follow.
    fn sorted_until(&mut self, number: usize, floor: i64) {
        let mut node: Option<CausalNode> = None;
        while let Some(&Reverse(end)) = self.streams[number].unsorted_endpoints.peek()
            && end.raw <= floor
        {
            self.streams[number].unsorted_endpoints.pop();
            self.waiting_ends -= 1;
            if let Some(complete_node) = node.take_if(|node| (node.raw, node.ordinal) != (end.raw, end.ordinal)) {
                self.enqueue(number, complete_node);
            }
            node.get_or_insert_with(|| self.node(number, end.raw, end.ordinal)).add(end);
        }
        if let Some(node) = node {
            self.enqueue(number, node);
        }
    }

    fn node(&self, number: usize, raw: i64, ordinal: u64) -> CausalNode {
        CausalNode::new(raw, self.maps[number].line(raw), ordinal)
    }

    fn enqueue(&mut self, number: usize, node: CausalNode) {
        for start in &node.starts {
            self.queued_starts.insert(*start, number);
        }
        for operation in &node.sources {
            self.operations.add_source(*operation, number);
        }
        for operation in &node.targets {
            self.operations.add_target(*operation);
        }
        self.waiting_ends += 1;
        self.streams[number].queue.push_back(node);
    }

    /// Continues a stream, and the streams that waited for it.
    fn advance(&mut self, number: usize) {
        let mut runnable: SmallVec<[usize; 4]> = SmallVec::from_slice(&[number]);
        while let Some(number) = runnable.pop() {
            if self.streams[number].waits_for.is_some() {
                continue;
            }
            while let Some(wait) = self.streams[number].queue.front().map(|node| self.next_wait(node)) {
                if let Some(wait) = wait {
                    self.streams[number].waits_for = Some(wait);
                    match wait {
                        CausalWait::Link(link) => drop(self.waiting_streams.insert(link, number)),
                        CausalWait::Operation(operation) => self.operations.add_waiting(operation, number),
                    }
                    break;
                }
                let Some(node) = self.streams[number].queue.pop_front() else { break };
                self.waiting_ends -= 1;
                self.visit(number, &node, &mut runnable);
            }
        }
        if self.waiting_ends > self.look_at {
            self.look_at = usize::MAX;
            self.release_cycles();
            self.look_at = MANY.max(2 * self.waiting_ends);
        }
    }

    /// The first dependence of a node that is not visited.
    fn next_wait(&self, node: &CausalNode) -> Option<CausalWait> {
        let missing = |link: &&u64| {
            !self.visited_starts.contains_key(*link)
                && !self.released_operations.contains(*link)
                && !node.starts.contains(*link)
        };
        let link = node.finishes.iter().find(missing).map(|link| CausalWait::Link(*link));
        let waits = |operation: &&u64| self.operations.waits(**operation, node.own_sources(**operation));
        link.or_else(|| node.targets.iter().find(waits).map(|operation| CausalWait::Operation(*operation)))
    }

    fn visit(&mut self, number: usize, node: &CausalNode, runnable: &mut SmallVec<[usize; 4]>) {
        let jumps = &mut self.streams[number].jumps;
        let tick = self.maps.get(number).map_or(0, |map| map.tick);
        let mut timestamp = node.timestamp + jumps.last().map_or(0, |jump| jump.shift_at(node.timestamp, tick));
        let mut need = i64::MIN;
        for link in &node.finishes {
            // There is no start if the link was released, or if it starts at this node.
            let Some(VisitedStart { unshifted_time, shifted_time }) = self.visited_starts.remove(link) else {
                continue;
            };
            self.report.reversals += u64::from(unshifted_time > node.timestamp);
            if shifted_time > timestamp {
                self.report.moved_links += 1;
                need = need.max(shifted_time + MIN_LINK_NANOS);
            }
        }
        for operation in &node.targets {
            let Some(VisitedStart { unshifted_time: before, shifted_time: after }) =
                self.operations.visit_target(*operation)
            else {
                continue;
            };
            self.report.reversed_parts += u64::from(before > node.timestamp);
            if after > timestamp {
                self.report.moved_parts += 1;
                need = need.max(after + MIN_LINK_NANOS);
            }
        }
        if need > timestamp {
            let CausalNode { raw, ordinal, .. } = *node;
            let leap = self.maps[number]
                .leaps
                .iter()
                .flat_map(|leaps| leaps.iter())
                .find(|leap| leap.timestamp > node.timestamp)
                .copied();
            let jump = TimestampJump { raw, ordinal, timestamp: node.timestamp, shift: need - node.timestamp, leap };
            self.report.largest_nanos = self.report.largest_nanos.max(jump.shift);
            timestamp = node.timestamp + jump.shift;
            jumps.push(jump);
        }
        for link in &node.starts {
            self.queued_starts.remove(link);
            if self.released_operations.contains(link) || node.finishes.contains(link) {
                continue;
            }
            self.visited_starts.insert(*link, VisitedStart { unshifted_time: node.timestamp, shifted_time: timestamp });
            if let Some(waiter) = self.waiting_streams.remove(link) {
                self.streams[waiter].waits_for = None;
                runnable.push(waiter);
            }
        }
        for operation in &node.sources {
            let start = VisitedStart { unshifted_time: node.timestamp, shifted_time: timestamp };
            for waiter in self.operations.visit_source(*operation, number, start) {
                self.streams[waiter].waits_for = None;
                runnable.push(waiter);
            }
        }
    }

    /// Completes all streams at the end of the log.
    fn drain(&mut self) {
        for number in 0..self.streams.len() {
            self.sorted_until(number, i64::MAX);
            self.advance(number);
        }
        while self.release_cycles() {}
    }

    /// Finds cycles of waiting streams, and releases the earliest end of each cycle. O(streams).
    fn release_cycles(&mut self) -> bool {
        let waits_in = |number: usize| match self.streams[number].waits_for? {
            CausalWait::Link(link) => self.queued_starts.get(&link).copied(),
            CausalWait::Operation(operation) => self.operations.stream_with_source(operation),
        };
        // By stream: the number of the search that visited it, from 1. 0 if none did.
        let mut visited_by = vec![0usize; self.streams.len()];
        let mut cycles: Vec<usize> = Vec::new();
        for start in 0..self.streams.len() {
            let mut position = start;
            while visited_by[position] == 0 {
                visited_by[position] = start + 1;
                let Some(next) = waits_in(position) else { break };
                position = next;
                if visited_by[position] != start + 1 {
                    continue;
                }
                let key = |number: usize| {
                    (self.streams[number].queue.front().map_or(i64::MAX, |node| node.timestamp), number)
                };
                let (mut earliest, mut stream) = (key(position), position);
                while let Some(next) = waits_in(stream).filter(|next| *next != position) {
                    stream = next;
                    earliest = earliest.min(key(stream));
                }
                cycles.push(earliest.1);
            }
        }
        for &number in &cycles {
            let Some(wait) = self.streams[number].waits_for.take() else { continue };
            self.report.circular += 1;
            match wait {
                CausalWait::Link(link) => {
                    self.waiting_streams.remove(&link);
                    self.released_operations.insert(link);
                }
                CausalWait::Operation(operation) => {
                    self.operations.release(operation, number);
                    if let Some(node) = self.streams[number].queue.front_mut() {
                        node.targets.retain(|target| *target != operation);
                    }
                }
            }
        }
        for &number in &cycles {
            self.advance(number);
        }
        !cycles.is_empty()
    }
}

#[cfg(test)]
mod tests;
