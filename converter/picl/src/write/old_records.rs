//! [`OldRecords`]: records in old PICL.

use std::io::Write as _;

use rustc_hash::FxHashMap;

use super::unit_records::{OutputPlace, PiclRecordWriter, UnitRecord};
use crate::model::{PiclEndpoint, TraceUnit};
use crate::node_activity::Activity;
use crate::old_picl::old_keys;
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
type ActivityMessage<'a> = (Activity, Option<&'a PiclEndpoint>);

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

    fn block(&self, key: i64, place: OutputPlace, block: i64, fields: Option<(i64, i64)>, out: &mut Vec<u8>) {
        let (location, parameter) = fields.unwrap_or((0, 0));
        self.line(key, place, &[("block_type", block), ("location", location), ("parameter", parameter)], out);
    }

    fn begin(&mut self, (activity, message): ActivityMessage<'_>, place: OutputPlace, out: &mut Vec<u8>) -> bool {
        match (activity, message) {
            (Activity::Send | Activity::SendBegin, Some(endpoint)) => {
                self.message(old_keys::SEND, place, endpoint, out);
                self.begin_call(activity, place, out);
            }
            (Activity::Receive, Some(endpoint)) => {
                self.message(old_keys::RECV, place, endpoint, out);
                self.begin_call(activity, place, out);
            }
            (Activity::Wait, _) => self.line(old_keys::RECV_BLOCKING, place, &[("type", -1)], out),
            (Activity::Sync, _) => {
                self.line(old_keys::SYNC, place, &[], out);
                self.begin_call(activity, place, out);
            }
            (Activity::Probe, _) => {
                self.line(old_keys::PROBE, place, &[("type", -1)], out);
                self.begin_call(activity, place, out);
            }
            (Activity::TraceFlush, _) => _ = self.calls.insert((place.unit, activity), micros(place.time)),
            (activity, _) => match block_of(activity) {
                Some(block) => self.block(old_keys::BLOCK_BEGIN, place, block, None, out),
                None => return false,
            },
        }
        true
    }

    fn end(&mut self, (activity, message): ActivityMessage<'_>, place: OutputPlace, out: &mut Vec<u8>) -> bool {
        match (activity, message) {
            (Activity::Wait, Some(endpoint)) => self.message(old_keys::RECV_WAKING, place, endpoint, out),
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
                Some(block) => self.block(old_keys::BLOCK_END, place, block, None, out),
                None => self.end_call(activity, place, out),
            },
        }
        true
    }
}

/// The block type of a collective operation. `None` for other activities.
fn block_of(activity: Activity) -> Option<i64> {
    use Activity::{
        Allgather, Allreduce, Alltoall, Barrier, Broadcast, Gather, GlobalOperation, Reduce, ReduceScatter, Scan,
        Scatter,
    };
    match activity {
        Barrier => Some(-1),
        Broadcast => Some(-2),
        GlobalOperation | Allgather | Allreduce | Alltoall | Gather | Reduce | ReduceScatter | Scan | Scatter => {
            Some(-4)
        }
        _ => None,
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
            UnitRecord::Begin(activity, message) => return self.begin((*activity, message.as_ref()), place, out),
            UnitRecord::End(activity, message) => return self.end((*activity, message.as_ref()), place, out),
            UnitRecord::TaskBegin(task, fields) => self.block(old_keys::BLOCK_BEGIN, place, *task, *fields, out),
            UnitRecord::TaskEnd(task) => self.block(old_keys::BLOCK_END, place, *task, None, out),
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
            UnitRecord::Send(endpoint) => self.message(old_keys::SEND, place, endpoint, out),
            UnitRecord::Receive(endpoint) => self.message(old_keys::RECV, place, endpoint, out),
        }
        true
    }

    fn receives_first(&self) -> bool {
        true
    }

    fn label(&mut self, _: i64, _: &str, _: &mut Vec<u8>) -> bool {
        false
    }
}
