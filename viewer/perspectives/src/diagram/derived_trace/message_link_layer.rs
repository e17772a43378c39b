//! [`MessageLinkLayer`]: the messages of an execution as the links of a derived trace. The links
//! are not copied, because a trace may have many millions of messages.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use tumit_viewer::filter::FilterLayer;
use tumit_viewer::query::{
    ContainerId, EntityFacts, EntityId, EntityList, GlobalNanos, LinkCount, LinkEntity, LinkVisitor, QueryError,
    TimeRange, TimelineSource, TraceSummary, TypeId, ValueId,
};

use crate::execution::messages::{UnitMessage, UnitMessages};
use crate::message_scale::MessageScale;

/// Messages per block. Each block has a stored latest end, by which a search skips the blocks that
/// end before a time range.
const BLOCK: usize = 256;

/// The type of the links and the values of messages.
#[derive(Clone, Debug)]
pub(super) struct MessageValues {
    pub(super) ty: TypeId,
    /// The scale of the bins. `None` if all messages have the same value.
    pub(super) scale: Option<MessageScale>,
    /// The value of each bin of the scale.
    pub(super) bins: Vec<ValueId>,
    /// The value of messages without a bin.
    pub(super) default_value: ValueId,
    /// The value of the links of the critical path, and these links.
    pub(super) on_path: Option<(ValueId, FxHashSet<EntityId>)>,
}

impl MessageValues {
    fn value(&self, message: &UnitMessage) -> ValueId {
        if let Some((value, links)) = &self.on_path
            && links.contains(&message.id)
        {
            return *value;
        }
        let bin = self.scale.and_then(|scale| scale.bin(message));
        bin.and_then(|bin| self.bins.get(bin as usize).copied()).unwrap_or(self.default_value)
    }
}

/// A derived trace with the messages of an execution.
pub(super) struct MessageLinkLayer {
    /// The containers, and the types and values.
    inner: Arc<dyn TimelineSource>,
    /// The trace of the messages.
    trace: Arc<dyn TimelineSource>,
    messages: Arc<UnitMessages>,
    values: MessageValues,
    /// For each unit, its container.
    containers: Vec<ContainerId>,
    /// Indexes of the messages by the earlier of their two timestamps. `None` if this is the order
    /// of the messages.
    order: Option<Vec<u32>>,
    /// The latest end of each block of messages in this order.
    ends: Vec<i64>,
    /// The first and the last timestamp of all messages.
    extent: Option<TimeRange>,
}

/// The earlier timestamp of a message.
fn begin(message: &UnitMessage) -> i64 {
    message.send_time.min(message.receive_time)
}

/// The end of a message in overlap tests: at least 1 ns after the begin.
fn end(message: &UnitMessage) -> i64 {
    message.pending_until().max(begin(message).saturating_add(1))
}

impl MessageLinkLayer {
    /// Makes the links. `inner` has their type and values, `trace` has the messages. O(n) of all
    /// messages, O(n log n) if some are received before they are sent.
    pub(super) fn new(
        inner: Arc<dyn TimelineSource>,
        trace: Arc<dyn TimelineSource>,
        messages: Arc<UnitMessages>,
        values: MessageValues,
        containers: Vec<ContainerId>,
    ) -> Self {
        let order = (messages.backward_count > 0).then(|| {
            let list = messages.list();
            let mut order: Vec<u32> = (0..).take(list.len()).collect();
            order.sort_by_key(|index| begin(&list[*index as usize]));
            order
        });
        let count = messages.list().len();
        let mut links = Self { inner, trace, messages, values, containers, order, ends: Vec::new(), extent: None };
        let end_of_block = |first: usize| {
            let places = first..count.min(first + BLOCK);
            places.map(|place| end(links.message(place).1)).max().unwrap_or(0)
        };
        let ends: Vec<i64> = (0..count).step_by(BLOCK).map(end_of_block).collect();
        if count > 0 {
            let to = links.messages.list().iter().map(UnitMessage::pending_until).max().unwrap_or(0);
            links.extent = Some(TimeRange { from: GlobalNanos(begin(links.message(0).1)), to: GlobalNanos(to) });
        }
        links.ends = ends;
        links
    }

    /// The number and the message at a place in the order of the earlier timestamps.
    fn message(&self, place: usize) -> (u32, &UnitMessage) {
        let number = self.order.as_ref().map_or_else(|| u32::try_from(place).unwrap_or(u32::MAX), |order| order[place]);
        (number, &self.messages.list()[number as usize])
    }

    /// The messages that overlap a time range, by the earlier timestamp. It skips blocks that end
    /// before the time range.
    fn overlapping_messages(&self, range: TimeRange) -> impl Iterator<Item = (u32, &UnitMessage)> {
        let count = self.messages.list().len();
        let blocks = self.ends.iter().enumerate().filter(move |(_, latest)| **latest > range.from.0);
        let places = blocks.flat_map(move |(block, _)| block * BLOCK..count.min((block + 1) * BLOCK));
        let messages = places.map(|place| self.message(place));
        let begun = messages.take_while(move |(_, message)| begin(message) < range.to.0);
        begun.filter(move |(_, message)| end(message) > range.from.0)
    }

    fn link(&self, (number, message): (u32, &UnitMessage)) -> LinkEntity {
        LinkEntity {
            id: EntityId::Link(number),
            ty: self.values.ty,
            value: self.values.value(message),
            start_time: GlobalNanos(message.send_time),
            end_time: GlobalNanos(message.receive_time),
            start: self.containers[message.from as usize],
            end: self.containers[message.to as usize],
        }
    }

    /// A time range extended to all messages.
    fn with_messages(&self, range: TimeRange) -> TimeRange {
        let Some(extent) = self.extent else { return range };
        TimeRange { from: range.from.min(extent.from), to: range.to.max(extent.to) }
    }
}

/// Rejects a time range without times, as other sources do.
fn check_time_range(range: TimeRange) -> Result<(), QueryError> {
    if range.from < range.to { Ok(()) } else { Err(QueryError::EmptyTimeRange) }
}

impl FilterLayer for MessageLinkLayer {
    fn inner_source(&self) -> &dyn TimelineSource {
        self.inner.as_ref()
    }

    fn keeps_entities(&self, ty: TypeId) -> bool {
        ty != self.values.ty
    }

    fn summary(&self) -> TraceSummary {
        let inner = self.inner.summary();
        let links = inner.links + self.messages.list().len() as u64;
        TraceSummary { links, extent: self.with_messages(inner.extent), ..inner }
    }

    fn extent(&self) -> TimeRange {
        self.with_messages(self.inner.extent())
    }

    fn links(&self, ty: TypeId, time_range: TimeRange, limit: usize) -> Result<EntityList<LinkEntity>, QueryError> {
        if ty != self.values.ty {
            return self.inner.links(ty, time_range, limit);
        }
        check_time_range(time_range)?;
        let mut messages = self.overlapping_messages(time_range);
        let items: Vec<LinkEntity> = messages.by_ref().take(limit).map(|message| self.link(message)).collect();
        let total = items.len() as u64 + messages.count() as u64;
        Ok(EntityList { total, items })
    }

    fn link_counts(
        &self,
        ty: TypeId,
        time_range: TimeRange,
        exponent: u8,
        visit: &mut LinkVisitor<'_>,
    ) -> Result<(), QueryError> {
        if ty != self.values.ty {
            return self.inner.link_counts(ty, time_range, exponent, visit);
        }
        check_time_range(time_range)?;
        self.overlapping_messages(time_range)
            .try_for_each(|message| visit(&LinkCount::of_link(&self.link(message), exponent)))
    }

    /// The facts of a link are those of its message in the trace, with the value in this trace.
    fn facts(&self, id: EntityId) -> Result<EntityFacts, QueryError> {
        let EntityId::Link(number) = id else { return self.inner.facts(id) };
        let message = self.messages.list().get(number as usize).ok_or(QueryError::Unknown { kind: "link" })?;
        let root = self.inner.facts(EntityId::Container(ContainerId::ROOT))?;
        let facts = self.trace.facts(message.id)?;
        let model = self.inner.model();
        let name_of_type = model.types.get(self.values.ty.index()).map(|ty| ty.name.clone());
        let value = model.values.get(self.values.value(message).index());
        Ok(EntityFacts {
            id,
            name: value.map(|value| value.name.clone()).unwrap_or_default(),
            type_path: name_of_type.into_iter().collect(),
            container_path: root.container_path,
            container: ContainerId::ROOT,
            life: TimeRange { from: GlobalNanos(message.send_time), to: GlobalNanos(message.receive_time) },
            fields: facts.fields,
            source: facts.source,
        })
    }

    /// The layer with the states relates them and links.
    fn related_entities(&self, id: EntityId, limit: usize) -> Result<Vec<EntityId>, QueryError> {
        match id {
            EntityId::Link(number) if (number as usize) < self.messages.list().len() => Ok(Vec::new()),
            _ => self.inner.related_entities(id, limit),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::sync::Arc;

    use proptest::prelude::*;
    use tumit_viewer::query::{EntityId, GlobalNanos, LinkEntity, PajeTypeKind, TimeRange, TimelineSource};
    use tumit_viewer::store::TraceStore;

    use crate::diagram::derived_trace::{DerivedParts, derived_trace};
    use crate::execution::{Execution, ExecutionSettings};

    /// A trace of two threads with messages: timestamps of the send and the receive, in
    /// nanoseconds.
    fn trace(messages: &[(u32, u32)]) -> TraceStore {
        let mut text = "\
%EventDef PajeDefineContainerType 1\n%  Alias string\n%  Type string\n%  Name string\n%EndEventDef
%EventDef PajeDefineStateType 2\n%  Alias string\n%  Type string\n%  Name string\n%EndEventDef
%EventDef PajeDefineLinkType 3\n%  Alias string\n%  Type string\n%  StartContainerType string\n%  EndContainerType string\n%  Name string\n%EndEventDef
%EventDef PajeCreateContainer 4\n%  Time date\n%  Alias string\n%  Type string\n%  Container string\n%  Name string\n%EndEventDef
%EventDef PajeStartLink 5\n%  Time date\n%  Type string\n%  Container string\n%  StartContainer string\n%  Value string\n%  Key string\n%  Bytes int\n%EndEventDef
%EventDef PajeEndLink 6\n%  Time date\n%  Type string\n%  Container string\n%  EndContainer string\n%  Value string\n%  Key string\n%EndEventDef
1 T 0 Thread\n2 S T State\n3 L 0 T T Message\n4 0 a T 0 a\n4 0 b T 0 b\n"
            .to_owned();
        let mut events: Vec<(u32, String)> = Vec::new();
        for (key, (sent, received)) in messages.iter().enumerate() {
            let seconds = |nanos: u32| format!("0.{nanos:09}");
            let (start, end) = if key % 3 == 0 { ("b", "a") } else { ("a", "b") };
            events.push((*sent, format!("5 {} L 0 {start} m {key} {}\n", seconds(*sent), 1 << (key % 5))));
            events.push((*received, format!("6 {} L 0 {end} m {key}\n", seconds(*received))));
        }
        events.sort_by_key(|(time, _)| *time);
        events.iter().for_each(|(_, line)| write!(text, "{line}").expect("a string accepts text"));
        TraceStore::from_paje("messages", text.as_bytes()).expect("a valid trace")
    }

    proptest! {
        /// Lists, totals and counts of links in any time range are those of a plain scan. Some
        /// messages are received before they are sent, or at the same time.
        #[test]
        fn links_are_the_messages_of_the_trace(
            messages in prop::collection::vec((0..2000_u32, 0..2000_u32), 1..700),
            from in -5..2100_i64,
            length in 1..900_i64,
            limit in 0..50_usize,
        ) {
            let store: Arc<dyn TimelineSource> = Arc::new(trace(&messages));
            let execution = Execution::new(Arc::clone(&store), ExecutionSettings::default()).expect("a valid trace");
            let parts = DerivedParts { messages: true, ..DerivedParts::default() };
            let derived = derived_trace(&execution, parts).expect("a valid trace");
            let is_link = |kind| matches!(kind, PajeTypeKind::Link { .. });
            let ty = derived.model().types.iter().find(|ty| is_link(ty.kind)).expect("it has links").id;
            let range = TimeRange { from: GlobalNanos(from), to: GlobalNanos(from + length) };
            let begin = |sent: i64, received: i64| sent.min(received);
            let overlaps = |(sent, received): &&(u32, u32)| {
                let (sent, received) = (i64::from(*sent), i64::from(*received));
                let end = sent.max(received).max(begin(sent, received) + 1);
                begin(sent, received) < range.to.0 && end > range.from.0
            };
            let mut expected: Vec<(i64, i64)> =
                messages.iter().filter(overlaps).map(|message| (message.0.into(), message.1.into())).collect();
            let list = derived.links(ty, range, usize::MAX).expect("a valid query");
            let times = |link: &LinkEntity| (link.start_time.0, link.end_time.0);
            let begins: Vec<i64> = list.items.iter().map(|link| begin(link.start_time.0, link.end_time.0)).collect();
            prop_assert!(begins.is_sorted());
            let mut listed: Vec<(i64, i64)> = list.items.iter().map(times).collect();
            listed.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(list.total, expected.len() as u64);
            prop_assert_eq!(listed, expected);
            let first = derived.links(ty, range, limit).expect("a valid query");
            prop_assert_eq!((first.total, &first.items[..]), (list.total, &list.items[..limit.min(list.items.len())]));
            let mut count = 0;
            let mut visit = |links: &tumit_viewer::query::LinkCount| {
                count += links.count;
                Ok(())
            };
            derived.link_counts(ty, range, 4, &mut visit).expect("a valid query");
            prop_assert_eq!(count, list.total);
            prop_assert_eq!(derived.summary().links, messages.len() as u64);
            let last = messages.iter().map(|(sent, received)| i64::from(*sent.max(received))).max();
            prop_assert!(derived.extent().to.0 >= last.unwrap_or(0));
        }
    }

    /// A link has the fields of its message.
    #[test]
    fn facts_are_those_of_the_message() {
        let store: Arc<dyn TimelineSource> = Arc::new(trace(&[(1, 5), (2, 3)]));
        let execution = Execution::new(store, ExecutionSettings::default()).expect("a valid trace");
        let parts = DerivedParts { messages: true, ..DerivedParts::default() };
        let derived = derived_trace(&execution, parts).expect("a valid trace");
        let facts = derived.facts(EntityId::Link(0)).expect("it has two links");
        assert_eq!((facts.life.from.0, facts.life.to.0, &facts.type_path[..]), (1, 5, &["Message".to_owned()][..]));
        let bytes = facts.fields.iter().find(|(name, _)| name == "Bytes").map(|(_, text)| text.as_str());
        assert_eq!(bytes, Some("1"));
        assert!(derived.facts(EntityId::Link(2)).is_err());
    }
}
