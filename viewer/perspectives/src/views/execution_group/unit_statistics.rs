//! [`UnitStatistics`]: times and messages of each unit in a time range.

use std::ops::Range;

use tumit_viewer::parallel_map::{MAX_THREADS, map_in_order};
use tumit_viewer::query::{GlobalNanos, TimeRange};

use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::messages::{UnitMessage, UnitMessages};
use crate::network::topology::Topology;
use crate::view::{TimeMode, ViewRequest};
use crate::views::measured_messages::{MessageSum, message_range};

/// Minimum number of messages of a block, so that few blocks have to be added.
const MIN_BLOCK: usize = 1 << 16;
/// Minimum number of messages of a block for each unit, so that the sums of a block need less
/// memory than its messages.
const MESSAGES_PER_UNIT: usize = 64;

/// Times and messages of each unit and of all units.
#[derive(Debug)]
pub(crate) struct UnitStatistics {
    pub(crate) times: Option<TimeStatistics>,
    pub(crate) messages: Option<MessageTotals>,
}

/// Nanoseconds that are busy, overhead and idle.
#[derive(Debug)]
pub(crate) struct TimeStatistics {
    pub(crate) by_unit: Vec<[f64; 3]>,
    pub(crate) totals: [f64; 3],
}

/// The messages of each unit and of all units.
#[derive(Debug)]
pub(crate) struct MessageTotals {
    pub(crate) by_unit: Vec<MessageStatistics>,
    pub(crate) totals: MessageStatistics,
    pub(crate) has_sizes: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct MessageStatistics {
    pub(crate) sent_messages: MessageSum,
    pub(crate) received_messages: MessageSum,
    /// The number of sent messages with a size.
    pub(crate) sized: u64,
    /// The smallest size of a sent message.
    pub(crate) min_bytes: Option<u64>,
    /// The largest size of a sent message.
    pub(crate) max_bytes: Option<u64>,
    /// The hops of all sent messages.
    pub(crate) hops: u64,
    /// The largest number of hops of a sent message.
    pub(crate) most_hops: u32,
    /// The largest number of messages and of bytes that were sent to it and not yet received.
    pub(crate) queue: [i64; 2],
    /// The sum of the latencies of the received messages, in nanoseconds.
    latency: i128,
}

impl MessageStatistics {
    fn add_sent(&mut self, message: &UnitMessage, hops: u32) {
        self.sent_messages.add(message);
        if let Some(bytes) = message.bytes {
            self.sized += 1;
            self.min_bytes = Some(self.min_bytes.map_or(bytes, |least| least.min(bytes)));
            self.max_bytes = Some(self.max_bytes.map_or(bytes, |largest| largest.max(bytes)));
        }
        self.hops += u64::from(hops);
        self.most_hops = self.most_hops.max(hops);
    }

    /// A message that is received before it is sent has no latency.
    fn add_received(&mut self, message: &UnitMessage) {
        self.received_messages.add(message);
        self.latency += i128::from(message.pending_until()) - i128::from(message.send_time);
    }

    /// Adds other messages. Queues are left out.
    fn combine(&mut self, other: &Self) {
        self.sent_messages.combine(other.sent_messages);
        self.received_messages.combine(other.received_messages);
        self.sized += other.sized;
        self.min_bytes = self.min_bytes.into_iter().chain(other.min_bytes).min();
        self.max_bytes = self.max_bytes.max(other.max_bytes);
        self.hops += other.hops;
        self.most_hops = self.most_hops.max(other.most_hops);
        self.latency += other.latency;
    }

    /// The sum of the latencies of the received messages, in nanoseconds.
    #[expect(clippy::cast_precision_loss, reason = "a time of a table is rounded")]
    pub(crate) fn latency(&self) -> f64 {
        self.latency as f64
    }
}

impl UnitStatistics {
    /// The visible time range, or that from its start to the time cursor.
    pub(crate) fn range(request: &ViewRequest) -> TimeRange {
        match request.mode {
            TimeMode::At => {
                let end = request.time.clamp(request.range.from, request.range.to.max(request.range.from));
                TimeRange { from: request.range.from, to: end }
            }
            TimeMode::Range | TimeMode::Moving => request.visible_range(),
        }
    }

    /// The statistics of the visible time range, or from its start to the time cursor.
    pub(crate) fn new(execution: &Execution, request: &ViewRequest) -> Result<Self, PerspectiveError> {
        let range = Self::range(request);
        let times = match execution.activity() {
            Ok(_) => Some(TimeStatistics::new(execution, range)?),
            Err(PerspectiveError::NoData { .. }) => None,
            Err(error) => return Err(error),
        };
        let messages = match execution.messages() {
            Ok(_) => Some(MessageTotals::new(execution, request, range)?),
            Err(PerspectiveError::NoData { .. }) => None,
            Err(error) => return Err(error),
        };
        if times.is_none() && messages.is_none() {
            execution.activity()?;
        }
        Ok(Self { times, messages })
    }
}

impl TimeStatistics {
    #[expect(clippy::cast_precision_loss, reason = "a time of a table is rounded")]
    fn new(execution: &Execution, range: TimeRange) -> Result<Self, PerspectiveError> {
        let activity = execution.activity()?;
        let (mut by_unit, mut totals) = (Vec::with_capacity(activity.units()), [0.0; 3]);
        for unit in 0..activity.units() {
            let parts = activity.timelines(unit).len().max(1) as f64;
            let times = activity.times(unit, range).map(|time| time as f64 / parts);
            totals.iter_mut().zip(times).for_each(|(sum, time): (&mut f64, f64)| *sum += time);
            by_unit.push(times);
        }
        Ok(Self { by_unit, totals })
    }
}

impl MessageTotals {
    fn new(execution: &Execution, request: &ViewRequest, range: TimeRange) -> Result<Self, PerspectiveError> {
        let (messages, count) = (execution.messages()?, execution.units().count());
        let topology = request.options.topology(count)?;
        // A time at which a message is sent or received is included.
        let range = match request.mode {
            TimeMode::At => TimeRange { from: range.from, to: GlobalNanos(range.to.0.saturating_add(1)) },
            TimeMode::Range | TimeMode::Moving => message_range(execution, range),
        };
        let blocks = execution.derived(&format!("{topology:?}"), || {
            let size = MIN_BLOCK.max(MESSAGES_PER_UNIT * count);
            Ok(MessageBlocks::new(messages, size, (topology, count)))
        })?;
        let mut by_unit = blocks.statistics_between(messages, range);
        let mut totals = MessageStatistics::default();
        by_unit.iter().for_each(|unit| totals.combine(unit));
        for (unit, incoming) in by_unit.iter_mut().zip(&messages.by_unit().incoming_steps) {
            unit.queue = incoming.maximum(range);
        }
        // The queue of all units is the number of pending messages.
        totals.queue = messages.pending().maximum(range);
        Ok(Self { by_unit, totals, has_sizes: messages.has_sizes() })
    }
}

/// The statistics of each unit for each block of messages. Those of a time range are the sums over
/// its whole blocks, and over a few messages. They take at most a few bytes per message.
struct MessageBlocks {
    topology: Topology,
    units: usize,
    /// Messages per block.
    size: usize,
    /// The senders, for each block of messages by timestamp of the send.
    sent_statistics: Vec<Vec<MessageStatistics>>,
    /// The receivers, for each block of messages by timestamp of the receive.
    received_statistics: Vec<Vec<MessageStatistics>>,
}

impl MessageBlocks {
    fn new(messages: &UnitMessages, size: usize, (topology, units): (Topology, usize)) -> Self {
        let mut blocks = Self { topology, units, size, sent_statistics: Vec::new(), received_statistics: Vec::new() };
        let jobs = (0..messages.list().len() / size).map(|block| block * size..(block + 1) * size).collect();
        let of_block = |places: Range<usize>| {
            let (mut sent, mut received) = (blocks.no_messages(), blocks.no_messages());
            blocks.add_sent(&messages.list()[places.clone()], &mut sent);
            add_received(messages.received_at(places), &mut received);
            (sent, received)
        };
        let by_block = map_in_order(jobs, MAX_THREADS, of_block);
        (blocks.sent_statistics, blocks.received_statistics) = by_block.into_iter().unzip();
        blocks
    }

    fn no_messages(&self) -> Vec<MessageStatistics> {
        vec![MessageStatistics::default(); self.units]
    }

    fn add_sent(&self, messages: &[UnitMessage], by_unit: &mut [MessageStatistics]) {
        for message in messages {
            let hops = self.topology.distance(self.units, message.from as usize, message.to as usize);
            by_unit[message.from as usize].add_sent(message, hops);
        }
    }

    /// The statistics of the messages that are sent or received in a time range.
    fn statistics_between(&self, messages: &UnitMessages, range: TimeRange) -> Vec<MessageStatistics> {
        let mut by_unit = self.no_messages();
        let (edges, blocks) = self.parts(messages.send_places(range));
        edges.into_iter().for_each(|places| self.add_sent(&messages.list()[places], &mut by_unit));
        self.sent_statistics[blocks].iter().for_each(|block| combine(&mut by_unit, block));
        let (edges, blocks) = self.parts(messages.receive_places(range));
        edges.into_iter().for_each(|places| add_received(messages.received_at(places), &mut by_unit));
        self.received_statistics[blocks].iter().for_each(|block| combine(&mut by_unit, block));
        by_unit
    }

    /// The places outside of whole blocks, and the whole blocks.
    fn parts(&self, places: Range<usize>) -> ([Range<usize>; 2], Range<usize>) {
        let (first, end) = (places.start.div_ceil(self.size), places.end / self.size);
        if first >= end {
            return ([places, 0..0], 0..0);
        }
        ([places.start..first * self.size, end * self.size..places.end], first..end)
    }
}

fn add_received<'a>(messages: impl Iterator<Item = &'a UnitMessage>, by_unit: &mut [MessageStatistics]) {
    messages.for_each(|message| by_unit[message.to as usize].add_received(message));
}

fn combine(by_unit: &mut [MessageStatistics], block: &[MessageStatistics]) {
    by_unit.iter_mut().zip(block).for_each(|(sum, statistics)| sum.combine(statistics));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::MessageBlocks;
    use crate::network::topology::Topology;
    use crate::views::test_traces::{range, traces};

    proptest! {
        #[test]
        fn sums_of_blocks_equal_those_of_all_messages(
            trace in traces(4),
            size in 1..7_usize,
            (from, nanos) in (-5..60_i64, 0..60_i64),
        ) {
            let execution = trace.execution();
            let Ok(messages) = execution.messages() else { return Ok(()) };
            let blocks = |size| MessageBlocks::new(messages, size, (Topology::default(), execution.units().count()));
            let sums = |size| blocks(size).statistics_between(messages, range(from, from + nanos));
            prop_assert_eq!(sums(size), sums(usize::MAX));
        }
    }
}
