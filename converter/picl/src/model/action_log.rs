//! [`ActionLog`]: collects the actions of a trace, and sorts them by time.
//!
//! A file has the buffer of one node after the other, so its records are not in order of time. The
//! log keeps a limited number of actions in memory. Further actions are in a temporary file.

use std::borrow::Cow;
use std::io;

use tumit_paje::RgbColor;
use tumit_spill::row_sorter::{RowSorter, SortedRows};
use tumit_spill::spool::Spool;
use tumit_spill::temporary_space::TemporarySpace;

use super::message_pairs::{MessageCounts, PiclEndpoint};
use super::trace_action::{ACTION_WORDS, Statistic, TraceAction, TraceActionKind};
use super::trace_units::{TraceUnit, TraceUnits};
use super::trace_values::{TraceValues, TypeSlot, ValueKey};
use crate::node_activity::Activity;
use crate::picl_faults::{PiclFaultCounts, PiclFaultKind, StrictFault};

/// The reason why a record was not added.
#[derive(Debug)]
pub(crate) enum LogError {
    /// A temporary file cannot be written.
    Io(io::Error),
    /// A fault in strict mode.
    Strict(StrictFault),
}

impl From<io::Error> for LogError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<StrictFault> for LogError {
    fn from(fault: StrictFault) -> Self {
        Self::Strict(fault)
    }
}

/// The unit, the time and the line of a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitTime {
    pub(crate) unit: TraceUnit,
    pub(crate) time: i64,
    pub(crate) line: u64,
}

impl UnitTime {
    pub(crate) fn at(self, time: i64) -> Self {
        Self { time, ..self }
    }
}

/// All actions of a trace.
#[derive(Debug)]
pub(crate) struct ActionLog {
    pub(crate) units: TraceUnits,
    pub(crate) values: TraceValues,
    pub(crate) messages: MessageCounts,
    pub(crate) faults: PiclFaultCounts,
    /// The texts of events.
    pub(crate) texts: Spool,
    sorter: RowSorter<ACTION_WORDS, 1>,
    /// The first and the last time.
    pub(crate) extent: Option<(i64, i64)>,
    /// The statistics that occur.
    pub(crate) statistics: [bool; Statistic::ALL.len()],
}

/// Maximum number of bytes of a text.
const MAX_TEXT_BYTES: usize = 1 << 16;

impl ActionLog {
    pub(crate) fn new(space: &TemporarySpace, is_strict: bool) -> Self {
        Self {
            units: TraceUnits::default(),
            values: TraceValues::default(),
            messages: MessageCounts::default(),
            faults: PiclFaultCounts::new(is_strict),
            texts: Spool::default(),
            sorter: RowSorter::new(space),
            extent: None,
            statistics: [false; Statistic::ALL.len()],
        }
    }

    /// Counts a fault of a line.
    pub(crate) fn fault(&mut self, kind: PiclFaultKind, line: u64, found: &[u8]) -> Result<(), LogError> {
        Ok(self.faults.count(kind, line, found)?)
    }

    fn push(&mut self, place: UnitTime, kind: TraceActionKind, value: u32, words: [i64; 3]) -> Result<(), LogError> {
        let UnitTime { unit, time, line } = place;
        let (first, last) = self.extent.unwrap_or((time, time));
        self.extent = Some((first.min(time), last.max(time)));
        let unit = self.units.number(unit);
        self.sorter.push(TraceAction { time, line, kind, unit, value, words }.to_words());
        Ok(self.sorter.flush()?)
    }

    pub(crate) fn start(&mut self, place: UnitTime) -> Result<(), LogError> {
        self.push(place, TraceActionKind::Start, 0, [0; 3])
    }

    pub(crate) fn finish(&mut self, place: UnitTime) -> Result<(), LogError> {
        self.push(place, TraceActionKind::Finish, 0, [0; 3])
    }

    /// Adds the end of the records of a unit, because the memory of its trace library is full.
    pub(crate) fn stop(&mut self, place: UnitTime) -> Result<(), LogError> {
        self.push(place, TraceActionKind::Stop, 0, [0; 3])
    }

    pub(crate) fn begin(&mut self, place: UnitTime, activity: Activity) -> Result<(), LogError> {
        self.begin_value(place, TypeSlot::Activity, ValueKey::Activity(activity), None)
    }

    pub(crate) fn end(&mut self, place: UnitTime, activity: Activity) -> Result<(), LogError> {
        self.end_value(place, TypeSlot::Activity, ValueKey::Activity(activity))
    }

    /// Begins a state. `fields` are the location and the parameter of a block.
    pub(crate) fn begin_value(
        &mut self,
        place: UnitTime,
        slot: TypeSlot,
        key: ValueKey,
        fields: Option<(i64, i64)>,
    ) -> Result<(), LogError> {
        let value = self.values.number(slot, key, None);
        let words = fields.map_or([0; 3], |(location, parameter)| [location, parameter, 1]);
        self.push(place, TraceActionKind::Begin, value, words)
    }

    pub(crate) fn end_value(&mut self, place: UnitTime, slot: TypeSlot, key: ValueKey) -> Result<(), LogError> {
        let value = self.values.number(slot, key, None);
        self.push(place, TraceActionKind::End, value, [0; 3])
    }

    /// Adds a point event with a text, which can be empty.
    pub(crate) fn event(
        &mut self,
        place: UnitTime,
        slot: TypeSlot,
        key: ValueKey,
        text: &[u8],
    ) -> Result<(), LogError> {
        let slot = if slot == TypeSlot::Record && !place.unit.is_node() { TypeSlot::Definition } else { slot };
        let value = self.values.number(slot, key, None);
        let text = text.get(..MAX_TEXT_BYTES).unwrap_or(text);
        let words =
            if text.is_empty() { [0; 3] } else { [self.texts.append(text)?.cast_signed(), text.len() as i64, 1] };
        self.push(place, TraceActionKind::Event, value, words)
    }

    /// Adds a record that has no other meaning, as an event.
    pub(crate) fn record(
        &mut self,
        place: UnitTime,
        name: impl Into<Cow<'static, str>>,
        data: &[u8],
    ) -> Result<(), LogError> {
        self.event(place, TypeSlot::Record, ValueKey::Text(name.into()), data)
    }

    pub(crate) fn send(&mut self, place: UnitTime, endpoint: PiclEndpoint) -> Result<(), LogError> {
        let value = self.values.number(TypeSlot::Message, ValueKey::Number(endpoint.tag), None);
        self.messages.send(place.unit, endpoint);
        self.push(place, TraceActionKind::Send, value, endpoint.to_words())
    }

    pub(crate) fn receive(&mut self, place: UnitTime, endpoint: PiclEndpoint) -> Result<(), LogError> {
        let value = self.values.number(TypeSlot::Message, ValueKey::Number(endpoint.tag), None);
        self.messages.receive(place.unit, endpoint);
        self.push(place, TraceActionKind::Receive, value, endpoint.to_words())
    }

    pub(crate) fn statistic(&mut self, place: UnitTime, statistic: Statistic, number: i64) -> Result<(), LogError> {
        self.statistics[statistic as usize] = true;
        self.push(place, TraceActionKind::Value, 0, [statistic as i64, number, 0])
    }

    /// Adds a value with its colour.
    pub(crate) fn define(&mut self, slot: TypeSlot, key: ValueKey, color: Option<RgbColor>) {
        self.values.number(slot, key, color);
    }

    /// The actions in order of time. Actions at the same time keep their order.
    pub(crate) fn sort(&mut self, space: &TemporarySpace) -> io::Result<SortedRows<ACTION_WORDS, 1>> {
        std::mem::replace(&mut self.sorter, RowSorter::new(space)).finish()
    }
}
