//! [`OldRecords`]: records in old PICL.

use std::io::Write as _;

use rustc_hash::FxHashMap;

use super::unit_records::{OutputPlace, PiclRecordWriter, UnitRecord};
use crate::model::state_fields::leading_integers;
use crate::model::{PiclEndpoint, StateFields, TraceUnit};
use crate::node_activity::Activity;
use crate::old_picl::old_keys::{self, block_of};
use crate::record_words::without_controls;

/// Writes records in old PICL. Times are cut off to microseconds.
#[derive(Debug)]
pub(super) struct OldRecords {
    pub(super) is_verbose: bool,
    /// Microseconds in communication of each node.
    communication: FxHashMap<TraceUnit, i64>,
    /// The begin of open calls of each node.
    calls: FxHashMap<(TraceUnit, Activity), i64>,
}

/// A value and its label in the verbose form.
type LabelledValue = (&'static str, i64);
/// An activity that begins or ends, and its message.
type ActivityMessage<'a> = (Activity, Option<&'a PiclEndpoint>, &'a StateFields);

/// Microseconds, rounded down, so that the order is kept.
fn micros(time: i64) -> i64 {
    time.div_euclid(1000)
}

/// Splits microseconds into seconds and microseconds of the same sign.
fn split(micros: i64) -> [i64; 2] {
    [micros / 1_000_000, micros % 1_000_000]
}

impl OldRecords {
    pub(super) fn new(is_verbose: bool) -> Self {
        Self { is_verbose, communication: FxHashMap::default(), calls: FxHashMap::default() }
    }

    fn line(&self, key: i64, place: OutputPlace, fields: &[LabelledValue], out: &mut Vec<u8>) {
        let [seconds, micros] = split(micros(place.time));
        let node = place.unit.node;
        if !self.is_verbose {
            let _ = write!(out, "{key} {seconds} {micros} {node}");
            fields.iter().for_each(|(_, value)| _ = write!(out, " {value}"));
            return out.push(b'\n');
        }
        let name = match key {
            old_keys::TRACE_MARKS => "trace_mark_array",
            key => old_keys::key_of_number(key).map_or("", |key| key.name),
        };
        let _ = write!(out, "{name} clock {seconds} {micros} node {node} {}", fields.len());
        for (label, value) in fields {
            if !label.is_empty() {
                let _ = write!(out, " {label}");
            }
            let _ = write!(out, " {value}");
        }
        out.push(b'\n');
    }

    /// Writes a record with its data as they are.
    fn write_other(&self, record: i64, place: OutputPlace, data: &str, out: &mut Vec<u8>) {
        let [seconds, micros] = split(micros(place.time));
        let node = place.unit.node;
        let is_number = |word: &&str| word.parse::<i64>().is_ok();
        // The compact form has no labels.
        let data = match self.is_verbose {
            true => without_controls(data),
            false => data.split_ascii_whitespace().filter(is_number).collect::<Vec<_>>().join(" "),
        };
        let name = old_keys::key_of_number(record).map(|key| key.name).filter(|_| self.is_verbose);
        // An unknown type has no name.
        let _ = match name {
            Some(name) => {
                let count = data.split_ascii_whitespace().filter(is_number).count();
                write!(out, "{name} clock {seconds} {micros} node {node} {count}")
            }
            None => write!(out, "{record} {seconds} {micros} {node}"),
        };
        if !data.trim().is_empty() {
            let _ = write!(out, " {}", data.trim());
        }
        out.push(b'\n');
    }

    fn compstats(&self, place: OutputPlace, out: &mut Vec<u8>) {
        let total = self.communication.get(&place.unit).copied().unwrap_or(0);
        let [seconds, micros] = split(total);
        if self.is_verbose {
            let fields = [("busy", 0), ("", 0), ("idle", seconds), ("", micros)];
            return self.line(old_keys::COMPSTATS, place, &fields, out);
        }
        self.line(old_keys::COMPSTATS, place, &[("", seconds), ("", micros)], out);
    }

    fn message(&self, key: i64, place: OutputPlace, endpoint: &PiclEndpoint, out: &mut Vec<u8>) {
        let peer = if key == old_keys::SEND { "to" } else { "from" };
        let PiclEndpoint { peer: unit, tag, bytes } = *endpoint;
        self.line(key, place, &[(peer, unit.node), ("type", tag), ("lth", bytes)], out);
    }

    /// Writes the first of the two statistics that contain the duration of a call.
    fn begin_call(&mut self, activity: Activity, place: OutputPlace, out: &mut Vec<u8>) {
        self.calls.insert((place.unit, activity), micros(place.time));
        self.compstats(place, out);
    }

    /// Writes the second of these statistics if the call is open.
    fn end_call(&mut self, activity: Activity, place: OutputPlace, out: &mut Vec<u8>) {
        if let Some(begin) = self.calls.remove(&(place.unit, activity)) {
            *self.communication.entry(place.unit).or_default() += micros(place.time) - begin;
            self.compstats(place, out);
        }
    }

    /// Writes the begin or the end of a block. The end has the values of the begin, or its own.
    fn block(&self, key: i64, place: OutputPlace, block: i64, fields: &StateFields, out: &mut Vec<u8>) {
        let (mut location, mut parameter) =
            (fields.location.unwrap_or(0), fields.parameter.or(fields.root).unwrap_or(0));
        if let ([own_location, own_parameter], b"") = leading_pair(&fields.end_data)
            && key == old_keys::BLOCK_END
        {
            (location, parameter) = (own_location, own_parameter);
        }
        let block = fields.block.unwrap_or(block);
        self.line(key, place, &[("block_type", block), ("location", location), ("parameter", parameter)], out);
    }

    fn begin(
        &mut self,
        (activity, message, fields): ActivityMessage<'_>,
        place: OutputPlace,
        out: &mut Vec<u8>,
    ) -> bool {
        match (activity, message) {
            (Activity::Send | Activity::SendBegin, Some(endpoint)) => {
                self.message(old_keys::SEND, place, endpoint, out);
                self.begin_call(activity, place, out);
            }
            (Activity::Receive, Some(endpoint)) => {
                self.message(old_keys::RECV, place, endpoint, out);
                self.begin_call(activity, place, out);
            }
            // The record has the type of the message, so it is written with the end.
            (Activity::Wait, _) => _ = self.calls.insert((place.unit, activity), micros(place.time)),
            (Activity::Sync, _) => {
                self.line(old_keys::SYNC, place, &[], out);
                self.begin_call(activity, place, out);
            }
            (Activity::Probe, _) => {
                self.line(old_keys::PROBE, place, &[("type", type_of(fields))], out);
                self.begin_call(activity, place, out);
            }
            (Activity::TraceFlush, _) => _ = self.calls.insert((place.unit, activity), micros(place.time)),
            (activity, _) => match block_of(activity) {
                Some(block) => self.block(old_keys::BLOCK_BEGIN, place, block, fields, out),
                None => return false,
            },
        }
        true
    }

    fn end(&mut self, (activity, message, fields): ActivityMessage<'_>, place: OutputPlace, out: &mut Vec<u8>) -> bool {
        match (activity, message) {
            (Activity::Wait, message) => {
                if let Some(begin) = self.calls.remove(&(place.unit, activity)) {
                    let of_message = message.map_or(-1, |endpoint| endpoint.tag);
                    let tag = leading_integers(&fields.data, 1).0.first().copied().unwrap_or(of_message);
                    let place = OutputPlace { time: begin.saturating_mul(1000), ..place };
                    self.line(old_keys::RECV_BLOCKING, place, &[("type", tag)], out);
                }
                let Some(endpoint) = message else { return true };
                self.message(old_keys::RECV_WAKING, place, endpoint, out);
            }
            (activity, Some(endpoint)) => {
                self.end_call(activity, place, out);
                self.message(old_keys::RECV, place, endpoint, out);
            }
            (Activity::TraceFlush, None) => {
                let Some(begin) = self.calls.remove(&(place.unit, activity)) else { return false };
                let [seconds, micros] = split(micros(place.time));
                let place = OutputPlace { time: begin.saturating_mul(1000), ..place };
                self.line(old_keys::TRACE_FLUSH, place, &[("finish", seconds), ("", micros)], out);
            }
            (activity, None) => match block_of(activity) {
                Some(block) => self.block(old_keys::BLOCK_END, place, block, fields, out),
                None => self.end_call(activity, place, out),
            },
        }
        true
    }
}

/// The type that a state requests, from its data.
fn type_of(fields: &StateFields) -> i64 {
    leading_integers(&fields.data, 1).0.first().copied().unwrap_or(-1)
}

/// Two integers, and the text after them. Both are 0 if there are fewer.
fn leading_pair(text: &[u8]) -> ([i64; 2], &[u8]) {
    match leading_integers(text, 2) {
        (numbers, rest) if numbers.len() == 2 => ([numbers[0], numbers[1]], rest),
        _ => ([0; 2], b"-"),
    }
}

impl PiclRecordWriter for OldRecords {
    fn record(&mut self, place: OutputPlace, record: &UnitRecord, out: &mut Vec<u8>) -> bool {
        match record {
            UnitRecord::Start => {
                self.line(old_keys::TRACE_START, place, &[("event", 4), ("compstats", 4), ("commstats", 0)], out);
            }
            UnitRecord::Finish => self.line(old_keys::TRACE_EXIT, place, &[("lth", 0)], out),
            UnitRecord::Stop => self.line(old_keys::TRACE_STOP, place, &[], out),
            UnitRecord::Begin(activity, message, fields) => {
                return self.begin((*activity, message.as_ref(), fields), place, out);
            }
            UnitRecord::End(activity, message, fields) => {
                return self.end((*activity, message.as_ref(), fields), place, out);
            }
            UnitRecord::TaskBegin(task, fields) => self.block(old_keys::BLOCK_BEGIN, place, *task, fields, out),
            UnitRecord::TaskEnd(task, fields) => self.block(old_keys::BLOCK_END, place, *task, fields, out),
            UnitRecord::Mark(mark, _) => self.line(old_keys::TRACE_MARK, place, &[("type", *mark)], out),
            UnitRecord::MarkList(data) => {
                let marks: Vec<i64> = data.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect();
                let mut fields: Vec<LabelledValue> = marks.iter().map(|mark| ("", *mark)).collect();
                // The verbose form has the number of values of the record instead.
                if !self.is_verbose {
                    fields.insert(0, ("", marks.len() as i64));
                }
                self.line(old_keys::TRACE_MARKS, place, &fields, out);
            }
            UnitRecord::Text(text) => {
                let mut line = Vec::new();
                self.line(old_keys::TRACE_MESSAGE, place, &[], &mut line);
                let head = line.trim_ascii_end();
                // A message has its text instead of the number of values.
                let head = if self.is_verbose { head.strip_suffix(b" 0").unwrap_or(head) } else { head };
                out.extend_from_slice(head);
                let _ = writeln!(out, " {}", without_controls(text));
            }
            UnitRecord::Other(..) => return false,
            UnitRecord::OldRecord(record, data) => self.write_other(*record, place, data, out),
            UnitRecord::Send(endpoint) => self.message(old_keys::SEND, place, endpoint, out),
            UnitRecord::Receive(endpoint) => self.message(old_keys::RECV, place, endpoint, out),
        }
        true
    }

    fn receives_first(&self) -> bool {
        true
    }

    fn has_record(&self, old_record: Option<i64>) -> bool {
        old_record.is_some()
    }

    fn has_categories(&self) -> bool {
        false
    }

    fn subset(&mut self, _: i64, _: &[i64], _: &mut Vec<u8>) -> bool {
        false
    }

    fn label(&mut self, _: i64, _: &str, _: &mut Vec<u8>) -> bool {
        false
    }
}
