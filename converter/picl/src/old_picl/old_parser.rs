//! [`OldParser`]: the meaning of the records of old PICL.

use rustc_hash::FxHashMap;
use tumit_paje::collective::CollectiveKind;

use super::old_keys::{self, activity_of_block, block_of};
use super::old_record::OldRecord;
use crate::model::action_log::UnitTime;
use crate::model::{ActionLog, LogError, PiclEndpoint, StateFields, Statistic, TraceUnit, TypeSlot, ValueKey};
use crate::node_activity::Activity;
use crate::node_clock::NodeClock;
use crate::picl_faults::PiclFaultKind;
use crate::record_words::{RecordWords, nanos_of};

#[derive(Debug, Default)]
struct NodeState {
    clock: NodeClock,
    /// The last call. The next two statistics contain its duration.
    call: Option<Call>,
    /// Whether the first of these statistics was read.
    is_bracketed: bool,
    /// The start of a blocked receive, and the type that it requests.
    blocked_receive: Option<(i64, Option<i64>)>,
}

/// A call without a known duration.
#[derive(Debug)]
struct Call {
    activity: Activity,
    place: UnitTime,
    data: Vec<u8>,
}

impl Call {
    /// Adds a call without statistics as an event, unless it is a message.
    fn keep(self, log: &mut ActionLog) -> Result<(), LogError> {
        if self.activity.is_message() {
            return Ok(());
        }
        log.record(self.place, self.activity.name(), &self.data)
    }
}

/// Reads records of old PICL.
#[derive(Debug, Default)]
pub(crate) struct OldParser {
    nodes: FxHashMap<i64, NodeState>,
}

impl OldParser {
    /// Ends the trace.
    pub(crate) fn close(self, log: &mut ActionLog) -> Result<(), LogError> {
        let mut calls: Vec<Call> = self.nodes.into_values().filter_map(|state| state.call).collect();
        calls.sort_unstable_by_key(|call| call.place.line);
        calls.into_iter().try_for_each(|call| call.keep(log))
    }

    pub(crate) fn line(&mut self, line: &[u8], number: u64, log: &mut ActionLog) -> Result<(), LogError> {
        let Some(record) = OldRecord::of(line) else { return log.fault(PiclFaultKind::Head, number, line) };
        let place = UnitTime { unit: TraceUnit::of_node(record.node), time: record.time, line: number };
        let Some(key) = record.key else {
            log.fault(PiclFaultKind::UnknownKey, number, line)?;
            return log.record(place, format!("unknown {}", String::from_utf8_lossy(record.name)), record.tail);
        };
        if key.number == old_keys::TRACE_MESSAGE {
            return log.event(place, TypeSlot::Text, ValueKey::text("message"), record.tail);
        }
        let values = record.values();
        let value_count = if place.unit.is_node() || key.min_values == 0 { values.len() } else { 0 };
        if value_count < key.min_values {
            return log.fault(PiclFaultKind::MissingData, number, line);
        }
        if value_count > key.max_values {
            log.fault(PiclFaultKind::DataCount, number, line)?;
        }
        if !place.unit.is_node() {
            return log.record(place, key.name, record.tail);
        }
        // The values that the record does not need are kept.
        if value_count > key.max_values {
            log.record(place, format!("{} values", key.name), record.tail)?;
        }
        match key.number {
            old_keys::TRACE_MARKS => marks(&values, &record, (number, line), place, log),
            old_keys::COMMSTATS => commstats(&values, place, log),
            old_keys::COMPSTATS => self.compstats(&values, place, log),
            _ => self.event(&record, &values, place, log),
        }
    }

    /// Reads a record that is not a statistic or a list. Their times do not decrease.
    fn event(
        &mut self,
        record: &OldRecord<'_>,
        values: &[i64],
        place: UnitTime,
        log: &mut ActionLog,
    ) -> Result<(), LogError> {
        let Some(key) = record.key else { return Ok(()) };
        let state = self.nodes.entry(record.node).or_default();
        let place = place.at(state.clock.settle(place.time));
        state.is_bracketed = false;
        let activity = match key.number {
            old_keys::SEND => Some(Activity::Send),
            old_keys::RECV => Some(Activity::Receive),
            old_keys::PROBE => Some(Activity::Probe),
            old_keys::SYNC => Some(Activity::Sync),
            _ => None,
        };
        let data = if key.number == old_keys::PROBE { record.tail_of_values() } else { Vec::new() };
        let call = activity.map(|activity| Call { activity, place, data });
        let before = std::mem::replace(&mut state.call, call);
        if let Some(before) = before {
            before.keep(log)?;
        }
        let state = self.nodes.entry(record.node).or_default();
        match key.number {
            old_keys::SEND => log.send(place, endpoint(values)),
            old_keys::RECV => log.receive(place, endpoint(values)),
            old_keys::RECV_BLOCKING => {
                state.blocked_receive = Some((place.time, values.first().copied()));
                Ok(())
            }
            old_keys::RECV_WAKING => {
                let blocked = state.blocked_receive.take();
                waking(blocked, values, place, log)
            }
            old_keys::PROBE | old_keys::SYNC => Ok(()),
            old_keys::BLOCK_BEGIN | old_keys::BLOCK_END => {
                block(key.number == old_keys::BLOCK_BEGIN, values, place, log)
            }
            old_keys::TRACE_MARK => log.event(place, TypeSlot::Mark, ValueKey::Number(values[0]), b""),
            old_keys::TRACE_FLUSH | old_keys::TRACE_FILES => {
                let end = nanos_of(values[0], values[1]).unwrap_or(place.time).max(place.time);
                log.begin(place, Activity::TraceFlush, StateFields::default())?;
                log.end(place.at(end), Activity::TraceFlush, b"")
            }
            old_keys::CLOSE | old_keys::TRACE_EXIT => {
                log.record(place, key.name, record.tail)?;
                log.finish(place)
            }
            old_keys::TRACE_STOP => {
                log.fault(PiclFaultKind::TraceFull, place.line, record.name)?;
                log.stop(place)
            }
            old_keys::TRACE_START => {
                log.start(place)?;
                log.record(place, key.name, record.tail)
            }
            _ => log.record(place, key.name, record.tail),
        }
    }

    /// Reads statistics of the time in communication. Two of them enclose a call.
    fn compstats(&mut self, values: &[i64], place: UnitTime, log: &mut ActionLog) -> Result<(), LogError> {
        // The compact form has only the second of the two times.
        let [.., seconds, micros] = values else { return Ok(()) };
        let micros = seconds.saturating_mul(1_000_000).saturating_add(*micros);
        log.statistic(place, Statistic::CommunicationTime, micros)?;
        let state = self.nodes.entry(place.unit.node).or_default();
        let Some(Call { activity, place: UnitTime { time: start, .. }, data }) = &state.call else { return Ok(()) };
        let (activity, start) = (*activity, *start);
        if state.is_bracketed {
            let fields = StateFields::of_data(data);
            state.call = None;
            let end = state.clock.settle(place.time.max(start));
            log.begin(place.at(start), activity, fields)?;
            return log.end(place.at(end), activity, b"");
        }
        // Statistics at another time do not belong to the call.
        state.is_bracketed = NodeClock::is_same(place.time, start);
        Ok(())
    }
}

/// Receives a message for which the node may have waited.
fn waking(
    blocked: Option<(i64, Option<i64>)>,
    values: &[i64],
    place: UnitTime,
    log: &mut ActionLog,
) -> Result<(), LogError> {
    if let Some((start, requested)) = blocked {
        // The type is that of the message, unless any type was requested.
        let data = requested.filter(|tag| *tag != values[1]).map_or_else(String::new, |tag| tag.to_string());
        let fields = StateFields::of_data(data.as_bytes());
        log.begin(place.at(start.min(place.time)), Activity::Wait, fields)?;
        log.end(place, Activity::Wait, b"")?;
    }
    log.receive(place, endpoint(values))
}

/// The values of a message: peer, type, bytes.
fn endpoint(values: &[i64]) -> PiclEndpoint {
    PiclEndpoint { peer: TraceUnit::of_node(clamp(values[0])), tag: values[1], bytes: values[2] }
}

/// A node within the range of nodes.
fn clamp(node: i64) -> i64 {
    node.clamp(i64::from(i32::MIN), i64::from(i32::MAX))
}

/// A block: a collective operation if its type is negative, otherwise a task. The values of a
/// collective operation with data are its type of message and its root.
fn block(is_begin: bool, values: &[i64], place: UnitTime, log: &mut ActionLog) -> Result<(), LogError> {
    let (location, parameter) = (values.get(1).copied(), values.get(2).copied());
    if values[0] >= 0 {
        let key = ValueKey::Number(values[0]);
        if is_begin {
            let fields = StateFields { location, parameter, ..StateFields::default() };
            return log.begin_value(place, TypeSlot::Task, key, fields);
        }
        let data = log.end_of_block(place.unit, (TypeSlot::Task, &key), [location, parameter]);
        return log.end_value(place, TypeSlot::Task, key, data.as_bytes());
    }
    let activity = activity_of_block(values[0]);
    let key = ValueKey::Activity(activity);
    if is_begin {
        let block = Some(values[0]).filter(|block| block_of(activity) != Some(*block));
        let root = parameter.filter(|_| activity.collective_kind().is_some_and(CollectiveKind::has_root));
        let fields = StateFields { location, parameter, block, root, ..StateFields::default() };
        return log.begin_value(place, TypeSlot::Activity, key, fields);
    }
    let data = log.end_of_block(place.unit, (TypeSlot::Activity, &key), [location, parameter]);
    log.end_value(place, TypeSlot::Activity, key, data.as_bytes())
}

fn commstats(values: &[i64], place: UnitTime, log: &mut ActionLog) -> Result<(), LogError> {
    let statistics = [
        Statistic::MessagesReceived,
        Statistic::BytesReceived,
        Statistic::MessagesSent,
        Statistic::BytesSent,
        Statistic::Probes,
    ];
    statistics.into_iter().zip(values).try_for_each(|(statistic, value)| log.statistic(place, statistic, *value))
}

/// A list of marks: their number, then the marks.
fn marks(
    values: &[i64],
    record: &OldRecord<'_>,
    (number, line): (u64, &[u8]),
    place: UnitTime,
    log: &mut ActionLog,
) -> Result<(), LogError> {
    let is_verbose = record.name[0].is_ascii_alphabetic();
    let has_only_numbers = RecordWords::of(record.tail).count() == values.len();
    let (fault, marks) = match values {
        [..0, ..] => (Some(PiclFaultKind::LostMarks), None),
        [count, marks @ ..] if has_only_numbers && usize::try_from(*count) == Ok(marks.len()) => (None, Some(marks)),
        // In the verbose form, the number of values of the record replaces the number of marks.
        marks if has_only_numbers && is_verbose => (None, Some(marks)),
        _ => (Some(PiclFaultKind::DamagedMarks), None),
    };
    if let Some(fault) = fault {
        log.fault(fault, number, line)?;
    }
    let text = match marks {
        Some(marks) => marks.iter().map(i64::to_string).collect::<Vec<_>>().join(" "),
        None => String::from_utf8_lossy(record.tail).into_owned(),
    };
    log.event(place, TypeSlot::Mark, ValueKey::text("list"), text.as_bytes())
}
