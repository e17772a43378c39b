//! [`NewParser`]: the meaning of the records of new PICL.

use rustc_hash::FxHashMap;

use super::collective_values::{CollectiveValue, collective_values, end_value};
use super::event_keys::{EventMeaning, event_key};
use super::new_record::{NewRecord, RecordData};
use crate::model::action_log::UnitTime;
use crate::model::message_pairs::ANY;
use crate::model::state_fields::leading_integers;
use crate::model::{ActionLog, LogError, PiclEndpoint, StateFields, TraceUnit, TypeSlot, ValueKey};
use crate::node_activity::Activity;
use crate::node_clock::NodeClock;
use crate::picl_faults::PiclFaultKind;
use crate::record_words::{RecordWords, integer};

/// A point in time.
const MARK: i64 = -2;
/// The begin of an event.
const BEGIN: i64 = -3;
/// The end of an event.
const END: i64 = -4;
/// The name of an event.
const LABEL: i64 = -5;
/// A text.
const MESSAGE: i64 = -7;

/// The definition of a subset of nodes: its number, then its nodes.
pub(crate) const SUBSET: i64 = -202;
pub(crate) const SUBSET_EVENT: i64 = -812;

/// Other records and their names. They become events.
pub(crate) const OTHER_RECORDS: &[(i64, &str)] = &[
    (-6, "data descriptor"),
    (-101, "time statistics"),
    (-102, "count statistics"),
    (-103, "send volume statistics"),
    (-104, "receive volume statistics"),
    (-105, "size statistics"),
    (-201, "machine subset"),
    (-202, "process subset"),
    (-203, "event subset"),
];

/// Reads records of new PICL.
#[derive(Debug, Default)]
pub(crate) struct NewParser {
    clocks: FxHashMap<TraceUnit, NodeClock>,
}

/// A record with its line.
struct ParsedLine<'a> {
    line: &'a [u8],
    record: NewRecord<'a>,
    data: RecordData<'a>,
    place: UnitTime,
}

impl ParsedLine<'_> {
    /// The integers at the start of the values.
    fn numbers(&self) -> Vec<i64> {
        RecordWords::of(self.data.text).map_while(integer).collect()
    }

    /// The endpoint of a message: bytes, type, node, and optionally process.
    fn endpoint(&self) -> Option<PiclEndpoint> {
        let numbers = self.numbers();
        let &[bytes, tag, node, ref rest @ ..] = numbers.as_slice() else { return None };
        let process = rest.first().copied().unwrap_or(-1);
        let peer = TraceUnit { node: in_range(node)?, process: in_range(process)?.max(-1) };
        Some(PiclEndpoint { peer, tag, bytes })
    }
}

fn in_range(number: i64) -> Option<i64> {
    i32::try_from(number).ok().map(i64::from)
}

impl NewParser {
    pub(crate) fn line(&mut self, line: &[u8], number: u64, log: &mut ActionLog) -> Result<(), LogError> {
        let Some(record) = NewRecord::of(line) else { return log.fault(PiclFaultKind::Head, number, line) };
        let data = record.data();
        let time = self.clocks.entry(record.unit).or_default().settle(record.time);
        let place = UnitTime { unit: record.unit, time, line: number };
        let is_text = event_key(record.event).is_some_and(|(_, meaning)| meaning == EventMeaning::Text);
        // Texts contain any number of words.
        if !data.is_counted && !is_text {
            log.fault(PiclFaultKind::DataCount, number, line)?;
        }
        let parsed_line = ParsedLine { line, record, data, place };
        match parsed_line.record.kind {
            MARK | BEGIN | END if !parsed_line.place.unit.is_node() => other_record(&parsed_line, log),
            MARK | BEGIN | END if parsed_line.record.event >= 0 => user_event(&parsed_line, log),
            MARK | BEGIN | END => event(&parsed_line, log),
            LABEL => {
                label(&parsed_line, log);
                Ok(())
            }
            MESSAGE => program_text(&parsed_line, log),
            _ => other_record(&parsed_line, log),
        }
    }
}

fn event(parsed_line: &ParsedLine<'_>, log: &mut ActionLog) -> Result<(), LogError> {
    let ParsedLine { record, place, line, .. } = parsed_line;
    let Some((name, meaning)) = event_key(record.event) else {
        log.fault(PiclFaultKind::UnknownKey, place.line, line)?;
        let step = match record.kind {
            BEGIN => " begin",
            END => " end",
            _ => "",
        };
        return log.record(*place, format!("unknown {}{step}", record.event), parsed_line.data.text);
    };
    let text = parsed_line.data.text;
    match meaning {
        EventMeaning::Send(activity) => send(parsed_line, activity, log),
        EventMeaning::Receive(activity) => receive(parsed_line, activity, log),
        EventMeaning::State(activity) => match record.kind {
            BEGIN => log.begin(*place, activity, state_fields(activity, text)),
            END => {
                let data = end_data(parsed_line, activity, log);
                log.end(*place, activity, data)
            }
            _ => log.record(*place, name, text),
        },
        EventMeaning::Session if record.kind == END => {
            session_data(parsed_line, "trace end", log)?;
            log.finish(*place)
        }
        EventMeaning::Session => {
            session_data(parsed_line, "trace begin", log)?;
            log.start(*place)
        }
        EventMeaning::Text if record.kind == END && text.is_empty() => Ok(()),
        EventMeaning::Text => program_text(parsed_line, log),
        EventMeaning::Full => {
            log.fault(PiclFaultKind::TraceFull, place.line, line)?;
            log.stop(*place)
        }
        EventMeaning::Record => log.record(*place, name, text),
    }
}

/// Sends a message at the begin of an event. The data after the message are kept.
fn send(parsed_line: &ParsedLine<'_>, activity: Activity, log: &mut ActionLog) -> Result<(), LogError> {
    let ParsedLine { record, place, line, .. } = parsed_line;
    let text = parsed_line.data.text;
    if record.kind == END {
        return log.end(*place, activity, text);
    }
    let endpoint = parsed_line.endpoint();
    let values = if endpoint.is_some() { leading_integers(text, MESSAGE_VALUES).1 } else { text };
    if record.kind == BEGIN {
        log.begin(*place, activity, StateFields::of_data(values))?;
    }
    match endpoint {
        Some(endpoint) => log.send(*place, endpoint),
        // The record does not describe the message.
        None if text.is_empty() => Ok(()),
        None => log.fault(PiclFaultKind::MissingData, place.line, line),
    }
}

/// Receives a message at the end of an event. The begin names at most the type and the source.
fn receive(parsed_line: &ParsedLine<'_>, activity: Activity, log: &mut ActionLog) -> Result<(), LogError> {
    let ParsedLine { record, place, line, .. } = parsed_line;
    let text = parsed_line.data.text;
    if record.kind == BEGIN {
        return log.begin(*place, activity, StateFields::of_data(text));
    }
    let is_completion = matches!(record.event, -62..=-58);
    let mut requested = None;
    if let Some(fields) = log.open_fields(record.unit, activity).filter(|_| record.kind == END) {
        // The begin of a completion has the number of a request.
        requested = if is_completion { None } else { requested_of(&fields.data) };
        if let Some(endpoint) = parsed_line.endpoint()
            && !is_completion
            && is_request_for(&fields.data, endpoint)
        {
            fields.data.clear();
        }
    }
    let endpoint = parsed_line.endpoint();
    match endpoint.or(requested) {
        Some(endpoint) => log.receive(*place, endpoint)?,
        // The record does not describe the message, or it is the status of a request.
        None if text.is_empty() => {}
        None => log.fault(PiclFaultKind::MissingData, place.line, line)?,
    }
    let values = if endpoint.is_some() { leading_integers(text, MESSAGE_VALUES).1 } else { text };
    if record.kind == END { log.end(*place, activity, values) } else { Ok(()) }
}

/// The message that the begin of a receive requests. Some writers name the source only there.
fn requested_of(data: &[u8]) -> Option<PiclEndpoint> {
    match leading_integers(data, MESSAGE_VALUES).0[..] {
        [tag, node, process, ..] => {
            let peer = TraceUnit { node: in_range(node)?, process: in_range(process)?.max(-1) };
            Some(PiclEndpoint { peer, tag, bytes: 0 })
        }
        [tag, ..] => Some(PiclEndpoint { peer: TraceUnit::of_node(ANY), tag, bytes: 0 }),
        [] => None,
    }
}

/// Whether the begin of a receive names only the type and the source of its message.
fn is_request_for(data: &[u8], endpoint: PiclEndpoint) -> bool {
    let expected = [endpoint.tag, endpoint.peer.node, endpoint.peer.process];
    let (numbers, rest) = leading_integers(data, expected.len());
    rest.is_empty() && expected.starts_with(&numbers)
}

/// Number of values of a message.
const MESSAGE_VALUES: usize = 4;

/// The fields of the begin of an event without a message.
fn state_fields(activity: Activity, text: &[u8]) -> StateFields {
    let layout = collective_values(activity);
    let (numbers, rest) = leading_integers(text, layout.len());
    let of = |value: CollectiveValue| {
        layout.iter().position(|field| *field == value).and_then(|position| numbers.get(position)).copied()
    };
    StateFields {
        // -1 is an unknown size or root.
        bytes: of(CollectiveValue::Bytes).filter(|bytes| *bytes >= 0),
        root: of(CollectiveValue::Root).filter(|root| *root != -1),
        subset: of(CollectiveValue::Subset),
        data: rest.to_vec(),
        ..StateFields::default()
    }
}

/// The data of the end of an event that the begin does not have.
fn end_data<'a>(line: &ParsedLine<'a>, activity: Activity, log: &mut ActionLog) -> &'a [u8] {
    let text = line.data.text;
    let Some(fields) = log.open_fields(line.record.unit, activity) else { return text };
    match end_value(activity, fields) {
        Some(value) if leading_integers(text, 1) == (vec![value], &b""[..]) => b"",
        _ => text,
    }
}

/// The data of the begin or the end of a trace, which have no state.
fn session_data(line: &ParsedLine<'_>, name: &'static str, log: &mut ActionLog) -> Result<(), LogError> {
    if line.data.text.is_empty() { Ok(()) } else { log.record(line.place, name, line.data.text) }
}

/// A task or a mark of the program.
fn user_event(line: &ParsedLine<'_>, log: &mut ActionLog) -> Result<(), LogError> {
    let ParsedLine { record, place, data, .. } = line;
    let key = ValueKey::Number(record.event);
    match record.kind {
        BEGIN => {
            let fields = match leading_integers(data.text, 2) {
                (numbers, b"") if numbers.len() == 2 => {
                    StateFields { location: Some(numbers[0]), parameter: Some(numbers[1]), ..StateFields::default() }
                }
                _ => StateFields::of_data(data.text),
            };
            log.begin_value(*place, TypeSlot::Task, key, fields)
        }
        END => log.end_value(*place, TypeSlot::Task, key, data.text),
        // The numbers of events of the program begin at 1. The writer of this package uses 0 for
        // the lists of marks of old PICL.
        _ if record.event == 0 && !data.text.is_empty() => {
            log.event(*place, TypeSlot::Mark, ValueKey::text("list"), data.text)
        }
        _ => log.event(*place, TypeSlot::Mark, key, data.text),
    }
}

/// A text: its length, then words.
fn program_text(line: &ParsedLine<'_>, log: &mut ActionLog) -> Result<(), LogError> {
    let mut words = RecordWords::of(line.data.text);
    let text = if words.integer().is_some() { words.remainder() } else { line.data.text };
    log.event(line.place, TypeSlot::Text, ValueKey::text("message"), text)
}

/// Names an event of the program.
fn label(parsed_line: &ParsedLine<'_>, log: &mut ActionLog) {
    let mut words = RecordWords::of(parsed_line.data.text);
    let text = if words.integer().is_some() { words.remainder() } else { parsed_line.data.text };
    let text = String::from_utf8_lossy(text);
    for slot in [TypeSlot::Task, TypeSlot::Mark] {
        log.values.label(slot, parsed_line.record.event, text.trim_matches('"'));
    }
}

fn other_record(parsed: &ParsedLine<'_>, log: &mut ActionLog) -> Result<(), LogError> {
    let ParsedLine { record, place, line, data } = parsed;
    let name = OTHER_RECORDS.iter().find(|(key, _)| *key == record.kind).map(|(_, name)| *name);
    let text = [record.event.to_string().as_bytes(), b" ", data.text].concat();
    if (record.kind, record.event) == (SUBSET, SUBSET_EVENT)
        && let (numbers, b"") = leading_integers(data.text, usize::MAX)
        && let [subset, nodes @ ..] = &numbers[..]
    {
        log.collectives.define(*subset, nodes.to_vec());
    }
    match name {
        Some(name) => log.record(*place, name, &text),
        None if matches!(record.kind, MARK | BEGIN | END) => {
            let name = event_key(record.event).map_or("event", |(name, _)| name);
            log.record(*place, name, data.text)
        }
        None => {
            log.fault(PiclFaultKind::UnknownKey, place.line, line)?;
            log.record(*place, format!("unknown record {}", record.kind), &text)
        }
    }
}
