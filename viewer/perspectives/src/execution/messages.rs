//! [`UnitMessages`]: the links between units, as messages with sizes, and the numbers of pending
//! messages and bytes.
//!
//! A message is *pending* from its send to its receive: at `send_time ≤ t < receive_time`. The
//! endpoints of a link are the units that contain them. Links within a unit are left out. A message
//! that is never received is pending until the end of the trace. Its receiver may be unknown.
//!
//! ```
//! use std::sync::Arc;
//!
//! use tumit_perspectives::execution::messages::MESSAGES;
//! use tumit_perspectives::execution::{Execution, ExecutionSettings};
//! use tumit_viewer::query::GlobalNanos;
//! use tumit_viewer::store::TraceStore;
//!
//! # let trace = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/two_threads.paje"));
//! let source = TraceStore::from_paje("example", trace.as_bytes())?;
//! let execution = Execution::new(Arc::new(source), ExecutionSettings::default())?;
//! let messages = execution.messages()?;
//! // The message is sent after 2 s and received after 2.5 s.
//! let message = &messages.sent_between(execution.extent())[0];
//! assert_eq!((message.from, message.to, message.receive_time), (0, 1, 2_500_000_000));
//! assert_eq!(messages.pending_at(GlobalNanos(2_200_000_000)).count(), 1);
//! assert_eq!(messages.pending().at(2_500_000_000)[MESSAGES], 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::ops::Range;
use std::sync::OnceLock;

use tumit_viewer::parallel_map::map_indexes;
use tumit_viewer::query::{GlobalNanos, QueryError, TimeRange, TimelineSource};

use crate::execution::message_reader::MessageReader;
use crate::execution::step_function::StepFunction;
pub(crate) use crate::execution::unit_message::UnaddressedMessage;
pub use crate::execution::unit_message::UnitMessage;
use crate::execution::unit_message::pending_bytes;
use crate::execution::units::UnitSet;

/// Messages per block. Each block has a stored latest end, by which a search skips the blocks that
/// end before a time.
const BLOCK: usize = 256;

/// Numbers of messages and bytes that change over time.
pub type PendingSteps = StepFunction<2>;

/// Index of the number of messages in [`PendingSteps`].
pub const MESSAGES: usize = 0;
/// Index of the number of bytes in [`PendingSteps`].
pub const BYTES: usize = 1;

/// The pending messages of each unit.
#[derive(Debug)]
pub(crate) struct PendingByUnit {
    /// For each unit, the messages that were sent to it.
    pub(crate) incoming_steps: Vec<PendingSteps>,
    /// For each unit, the messages that it sent.
    pub(crate) outgoing: Vec<PendingSteps>,
    /// The messages with an unknown receiver.
    pub(crate) unaddressed_steps: PendingSteps,
}

/// The messages between units.
#[derive(Debug, Default)]
pub struct UnitMessages {
    /// The received messages, by timestamp of the send.
    list: Vec<UnitMessage>,
    /// The messages that are never received, by timestamp of the send.
    unreceived_messages: Vec<UnitMessage>,
    /// The messages that are never received, with an unknown receiver, by timestamp of the send.
    unaddressed_messages: Vec<UnaddressedMessage>,
    /// The latest end of each block of the list.
    ends: Vec<i64>,
    /// Indexes in the list by timestamp of the receive.
    by_receive: OnceLock<Vec<u32>>,
    units: usize,
    has_sizes: bool,
    /// The number of links that begin and end in the same unit.
    pub within_units: u64,
    /// The number of links with an endpoint outside of all units.
    pub outside_count: u64,
    /// The number of messages that are received before they are sent.
    pub backward_count: u64,
    /// The number of messages without a size.
    pub without_size: u64,
    /// The smallest size above 0, in bytes.
    pub smallest_size: Option<u64>,
    /// The smallest and the largest size, in bytes.
    pub size_extremes: Option<[u64; 2]>,
    pending_steps: OnceLock<PendingSteps>,
    by_unit: OnceLock<PendingByUnit>,
    indexes: OnceLock<MessageIndexes>,
}

#[derive(Debug)]
struct MessageIndexes {
    /// The messages that each unit sends, by timestamp of the send.
    sent_numbers: Vec<Vec<u32>>,
    /// The messages that each unit receives, by timestamp of the receive.
    received_numbers: Vec<Vec<u32>>,
}

impl UnitMessages {
    /// Reads all links. With `needs_sizes`, it also reads their sizes, which takes longer.
    ///
    /// # Errors
    /// The errors of the source.
    pub(crate) fn new(source: &dyn TimelineSource, units: &UnitSet, needs_sizes: bool) -> Result<Self, QueryError> {
        let MessageReader {
            received_messages: mut list,
            mut unreceived_messages,
            mut unaddressed_messages,
            has_sizes,
            within_units,
            outside_count,
            ..
        } = MessageReader::read_all(source, units, needs_sizes)?;
        list.sort_by_key(|message| (message.send_time, message.receive_time));
        unreceived_messages.sort_by_key(|message| message.send_time);
        unaddressed_messages.sort_by_key(|message| message.send_time);
        let latest = |block: &[UnitMessage]| block.iter().map(UnitMessage::pending_until).max();
        let ends = list.chunks(BLOCK).filter_map(latest).collect();
        let backward_count = list.iter().filter(|message| message.receive_time < message.send_time).count() as u64;
        let sizes = || {
            let addressed = list.iter().chain(&unreceived_messages).map(|message| message.bytes);
            addressed.chain(unaddressed_messages.iter().map(|message| message.bytes))
        };
        let without_size = sizes().filter(Option::is_none).count() as u64;
        let smallest_size = sizes().flatten().filter(|bytes| *bytes > 0).min();
        let size_extremes = sizes().flatten().min().zip(sizes().flatten().max());
        Ok(Self {
            ends,
            units: units.count(),
            has_sizes,
            within_units,
            outside_count,
            backward_count,
            without_size,
            smallest_size,
            size_extremes: size_extremes.map(|(least, largest)| [least, largest]),
            list,
            unreceived_messages,
            unaddressed_messages,
            ..Self::default()
        })
    }

    /// The messages of a trace without links.
    pub(crate) fn without_links(units: &UnitSet) -> Self {
        Self { units: units.count(), ..Self::default() }
    }

    /// The received messages, by timestamp of the send.
    pub fn list(&self) -> &[UnitMessage] {
        &self.list
    }

    /// The messages that are never received, to known units, by timestamp of the send.
    pub(crate) fn unreceived_messages(&self) -> &[UnitMessage] {
        &self.unreceived_messages
    }

    /// The messages that are never received, with an unknown receiver, by timestamp of the send.
    pub(crate) fn unaddressed_messages(&self) -> &[UnaddressedMessage] {
        &self.unaddressed_messages
    }

    /// Whether there are no messages at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty() && self.unreceived_messages.is_empty() && self.unaddressed_messages.is_empty()
    }

    /// The received messages, by timestamp of the receive.
    pub(crate) fn by_receive(&self) -> impl Iterator<Item = &UnitMessage> + Clone {
        self.messages_at(self.receive_order())
    }

    fn receive_order(&self) -> &[u32] {
        self.by_receive.get_or_init(|| {
            let receives =
                self.list.iter().zip(self.send_order()).map(|(message, index)| (message.receive_time, index));
            let mut order: Vec<(i64, u32)> = receives.collect();
            order.sort_unstable();
            order.into_iter().map(|(_, index)| index).collect()
        })
    }

    /// Whether any link type has sizes.
    pub(crate) fn has_sizes(&self) -> bool {
        self.has_sizes
    }

    /// The pending messages of the whole trace. Computed at the first call, in O(n log n).
    pub fn pending(&self) -> &PendingSteps {
        self.pending_steps.get_or_init(|| self.steps_of(|_, _| true))
    }

    /// The pending messages of each unit. Computed at the first call, in O(n log n).
    pub(crate) fn by_unit(&self) -> &PendingByUnit {
        self.by_unit.get_or_init(|| {
            let sent_messages =
                || self.list.iter().chain(&self.unreceived_messages).filter(|message| message.is_ever_pending());
            let received_messages = || self.by_receive().filter(|message| message.is_ever_pending());
            let change = |unit: u32, time: i64, bytes: Option<u64>| (unit, (time, pending_bytes(bytes)));
            let unaddressed = || {
                self.unaddressed_messages.iter().map(|message| change(message.from, message.send_time, message.bytes))
            };
            let incoming = [
                ChangesByUnit::new(
                    self.units,
                    sent_messages().map(|message| change(message.to, message.send_time, message.bytes)),
                ),
                ChangesByUnit::new(
                    self.units,
                    received_messages().map(|message| change(message.to, message.receive_time, message.bytes)),
                ),
            ];
            let begins = sent_messages().map(|message| change(message.from, message.send_time, message.bytes));
            let outgoing = [
                ChangesByUnit::new(self.units, begins.chain(unaddressed())),
                ChangesByUnit::new(
                    self.units,
                    received_messages().map(|message| change(message.from, message.receive_time, message.bytes)),
                ),
            ];
            let steps_of = |[begins, ends]: [ChangesByUnit; 2]| {
                map_indexes(self.units, 1, |unit| steps(begins.get(unit).to_vec(), ends.get(unit).iter().copied()))
            };
            PendingByUnit {
                incoming_steps: steps_of(incoming),
                outgoing: steps_of(outgoing),
                unaddressed_steps: steps(unaddressed().map(|(_, change)| change).collect(), std::iter::empty()),
            }
        })
    }

    /// The indexes of the list.
    fn send_order(&self) -> Range<u32> {
        0..u32::try_from(self.list.len()).unwrap_or(u32::MAX)
    }

    fn messages_at<'a>(&'a self, indexes: &'a [u32]) -> impl Iterator<Item = &'a UnitMessage> + Clone {
        indexes.iter().map(|index| &self.list[*index as usize])
    }

    /// The indexes of the messages of each unit, in an order of all messages.
    fn indexes_by_unit(&self, order: impl Iterator<Item = u32>, unit: fn(&UnitMessage) -> u32) -> Vec<Vec<u32>> {
        let mut indexes = vec![Vec::new(); self.units];
        order.for_each(|index| indexes[unit(&self.list[index as usize]) as usize].push(index));
        indexes
    }

    /// The messages that are sent in a time range, by timestamp of the send.
    pub fn sent_between(&self, range: TimeRange) -> &[UnitMessage] {
        &self.list[self.send_places(range)]
    }

    /// The places in the list of the messages that are sent in a time range.
    pub(crate) fn send_places(&self, range: TimeRange) -> Range<usize> {
        let first = self.list.partition_point(|message| message.send_time < range.from.0);
        let end = self.list.partition_point(|message| message.send_time < range.to.0).max(first);
        first..end
    }

    /// The messages that are received in a time range, by timestamp of the receive.
    pub fn received_between(&self, range: TimeRange) -> impl Iterator<Item = &UnitMessage> {
        self.messages_at(&self.receive_order()[self.receive_places(range)])
    }

    /// The places of the messages that are received in a time range, in the order of receives.
    pub(crate) fn receive_places(&self, range: TimeRange) -> Range<usize> {
        let order = self.receive_order();
        let received = |index: &u32| self.list[*index as usize].receive_time;
        let first = order.partition_point(|index| received(index) < range.from.0);
        let end = order.partition_point(|index| received(index) < range.to.0).max(first);
        first..end
    }

    /// The messages at some places in the order of receives.
    pub(crate) fn received_at(&self, places: Range<usize>) -> impl Iterator<Item = &UnitMessage> {
        self.messages_at(&self.receive_order()[places])
    }

    /// The messages that a unit sends in a time range, by timestamp of the send.
    pub fn sent_by(&self, unit: usize, range: TimeRange) -> impl Iterator<Item = &UnitMessage> {
        let sent = self.indexes().sent_numbers.get(unit).map_or(&[][..], Vec::as_slice);
        self.messages_between(sent, |message| message.send_time, range)
    }

    /// The messages that a unit receives in a time range, by timestamp of the receive.
    pub fn received_by(&self, unit: usize, range: TimeRange) -> impl Iterator<Item = &UnitMessage> {
        let received = self.indexes().received_numbers.get(unit).map_or(&[][..], Vec::as_slice);
        self.messages_between(received, |message| message.receive_time, range)
    }

    fn messages_between<'a>(
        &'a self,
        indexes: &'a [u32],
        time: impl Fn(&UnitMessage) -> i64,
        range: TimeRange,
    ) -> impl Iterator<Item = &'a UnitMessage> {
        let time_of = |index: &u32| time(&self.list[*index as usize]);
        let first = indexes.partition_point(|index| time_of(index) < range.from.0);
        let end = indexes.partition_point(|index| time_of(index) < range.to.0).max(first);
        self.messages_at(&indexes[first..end])
    }

    fn indexes(&self) -> &MessageIndexes {
        self.indexes.get_or_init(|| MessageIndexes {
            sent_numbers: self.indexes_by_unit(self.send_order(), |message| message.from),
            received_numbers: self.indexes_by_unit(self.receive_order().iter().copied(), |message| message.to),
        })
    }

    /// Visits the messages that are pending at a time, by timestamp of the send. It skips blocks of
    /// messages that have all been received.
    pub fn pending_at(&self, time: GlobalNanos) -> impl Iterator<Item = &UnitMessage> {
        let time = time.0;
        let sent = self.list.partition_point(|message| message.send_time <= time);
        let blocks = self.list[..sent].chunks(BLOCK).zip(&self.ends);
        let blocks = blocks.filter(move |(_, latest)| **latest > time);
        let received = blocks.flat_map(|(block, _)| block).filter(move |message| message.pending_until() > time);
        let unreceived = self.unreceived_messages.partition_point(|message| message.send_time <= time);
        received.chain(&self.unreceived_messages[..unreceived])
    }

    /// The pending messages between the units that `fits` selects. Takes O(n) of all messages.
    pub(crate) fn pending_of(&self, fits: impl Fn(u32, Option<u32>) -> bool) -> PendingSteps {
        self.steps_of(fits)
    }

    fn steps_of(&self, fits: impl Fn(u32, Option<u32>) -> bool) -> PendingSteps {
        let fits_message = |message: &&UnitMessage| message.is_ever_pending() && fits(message.from, Some(message.to));
        let addressed = self.list.iter().chain(&self.unreceived_messages).filter(fits_message);
        let addressed = addressed.map(|message| (message.send_time, pending_bytes(message.bytes)));
        let unaddressed = self.unaddressed_messages.iter().filter(|message| fits(message.from, None));
        let unaddressed = unaddressed.map(|message| (message.send_time, pending_bytes(message.bytes)));
        let ends = self.by_receive().filter(fits_message);
        let ends = ends.map(|message| (message.receive_time, pending_bytes(message.bytes)));
        steps(addressed.chain(unaddressed).collect(), ends)
    }
}

/// The timestamp at which a message begins or ends to be pending, and its bytes.
type PendingChange = (i64, i64);

/// The changes of each unit, in their order, in one list.
struct ChangesByUnit {
    /// The place of the first change of each unit, and the end.
    starts: Vec<usize>,
    changes: Vec<PendingChange>,
}

impl ChangesByUnit {
    fn new(units: usize, changes: impl Iterator<Item = (u32, PendingChange)> + Clone) -> Self {
        let mut starts = vec![0; units + 1];
        changes.clone().for_each(|(unit, _)| starts[unit as usize + 1] += 1);
        (0..units).for_each(|unit| starts[unit + 1] += starts[unit]);
        let (mut next, mut list) = (starts.clone(), vec![(0, 0); starts[units]]);
        for (unit, change) in changes {
            list[next[unit as usize]] = change;
            next[unit as usize] += 1;
        }
        Self { starts, changes: list }
    }

    fn get(&self, unit: usize) -> &[PendingChange] {
        &self.changes[self.starts[unit]..self.starts[unit + 1]]
    }
}

/// The number of pending messages and bytes at any time. `begins` consists of a few sorted lists,
/// `ends` is sorted.
fn steps(mut begins: Vec<PendingChange>, ends: impl Iterator<Item = PendingChange>) -> PendingSteps {
    // A stable sort merges sorted lists in O(n).
    begins.sort_by_key(|begin| begin.0);
    let mut begins = begins.into_iter().map(|(time, bytes)| (time, [1, bytes])).peekable();
    let mut ends = ends.map(|(time, bytes)| (time, [-1, -bytes])).peekable();
    let (mut times, mut values, mut value) = (Vec::new(), Vec::new(), [0_i64; 2]);
    while let Some(time) = begins.peek().into_iter().chain(ends.peek()).map(|change| change.0).min() {
        let old_value = value;
        let mut add = |delta: [i64; 2]| {
            value.iter_mut().zip(delta).for_each(|(sum, delta)| *sum = sum.saturating_add(delta));
        };
        while let Some((_, delta)) = begins.next_if(|change| change.0 == time) {
            add(delta);
        }
        while let Some((_, delta)) = ends.next_if(|change| change.0 == time) {
            add(delta);
        }
        if value != old_value {
            times.push(time);
            values.push(value);
        }
    }
    StepFunction::from_steps([0; 2], times, values)
}
