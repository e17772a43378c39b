//! [`PiclWriter`]: collects the records of a trace, and writes them in order of time.
//!
//! The record of a send names its receiver, which a Pajé link names only at its end. So the
//! records are collected and sorted. Records that exceed a memory budget are in temporary files.

use std::fmt;
use std::io::{self, Write};

use rustc_hash::FxHashMap;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{ContainerId, ExtraField, ExtraValue, KeyId, PajeEvent, PajeSink, TypeId, ValueId};
use tumit_spill::row_sorter::RowSorter;
use tumit_spill::spool::Spool;
use tumit_spill::temporary_space::TemporarySpace;

use super::new_records::NewRecords;
use super::node_numbers::NodeNumbers;
use super::old_records::OldRecords;
use super::unit_records::{OutputPlace, PiclRecordWriter, PiclStyle, UnitRecord, flush};
use super::written_meanings::{WrittenMeaning, WrittenMeanings};
use crate::model::trace_action::ACTION_WORDS;
use crate::model::{PiclEndpoint, TraceAction, TraceActionKind, TraceUnit, TraceUnits};
use crate::node_activity::Activity;

/// Memory of the records that are sorted, in bytes.
const SORT_MEMORY: usize = 64 << 20;

/// An endpoint of a link, until the other endpoint is known.
#[derive(Clone, Copy, Debug)]
struct LinkEnd {
    is_start: bool,
    unit: TraceUnit,
    time: i64,
    sequence: u64,
    bytes: i64,
    tag: Option<i64>,
    value: ValueId,
}

/// The messages of one time whose data is in the record of an activity.
struct HeldMessages {
    /// The message of each begin and end.
    of_holder: Vec<Option<PiclEndpoint>>,
    /// Whether the data of a message is in another record.
    is_held: Vec<bool>,
}

/// Writes PICL.
///
/// ```
/// use tumit_paje::read::read;
/// use tumit_picl::{PiclStyle, PiclWriter};
///
/// let paje = b"\
/// %EventDef PajeDefineContainerType 0
/// % Alias string
/// % Type string
/// % Name string
/// %EndEventDef
/// %EventDef PajeCreateContainer 1
/// % Time date
/// % Alias string
/// % Type string
/// % Container string
/// % Name string
/// %EndEventDef
/// 0 P 0 Process
/// 1 0.5 p P 0 first
/// ";
/// let mut text = Vec::new();
/// read(&paje[..], &mut PiclWriter::new(&mut text, PiclStyle::New))?;
/// // The container has no entity.
/// assert_eq!(text, b"");
/// # Ok::<(), tumit_paje::read::PajeReadError>(())
/// ```
pub struct PiclWriter<W: Write> {
    out: W,
    records: Box<dyn PiclRecordWriter>,
    types: FxHashMap<TypeId, String>,
    meanings: WrittenMeanings,
    nodes: NodeNumbers,
    units: TraceUnits,
    /// The open states of each container and type.
    open: FxHashMap<(ContainerId, TypeId), Vec<u32>>,
    links: FxHashMap<(ContainerId, TypeId, KeyId), Vec<LinkEnd>>,
    texts: Spool,
    sorter: RowSorter<ACTION_WORDS, 2>,
    sequence: u64,
    omitted_entities: u64,
}

impl<W: Write> fmt::Debug for PiclWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PiclWriter").field("omitted_entities", &self.omitted_entities).finish_non_exhaustive()
    }
}

impl<W: Write> PiclWriter<W> {
    /// Creates a writer. `out` needs no buffer. All records are written when the trace ends.
    pub fn new(out: W, style: PiclStyle) -> Self {
        let records: Box<dyn PiclRecordWriter> = match style {
            PiclStyle::New => Box::new(NewRecords),
            PiclStyle::OldCompact => Box::new(OldRecords::new(false)),
            PiclStyle::OldVerbose => Box::new(OldRecords::new(true)),
        };
        Self {
            out,
            records,
            types: FxHashMap::default(),
            meanings: WrittenMeanings::default(),
            nodes: NodeNumbers::default(),
            units: TraceUnits::default(),
            open: FxHashMap::default(),
            links: FxHashMap::default(),
            texts: Spool::default(),
            sorter: RowSorter::new(&TemporarySpace::in_system_folder(SORT_MEMORY)),
            sequence: 0,
            omitted_entities: 0,
        }
    }

    /// Number of values of variables, names of tasks and other entities that PICL cannot represent.
    pub fn omitted_entities(&self) -> u64 {
        self.omitted_entities
    }

    fn push(&mut self, unit: TraceUnit, action: TraceAction) -> io::Result<()> {
        let unit = self.units.number(unit);
        self.sorter.push(TraceAction { unit, ..action }.to_words());
        self.sorter.flush()
    }

    /// An action with the next position in the sequence.
    fn action(&mut self, time: GlobalNanos, kind: TraceActionKind, value: u32, words: [i64; 3]) -> TraceAction {
        self.sequence += 1;
        TraceAction { time: time.0, line: self.sequence, kind, unit: 0, value, words }
    }

    /// The unit of a container. Its first record is the start of its trace.
    fn unit(&mut self, container: ContainerId, time: GlobalNanos) -> io::Result<TraceUnit> {
        let (unit, is_new) = self.nodes.unit(container);
        if is_new {
            let start = self.action(time, TraceActionKind::Start, 0, [0; 3]);
            self.push(unit, start)?;
        }
        Ok(unit)
    }

    fn begin(
        &mut self,
        time: GlobalNanos,
        container: ContainerId,
        (ty, value): (TypeId, ValueId),
        extra: &[ExtraField<'_>],
    ) -> io::Result<()> {
        let unit = self.unit(container, time)?;
        let index = self.meanings.index(value, true);
        self.open.entry((container, ty)).or_default().push(index);
        let fields = integer_of(extra, &["location"]).zip(integer_of(extra, &["parameter"]));
        let words = fields.map_or([0; 3], |(location, parameter)| [location, parameter, 1]);
        let kind = match self.meanings.get(index) {
            WrittenMeaning::Activity(Activity::Finished) => TraceActionKind::Finish,
            WrittenMeaning::Activity(Activity::Unknown) => TraceActionKind::Stop,
            WrittenMeaning::Activity(Activity::Compute) => return Ok(()),
            _ => TraceActionKind::Begin,
        };
        let action = self.action(time, kind, index, words);
        self.push(unit, action)
    }

    fn end(&mut self, time: GlobalNanos, container: ContainerId, ty: TypeId) -> io::Result<bool> {
        let Some(index) = self.open.get_mut(&(container, ty)).and_then(Vec::pop) else { return Ok(false) };
        let unit = self.unit(container, time)?;
        let kind = match self.meanings.get(index) {
            WrittenMeaning::Activity(Activity::Compute | Activity::Finished | Activity::Unknown) => return Ok(true),
            _ => TraceActionKind::End,
        };
        let action = self.action(time, kind, index, [0; 3]);
        self.push(unit, action)?;
        Ok(true)
    }

    fn event_of(
        &mut self,
        time: GlobalNanos,
        container: ContainerId,
        value: ValueId,
        extra: &[ExtraField<'_>],
    ) -> io::Result<()> {
        let index = self.meanings.index(value, false);
        let meaning = self.meanings.get(index);
        if meaning == WrittenMeaning::Nothing {
            self.omitted_entities += 1;
            return Ok(());
        }
        let unit = match meaning {
            WrittenMeaning::Definition { is_of_program: true, .. } => TraceUnit::PROGRAM,
            _ => self.unit(container, time)?,
        };
        let text = text_of(extra, &["text", "data"]);
        let words = [self.texts.append(text.as_bytes())?.cast_signed(), text.len() as i64, 1];
        let action = self.action(time, TraceActionKind::Event, index, words);
        self.push(unit, action)
    }

    /// Adds an endpoint of a link. With the second one, both records of the message are known.
    fn link(&mut self, link: (ContainerId, TypeId, KeyId), end: LinkEnd) -> io::Result<()> {
        let waiting = self.links.entry(link).or_default();
        let Some(index) = waiting.iter().position(|other| other.is_start != end.is_start) else {
            waiting.push(end);
            return Ok(());
        };
        let other = waiting.remove(index);
        if waiting.is_empty() {
            self.links.remove(&link);
        }
        let (start, end) = if end.is_start { (end, other) } else { (other, end) };
        let value = start.value;
        let tag = start.tag.or_else(|| self.meanings.name(value).parse().ok()).unwrap_or(value.0.into());
        let endpoint = |peer: TraceUnit| PiclEndpoint { peer, tag, bytes: start.bytes }.to_words();
        let action = |end: LinkEnd, kind, words| TraceAction {
            time: end.time,
            line: end.sequence,
            kind,
            unit: 0,
            value: 0,
            words,
        };
        self.push(start.unit, action(start, TraceActionKind::Send, endpoint(end.unit)))?;
        self.push(end.unit, action(end, TraceActionKind::Receive, endpoint(start.unit)))
    }

    /// Ends the states that are still open.
    fn end_states(&mut self, end: GlobalNanos) -> io::Result<()> {
        let mut open: Vec<(ContainerId, TypeId, usize)> =
            self.open.iter().map(|((container, ty), states)| (*container, *ty, states.len())).collect();
        open.sort_unstable();
        for (container, ty, depth) in open {
            for _ in 0..depth {
                self.end(end, container, ty)?;
            }
        }
        Ok(())
    }

    fn write_all(&mut self, end: GlobalNanos) -> io::Result<()> {
        let mut buffer = Vec::new();
        for (number, name) in std::mem::take(&mut self.meanings.labels) {
            if !self.records.label(number, &name, &mut buffer) {
                self.omitted_entities += 1;
            }
        }
        let space = TemporarySpace::in_system_folder(SORT_MEMORY);
        let mut rows = std::mem::replace(&mut self.sorter, RowSorter::new(&space)).finish()?;
        let mut group: Vec<TraceAction> = Vec::new();
        let mut finished = vec![false; self.units.units.len()];
        while let Some(words) = rows.next()? {
            let Some(action) = TraceAction::of_words(words) else { continue };
            if group.first().is_some_and(|first| first.time != action.time) {
                self.write_group(&group, &mut finished, &mut buffer)?;
                group.clear();
            }
            group.push(action);
        }
        self.write_group(&group, &mut finished, &mut buffer)?;
        for (unit, is_finished) in self.units.units.iter().zip(finished) {
            if unit.is_node() && !is_finished {
                let place = OutputPlace { unit: *unit, time: end.0 };
                self.records.record(place, &UnitRecord::Finish, &mut buffer);
            }
        }
        flush(&mut self.out, &mut buffer, true)?;
        self.out.flush()
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
        let mut held = HeldMessages { of_holder: vec![None; group.len()], is_held: vec![false; group.len()] };
        let indices = 0..group.len();
        let ends = indices.clone().map(|message| (message, TraceActionKind::End));
        let begins = indices.clone().rev().map(|message| (message, TraceActionKind::Begin));
        for (message, kind) in ends.chain(begins) {
            if held.is_held[message] || !matches!(group[message].kind, TraceActionKind::Send | TraceActionKind::Receive)
            {
                continue;
            }
            let is_holder = |holder: &usize| {
                group[*holder].kind == kind
                    && held.of_holder[*holder].is_none()
                    && self.can_hold(&group[*holder], &group[message])
            };
            let mut indices = indices.clone();
            let holder = if kind == TraceActionKind::End { indices.find(is_holder) } else { indices.rfind(is_holder) };
            if let Some(holder) = holder {
                held.of_holder[holder] = Some(PiclEndpoint::of_words(group[message].words));
                held.is_held[message] = true;
            }
        }
        held
    }

    /// Writes the records of one time. A message becomes part of the record that sends or receives
    /// it, if there is one.
    fn write_group(&mut self, group: &[TraceAction], finished: &mut [bool], buffer: &mut Vec<u8>) -> io::Result<()> {
        let HeldMessages { of_holder, is_held } = self.held_messages(group);
        for (index, action) in group.iter().enumerate().filter(|(index, _)| !is_held[*index]) {
            let unit = self.units.units.get(action.unit as usize).copied().unwrap_or(TraceUnit::PROGRAM);
            if let Some(is_finished) = finished.get_mut(action.unit as usize) {
                *is_finished |= action.kind == TraceActionKind::Finish;
            }
            let record = self.record_of(action, of_holder[index])?;
            let is_written = self.records.record(OutputPlace { unit, time: action.time }, &record, buffer);
            self.omitted_entities += u64::from(!is_written);
            flush(&mut self.out, buffer, false)?;
        }
        Ok(())
    }

    fn record_of(&self, action: &TraceAction, message: Option<PiclEndpoint>) -> io::Result<UnitRecord> {
        let meaning = self.meanings.get(action.value);
        let endpoint = PiclEndpoint::of_words(action.words);
        Ok(match (action.kind, meaning) {
            (TraceActionKind::Start | TraceActionKind::Value, _) => UnitRecord::Start,
            (TraceActionKind::Finish, _) => UnitRecord::Finish,
            (TraceActionKind::Stop, _) => UnitRecord::Stop,
            (TraceActionKind::Send, _) => UnitRecord::Send(endpoint),
            (TraceActionKind::Receive, _) => UnitRecord::Receive(endpoint),
            (TraceActionKind::Begin, WrittenMeaning::Task(task)) => {
                let [location, parameter, has_fields] = action.words;
                UnitRecord::TaskBegin(task, (has_fields == 1).then_some((location, parameter)))
            }
            (TraceActionKind::Begin, WrittenMeaning::Activity(activity)) => UnitRecord::Begin(activity, message),
            (TraceActionKind::Begin, _) => UnitRecord::TaskBegin(0, None),
            (TraceActionKind::End, WrittenMeaning::Activity(activity)) => UnitRecord::End(activity, message),
            (TraceActionKind::End, WrittenMeaning::Task(task)) => UnitRecord::TaskEnd(task),
            (TraceActionKind::End, _) => UnitRecord::TaskEnd(0),
            (TraceActionKind::Event, meaning) => {
                let [offset, length, _] = action.words;
                let mut text = vec![0; length as usize];
                self.texts.read_exact_at(&mut text, offset.cast_unsigned())?;
                event_record(meaning, String::from_utf8_lossy(&text).into_owned())
            }
        })
    }
}

fn event_record(meaning: WrittenMeaning, text: String) -> UnitRecord {
    const TRACE_LEVEL: i64 = -904;
    match meaning {
        WrittenMeaning::Mark(mark) => UnitRecord::Mark(mark, text),
        WrittenMeaning::MarkList => UnitRecord::MarkList(text),
        WrittenMeaning::TraceLevel => UnitRecord::Other(-2, TRACE_LEVEL, text),
        WrittenMeaning::Definition { record, .. } => {
            let (event, data) = text.split_once(' ').unwrap_or((&text, ""));
            UnitRecord::Other(record, event.parse().unwrap_or(0), data.to_owned())
        }
        _ => UnitRecord::Text(text),
    }
}

/// The integer of the first field with one of these names.
fn integer_of(extra: &[ExtraField<'_>], names: &[&str]) -> Option<i64> {
    let field = extra.iter().find(|field| names.contains(&field.name.to_ascii_lowercase().as_str()))?;
    match field.value {
        ExtraValue::Integer(number) => Some(number),
        ExtraValue::Text(text) => text.trim().parse().ok(),
        #[expect(clippy::cast_possible_truncation, reason = "the conversion saturates")]
        ExtraValue::Float(number) => Some(number as i64),
        ExtraValue::Container(_) => None,
    }
}

fn text_of(extra: &[ExtraField<'_>], names: &[&str]) -> String {
    let field = extra.iter().find(|field| names.contains(&field.name));
    match field.map(|field| field.value) {
        Some(ExtraValue::Text(text)) => text.to_owned(),
        Some(ExtraValue::Integer(number)) => number.to_string(),
        Some(ExtraValue::Float(number)) => number.to_string(),
        Some(ExtraValue::Container(_)) | None => String::new(),
    }
}

/// The names of fields with the size of a message.
const SIZE_FIELDS: &[&str] = &["bytes", "size", "length", "lth"];
/// The names of fields with the type of a message.
const TAG_FIELDS: &[&str] = &["type", "tag"];

impl<W: Write> PajeSink for PiclWriter<W> {
    fn event(&mut self, event: &PajeEvent<'_>) -> io::Result<()> {
        match *event {
            PajeEvent::DefineType { ty, name, .. } => _ = self.types.insert(ty, name.to_owned()),
            PajeEvent::DefineValue { value, ty, name, .. } => {
                let ty = self.types.get(&ty).map_or("", String::as_str);
                self.meanings.define(value, ty, name);
            }
            PajeEvent::CreateContainer { container, ty, parent, name, .. } => {
                let ty = self.types.get(&ty).map_or("", String::as_str);
                self.nodes.create(container, parent, ty, name);
            }
            PajeEvent::DestroyContainer { .. } => {}
            PajeEvent::SetState { time, container, ty, value, extra, .. } => {
                while self.end(time, container, ty)? {}
                self.begin(time, container, (ty, value), extra)?;
            }
            PajeEvent::PushState { time, container, ty, value, extra, .. } => {
                self.begin(time, container, (ty, value), extra)?;
            }
            PajeEvent::PopState { time, container, ty } => _ = self.end(time, container, ty)?,
            PajeEvent::ResetState { time, container, ty } => while self.end(time, container, ty)? {},
            PajeEvent::Variable { .. } => self.omitted_entities += 1,
            PajeEvent::NewEvent { time, container, value, extra, .. } => {
                self.event_of(time, container, value, extra)?;
            }
            PajeEvent::StartLink { time, container, ty, value, start, key, extra, .. } => {
                let unit = self.unit(start, time)?;
                self.sequence += 1;
                let (bytes, tag) = (integer_of(extra, SIZE_FIELDS).unwrap_or(0), integer_of(extra, TAG_FIELDS));
                let (time, sequence) = (time.0, self.sequence);
                self.link((container, ty, key), LinkEnd { is_start: true, unit, time, sequence, bytes, tag, value })?;
            }
            PajeEvent::EndLink { time, container, ty, value, end, key, .. } => {
                let unit = self.unit(end, time)?;
                self.sequence += 1;
                let (time, sequence, bytes, tag) = (time.0, self.sequence, 0, None);
                self.link((container, ty, key), LinkEnd { is_start: false, unit, time, sequence, bytes, tag, value })?;
            }
        }
        Ok(())
    }

    fn finish(&mut self, end: GlobalNanos) -> io::Result<()> {
        self.end_states(end)?;
        self.omitted_entities += self.links.values().map(|ends| ends.len() as u64).sum::<u64>();
        self.write_all(end)
    }
}
