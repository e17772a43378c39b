//! [`UnitMessages`]: the links between units, as messages with sizes, and the numbers of pending
//! messages and bytes.
//!
//! A message is *pending* from its send to its receive: at `sent ≤ t < received`. The endpoints of
//! a link are the units that contain them. Links within a unit are left out. A message that is
//! never received is pending until the end of the trace. Its receiver may be unknown.

use std::sync::OnceLock;

use tumit_viewer::query::{
    EntityId, LinkEntity, OpenLinkEntity, PajeTypeKind, QueryError, TimelineSource, TypeId, ValueId, entity_walk,
};
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
    /// [`NEVER`] if the message is never received.
    pub received: i64,
    /// Size in bytes, if the link has a field for it.
    pub bytes: Option<u64>,
}

/// The time of the receive of a message that is never received.
pub const NEVER: i64 = i64::MAX;

/// A message that is never received, and whose receiver is unknown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnaddressedMessage {
    /// The link.
    pub id: EntityId,
    /// Index of the sending unit.
    pub from: u32,
    /// Timestamp of the send, in nanoseconds.
    pub sent: i64,
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
    /// The messages with an unknown receiver.
    pub unaddressed: PendingSteps,
}

/// The messages between units.
#[derive(Debug, Default)]
pub struct UnitMessages {
    /// The received messages, by timestamp of the send.
    list: Vec<UnitMessage>,
    /// The messages that are never received, by timestamp of the send.
    unreceived: Vec<UnitMessage>,
    /// The messages that are never received, with an unknown receiver, by timestamp of the send.
    unaddressed: Vec<UnaddressedMessage>,
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

/// The messages that are read from links.
struct MessageReader<'a> {
    source: &'a dyn TimelineSource,
    units: &'a UnitSet,
    received: Vec<UnitMessage>,
    unreceived: Vec<UnitMessage>,
    unaddressed: Vec<UnaddressedMessage>,
    has_sizes: bool,
    within_units: u64,
    outside: u64,
}

impl MessageReader<'_> {
    /// Reads the links of a type.
    fn read(&mut self, ty: TypeId, needs_sizes: bool) -> Result<(), QueryError> {
        let (source, extent) = (self.source, self.source.extent());
        let first = [self.received.len(), self.unreceived.len(), self.unaddressed.len()];
        entity_walk::links(source, ty, extent, |link| {
            self.add_link(link);
            Ok(())
        })?;
        source.open_links(ty, extent)?.iter().for_each(|link| self.add_open_link(link));
        let field = if needs_sizes { size_field(source, ty, extent)? } else { None };
        if let Some(field) = field {
            self.has_sizes = true;
            read_sizes(source, &mut self.received[first[0]..], |one| (one.id, &mut one.bytes), &field)?;
            read_sizes(source, &mut self.unreceived[first[1]..], |one| (one.id, &mut one.bytes), &field)?;
            read_sizes(source, &mut self.unaddressed[first[2]..], |one| (one.id, &mut one.bytes), &field)?;
        }
        Ok(())
    }

    fn add_link(&mut self, link: &LinkEntity) {
        let Some((from, to)) = self.units.owner(link.start).zip(self.units.owner(link.end)) else {
            self.outside += 1;
            return;
        };
        if from == to {
            self.within_units += 1;
            return;
        }
        let (sent, received) = (link.start_time.0, link.end_time.0);
        let (id, ty, value, bytes) = (link.id, link.ty, link.value, None);
        self.received.push(UnitMessage { id, ty, value, from, to, sent, received, bytes });
    }

    fn add_open_link(&mut self, link: &OpenLinkEntity) {
        let Some(from) = self.units.owner(link.start) else {
            self.outside += 1;
            return;
        };
        let (id, ty, value, sent, bytes) = (link.id, link.ty, link.value, link.start_time.0, None);
        let Some(destination) = link.destination else {
            return self.unaddressed.push(UnaddressedMessage { id, from, sent, bytes });
        };
        match self.units.owner(destination) {
            None => self.outside += 1,
            Some(to) if to == from => self.within_units += 1,
            Some(to) => {
                self.unreceived.push(UnitMessage { id, ty, value, from, to, sent, received: NEVER, bytes });
            }
        }
    }
}

impl UnitMessages {
    /// Reads all links. With `needs_sizes`, it also reads their sizes, which takes longer.
    ///
    /// # Errors
    /// The errors of the source.
    pub fn new(source: &dyn TimelineSource, units: &UnitSet, needs_sizes: bool) -> Result<Self, QueryError> {
        let mut reader = MessageReader {
            source,
            units,
            received: Vec::new(),
            unreceived: Vec::new(),
            unaddressed: Vec::new(),
            has_sizes: false,
            within_units: 0,
            outside: 0,
        };
        for ty in source.model().types.iter().filter(|ty| matches!(ty.kind, PajeTypeKind::Link { .. })) {
            reader.read(ty.id, needs_sizes)?;
        }
        let MessageReader { received: mut list, mut unreceived, mut unaddressed, .. } = reader;
        list.sort_by_key(|message| (message.sent, message.received));
        unreceived.sort_by_key(|message| message.sent);
        unaddressed.sort_by_key(|message| message.sent);
        let latest = |block: &[UnitMessage]| block.iter().map(UnitMessage::pending_until).max();
        let ends = list.chunks(BLOCK).filter_map(latest).collect();
        let backward = list.iter().filter(|message| message.received < message.sent).count() as u64;
        let sizes = || {
            let addressed = list.iter().chain(&unreceived).map(|message| message.bytes);
            addressed.chain(unaddressed.iter().map(|message| message.bytes))
        };
        let without_size = sizes().filter(Option::is_none).count() as u64;
        let smallest_size = sizes().flatten().filter(|bytes| *bytes > 0).min();
        let size_extremes = sizes().flatten().min().zip(sizes().flatten().max());
        Ok(Self {
            ends,
            units: units.count(),
            has_sizes: reader.has_sizes,
            within_units: reader.within_units,
            outside: reader.outside,
            backward,
            without_size,
            smallest_size,
            size_extremes: size_extremes.map(|(least, largest)| [least, largest]),
            list,
            unreceived,
            unaddressed,
            ..Self::default()
        })
    }

    /// The messages of a trace without links.
    pub fn without_links(units: &UnitSet) -> Self {
        Self { units: units.count(), ..Self::default() }
    }

    /// The received messages, by timestamp of the send.
    pub fn list(&self) -> &[UnitMessage] {
        &self.list
    }

    /// The messages that are never received, to known units, by timestamp of the send.
    pub fn unreceived(&self) -> &[UnitMessage] {
        &self.unreceived
    }

    /// The messages that are never received, with an unknown receiver, by timestamp of the send.
    pub fn unaddressed(&self) -> &[UnaddressedMessage] {
        &self.unaddressed
    }

    /// Whether there are no messages at all.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty() && self.unreceived.is_empty() && self.unaddressed.is_empty()
    }

    /// The received messages, by timestamp of the receive.
    pub fn by_receive(&self) -> impl Iterator<Item = &UnitMessage> {
        self.receive_order().iter().map(|index| &self.list[*index as usize])
    }

    fn receive_order(&self) -> &[u32] {
        self.by_receive.get_or_init(|| {
            let mut order: Vec<u32> = (0..u32::try_from(self.list.len()).unwrap_or(u32::MAX)).collect();
            order.sort_by_key(|index| self.list[*index as usize].received);
            order
        })
    }

    /// Whether any link type has sizes.
    pub fn has_sizes(&self) -> bool {
        self.has_sizes
    }

    /// The pending messages of the whole trace. Computed at the first call, in O(n log n).
    pub fn pending(&self) -> &PendingSteps {
        self.pending.get_or_init(|| self.pending_of(|_, _| true))
    }

    /// The pending messages of each unit. Computed at the first call, in O(n log n).
    pub fn by_unit(&self) -> &PendingByUnit {
        self.by_unit.get_or_init(|| {
            let lists = || vec![Vec::new(); self.units];
            let (mut incoming, mut outgoing, mut unaddressed) = (lists(), lists(), Vec::new());
            for message in self.intervals() {
                outgoing[message.from as usize].push(message);
                match message.to {
                    Some(to) => incoming[to as usize].push(message),
                    None => unaddressed.push(message),
                }
            }
            let grouped = |lists: Vec<Vec<PendingInterval>>| lists.into_iter().map(steps).collect();
            PendingByUnit { incoming: grouped(incoming), outgoing: grouped(outgoing), unaddressed: steps(unaddressed) }
        })
    }

    /// The messages that are sent in a time range, by timestamp of the send.
    pub fn sent_between(&self, from: i64, to: i64) -> &[UnitMessage] {
        let first = self.list.partition_point(|message| message.sent < from);
        let end = self.list.partition_point(|message| message.sent < to).max(first);
        &self.list[first..end]
    }

    /// The messages that are received in a time range, by timestamp of the receive.
    pub fn received_between(&self, from: i64, to: i64) -> impl Iterator<Item = &UnitMessage> {
        let order = self.receive_order();
        let received = |index: &u32| self.list[*index as usize].received;
        let first = order.partition_point(|index| received(index) < from);
        let end = order.partition_point(|index| received(index) < to).max(first);
        order[first..end].iter().map(|index| &self.list[*index as usize])
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
        indexes[first..end].iter().map(|index| &self.list[*index as usize])
    }

    fn indexes(&self) -> &MessageIndexes {
        self.indexes.get_or_init(|| {
            let (mut sent, mut received) = (vec![Vec::new(); self.units], vec![Vec::new(); self.units]);
            (self.list.iter().zip(0_u32..)).for_each(|(message, index)| sent[message.from as usize].push(index));
            for index in self.receive_order() {
                received[self.list[*index as usize].to as usize].push(*index);
            }
            MessageIndexes { sent, received }
        })
    }

    /// Visits the messages that are pending at a time, by timestamp of the send. It skips blocks of
    /// messages that have all been received.
    pub fn pending_at(&self, time: i64) -> impl Iterator<Item = &UnitMessage> {
        let sent = self.list.partition_point(|message| message.sent <= time);
        let blocks = self.list[..sent].chunks(BLOCK).zip(&self.ends);
        let blocks = blocks.filter(move |(_, latest)| **latest > time);
        let received = blocks.flat_map(|(block, _)| block).filter(move |message| message.pending_until() > time);
        let unreceived = self.unreceived.partition_point(|message| message.sent <= time);
        received.chain(&self.unreceived[..unreceived])
    }

    /// The pending messages among those whose sender and receiver fit. Takes O(n log n).
    pub fn pending_of(&self, fits: impl Fn(u32, Option<u32>) -> bool) -> PendingSteps {
        steps(self.intervals().filter(|message| fits(message.from, message.to)))
    }

    /// The times in which each message is pending.
    fn intervals(&self) -> impl Iterator<Item = PendingInterval> {
        let addressed = self.list.iter().chain(&self.unreceived).map(|message| PendingInterval {
            from: message.from,
            to: Some(message.to),
            sent: message.sent,
            until: message.pending_until(),
            bytes: message.bytes,
        });
        addressed.chain(self.unaddressed.iter().map(|message| PendingInterval {
            from: message.from,
            to: None,
            sent: message.sent,
            until: NEVER,
            bytes: message.bytes,
        }))
    }
}

/// The time in which a message is pending.
#[derive(Clone, Copy)]
struct PendingInterval {
    from: u32,
    /// `None` if the receiver is unknown.
    to: Option<u32>,
    sent: i64,
    until: i64,
    bytes: Option<u64>,
}

/// Reads the sizes of messages of one type.
fn read_sizes<M>(
    source: &dyn TimelineSource,
    messages: &mut [M],
    size: impl Fn(&mut M) -> (EntityId, &mut Option<u64>),
    field: &str,
) -> Result<(), QueryError> {
    for some in messages.chunks_mut(SIZES_AT_ONCE) {
        let ids: Vec<EntityId> = some.iter_mut().map(|message| size(message).0).collect();
        for (message, number) in some.iter_mut().zip(source.number_fields(&ids, field)?) {
            *size(message).1 = number.and_then(whole_number);
        }
    }
    Ok(())
}

/// The number of pending messages and bytes at any time.
fn steps(messages: impl IntoIterator<Item = PendingInterval>) -> PendingSteps {
    let mut deltas = Vec::new();
    for PendingInterval { sent, until, bytes, .. } in messages {
        let bytes = i64::try_from(bytes.unwrap_or(0)).unwrap_or(i64::MAX);
        deltas.push((sent, [1, bytes]));
        if until < NEVER {
            deltas.push((until, [-1, -bytes]));
        }
    }
    StepFunction::from_deltas([0; 2], deltas)
}

/// A size in bytes. Negative sizes and other values that are no size are `None`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
fn whole_number(size: f64) -> Option<u64> {
    (0.0..1e18).contains(&size).then_some(size as u64)
}
