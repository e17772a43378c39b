//! [`UnitMessages`]: the links between units, as messages with sizes, and the numbers of pending
//! messages and bytes.
//!
//! A message is *pending* from its send to its receive: at `sent ≤ t < received`. The endpoints of
//! a link are the units that contain them. Links within a unit are left out.

use std::ops::Range;
use std::sync::OnceLock;

use tumit_viewer::parallel::{MAX_THREADS, map_in_order};
use tumit_viewer::query::{EntityId, PajeTypeKind, QueryError, TimelineSource, TypeId, ValueId, entity_walk};
use tumit_viewer::stats::size_field;

use crate::execution::step_function::StepFunction;
use crate::execution::units::UnitSet;

/// Messages per block. Each block has a stored latest end.
const BLOCK: usize = 256;

/// Links per request for sizes.
const SIZES_AT_ONCE: usize = 1 << 14;

/// A link from one unit to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnitMessage {
    /// The link.
    pub id: EntityId,
    /// Its type.
    pub ty: TypeId,
    /// Its value.
    pub value: ValueId,
    /// Index of the sending unit.
    pub from: u32,
    /// Index of the receiving unit.
    pub to: u32,
    /// Timestamp of the send, in nanoseconds.
    pub sent: i64,
    /// Timestamp of the receive, in nanoseconds. Earlier than the send if the clocks are wrong.
    pub received: i64,
    /// Size in bytes, if the link has a field for it.
    pub bytes: Option<u64>,
}

impl UnitMessage {
    /// The end of the time in which the message is pending. A message that is received before it is
    /// sent is never pending.
    pub fn pending_until(&self) -> i64 {
        self.received.max(self.sent)
    }
}

/// Numbers of messages and bytes that change over time.
pub type PendingSteps = StepFunction<2>;

/// Index of the number of messages in [`PendingSteps`].
pub const MESSAGES: usize = 0;
/// Index of the number of bytes in [`PendingSteps`].
pub const BYTES: usize = 1;

/// The pending messages of each unit.
#[derive(Debug)]
pub struct PendingByUnit {
    /// For each unit, the messages that were sent to it.
    pub incoming: Vec<PendingSteps>,
    /// For each unit, the messages that it sent.
    pub outgoing: Vec<PendingSteps>,
}

/// The messages between units.
#[derive(Debug, Default)]
pub struct UnitMessages {
    /// By timestamp of the send.
    list: Vec<UnitMessage>,
    /// The latest end of each block of the list.
    ends: Vec<i64>,
    /// Indexes in the list by timestamp of the receive.
    by_receive: OnceLock<Vec<u32>>,
    units: usize,
    has_sizes: bool,
    /// The number of links that begin and end in the same unit.
    pub within_units: u64,
    /// The number of links with an endpoint outside of all units.
    pub outside: u64,
    /// The number of messages that are received before they are sent.
    pub backward: u64,
    /// The number of messages without a size.
    pub without_size: u64,
    /// The smallest size above 0, in bytes.
    pub smallest_size: Option<u64>,
    /// The smallest and the largest size, in bytes.
    pub size_extremes: Option<[u64; 2]>,
    pending: OnceLock<PendingSteps>,
    by_unit: OnceLock<PendingByUnit>,
    indexes: OnceLock<MessageIndexes>,
}

/// The indexes of the messages of each unit.
#[derive(Debug)]
struct MessageIndexes {
    /// The messages that each unit sends, by timestamp of the send.
    sent: Vec<Vec<u32>>,
    /// The messages that each unit receives, by timestamp of the receive.
    received: Vec<Vec<u32>>,
}

impl UnitMessages {
    /// Reads all links. With `needs_sizes`, it also reads their sizes, which takes longer.
    ///
    /// # Errors
    /// The errors of the source.
    pub fn new(source: &dyn TimelineSource, units: &UnitSet, needs_sizes: bool) -> Result<Self, QueryError> {
        let (model, extent) = (source.model(), source.extent());
        let (mut list, mut has_sizes) = (Vec::new(), false);
        let (mut within_units, mut outside) = (0, 0);
        for ty in model.types.iter().filter(|ty| matches!(ty.kind, PajeTypeKind::Link { .. })) {
            let first = list.len();
            entity_walk::links(source, ty.id, extent, |link| {
                let (Some(from), Some(to)) = (units.owner(link.start), units.owner(link.end)) else {
                    outside += 1;
                    return Ok(());
                };
                if from == to {
                    within_units += 1;
                    return Ok(());
                }
                let (sent, received) = (link.start_time.0, link.end_time.0);
                let (id, ty, value, bytes) = (link.id, link.ty, link.value, None);
                list.push(UnitMessage { id, ty, value, from, to, sent, received, bytes });
                Ok(())
            })?;
            let field = if needs_sizes { size_field(source, ty.id, extent)? } else { None };
            if let Some(field) = field {
                has_sizes = true;
                read_sizes(source, &mut list[first..], &field)?;
            }
        }
        list.sort_by_key(|message| (message.sent, message.received));
        let latest = |block: &[UnitMessage]| block.iter().map(UnitMessage::pending_until).max();
        let ends = list.chunks(BLOCK).filter_map(latest).collect();
        let count = |is: fn(&UnitMessage) -> bool| list.iter().filter(|message| is(message)).count() as u64;
        let backward = count(|message| message.received < message.sent);
        let without_size = count(|message| message.bytes.is_none());
        let smallest_size = list.iter().filter_map(|message| message.bytes).filter(|bytes| *bytes > 0).min();
        let sizes = || list.iter().filter_map(|message| message.bytes);
        let size_extremes = sizes().min().zip(sizes().max()).map(|(least, largest)| [least, largest]);
        Ok(Self {
            list,
            ends,
            units: units.count(),
            has_sizes,
            within_units,
            outside,
            backward,
            without_size,
            smallest_size,
            size_extremes,
            ..Self::default()
        })
    }

    /// The messages of a trace without links.
    pub fn without_links(units: &UnitSet) -> Self {
        Self { units: units.count(), ..Self::default() }
    }

    /// The messages by timestamp of the send.
    pub fn list(&self) -> &[UnitMessage] {
        &self.list
    }

    /// The messages by timestamp of the receive.
    pub fn by_receive(&self) -> impl Iterator<Item = &UnitMessage> {
        self.messages_at(self.receive_order())
    }

    fn receive_order(&self) -> &[u32] {
        self.by_receive.get_or_init(|| {
            let receives = self.list.iter().zip(self.send_order()).map(|(message, index)| (message.received, index));
            let mut order: Vec<(i64, u32)> = receives.collect();
            order.sort_unstable();
            order.into_iter().map(|(_, index)| index).collect()
        })
    }

    /// Whether any link type has sizes.
    pub fn has_sizes(&self) -> bool {
        self.has_sizes
    }

    /// The pending messages of the whole trace. Computed at the first call, in O(n log n).
    pub fn pending(&self) -> &PendingSteps {
        self.pending.get_or_init(|| self.steps_of(|_| true))
    }

    /// The pending messages of each unit. Computed at the first call, in O(n log n).
    pub fn by_unit(&self) -> &PendingByUnit {
        self.by_unit.get_or_init(|| {
            let steps_of = |unit: fn(&UnitMessage) -> u32| {
                let begins = self.changes_by_unit(self.list.iter(), |message| message.sent, unit);
                let ends = self.changes_by_unit(self.by_receive(), |message| message.received, unit);
                let jobs = begins.into_iter().zip(ends).collect();
                map_in_order(jobs, MAX_THREADS, |(begins, ends)| steps(begins.into_iter(), ends.into_iter()))
            };
            PendingByUnit { incoming: steps_of(|message| message.to), outgoing: steps_of(|message| message.from) }
        })
    }

    /// The timestamps of the pending messages of each unit, with their bytes, in the order of all
    /// messages.
    fn changes_by_unit<'a>(
        &self,
        messages: impl Iterator<Item = &'a UnitMessage>,
        time: fn(&UnitMessage) -> i64,
        unit: fn(&UnitMessage) -> u32,
    ) -> Vec<Vec<(i64, i64)>> {
        let mut changes = vec![Vec::new(); self.units];
        for message in messages.filter(|message| is_pending(message)) {
            changes[unit(message) as usize].push((time(message), pending_bytes(message)));
        }
        changes
    }

    /// The indexes of the list.
    fn send_order(&self) -> Range<u32> {
        0..u32::try_from(self.list.len()).unwrap_or(u32::MAX)
    }

    fn messages_at<'a>(&'a self, indexes: &'a [u32]) -> impl Iterator<Item = &'a UnitMessage> {
        indexes.iter().map(|index| &self.list[*index as usize])
    }

    /// The indexes of the messages of each unit, in an order of all messages.
    fn grouped(&self, order: impl Iterator<Item = u32>, unit: fn(&UnitMessage) -> u32) -> Vec<Vec<u32>> {
        let mut indexes = vec![Vec::new(); self.units];
        order.for_each(|index| indexes[unit(&self.list[index as usize]) as usize].push(index));
        indexes
    }

    /// The messages that are sent in a time range, by timestamp of the send.
    pub fn sent_between(&self, from: i64, to: i64) -> &[UnitMessage] {
        &self.list[self.send_places(from, to)]
    }

    /// The places in the list of the messages that are sent in a time range.
    pub(crate) fn send_places(&self, from: i64, to: i64) -> Range<usize> {
        let first = self.list.partition_point(|message| message.sent < from);
        let end = self.list.partition_point(|message| message.sent < to).max(first);
        first..end
    }

    /// The messages that are received in a time range, by timestamp of the receive.
    pub fn received_between(&self, from: i64, to: i64) -> impl Iterator<Item = &UnitMessage> {
        self.messages_at(&self.receive_order()[self.receive_places(from, to)])
    }

    /// The places of the messages that are received in a time range, in the order of receives.
    pub(crate) fn receive_places(&self, from: i64, to: i64) -> Range<usize> {
        let order = self.receive_order();
        let received = |index: &u32| self.list[*index as usize].received;
        let first = order.partition_point(|index| received(index) < from);
        let end = order.partition_point(|index| received(index) < to).max(first);
        first..end
    }

    /// The messages at some places in the order of receives.
    pub(crate) fn received_at(&self, places: Range<usize>) -> impl Iterator<Item = &UnitMessage> {
        self.messages_at(&self.receive_order()[places])
    }

    /// The messages that a unit sends in a time range, by timestamp of the send.
    pub fn sent_by(&self, unit: usize, from: i64, to: i64) -> impl Iterator<Item = &UnitMessage> {
        let sent = self.indexes().sent.get(unit).map_or(&[][..], Vec::as_slice);
        self.between(sent, |message| message.sent, from, to)
    }

    /// The messages that a unit receives in a time range, by timestamp of the receive.
    pub fn received_by(&self, unit: usize, from: i64, to: i64) -> impl Iterator<Item = &UnitMessage> {
        let received = self.indexes().received.get(unit).map_or(&[][..], Vec::as_slice);
        self.between(received, |message| message.received, from, to)
    }

    fn between<'a>(
        &'a self,
        indexes: &'a [u32],
        time: impl Fn(&UnitMessage) -> i64,
        from: i64,
        to: i64,
    ) -> impl Iterator<Item = &'a UnitMessage> {
        let at = |index: &u32| time(&self.list[*index as usize]);
        let first = indexes.partition_point(|index| at(index) < from);
        let end = indexes.partition_point(|index| at(index) < to).max(first);
        self.messages_at(&indexes[first..end])
    }

    fn indexes(&self) -> &MessageIndexes {
        self.indexes.get_or_init(|| MessageIndexes {
            sent: self.grouped(self.send_order(), |message| message.from),
            received: self.grouped(self.receive_order().iter().copied(), |message| message.to),
        })
    }

    /// Visits the messages that are pending at a time, by timestamp of the send. It skips blocks of
    /// messages that have all been received.
    pub fn pending_at(&self, time: i64) -> impl Iterator<Item = &UnitMessage> {
        let sent = self.list.partition_point(|message| message.sent <= time);
        let blocks = self.list[..sent].chunks(BLOCK).zip(&self.ends);
        let blocks = blocks.filter(move |(_, latest)| **latest > time);
        blocks.flat_map(|(block, _)| block).filter(move |message| message.pending_until() > time)
    }

    /// The pending messages among those that fit. Takes O(n) of all messages.
    pub fn pending_of(&self, fits: impl Fn(&UnitMessage) -> bool) -> PendingSteps {
        self.steps_of(fits)
    }

    fn steps_of(&self, fits: impl Fn(&UnitMessage) -> bool) -> PendingSteps {
        let fits = |message: &&UnitMessage| is_pending(message) && fits(message);
        let begins = self.list.iter().filter(fits).map(|message| (message.sent, pending_bytes(message)));
        steps(begins, self.by_receive().filter(fits).map(|message| (message.received, pending_bytes(message))))
    }
}

/// Reads the sizes of messages of one type.
fn read_sizes(source: &dyn TimelineSource, messages: &mut [UnitMessage], field: &str) -> Result<(), QueryError> {
    for some in messages.chunks_mut(SIZES_AT_ONCE) {
        let ids: Vec<EntityId> = some.iter().map(|message| message.id).collect();
        for (message, number) in some.iter_mut().zip(source.number_fields(&ids, field)?) {
            message.bytes = number.and_then(whole_number);
        }
    }
    Ok(())
}

/// Whether a message is pending at any time.
fn is_pending(message: &UnitMessage) -> bool {
    message.sent < message.received
}

/// The bytes of a pending message.
fn pending_bytes(message: &UnitMessage) -> i64 {
    i64::try_from(message.bytes.unwrap_or(0)).unwrap_or(i64::MAX)
}

/// The number of pending messages and bytes at any time. Sends and receives of the same messages
/// are timestamps with bytes, by time.
fn steps(begins: impl Iterator<Item = (i64, i64)>, ends: impl Iterator<Item = (i64, i64)>) -> PendingSteps {
    let mut begins = begins.map(|(time, bytes)| (time, [1, bytes])).peekable();
    let mut ends = ends.map(|(time, bytes)| (time, [-1, -bytes])).peekable();
    let (mut times, mut values, mut value) = (Vec::new(), Vec::new(), [0_i64; 2]);
    while let Some(time) = begins.peek().into_iter().chain(ends.peek()).map(|change| change.0).min() {
        let before = value;
        let mut add = |delta: [i64; 2]| {
            value.iter_mut().zip(delta).for_each(|(sum, delta)| *sum = sum.saturating_add(delta));
        };
        while let Some((_, delta)) = begins.next_if(|change| change.0 == time) {
            add(delta);
        }
        while let Some((_, delta)) = ends.next_if(|change| change.0 == time) {
            add(delta);
        }
        if value != before {
            times.push(time);
            values.push(value);
        }
    }
    StepFunction::from_steps([0; 2], times, values)
}

/// A size in bytes. Negative sizes and other values that are no size are `None`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
fn whole_number(size: f64) -> Option<u64> {
    (0.0..1e18).contains(&size).then_some(size as u64)
}
