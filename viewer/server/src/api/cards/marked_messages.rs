//! [`MarkedMessages`]: the messages that a mark of a card stands for, as arrows of the diagram.
//!
//! A cell of the matrix stands for the messages from its sender to its receiver. A bar of the
//! queues stands for those that wait for its unit, and a column of the traffic for those that are
//! pending at its time.

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value, json};
use tumit_perspectives::error::PerspectiveError;
use tumit_perspectives::execution::Execution;
use tumit_perspectives::execution::messages::{UnitMessage, UnitMessages};
use tumit_perspectives::options::MessageDirection;
use tumit_perspectives::view::{TimeMode, ViewRequest};
use tumit_viewer::layout::ContainerOutline;
use tumit_viewer::query::{ContainerId, EntityId, GlobalNanos, PajeTypeKind, TimeRange, entity_walk};
use tumit_viewer::scene::wire::entity;

use super::card_request::CardsRequest;

/// Maximum number of arrows. Of more messages, those that start in one time bin and end in one time
/// bin are one arrow.
const MAX_ARROWS: usize = 1000;
/// The number of time bins at first, about the width of a diagram in device pixels. Each further
/// attempt has half as many.
const BINS: i64 = 1 << 12;

/// A choice of messages.
#[derive(Debug)]
pub(super) struct MarkedMessages {
    /// The containers of the sending units. `None` stands for all.
    senders: Option<FxHashSet<u32>>,
    /// The containers of the receiving units.
    receivers: Option<FxHashSet<u32>>,
    /// Whether only messages are chosen that are pending at the time cursor.
    is_pending: bool,
}

/// A message, or several with about the same times, as an arrow.
#[derive(Debug)]
pub(super) struct MessageArrow {
    link: EntityId,
    send_time: i64,
    received: i64,
    /// The containers at the start, the innermost last.
    start: Vec<ContainerId>,
    end: Vec<ContainerId>,
}

type Endpoints = (ContainerId, ContainerId);

impl MarkedMessages {
    pub(super) fn parse(request: &CardsRequest) -> Self {
        let list = |text: &str| -> Option<FxHashSet<u32>> {
            (!text.is_empty()).then(|| text.split(',').filter_map(|number| number.parse().ok()).collect())
        };
        Self { senders: list(&request.senders), receivers: list(&request.receivers), is_pending: request.is_pending }
    }

    pub(super) fn arrows(
        &self,
        execution: &Execution,
        request: &ViewRequest,
        outline: &ContainerOutline,
    ) -> Result<Vec<MessageArrow>, PerspectiveError> {
        let messages = combine_messages(self.messages(execution, request)?, execution.extent());
        let endpoints = endpoints(execution, outline, &messages)?;
        let path = |container: ContainerId| {
            outline.ancestors(container).into_iter().chain([container]).collect::<Vec<ContainerId>>()
        };
        let arrow = |message: &&UnitMessage| {
            let (start, end) = endpoints.get(&message.id).copied()?;
            let (send_time, received) = (message.send_time, message.receive_time);
            Some(MessageArrow { link: message.id, send_time, received, start: path(start), end: path(end) })
        };
        Ok(messages.iter().filter_map(arrow).collect())
    }

    /// The messages, in a fixed order.
    fn messages<'a>(
        &self,
        execution: &'a Execution,
        request: &ViewRequest,
    ) -> Result<Vec<&'a UnitMessage>, PerspectiveError> {
        let messages = execution.messages()?;
        let units = execution.units().list();
        let chosen = |containers: &Option<FxHashSet<u32>>| -> Option<Vec<usize>> {
            let containers = containers.as_ref()?;
            Some((0..units.len()).filter(|unit| containers.contains(&units[*unit].container.0)).collect())
        };
        let (senders, receivers) = (chosen(&self.senders), chosen(&self.receivers));
        let is_in = |list: &Option<Vec<usize>>, unit: u32| {
            list.as_ref().is_none_or(|list| list.binary_search(&(unit as usize)).is_ok())
        };
        let selected = request.options.selected_unit(execution)?.and_then(|unit| u32::try_from(unit).ok());
        let fits = |message: &&UnitMessage| {
            is_in(&senders, message.from)
                && is_in(&receivers, message.to)
                && selected.is_none_or(|unit| concerns(message, unit, request.options.direction))
        };
        if self.is_pending || request.mode == TimeMode::At {
            return Ok(messages.pending_at(request.time).filter(fits).collect());
        }
        let range = message_range(execution, request);
        Ok(match (&senders, &receivers) {
            (Some(senders), _) => senders.iter().flat_map(|unit| messages.sent_by(*unit, range)).filter(fits).collect(),
            (None, Some(receivers)) => waiting_for(messages, receivers, range).filter(fits).collect(),
            (None, None) => messages.sent_between(range).iter().filter(fits).collect(),
        })
    }
}

/// The messages that wait for units at any time of a time range.
fn waiting_for<'a, 'b>(
    messages: &'a UnitMessages,
    receivers: &'b [usize],
    range: TimeRange,
) -> impl Iterator<Item = &'a UnitMessage> + use<'a, 'b> {
    let later = TimeRange { from: range.from, to: GlobalNanos::LAST };
    let received = receivers.iter().flat_map(move |unit| messages.received_by(*unit, later));
    received.filter(move |message| message.send_time < range.to.0)
}

/// Whether a unit sends or receives a message, as an option of views demands.
fn concerns(message: &UnitMessage, unit: u32, direction: MessageDirection) -> bool {
    let (sends, receives) = (message.from == unit, message.to == unit);
    match direction {
        MessageDirection::Both => sends || receives,
        MessageDirection::Incoming => receives,
        MessageDirection::Outgoing => sends,
    }
}

/// The time range of a view. At the end of the trace, it contains the last timestamp.
fn message_range(execution: &Execution, request: &ViewRequest) -> TimeRange {
    let range = request.visible_range();
    let reaches_end = range.to >= execution.extent().to;
    TimeRange { from: range.from, to: GlobalNanos(range.to.0.saturating_add(i64::from(reaches_end))) }
}

/// At most [`MAX_ARROWS`] of the messages, at least one for those with about the same times.
fn combine_messages(messages: Vec<&UnitMessage>, extent: TimeRange) -> Vec<&UnitMessage> {
    let nanos = extent.to.0.saturating_sub(extent.from.0);
    let mut width = (nanos / BINS).max(1);
    let mut messages_left = messages;
    while messages_left.len() > MAX_ARROWS {
        let mut seen = FxHashSet::default();
        messages_left.retain(|message| {
            seen.insert((message.from, message.to, message.send_time / width, message.receive_time / width))
        });
        if width > nanos {
            // There are more pairs of units than arrows.
            messages_left.truncate(MAX_ARROWS);
        }
        width = width.saturating_mul(2);
    }
    messages_left
}

/// The endpoints of the links of messages. A unit with containers below it may not be the endpoint
/// itself, so that the links are read again.
fn endpoints(
    execution: &Execution,
    outline: &ContainerOutline,
    messages: &[&UnitMessage],
) -> Result<FxHashMap<EntityId, Endpoints>, PerspectiveError> {
    let units = execution.units().list();
    let container = |unit: u32| units[unit as usize].container;
    let is_leaf = |unit: u32| outline.subtree(container(unit)).nth(1).is_none();
    let mut endpoints: FxHashMap<EntityId, Endpoints> =
        messages.iter().map(|message| (message.id, (container(message.from), container(message.to)))).collect();
    if messages.iter().all(|message| is_leaf(message.from) && is_leaf(message.to)) {
        return Ok(endpoints);
    }
    let first = messages.iter().map(|message| message.send_time.min(message.receive_time)).min().unwrap_or(0);
    let last = messages.iter().map(|message| message.pending_until()).max().unwrap_or(0);
    let range = TimeRange { from: GlobalNanos(first), to: GlobalNanos(last.saturating_add(1)) };
    for ty in execution.model().types.iter().filter(|ty| matches!(ty.kind, PajeTypeKind::Link { .. })) {
        entity_walk::links(execution.source(), ty.id, range, |link| {
            if let Some(ends) = endpoints.get_mut(&link.id) {
                *ends = (link.start, link.end);
            }
            Ok(())
        })?;
    }
    Ok(endpoints)
}

impl MessageArrow {
    /// The arrow as JSON. Times are nanoseconds after `origin`.
    pub(super) fn json(&self, origin: i64) -> Value {
        let numbers = |path: &[ContainerId]| path.iter().map(|container| container.0).collect::<Vec<u32>>();
        json!({
            "id": entity(self.link),
            "from": self.send_time.saturating_sub(origin),
            "to": self.received.saturating_sub(origin),
            "start": numbers(&self.start),
            "end": numbers(&self.end),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::sync::Arc;

    use rustc_hash::FxHashSet;
    use tumit_perspectives::execution::{Execution, ExecutionSettings};
    use tumit_perspectives::options::ViewOptions;
    use tumit_perspectives::view::{TimeMode, ViewRequest};
    use tumit_viewer::layout::ContainerOutline;
    use tumit_viewer::query::{GlobalNanos, TimeRange};
    use tumit_viewer::store::TraceStore;

    use super::{MAX_ARROWS, MarkedMessages, combine_messages};

    /// Threads of two nodes. Thread 0 of node 0 sends to the threads of node 1 in turn, one message
    /// each second, which takes 1.5 s.
    fn threads_of_nodes() -> (Execution, ContainerOutline, Execution) {
        let mut text = format!(
            "{}0 N 0 Node\n0 T N Thread\n2 S T Activity\n4 L 0 T T Message\n5 w S work \"0 1 0\"\n5 m L data \"1 0 0\"\n",
            include_str!("../../../../tests/header.paje")
        );
        for node in 0..2 {
            let _ = writeln!(text, "6 0 n{node} 0 N n{node}");
            for thread in 0..2 {
                let _ = writeln!(text, "6 0 t{node}{thread} n{node} T t{node}{thread}\n11 0 t{node}{thread} S w");
            }
        }
        for time in 0..10_u32 {
            let _ = writeln!(text, "15 {time} 0 L t00 m k{time}");
            if let Some(time_before) = time.checked_sub(1) {
                let _ = writeln!(text, "16 {}.5 0 L t1{} m k{time_before}", time, time_before % 2);
            }
        }
        let _ = writeln!(text, "16 10.5 0 L t11 m k9\n7 11 T t00");
        let source = Arc::new(TraceStore::from_paje("test", text.as_bytes()).expect("the trace has no faults"));
        let outline = ContainerOutline::new(source.as_ref()).expect("the outline can be read");
        let threads = Execution::new(Arc::clone(&source) as _, ExecutionSettings::default());
        let mut settings = ExecutionSettings::default();
        settings.units.level = Some("Node".to_owned());
        let nodes = Execution::new(source, settings);
        (threads.expect("the trace has threads"), outline, nodes.expect("the trace has nodes"))
    }

    fn request(mode: TimeMode, range: TimeRange, time: i64) -> ViewRequest {
        ViewRequest {
            mode,
            range,
            time: GlobalNanos(time),
            columns: 1,
            options: ViewOptions::default(),
            needs_table: false,
        }
    }

    #[test]
    fn a_pair_has_the_messages_that_its_cell_counts() {
        let (threads, outline, nodes) = threads_of_nodes();
        let second = 1_000_000_000;
        let unit = |execution: &Execution, name: &str| {
            let unit = execution.units().list().iter().find(|unit| unit.name.ends_with(name));
            Some(FxHashSet::from_iter([unit.expect("the unit is there").container.0]))
        };
        let send_times = |execution: &Execution, (from, to): (&str, &str), request: &ViewRequest| -> Vec<i64> {
            let pair =
                MarkedMessages { senders: unit(execution, from), receivers: unit(execution, to), is_pending: false };
            let arrows = pair.arrows(execution, request, &outline).expect("the arrows can be read");
            // The links lead from a thread of node 0 to a thread of node 1, at any level of units.
            assert!(arrows.iter().all(|arrow| arrow.start.len() == 2 && arrow.end.len() == 2));
            arrows.iter().map(|arrow| arrow.send_time / second).collect()
        };
        let whole_trace = request(TimeMode::Range, threads.extent(), 0);
        assert_eq!(send_times(&threads, ("t00", "t10"), &whole_trace), [0, 2, 4, 6, 8]);
        assert_eq!(send_times(&nodes, ("n0", "n1"), &whole_trace), (0..10).collect::<Vec<_>>());
        assert!(send_times(&threads, ("t10", "t00"), &whole_trace).is_empty());
        let range = TimeRange { from: GlobalNanos(2 * second), to: GlobalNanos(6 * second) };
        assert_eq!(send_times(&threads, ("t00", "t11"), &request(TimeMode::Range, range, 0)), [3, 5]);
        let present = request(TimeMode::At, range, 4 * second + second / 4);
        assert_eq!(send_times(&threads, ("t00", "t11"), &present), [3]);
        // A bar of the queues has the messages that wait at any time of its range.
        let waiting = MarkedMessages { senders: None, receivers: unit(&threads, "t11"), is_pending: false };
        let arrows = waiting.arrows(&threads, &request(TimeMode::Range, range, 0), &outline);
        let arrows = arrows.expect("the arrows can be read");
        assert_eq!(arrows.iter().map(|arrow| arrow.send_time / second).collect::<Vec<_>>(), [1, 3, 5]);
    }

    #[test]
    fn many_messages_are_combined_by_time() {
        let (threads, ..) = threads_of_nodes();
        let first = threads.messages().expect("the trace has links").list()[0];
        let mut many = vec![first; 50_000];
        for (message, number) in many.iter_mut().zip(0..) {
            (message.send_time, message.receive_time) = (number * 20, number * 20 + 7);
        }
        let extent = TimeRange { from: GlobalNanos(0), to: GlobalNanos(1 << 20) };
        let rest = combine_messages(many.iter().collect(), extent);
        assert!((MAX_ARROWS / 3..=MAX_ARROWS).contains(&rest.len()), "{}", rest.len());
        let gaps = rest.windows(2).map(|pair| pair[1].send_time - pair[0].send_time);
        assert!(gaps.max() < Some(1 << 12), "every message has an arrow near it");
    }
}
