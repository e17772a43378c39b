//! [`AlogParser`]: the meaning of the records of Alog.
//!
//! A line is `type process task data cycle timestamp text`. Times are in microseconds. When the
//! timer rolls over, it starts at 0 again, and the cycle increases.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::color_names::color_of;
use crate::model::action_log::UnitTime;
use crate::model::{ActionLog, LogError, PiclEndpoint, StateFields, TraceUnit, TypeSlot, ValueKey};
use crate::picl_faults::PiclFaultKind;
use crate::record_words::{RecordWords, in_range, integer, nanos_of_micros};

const ROLLOVER: i64 = -11;
const EVENT_NAME: i64 = -9;
const STATE: i64 = -13;
const MESSAGE_NAME: i64 = -14;
const PROCESS_NAME: i64 = -15;
/// The lowest type of a record of the header. The highest one is -1.
const MIN_HEADER: i64 = -100;
const SEND: i64 = -101;
const RECEIVE: i64 = -102;

/// The begin or the end of a state, by which an event of the program is read.
#[derive(Clone, Debug)]
enum AlogEvent {
    StateBegin(ValueKey),
    StateEnd(ValueKey),
}

/// Reads records of Alog.
#[derive(Debug, Default)]
pub(crate) struct AlogParser {
    states: FxHashMap<i64, AlogEvent>,
    /// Names of processes.
    pub(crate) processes: FxHashMap<i64, String>,
    /// Nanoseconds of a cycle of the timer.
    rollover: i64,
    /// Whether an event was read.
    has_events: bool,
}

struct AlogLine<'a> {
    kind: i64,
    process: i64,
    task: i64,
    data: i64,
    cycle: i64,
    /// In nanoseconds, from the start of the cycle.
    time: i64,
    text: &'a [u8],
}

impl<'a> AlogLine<'a> {
    fn of(line: &'a [u8]) -> Option<Self> {
        let mut words = RecordWords::of(line);
        let mut number = || words.integer();
        let (kind, process, task, data, cycle) = (number()?, number()?, number()?, number()?, number()?);
        let time = nanos_of_micros(words.next()?)?;
        let is_in_range = i32::try_from(process).is_ok();
        is_in_range.then_some(Self { kind, process, task, data, cycle, time, text: words.remainder() })
    }
}

impl AlogParser {
    pub(crate) fn line(&mut self, line: &[u8], number: u64, log: &mut ActionLog) -> Result<(), LogError> {
        if line.trim_ascii_start().starts_with(b"#") {
            return Ok(());
        }
        let Some(record) = AlogLine::of(line) else { return log.fault(PiclFaultKind::Head, number, line) };
        if (MIN_HEADER..0).contains(&record.kind) {
            return self.define(&record, number, line, log);
        }
        self.has_events = true;
        let time = in_range(i128::from(record.cycle) * i128::from(self.rollover) + i128::from(record.time));
        let Some(time) = time.filter(|_| record.process >= 0) else {
            return log.fault(PiclFaultKind::Head, number, line);
        };
        let place = UnitTime { unit: TraceUnit::of_node(record.process), time, line: number };
        match record.kind {
            SEND | RECEIVE => message(&record, place, line, log),
            kind => match self.states.get(&kind) {
                Some(AlogEvent::StateBegin(key)) => {
                    log.begin_value(place, TypeSlot::Activity, key.clone(), StateFields::of_data(&data_of(&record)))
                }
                Some(AlogEvent::StateEnd(key)) => {
                    log.end_value(place, TypeSlot::Activity, key.clone(), &data_of(&record))
                }
                None => event(&record, place, log),
            },
        }
    }

    /// A record of the header.
    fn define(&mut self, record: &AlogLine<'_>, number: u64, line: &[u8], log: &mut ActionLog) -> Result<(), LogError> {
        let text = String::from_utf8_lossy(record.text);
        if self.has_events && matches!(record.kind, ROLLOVER | STATE) {
            log.fault(PiclFaultKind::LateDefinition, number, line)?;
        }
        match record.kind {
            ROLLOVER => self.rollover = record.time,
            EVENT_NAME if !text.is_empty() => log.values.label(TypeSlot::Mark, record.data, &text),
            MESSAGE_NAME => {
                // The first word is a colour.
                let name = text.split_once(' ').map_or(&*text, |(_, name)| name.trim());
                log.values.label(TypeSlot::Message, record.data, name);
            }
            PROCESS_NAME if !text.is_empty() => _ = self.processes.insert(record.process, text.into_owned()),
            STATE => return self.define_state(record, &text, number, line, log),
            _ => {}
        }
        Ok(())
    }

    /// Defines a state: its text is `colour:pattern name`, or `colour name`.
    fn define_state(
        &mut self,
        record: &AlogLine<'_>,
        text: &str,
        number: u64,
        line: &[u8],
        log: &mut ActionLog,
    ) -> Result<(), LogError> {
        let (style, name) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let name = name.trim();
        if name.is_empty() || record.task == record.data {
            return log.fault(PiclFaultKind::StateDefinition, number, line);
        }
        // The first definition of an event counts.
        if self.states.contains_key(&record.task) {
            return Ok(());
        }
        let color = style.split(':').next().and_then(color_of);
        let key = ValueKey::Text(Cow::Owned(name.to_owned()));
        log.define(TypeSlot::Activity, key.clone(), color);
        self.states.insert(record.task, AlogEvent::StateBegin(key.clone()));
        self.states.entry(record.data).or_insert(AlogEvent::StateEnd(key));
        Ok(())
    }
}

/// The data and the text of an event.
fn data_of(record: &AlogLine<'_>) -> Vec<u8> {
    if record.data == 0 {
        return record.text.to_vec();
    }
    let data = record.data.to_string();
    if record.text.is_empty() { data.into_bytes() } else { [data.as_bytes(), b" ", record.text].concat() }
}

fn event(record: &AlogLine<'_>, place: UnitTime, log: &mut ActionLog) -> Result<(), LogError> {
    log.event(place, TypeSlot::Mark, ValueKey::Number(record.kind), &data_of(record))
}

/// A message: the data is the process at the other end, the text is its tag and its size.
fn message(record: &AlogLine<'_>, place: UnitTime, line: &[u8], log: &mut ActionLog) -> Result<(), LogError> {
    let mut numbers = RecordWords::of(record.text).map_while(integer);
    let (Some(tag), Some(bytes)) = (numbers.next(), numbers.next()) else {
        return log.fault(PiclFaultKind::MissingData, place.line, line);
    };
    let peer = i32::try_from(record.data).map_or(TraceUnit::PROGRAM, |node| TraceUnit::of_node(node.into()));
    let endpoint = PiclEndpoint { peer, tag, bytes };
    if record.kind == SEND { log.send(place, endpoint) } else { log.receive(place, endpoint) }
}
