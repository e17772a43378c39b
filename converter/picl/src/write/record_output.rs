//! [`RecordOutput`]: writes the sorted actions of a trace as records.

use std::io::{self, Write};

use tumit_paje::time::GlobalNanos;
use tumit_spill::row_sorter::SortedRows;
use tumit_spill::spool::Spool;

use super::omitted_entities::OmittedEntities;
use super::unit_records::{OutputPlace, PiclRecordWriter, UnitRecord, flush};
use super::written_meanings::{WrittenMeaning, WrittenMeanings};
use crate::model::trace_action::ACTION_WORDS;
use crate::model::trace_units::HOST;
use crate::model::{PiclEndpoint, StateFields, TraceAction, TraceActionKind, TraceUnit, TraceUnits};
use crate::node_activity::Activity;

/// The messages of one time whose data is in the record of an activity.
struct HeldMessages {
    /// The message of each begin and end.
    of_holder: Vec<Option<PiclEndpoint>>,
    /// Whether the data of a message is in another record.
    is_held: Vec<bool>,
}

/// Writes the records of a trace.
pub(super) struct RecordOutput<'a> {
    pub(super) records: &'a mut dyn PiclRecordWriter,
    pub(super) meanings: &'a WrittenMeanings,
    pub(super) units: &'a TraceUnits,
    /// The texts of events, and the fields of states.
    pub(super) texts: &'a Spool,
    /// The units with a written end, by number.
    pub(super) is_finished: Vec<bool>,
    pub(super) omitted_entities: OmittedEntities,
}

impl RecordOutput<'_> {
    /// Writes all actions, and the end of each unit.
    pub(super) fn write(
        &mut self,
        mut rows: SortedRows<ACTION_WORDS, 2>,
        end: GlobalNanos,
        out: &mut dyn Write,
        mut buffer: Vec<u8>,
    ) -> io::Result<()> {
        let mut group: Vec<TraceAction> = Vec::new();
        while let Some(words) = rows.next()? {
            let Some(action) = TraceAction::of_words(words) else { continue };
            if group.first().is_some_and(|first| first.time != action.time) {
                self.write_group(&group, out, &mut buffer)?;
                group.clear();
            }
            group.push(action);
        }
        self.write_group(&group, out, &mut buffer)?;
        for (unit, is_finished) in self.units.units.iter().zip(&self.is_finished) {
            if unit.is_node() && unit.node != HOST && !is_finished {
                let place = OutputPlace { unit: *unit, time: end.0 };
                self.records.record(place, &UnitRecord::Finish, &mut buffer);
            }
        }
        flush(out, &mut buffer, true)
    }

    /// Whether the record of the begin or end of an activity can have the data of a message.
    fn can_hold(&self, holder: &TraceAction, message: &TraceAction) -> bool {
        let WrittenMeaning::Activity(activity) = self.meanings.get(holder.value) else { return false };
        holder.unit == message.unit
            && match (message.kind, holder.kind) {
                (TraceActionKind::Send, TraceActionKind::Begin) => activity.sends(),
                (TraceActionKind::Receive, TraceActionKind::Begin) => {
                    activity == Activity::Receive && self.records.receives_first()
                }
                (TraceActionKind::Receive, TraceActionKind::End) => activity.receives(),
                _ => false,
            }
    }

    /// Finds the messages whose data is in the record of the begin or end of an activity.
    ///
    /// Several messages of a unit can have the same time. An activity that ends at this time is
    /// before messages without a duration, so its end takes the first message. An activity that
    /// begins at this time is after them, so its begin takes the last message.
    fn held_messages(&self, group: &[TraceAction]) -> HeldMessages {
        let mut held_messages = HeldMessages { of_holder: vec![None; group.len()], is_held: vec![false; group.len()] };
        let indices = 0..group.len();
        let ends = indices.clone().map(|message| (message, TraceActionKind::End));
        let begins = indices.clone().rev().map(|message| (message, TraceActionKind::Begin));
        for (message, kind) in ends.chain(begins) {
            if held_messages.is_held[message]
                || !matches!(group[message].kind, TraceActionKind::Send | TraceActionKind::Receive)
            {
                continue;
            }
            let is_holder = |holder: &usize| {
                group[*holder].kind == kind
                    && held_messages.of_holder[*holder].is_none()
                    && self.can_hold(&group[*holder], &group[message])
            };
            let mut indices = indices.clone();
            let holder = if kind == TraceActionKind::End { indices.find(is_holder) } else { indices.rfind(is_holder) };
            if let Some(holder) = holder {
                held_messages.of_holder[holder] = Some(PiclEndpoint::of_words(group[message].words));
                held_messages.is_held[message] = true;
            }
        }
        held_messages
    }

    /// Writes the records of one time. A message becomes part of the record that sends or receives
    /// it, if there is one.
    fn write_group(&mut self, group: &[TraceAction], out: &mut dyn Write, buffer: &mut Vec<u8>) -> io::Result<()> {
        let HeldMessages { of_holder, is_held } = self.held_messages(group);
        for (index, action) in group.iter().enumerate().filter(|(index, _)| !is_held[*index]) {
            let unit = self.units.units.get(action.unit as usize).copied().unwrap_or(TraceUnit::PROGRAM);
            if let Some(is_finished) = self.is_finished.get_mut(action.unit as usize) {
                let meaning = self.meanings.get(action.value);
                let is_end = action.kind == TraceActionKind::Event
                    && meaning.ends_trace()
                    && self.records.has_record(meaning.old_record());
                // A trace with a full memory has no end.
                *is_finished |= is_end || matches!(action.kind, TraceActionKind::Finish | TraceActionKind::Stop);
            }
            if self.has_other_record(group, action) {
                continue;
            }
            let record = self.record_of(action, of_holder[index])?;
            let is_written = self.records.record(OutputPlace { unit, time: action.time }, &record, buffer);
            if !is_written {
                self.count_omitted(&record);
            }
            flush(out, buffer, false)?;
        }
        Ok(())
    }

    /// Counts a record that the format lacks. A call counts at its begin.
    fn count_omitted(&mut self, record: &UnitRecord) {
        match record {
            UnitRecord::Begin(..) => self.omitted_entities.calls += 1,
            UnitRecord::End(..) => {}
            _ => self.omitted_entities.events += 1,
        }
    }

    /// Whether another record of the same time begins or ends the unit, as an action does. The host
    /// has no trace of its own.
    fn has_other_record(&self, group: &[TraceAction], action: &TraceAction) -> bool {
        let has_event = |is_same: fn(WrittenMeaning) -> bool| {
            group.iter().any(|other| {
                other.kind == TraceActionKind::Event
                    && other.unit == action.unit
                    && is_same(self.meanings.get(other.value))
                    && self.records.has_record(self.meanings.get(other.value).old_record())
            })
        };
        let is_host = self.units.units.get(action.unit as usize).is_some_and(|unit| unit.node == HOST);
        match action.kind {
            TraceActionKind::Start if is_host => true,
            TraceActionKind::Start => has_event(WrittenMeaning::begins_trace),
            TraceActionKind::Finish => has_event(WrittenMeaning::ends_trace),
            _ => false,
        }
    }

    /// The bytes of the words of an action.
    fn bytes_of(&self, [offset, length, is_there]: [i64; 3]) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; if is_there == 1 { length as usize } else { 0 }];
        self.texts.read_exact_at(&mut bytes, offset.cast_unsigned())?;
        Ok(bytes)
    }

    fn record_of(&self, action: &TraceAction, message: Option<PiclEndpoint>) -> io::Result<UnitRecord> {
        let meaning = self.meanings.get(action.value);
        let fields = || -> io::Result<StateFields> {
            Ok(StateFields::of_bytes(&self.bytes_of(action.words)?).unwrap_or_default())
        };
        Ok(match (action.kind, meaning) {
            (TraceActionKind::Start | TraceActionKind::Value, _) => UnitRecord::Start,
            (TraceActionKind::Finish, _) => UnitRecord::Finish,
            (TraceActionKind::Stop, _) => UnitRecord::Stop,
            (TraceActionKind::Send, _) => UnitRecord::Send(PiclEndpoint::of_words(action.words)),
            (TraceActionKind::Receive, _) => UnitRecord::Receive(PiclEndpoint::of_words(action.words)),
            (TraceActionKind::Begin, WrittenMeaning::Activity(activity)) => {
                UnitRecord::Begin(activity, message, fields()?)
            }
            (TraceActionKind::Begin, meaning) => UnitRecord::TaskBegin(meaning.task(), fields()?),
            (TraceActionKind::End, WrittenMeaning::Activity(activity)) => UnitRecord::End(activity, message, fields()?),
            (TraceActionKind::End, meaning) => UnitRecord::TaskEnd(meaning.task(), fields()?),
            (TraceActionKind::Event, meaning) => {
                let text = self.bytes_of(action.words)?;
                event_record(meaning, String::from_utf8_lossy(&text).into_owned())
            }
        })
    }
}

fn event_record(meaning: WrittenMeaning, text: String) -> UnitRecord {
    match meaning {
        WrittenMeaning::Mark(mark) => UnitRecord::Mark(mark, text),
        WrittenMeaning::MarkList => UnitRecord::MarkList(text),
        WrittenMeaning::Event(kind, event) => UnitRecord::Other(kind, event, text),
        WrittenMeaning::OldRecord(record) => UnitRecord::OldRecord(record, text),
        WrittenMeaning::Definition(record) => {
            let (event, data) = text.split_once(' ').unwrap_or((&text, ""));
            UnitRecord::Other(record, event.parse().unwrap_or(0), data.to_owned())
        }
        _ => UnitRecord::Text(text),
    }
}
