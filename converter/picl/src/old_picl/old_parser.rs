//! [`OldParser`]: the meaning of the records of old PICL.

use rustc_hash::FxHashMap;

use super::old_keys;
use super::old_record::OldRecord;
use crate::model::action_log::UnitTime;
use crate::model::{ActionLog, LogError, PiclEndpoint, Statistic, TraceUnit, TypeSlot, ValueKey};
use crate::node_activity::Activity;
use crate::node_clock::NodeClock;
use crate::picl_faults::PiclFaultKind;
use crate::record_words::{RecordWords, nanos_of};

#[derive(Debug, Default)]
struct NodeState {
    clock: NodeClock,
    /// The last call and its time. The next two statistics contain its duration.
    call: Option<(Activity, i64)>,
    /// Whether the first of these statistics was read.
    is_bracketed: bool,
    /// The start of a blocked receive.
    blocked: Option<i64>,
}

/// Reads records of old PICL.
#[derive(Debug, Default)]
pub(crate) struct OldParser {
    nodes: FxHashMap<i64, NodeState>,
}

impl OldParser {
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
        let found = if place.unit.is_node() || key.min_values == 0 { values.len() } else { 0 };
        if found < key.min_values {
            return log.fault(PiclFaultKind::MissingData, number, line);
        }
        if found > key.max_values {
            log.fault(PiclFaultKind::DataCount, number, line)?;
        }
        if !place.unit.is_node() {
            return log.record(place, key.name, record.tail);
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
        state.call = match key.number {
            old_keys::SEND => Some((Activity::Send, place.time)),
            old_keys::RECV => Some((Activity::Receive, place.time)),
            old_keys::PROBE => Some((Activity::Probe, place.time)),
            old_keys::SYNC => Some((Activity::Sync, place.time)),
            _ => None,
        };
        match key.number {
            old_keys::SEND => log.send(place, endpoint(values)),
            old_keys::RECV => log.receive(place, endpoint(values)),
            old_keys::RECV_BLOCKING => {
                state.blocked = Some(place.time);
                Ok(())
            }
            old_keys::RECV_WAKING => {
                if let Some(start) = state.blocked.take() {
                    log.begin(place.at(start.min(place.time)), Activity::Wait)?;
                    log.end(place, Activity::Wait)?;
                }
                log.receive(place, endpoint(values))
            }
            old_keys::PROBE | old_keys::SYNC => Ok(()),
            old_keys::BLOCK_BEGIN | old_keys::BLOCK_END => {
                block(key.number == old_keys::BLOCK_BEGIN, values, place, log)
            }
            old_keys::TRACE_MARK => log.event(place, TypeSlot::Mark, ValueKey::Number(values[0]), b""),
            old_keys::TRACE_FLUSH | old_keys::TRACE_FILES => {
                let end = nanos_of(values[0], values[1]).unwrap_or(place.time).max(place.time);
                log.begin(place, Activity::TraceFlush)?;
                log.end(place.at(end), Activity::TraceFlush)
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
        let Some((activity, start)) = state.call else { return Ok(()) };
        if state.is_bracketed {
            state.call = None;
            let end = state.clock.settle(place.time.max(start));
            log.begin(place.at(start), activity)?;
            return log.end(place.at(end), activity);
        }
        // Statistics at another time do not belong to the call.
        state.is_bracketed = NodeClock::is_same(place.time, start);
        Ok(())
    }
}

/// The values of a message: peer, type, bytes.
fn endpoint(values: &[i64]) -> PiclEndpoint {
    PiclEndpoint { peer: TraceUnit::of_node(clamp(values[0])), tag: values[1], bytes: values[2] }
}

/// A node within the range of nodes.
fn clamp(node: i64) -> i64 {
    node.clamp(i64::from(i32::MIN), i64::from(i32::MAX))
}

/// A block: a collective operation if its type is negative, otherwise a task.
fn block(is_begin: bool, values: &[i64], place: UnitTime, log: &mut ActionLog) -> Result<(), LogError> {
    let (slot, key) = match values[0] {
        -1 => (TypeSlot::Activity, ValueKey::Activity(Activity::Barrier)),
        -2 | -3 => (TypeSlot::Activity, ValueKey::Activity(Activity::Broadcast)),
        ..0 => (TypeSlot::Activity, ValueKey::Activity(Activity::GlobalOperation)),
        task => (TypeSlot::Task, ValueKey::Number(task)),
    };
    if is_begin {
        let fields = if let [_, location, parameter, ..] = values { Some((*location, *parameter)) } else { None };
        log.begin_value(place, slot, key, fields)
    } else {
        log.end_value(place, slot, key)
    }
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
