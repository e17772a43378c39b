//! Sends the endpoints of messages as Pajé links.

use rustc_hash::FxHashMap;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{ContainerId, ExtraField, ExtraValue, KeyId, PajeEvent, ValueId};

use super::entity_output::{EmitError, EntityOutput, PROGRAM_CONTAINER};
use crate::model::message_pairs::{MessageKey, MessagePairs};
use crate::model::{PiclEndpoint, TraceAction, TraceUnit};
use crate::picl_faults::PiclFaultKind;

/// An end of a link that is sent before its start.
#[derive(Clone, Copy, Debug)]
struct EarlyEnd {
    time: i64,
    line: u64,
    unit: u32,
    value: u32,
}

/// The links of a trace.
#[derive(Debug)]
pub(super) struct MessageLinks {
    pairs: MessagePairs,
    /// The ends that are sent before their starts, by key.
    early_ends: FxHashMap<u64, EarlyEnd>,
    /// The values of the starts of links to receives of any source or type, by key.
    start_values: FxHashMap<u64, u32>,
    /// Number of messages that are not received and that the sink keeps.
    open_links: u64,
}

impl MessageLinks {
    pub(super) fn new(pairs: MessagePairs) -> Self {
        Self { pairs, early_ends: FxHashMap::default(), start_values: FxHashMap::default(), open_links: 0 }
    }

    /// Sends the starts of the links of a send, one for each receiver.
    pub(super) fn start(
        &mut self,
        out: &mut EntityOutput<'_>,
        action: &TraceAction,
        start: ContainerId,
    ) -> Result<(), EmitError> {
        let endpoint = PiclEndpoint::of_words(action.words);
        let mut keys = Vec::new();
        self.pairs.send(out.unit(action.unit), endpoint, |target, key| keys.push((target, key)));
        for (target, key) in keys {
            match key {
                Some(key) => {
                    let action = self.settle_start(out, action, key)?;
                    start_link(out, &action, (start, None), KeyId(key.key), endpoint)?;
                }
                None => {
                    count_unmatched(out, PiclFaultKind::UnmatchedSend, action, endpoint)?;
                    self.start_open_link(out, action, start, target, endpoint)?;
                }
            }
        }
        Ok(())
    }

    /// Counts a message that was received before. Returns the action with the value of the link,
    /// which both of its ends have.
    fn settle_start(
        &mut self,
        out: &mut EntityOutput<'_>,
        action: &TraceAction,
        key: MessageKey,
    ) -> Result<TraceAction, EmitError> {
        let Some(end) = self.early_ends.remove(&key.key) else {
            if key.is_any {
                self.start_values.insert(key.key, action.value);
            }
            return Ok(*action);
        };
        if action.time > end.time {
            let text = format!("from {} to {}", out.unit_name(action.unit), out.unit_name(end.unit));
            let nanos = action.time.abs_diff(end.time);
            out.log.faults.count_early((action.unit, end.unit), &text, (end.line, nanos))?;
        }
        Ok(if key.is_any { TraceAction { value: end.value, ..*action } } else { *action })
    }

    /// Sends the start of a message that is not received, if the sink keeps it.
    fn start_open_link(
        &mut self,
        out: &mut EntityOutput<'_>,
        action: &TraceAction,
        start: ContainerId,
        target: TraceUnit,
        endpoint: PiclEndpoint,
    ) -> Result<(), EmitError> {
        if !out.sink.keeps_open_links() {
            return Ok(());
        }
        // Keys of pairs are numbered from 0.
        let key = KeyId(u64::MAX - self.open_links);
        self.open_links += 1;
        let destination = out.number_of(target).map(|number| out.container_of(number)).transpose()?;
        start_link(out, action, (start, destination), key, endpoint)
    }

    /// Sends the end of the link of a receive.
    pub(super) fn end(
        &mut self,
        out: &mut EntityOutput<'_>,
        action: &TraceAction,
        end: ContainerId,
    ) -> Result<(), EmitError> {
        let endpoint = PiclEndpoint::of_words(action.words);
        let Some((key, is_sent)) = self.pairs.receive(out.unit(action.unit), endpoint) else {
            return count_unmatched(out, PiclFaultKind::UnmatchedReceive, action, endpoint);
        };
        let mut value = action.value;
        if !is_sent {
            let (time, line, unit) = (action.time, action.line, action.unit);
            self.early_ends.insert(key.key, EarlyEnd { time, line, unit, value });
        } else if key.is_any {
            value = self.start_values.remove(&key.key).unwrap_or(value);
        }
        let (time, ty) = (GlobalNanos(action.time), out.types.of_slot(out.slot_of(value)));
        let (container, value, key) = (PROGRAM_CONTAINER, ValueId(value), KeyId(key.key));
        let (extra, source) = (&[][..], None);
        out.emit(&PajeEvent::EndLink { time, container, ty, value, end, key, extra, source })
    }
}

/// Sends the start of a message. The destination is given if the message has no end.
fn start_link(
    out: &mut EntityOutput<'_>,
    action: &TraceAction,
    (start, destination): (ContainerId, Option<ContainerId>),
    key: KeyId,
    endpoint: PiclEndpoint,
) -> Result<(), EmitError> {
    let field = |name, value| ExtraField { name, value };
    let fields = [
        field("bytes", ExtraValue::Integer(endpoint.bytes)),
        field("type", ExtraValue::Integer(endpoint.tag)),
        field("sent to", ExtraValue::Container(destination.unwrap_or(ContainerId::ROOT))),
    ];
    let extra = if destination.is_some() { &fields[..] } else { &fields[..2] };
    let (time, ty) = (GlobalNanos(action.time), out.types.of_slot(out.slot_of(action.value)));
    let (container, value, source) = (PROGRAM_CONTAINER, ValueId(action.value), None);
    out.emit(&PajeEvent::StartLink { time, container, ty, value, start, key, extra, source })
}

fn count_unmatched(
    out: &mut EntityOutput<'_>,
    kind: PiclFaultKind,
    action: &TraceAction,
    endpoint: PiclEndpoint,
) -> Result<(), EmitError> {
    let side = if kind == PiclFaultKind::UnmatchedSend { "to" } else { "from" };
    let text = format!("type {} {side} node {}", endpoint.tag, endpoint.peer.node);
    Ok(out.log.faults.count(kind, action.line, text.as_bytes())?)
}
