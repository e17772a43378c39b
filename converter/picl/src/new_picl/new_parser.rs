//! [`NewParser`]: the meaning of the records of new PICL.

use rustc_hash::FxHashMap;

use super::event_keys::{EventMeaning, event_key};
use super::new_record::{NewRecord, RecordData};
use crate::model::action_log::UnitTime;
use crate::model::message_pairs::ANY;
use crate::model::{ActionLog, LogError, PiclEndpoint, TraceUnit, TypeSlot, ValueKey};
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
    /// The data of the begin of receives, by unit and event. Some writers name the source only in
    /// this record.
    requested: FxHashMap<(TraceUnit, i64), Option<PiclEndpoint>>,
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
        let parsed = ParsedLine { line, record, data, place };
        match parsed.record.kind {
            MARK | BEGIN | END if !parsed.place.unit.is_node() => other_record(&parsed, log),
            MARK | BEGIN | END if parsed.record.event >= 0 => user_event(&parsed, log),
            MARK | BEGIN | END => self.event(&parsed, log),
            LABEL => {
                label(&parsed, log);
                Ok(())
            }
            MESSAGE => text(&parsed, log),
            _ => other_record(&parsed, log),
        }
    }

    fn event(&mut self, parsed: &ParsedLine<'_>, log: &mut ActionLog) -> Result<(), LogError> {
        let ParsedLine { record, place, line, .. } = parsed;
        let Some((name, meaning)) = event_key(record.event) else {
            log.fault(PiclFaultKind::UnknownKey, place.line, line)?;
            let step = match record.kind {
                BEGIN => " begin",
                END => " end",
                _ => "",
            };
            return log.record(*place, format!("unknown {}{step}", record.event), parsed.data.text);
        };
        match meaning {
            EventMeaning::Send(activity) => {
                begin(parsed, activity, log)?;
                if record.kind != END {
                    match parsed.endpoint() {
                        Some(endpoint) => log.send(*place, endpoint)?,
                        // The record does not describe the message.
                        None if parsed.data.text.is_empty() => {}
                        None => log.fault(PiclFaultKind::MissingData, place.line, line)?,
                    }
                }
                end(parsed, activity, log)
            }
            EventMeaning::Receive(activity) => {
                begin(parsed, activity, log)?;
                self.receive(parsed, log)?;
                end(parsed, activity, log)
            }
            EventMeaning::State(activity) => {
                begin(parsed, activity, log)?;
                end(parsed, activity, log)
            }
            EventMeaning::Session if record.kind == END => log.finish(*place),
            EventMeaning::Session => log.start(*place),
            EventMeaning::Text if record.kind == END => Ok(()),
            EventMeaning::Text => text(parsed, log),
            EventMeaning::Full => {
                log.fault(PiclFaultKind::TraceFull, place.line, line)?;
                log.stop(*place)
            }
            EventMeaning::Record => log.record(*place, name, parsed.data.text),
        }
    }

    /// Receives a message at the end of an event. The begin names at most the type and the source.
    fn receive(&mut self, parsed: &ParsedLine<'_>, log: &mut ActionLog) -> Result<(), LogError> {
        let ParsedLine { record, place, line, .. } = parsed;
        let key = (record.unit, record.event);
        let is_completion = matches!(record.event, -62..=-58);
        if record.kind == BEGIN {
            let requested =
                match parsed.numbers()[..] {
                    // The begin of a completion has the number of a request.
                    _ if is_completion => None,
                    [tag, node, process, ..] => in_range(node).zip(in_range(process)).map(|(node, process)| {
                        PiclEndpoint { peer: TraceUnit { node, process: process.max(-1) }, tag, bytes: 0 }
                    }),
                    [tag, ..] => Some(PiclEndpoint { peer: TraceUnit::of_node(ANY), tag, bytes: 0 }),
                    [] => None,
                };
            self.requested.insert(key, requested);
            return Ok(());
        }
        let requested = self.requested.remove(&key).flatten();
        match parsed.endpoint().or(requested) {
            Some(endpoint) => log.receive(*place, endpoint),
            // The record does not describe the message, or it is the status of a request.
            None if parsed.data.text.is_empty() => Ok(()),
            None => log.fault(PiclFaultKind::MissingData, place.line, line),
        }
    }
}

fn begin(parsed: &ParsedLine<'_>, activity: Activity, log: &mut ActionLog) -> Result<(), LogError> {
    if parsed.record.kind == BEGIN { log.begin(parsed.place, activity) } else { Ok(()) }
}

fn end(parsed: &ParsedLine<'_>, activity: Activity, log: &mut ActionLog) -> Result<(), LogError> {
    if parsed.record.kind == END { log.end(parsed.place, activity) } else { Ok(()) }
}

/// A task or a mark of the program.
fn user_event(parsed: &ParsedLine<'_>, log: &mut ActionLog) -> Result<(), LogError> {
    let ParsedLine { record, place, data, .. } = parsed;
    let key = ValueKey::Number(record.event);
    match record.kind {
        BEGIN => {
            let fields =
                if let [location, parameter] = parsed.numbers()[..] { Some((location, parameter)) } else { None };
            log.begin_value(*place, TypeSlot::Task, key, fields)
        }
        END => log.end_value(*place, TypeSlot::Task, key),
        // The numbers of events of the program begin at 1. The writer of this package uses 0 for
        // the lists of marks of old PICL.
        _ if record.event == 0 && !data.text.is_empty() => {
            log.event(*place, TypeSlot::Mark, ValueKey::text("list"), data.text)
        }
        _ => log.event(*place, TypeSlot::Mark, key, data.text),
    }
}

/// A text: its length, then words.
fn text(parsed: &ParsedLine<'_>, log: &mut ActionLog) -> Result<(), LogError> {
    let mut words = RecordWords::of(parsed.data.text);
    let text = if words.integer().is_some() { words.rest() } else { parsed.data.text };
    log.event(parsed.place, TypeSlot::Text, ValueKey::text("message"), text)
}

/// Names an event of the program.
fn label(parsed: &ParsedLine<'_>, log: &mut ActionLog) {
    let mut words = RecordWords::of(parsed.data.text);
    let text = if words.integer().is_some() { words.rest() } else { parsed.data.text };
    let text = String::from_utf8_lossy(text);
    for slot in [TypeSlot::Task, TypeSlot::Mark] {
        log.values.label(slot, parsed.record.event, text.trim_matches('"'));
    }
}

fn other_record(parsed: &ParsedLine<'_>, log: &mut ActionLog) -> Result<(), LogError> {
    let ParsedLine { record, place, line, data } = parsed;
    let name = OTHER_RECORDS.iter().find(|(key, _)| *key == record.kind).map(|(_, name)| *name);
    let text = [record.event.to_string().as_bytes(), b" ", data.text].concat();
    match name {
        Some(name) => log.record(*place, name, &text),
        None if matches!(record.kind, MARK | BEGIN | END) => {
            let name = event_key(record.event).map_or("event", |(name, _)| name);
            log.record(*place, name, data.text)
        }
        None => {
            log.fault(PiclFaultKind::UnknownKey, place.line, line)?;
            log.record(*place, format!("unknown {}", record.kind), &text)
        }
    }
}
