//! [`ActionLog`]: collects the actions of a trace, and sorts them by time.
//!
//! A file has the buffer of one node after the other, so its records are not in order of time. The
//! log keeps a limited number of actions in memory. Further actions are in a temporary file.

use std::borrow::Cow;
use std::io;

use rustc_hash::{FxHashMap, FxHashSet};
use tumit_paje::RgbColor;
use tumit_paje::collective::CollectiveKind;
use tumit_spill::row_sorter::{RowSorter, SortedRows};
use tumit_spill::spool::Spool;
use tumit_spill::temporary_space::TemporarySpace;

use super::collective_counts::{ALL_NODES, CollectiveCounts};
use super::message_pairs::{MessageCounts, PiclEndpoint};
use super::state_fields::StateFields;
use super::trace_action::{ACTION_WORDS, Statistic, TraceAction, TraceActionKind};
use super::trace_units::{HOST, TraceUnit, TraceUnits};
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
    pub(crate) collectives: CollectiveCounts,
    /// Units with an end of their trace, and units with a full trace memory, by number.
    ended_units: FxHashSet<u32>,
    stopped_units: FxHashSet<u32>,
    /// The states that have begun, by unit and value. Their begins are added with their ends,
    /// because a Pajé state gets all its fields when it begins.
    open_states: FxHashMap<(u32, u32), Vec<PendingBegin>>,
    pub(crate) faults: PiclFaultCounts,
    /// The texts of events, and the fields of states.
    pub(crate) texts: Spool,
    sorter: RowSorter<ACTION_WORDS, 2>,
    /// The first and the last time.
    pub(crate) extent: Option<(i64, i64)>,
    /// The statistics that occur in nodes, and those of the host.
    pub(crate) statistics: [bool; Statistic::ALL.len()],
    pub(crate) host_statistics: [bool; Statistic::ALL.len()],
}

/// A state that has begun.
#[derive(Debug)]
struct PendingBegin {
    place: UnitTime,
    fields: StateFields,
}

/// Maximum number of bytes of a text.
const MAX_TEXT_BYTES: usize = 1 << 16;

impl ActionLog {
    pub(crate) fn new(space: &TemporarySpace, is_strict: bool) -> Self {
        Self {
            units: TraceUnits::default(),
            values: TraceValues::default(),
            messages: MessageCounts::default(),
            collectives: CollectiveCounts::default(),
            ended_units: FxHashSet::default(),
            stopped_units: FxHashSet::default(),
            open_states: FxHashMap::default(),
            faults: PiclFaultCounts::new(is_strict),
            texts: Spool::default(),
            sorter: RowSorter::new(space),
            extent: None,
            statistics: [false; Statistic::ALL.len()],
            host_statistics: [false; Statistic::ALL.len()],
        }
    }

    /// Counts a fault of a line.
    pub(crate) fn fault(&mut self, kind: PiclFaultKind, line: u64, excerpt: &[u8]) -> Result<(), LogError> {
        Ok(self.faults.count(kind, line, excerpt)?)
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
        let unit = self.units.number(place.unit);
        self.ended_units.insert(unit);
        self.push(place, TraceActionKind::Finish, 0, [0; 3])
    }

    /// Adds the end of the records of a unit, because the memory of its trace library is full.
    pub(crate) fn stop(&mut self, place: UnitTime) -> Result<(), LogError> {
        let unit = self.units.number(place.unit);
        self.stopped_units.insert(unit);
        self.push(place, TraceActionKind::Stop, 0, [0; 3])
    }

    /// Whether each unit was traced until its end. Records without a process count for all
    /// processes of their node.
    pub(crate) fn complete_units(&self) -> Vec<bool> {
        let has = |numbers: &FxHashSet<u32>, number: u32| {
            let node = self.units.units.get(number as usize).map_or(TraceUnit::PROGRAM, |unit| *unit);
            let node_unit = self.units.find(TraceUnit::of_node(node.node));
            numbers.contains(&number) || node_unit.is_some_and(|node_unit| numbers.contains(&node_unit))
        };
        let count = self.units.units.len() as u32;
        (0..count).map(|number| has(&self.ended_units, number) && !has(&self.stopped_units, number)).collect()
    }

    pub(crate) fn begin(&mut self, place: UnitTime, activity: Activity, fields: StateFields) -> Result<(), LogError> {
        self.begin_value(place, TypeSlot::Activity, ValueKey::Activity(activity), fields)
    }

    pub(crate) fn end(&mut self, place: UnitTime, activity: Activity, end_data: &[u8]) -> Result<(), LogError> {
        self.end_value(place, TypeSlot::Activity, ValueKey::Activity(activity), end_data)
    }

    /// Begins a state.
    pub(crate) fn begin_value(
        &mut self,
        place: UnitTime,
        slot: TypeSlot,
        key: ValueKey,
        fields: StateFields,
    ) -> Result<(), LogError> {
        let kind = kind_of(&key);
        let value = self.values.number(slot.of_unit(place.unit), key, None);
        let unit = self.units.number(place.unit);
        if kind.is_some() {
            self.collectives.add(fields.subset.unwrap_or(ALL_NODES), value, unit, place.line);
        }
        self.open_states.entry((unit, value)).or_default().push(PendingBegin { place, fields });
        Ok(())
    }

    /// The fields of the innermost open state of an activity.
    pub(crate) fn open_fields(&mut self, unit: TraceUnit, activity: Activity) -> Option<&mut StateFields> {
        let slot = TypeSlot::Activity.of_unit(unit);
        let value = self.values.number(slot, ValueKey::Activity(activity), None);
        let unit = self.units.number(unit);
        Some(&mut self.open_states.get_mut(&(unit, value))?.last_mut()?.fields)
    }

    /// Ends the innermost state with a value.
    pub(crate) fn end_value(
        &mut self,
        place: UnitTime,
        slot: TypeSlot,
        key: ValueKey,
        end_data: &[u8],
    ) -> Result<(), LogError> {
        let value = self.values.number(slot.of_unit(place.unit), key, None);
        let unit = self.units.number(place.unit);
        if let Some(mut state) = self.open_states.get_mut(&(unit, value)).and_then(Vec::pop) {
            state.fields.end_data.extend_from_slice(end_data);
            self.push_begin(value, &state)?;
        }
        self.push(place, TraceActionKind::End, value, [0; 3])
    }

    /// The values of the end of a block that differ from those of its begin.
    pub(crate) fn end_of_block(
        &mut self,
        unit: TraceUnit,
        (slot, key): (TypeSlot, &ValueKey),
        values: [Option<i64>; 2],
    ) -> String {
        let value = self.values.number(slot.of_unit(unit), key.clone(), None);
        let unit = self.units.number(unit);
        let open = self.open_states.get(&(unit, value)).and_then(|states| states.last());
        if open.is_some_and(|open| [open.fields.location, open.fields.parameter] == values) {
            return String::new();
        }
        values.into_iter().flatten().map(|value| value.to_string()).collect::<Vec<_>>().join(" ")
    }

    fn push_begin(&mut self, value: u32, PendingBegin { place, fields }: &PendingBegin) -> Result<(), LogError> {
        let words = if fields.is_empty() {
            [0; 3]
        } else {
            let bytes = fields.to_bytes();
            [self.texts.append(&bytes)?.cast_signed(), bytes.len() as i64, 1]
        };
        self.push(*place, TraceActionKind::Begin, value, words)
    }

    /// Adds the begins of all states without an end.
    pub(crate) fn close(&mut self) -> Result<(), LogError> {
        let mut open: Vec<((u32, u32), Vec<PendingBegin>)> =
            std::mem::take(&mut self.open_states).into_iter().collect();
        open.sort_unstable_by_key(|(key, _)| *key);
        for ((_, value), states) in open {
            states.iter().try_for_each(|state| self.push_begin(value, state))?;
        }
        Ok(())
    }

    /// Adds a point event with a text, which can be empty.
    pub(crate) fn event(
        &mut self,
        place: UnitTime,
        slot: TypeSlot,
        key: ValueKey,
        text: &[u8],
    ) -> Result<(), LogError> {
        let value = self.values.number(slot.of_unit(place.unit), key, None);
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
        let slot = TypeSlot::of_message(place.unit, endpoint.peer);
        let value = self.values.number(slot, ValueKey::Number(endpoint.tag), None);
        self.messages.send(place.unit, endpoint);
        self.push(place, TraceActionKind::Send, value, endpoint.to_words())
    }

    pub(crate) fn receive(&mut self, place: UnitTime, endpoint: PiclEndpoint) -> Result<(), LogError> {
        let slot = TypeSlot::of_message(endpoint.peer, place.unit);
        let value = self.values.number(slot, ValueKey::Number(endpoint.tag), None);
        self.messages.receive(place.unit, endpoint);
        self.push(place, TraceActionKind::Receive, value, endpoint.to_words())
    }

    pub(crate) fn statistic(&mut self, place: UnitTime, statistic: Statistic, number: i64) -> Result<(), LogError> {
        let statistics = if place.unit.node == HOST { &mut self.host_statistics } else { &mut self.statistics };
        statistics[statistic as usize] = true;
        self.push(place, TraceActionKind::Value, 0, [statistic as i64, number, 0])
    }

    /// Adds a value with its colour.
    pub(crate) fn define(&mut self, slot: TypeSlot, key: ValueKey, color: Option<RgbColor>) {
        self.values.number(slot, key, color);
    }

    /// The actions in order of time. Actions at the same time have the order of their lines.
    pub(crate) fn sort(&mut self, space: &TemporarySpace) -> io::Result<SortedRows<ACTION_WORDS, 2>> {
        std::mem::replace(&mut self.sorter, RowSorter::new(space)).finish()
    }
}

/// The kind of the collective operation of a state. `None` if it is none. The records of Alog do
/// not describe operations.
pub(crate) fn kind_of(key: &ValueKey) -> Option<CollectiveKind> {
    if let ValueKey::Activity(activity) = key { activity.collective_kind() } else { None }
}
