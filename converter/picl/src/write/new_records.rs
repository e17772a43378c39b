//! [`NewRecords`]: records in new PICL.

use std::io::Write as _;

use tumit_paje::number_text::seconds;

use super::unit_records::{OutputPlace, PiclRecordWriter, UnitRecord};
use crate::model::{PiclEndpoint, StateFields, TraceUnit};
use crate::new_picl::{CollectiveValue, SUBSET, SUBSET_EVENT, collective_values, end_value, event_of};
use crate::node_activity::Activity;
use crate::old_picl::old_keys;
use crate::record_words::without_controls;

/// Writes records in new PICL.
#[derive(Debug, Default)]
pub(super) struct NewRecords;

const MARK: i64 = -2;
const BEGIN: i64 = -3;
const END: i64 = -4;
const LABEL: i64 = -5;
const SEND: i64 = -21;
const RECEIVE: i64 = -51;
const SESSION: i64 = -901;
const TEXT: i64 = -911;
const FULL: i64 = -913;
const LEVEL: i64 = -904;

/// An unknown size or root of a collective operation.
const UNKNOWN: i64 = -1;

/// A record without values.
const NO_VALUES: (&[i64], &str) = (&[], "");

/// Begins a line.
fn head(kind: i64, event: i64, place: OutputPlace, out: &mut Vec<u8>) {
    let _ = write!(out, "{kind} {event} ");
    seconds(place.time, out);
    let TraceUnit { node, process } = place.unit;
    let _ = write!(out, " {node} {process}");
}

/// Writes a line with integers, and with further words as they are.
fn line(kind: i64, event: i64, place: OutputPlace, (numbers, text): (&[i64], &str), out: &mut Vec<u8>) {
    head(kind, event, place, out);
    let text = without_controls(text);
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let count = numbers.len() + words.len();
    let _ = write!(out, " {count}");
    let has_text = words.iter().any(|word| word.parse::<i64>().is_err());
    if has_text {
        let form = |word: &&str| if word.parse::<i64>().is_ok() { "%d" } else { "%s" };
        let forms: Vec<&str> = numbers.iter().map(|_| "%d").chain(words.iter().map(form)).collect();
        let _ = write!(out, " \"{}\"", forms.join(" "));
    } else if count > 0 {
        out.extend_from_slice(b" 2");
    }
    numbers.iter().for_each(|number| _ = write!(out, " {number}"));
    words.iter().for_each(|word| _ = write!(out, " {word}"));
    out.push(b'\n');
}

/// Writes a line with a text: its length, then its words.
fn text_line(kind: i64, event: i64, place: OutputPlace, text: &str, out: &mut Vec<u8>) {
    let text = without_controls(text);
    let words = text.split(' ').count();
    head(kind, event, place, out);
    let _ = writeln!(out, " {} \"%d{}\" {} {text}", words + 1, " %s".repeat(words), text.len());
}

fn numbers_of(endpoint: &Option<PiclEndpoint>) -> Vec<i64> {
    let numbers =
        |endpoint: &PiclEndpoint| vec![endpoint.bytes, endpoint.tag, endpoint.peer.node, endpoint.peer.process];
    endpoint.as_ref().map_or_else(Vec::new, numbers)
}

/// The integers of a text. `None` if there is another word.
fn integers(text: &str) -> Option<Vec<i64>> {
    text.split_ascii_whitespace().map(|word| word.parse().ok()).collect()
}

/// The values of the begin of an activity without a message.
fn begin_numbers(activity: Activity, fields: &StateFields) -> Vec<i64> {
    let layout = collective_values(activity);
    let of = |value: &CollectiveValue| match value {
        CollectiveValue::Bytes => fields.bytes,
        CollectiveValue::Root => fields.root,
        CollectiveValue::Subset => fields.subset,
    };
    // The values are identified by their positions.
    let count = layout.iter().rposition(|value| of(value).is_some()).map_or(0, |last| last + 1);
    layout[..count].iter().map(|value| of(value).unwrap_or(UNKNOWN)).collect()
}

/// The values of the end of an activity without a message. Other data replace them.
fn end_numbers(activity: Activity, fields: &StateFields) -> Vec<i64> {
    let value = end_value(activity, fields).filter(|_| fields.end_data.is_empty());
    value.into_iter().collect()
}

/// Location and parameter of a task.
fn task_numbers(fields: &StateFields) -> Vec<i64> {
    fields.location.into_iter().chain(fields.parameter).collect()
}

/// The event of a record of old PICL. `None` if new PICL has none.
fn event_of_old(record: i64) -> Option<i64> {
    Some(match record {
        old_keys::TRACE_START | old_keys::TRACE_LEVEL => LEVEL,
        old_keys::CLOSE => -12,
        old_keys::PROBE => -55,
        old_keys::SYNC => -402,
        2 => -11,
        23 => -401,
        _ => return None,
    })
}

impl PiclRecordWriter for NewRecords {
    fn record(&mut self, place: OutputPlace, record: &UnitRecord, out: &mut Vec<u8>) -> bool {
        let text_of = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match record {
            UnitRecord::Start => line(BEGIN, SESSION, place, NO_VALUES, out),
            UnitRecord::Finish => line(END, SESSION, place, NO_VALUES, out),
            UnitRecord::Stop => line(MARK, FULL, place, NO_VALUES, out),
            UnitRecord::Begin(activity, message, fields) => {
                let Some(event) = event_of(*activity) else { return false };
                let numbers = if message.is_some() { numbers_of(message) } else { begin_numbers(*activity, fields) };
                line(BEGIN, event, place, (&numbers, &text_of(&fields.data)), out);
            }
            UnitRecord::End(activity, message, fields) => {
                let Some(event) = event_of(*activity) else { return false };
                let numbers = if message.is_some() { numbers_of(message) } else { end_numbers(*activity, fields) };
                line(END, event, place, (&numbers, &text_of(&fields.end_data)), out);
            }
            UnitRecord::TaskBegin(task, fields) => {
                line(BEGIN, *task, place, (&task_numbers(fields), &text_of(&fields.data)), out);
            }
            UnitRecord::TaskEnd(task, fields) => line(END, *task, place, (&[], &text_of(&fields.end_data)), out),
            UnitRecord::Mark(mark, data) => match integers(data) {
                Some(numbers) => line(MARK, *mark, place, (&numbers, ""), out),
                None => text_line(MARK, *mark, place, data, out),
            },
            // A mark with the number 0 is a list. Events of the program have positive numbers.
            UnitRecord::MarkList(data) => match integers(data) {
                Some(numbers) if !numbers.is_empty() => line(MARK, 0, place, (&numbers, ""), out),
                _ => text_line(MARK, TEXT, place, data, out),
            },
            UnitRecord::Text(text) => text_line(MARK, TEXT, place, text, out),
            UnitRecord::Other(kind, event, data) => line(*kind, *event, place, (&[], data), out),
            UnitRecord::OldRecord(record, data) => {
                let Some(event) = event_of_old(*record) else { return false };
                // The labels of the verbose form are left out.
                let numbers: Vec<i64> = data.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect();
                line(MARK, event, place, (&numbers, ""), out);
            }
            UnitRecord::Send(endpoint) => {
                line(BEGIN, SEND, place, (&numbers_of(&Some(*endpoint)), ""), out);
                line(END, SEND, place, NO_VALUES, out);
            }
            UnitRecord::Receive(endpoint) => {
                let TraceUnit { node, process } = endpoint.peer;
                line(BEGIN, RECEIVE, place, (&[endpoint.tag, node, process], ""), out);
                line(END, RECEIVE, place, (&numbers_of(&Some(*endpoint)), ""), out);
            }
        }
        true
    }

    fn has_record(&self, old_record: Option<i64>) -> bool {
        old_record.is_none()
    }

    fn has_categories(&self) -> bool {
        true
    }

    fn subset(&mut self, subset: i64, nodes: &[i64], out: &mut Vec<u8>) -> bool {
        let numbers: Vec<i64> = std::iter::once(subset).chain(nodes.iter().copied()).collect();
        let place = OutputPlace { unit: TraceUnit::PROGRAM, time: 0 };
        line(SUBSET, SUBSET_EVENT, place, (&numbers, ""), out);
        true
    }

    fn receives_first(&self) -> bool {
        false
    }

    fn label(&mut self, number: i64, name: &str, out: &mut Vec<u8>) -> bool {
        text_line(LABEL, number, OutputPlace { unit: TraceUnit::PROGRAM, time: 0 }, name, out);
        true
    }
}
