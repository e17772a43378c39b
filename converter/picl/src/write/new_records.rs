//! [`NewRecords`]: records in new PICL.

use std::io::Write as _;

use tumit_paje::number_text::seconds;

use super::unit_records::{OutputPlace, PiclRecordWriter, UnitRecord};
use crate::model::{PiclEndpoint, TraceUnit};
use crate::new_picl::event_of;
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

/// Begins a line.
fn head(kind: i64, event: i64, place: OutputPlace, out: &mut Vec<u8>) {
    let _ = write!(out, "{kind} {event} ");
    seconds(place.time, out);
    let TraceUnit { node, process } = place.unit;
    let _ = write!(out, " {node} {process}");
}

/// Writes a line with integers.
fn line(kind: i64, event: i64, place: OutputPlace, numbers: &[i64], out: &mut Vec<u8>) {
    head(kind, event, place, out);
    let _ = write!(out, " {}", numbers.len());
    if !numbers.is_empty() {
        out.extend_from_slice(b" 2");
    }
    numbers.iter().for_each(|number| _ = write!(out, " {number}"));
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

impl PiclRecordWriter for NewRecords {
    fn record(&mut self, place: OutputPlace, record: &UnitRecord, out: &mut Vec<u8>) -> bool {
        match record {
            UnitRecord::Start => line(BEGIN, SESSION, place, &[], out),
            UnitRecord::Finish => line(END, SESSION, place, &[], out),
            UnitRecord::Stop => line(MARK, FULL, place, &[], out),
            UnitRecord::Begin(activity, message) => {
                let Some(event) = event_of(*activity) else { return false };
                line(BEGIN, event, place, &numbers_of(message), out);
            }
            UnitRecord::End(activity, message) => {
                let Some(event) = event_of(*activity) else { return false };
                line(END, event, place, &numbers_of(message), out);
            }
            UnitRecord::TaskBegin(task, fields) => {
                let numbers = fields.map(|(location, parameter)| [location, parameter]);
                line(BEGIN, *task, place, numbers.as_ref().map_or(&[], |numbers| &numbers[..]), out);
            }
            UnitRecord::TaskEnd(task) => line(END, *task, place, &[], out),
            UnitRecord::Mark(mark, data) => match integers(data) {
                Some(numbers) => line(MARK, *mark, place, &numbers, out),
                None => text_line(MARK, *mark, place, data, out),
            },
            // A mark with the number 0 is a list. Events of the program have positive numbers.
            UnitRecord::MarkList(data) => match integers(data) {
                Some(numbers) if !numbers.is_empty() => line(MARK, 0, place, &numbers, out),
                _ => text_line(MARK, TEXT, place, data, out),
            },
            UnitRecord::Text(text) => text_line(MARK, TEXT, place, text, out),
            UnitRecord::Other(kind, event, data) => match integers(data) {
                Some(numbers) => line(*kind, *event, place, &numbers, out),
                None => return false,
            },
            UnitRecord::Send(endpoint) => {
                line(BEGIN, SEND, place, &numbers_of(&Some(*endpoint)), out);
                line(END, SEND, place, &[], out);
            }
            UnitRecord::Receive(endpoint) => {
                let TraceUnit { node, process } = endpoint.peer;
                line(BEGIN, RECEIVE, place, &[endpoint.tag, node, process], out);
                line(END, RECEIVE, place, &numbers_of(&Some(*endpoint)), out);
            }
        }
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
