//! Converts the words of a line to a Pajé operation.

use std::io;

use super::event_definitions::{EventDefinition, FieldRole, PajeEventKind};
use super::faults::{FaultKind, FaultList};
use super::number::{self, ParsedNumber};
use super::pj_dump_compat;
use super::symbols::{OpenKeys, PajeContainers, PajeTypes, SymbolMatch, UsedValue, ValueDeclaration};
use super::tokenizer::LineWords;
use crate::time::GlobalNanos;
use crate::{
    ContainerId, DrawStyle, ExtraField, ExtraValue, PajeEvent, PajeSink, PajeTypeKind, SourcePosition, TypeId, ValueId,
    VariableOp,
};

/// The root's identifier.
const ROOT: &str = "0";
/// Nanoseconds. Few traces with decimal seconds are longer. Many traces with decimal milliseconds
/// appear longer if they are read as seconds.
const LONG_IF_DECIMAL: i64 = 3_600_000_000_000;
/// The limit if all timestamps are whole numbers: 10⁶ s, which is more than eleven days. Schedules
/// and simulations often last some hours in whole seconds.
const LONG_IF_WHOLE: i64 = 1_000_000_000_000_000;
const SECOND: i64 = 1_000_000_000;
/// Nanoseconds of the sixth decimal of a second. A timestamp in milliseconds with more decimals
/// would be finer than a nanosecond, and no clock has this resolution. Such timestamps are
/// therefore seconds.
const FINEST_OF_MILLIS: i64 = 1_000;

/// The state of reading a trace.
#[derive(Debug)]
pub(super) struct ReadState {
    pub(super) types: PajeTypes,
    pub(super) containers: PajeContainers,
    keys: OpenKeys,
    pub(super) faults: FaultList,
    /// The maximum timestamp.
    pub(super) end: Option<i64>,
    /// The first timestamp. `is_long` is set if a later timestamp is so far after it that this is
    /// reported.
    first: Option<i64>,
    pub(super) is_long: bool,
    /// Whether a timestamp has more decimals than milliseconds have.
    is_fine: bool,
    /// Whether a timestamp is not a whole number of seconds.
    has_decimals: bool,
    /// The number of the last line of an event.
    pub(super) last_line: u64,
    /// The number of the last line with a timestamp.
    pub(super) last_timestamp_line: u64,
    pub(super) sent_count: u64,
    /// Number of decimals by which the unit of timestamps is finer than seconds.
    pub(super) missing_decimals: u8,
    /// Whether numbers are read like `pj_dump`.
    pub(super) as_pj_dump: bool,
    /// The timestamp of the last line in this mode.
    pub(super) last: i64,
    /// The files that the current line names as parts of the trace.
    pub(super) part_names: Vec<String>,
    /// Empty between lines. Its memory is reused for each line.
    extras: Vec<ExtraField<'static>>,
}

impl Default for ReadState {
    fn default() -> Self {
        Self {
            types: PajeTypes::default(),
            containers: PajeContainers::default(),
            keys: OpenKeys::default(),
            faults: FaultList::default(),
            end: None,
            first: None,
            is_long: false,
            is_fine: false,
            has_decimals: false,
            last_line: 0,
            last_timestamp_line: 0,
            sent_count: 0,
            missing_decimals: 0,
            as_pj_dump: false,
            // No timestamp is known.
            last: pj_dump_compat::timestamp_of_double(-1.0),
            part_names: Vec::new(),
            extras: Vec::new(),
        }
    }
}

/// A line of the file with its definition.
#[derive(Clone, Copy)]
pub(super) struct DefinedLine<'a> {
    pub(super) definition: &'a EventDefinition,
    pub(super) words: &'a LineWords,
    pub(super) text: &'a str,
    pub(super) line: u64,
}

impl<'a> DefinedLine<'a> {
    #[inline]
    pub(super) fn get(&self, role: FieldRole) -> Option<&'a str> {
        self.words.get(self.text, self.definition.word(role)?)
    }

    /// The word of a role that the definition has.
    fn word(&self, role: FieldRole) -> &'a str {
        self.get(role).unwrap_or("")
    }

    /// The alias, or the name if there is no alias.
    fn identifier(&self) -> &'a str {
        self.get(FieldRole::Alias).filter(|alias| !alias.is_empty()).unwrap_or_else(|| self.word(FieldRole::Name))
    }

    /// The file that the line names as a part of the trace.
    pub(super) fn part(&self) -> Option<&'a str> {
        self.get(FieldRole::Part).map(str::trim).filter(|name| !matches!(*name, "" | "''" | "\""))
    }

    fn source(&self) -> Option<SourcePosition<'a>> {
        let file = self.get(FieldRole::File).filter(|file| !file.is_empty())?;
        Some(SourcePosition { file, line: self.get(FieldRole::Line).and_then(|line| line.parse().ok()).unwrap_or(0) })
    }
}

/// `None` if the line has a fault, which is already counted.
pub(super) type LineResult<T> = Option<T>;

impl ReadState {
    pub(super) fn remember_keys(&mut self) {
        self.keys.detect_reuse();
    }

    /// Processes a line. Counts its faults, and returns only errors of the sink.
    pub(super) fn line(&mut self, input: DefinedLine<'_>, sink: &mut dyn PajeSink) -> io::Result<()> {
        self.last_line = input.line;
        sink.at_line(input.line);
        // In `pj_dump`, a line without a timestamp sets it to 0.
        self.last = 0;
        let result = match input.definition.kind {
            PajeEventKind::Idle => return Ok(()),
            PajeEventKind::DefineContainerType => self.define_type(&input, PajeTypeKind::Container, sink),
            PajeEventKind::DefineStateType => self.define_type(&input, PajeTypeKind::State, sink),
            PajeEventKind::DefineEventType => self.define_type(&input, PajeTypeKind::Event, sink),
            PajeEventKind::DefineVariableType => self.define_type(&input, PajeTypeKind::Variable, sink),
            PajeEventKind::DefineLinkType => self.define_link_type(&input, sink),
            PajeEventKind::DefineEntityValue => self.define_value(&input, sink),
            PajeEventKind::CreateContainer => self.create(&input, sink),
            PajeEventKind::DestroyContainer => self.destroy(&input, sink),
            PajeEventKind::SetVariable => self.variable(&input, VariableOp::Set, sink),
            PajeEventKind::AddVariable => self.variable(&input, VariableOp::Add, sink),
            PajeEventKind::SubVariable => self.variable(&input, VariableOp::Subtract, sink),
            PajeEventKind::PopState | PajeEventKind::ResetState => self.end_state(&input, sink),
            PajeEventKind::SetState
            | PajeEventKind::PushState
            | PajeEventKind::NewEvent
            | PajeEventKind::StartLink
            | PajeEventKind::EndLink => self.entity(&input, sink),
        };
        result.unwrap_or(Ok(()))
    }

    fn send(&mut self, sink: &mut dyn PajeSink, event: &PajeEvent<'_>) -> LineResult<io::Result<()>> {
        self.sent_count += 1;
        Some(sink.event(event))
    }

    /// Warns of a line in a container that an earlier line destroyed, because `pj_dump` ignores
    /// such lines.
    fn note_late(&mut self, input: &DefinedLine<'_>, container: ContainerId) {
        if !self.as_pj_dump && self.containers.is_destroyed(container) {
            self.faults.count(FaultKind::EarlyEnd, input.line, input.word(FieldRole::Container));
        }
    }

    pub(super) fn fault<T>(&mut self, kind: FaultKind, input: &DefinedLine<'_>, excerpt: &str) -> LineResult<T> {
        self.faults.count(kind, input.line, excerpt);
        None
    }

    /// Whether the trace is so long that its timestamps seem not to be in seconds. Notes how fine
    /// the timestamps are.
    fn looks_long(&mut self, time: i64, first: i64) -> bool {
        if time % FINEST_OF_MILLIS != 0 {
            self.is_fine = true;
            return false;
        }
        self.has_decimals |= time % SECOND != 0;
        let long = if self.has_decimals { LONG_IF_DECIMAL } else { LONG_IF_WHOLE };
        time.saturating_sub(first) > long
    }

    fn time(&mut self, input: &DefinedLine<'_>) -> LineResult<GlobalNanos> {
        let word = input.word(FieldRole::Time);
        let timestamp =
            if self.as_pj_dump { self.peer_timestamp(input, word) } else { number::nanos(word, self.missing_decimals) };
        let Some(timestamp) = timestamp else { return self.fault(FaultKind::Timestamp, input, word) };
        if timestamp.comma {
            self.faults.count(FaultKind::Comma, input.line, word);
        }
        if timestamp.value < 0 {
            self.faults.count(FaultKind::NegativeTimestamp, input.line, word);
        }
        self.last_timestamp_line = input.line;
        self.last = timestamp.value;
        let first = *self.first.get_or_insert(timestamp.value);
        // In the mode of `pj_dump`, timestamps are not nanoseconds.
        let may_be_others = self.missing_decimals == 0 && !self.as_pj_dump;
        if may_be_others && !self.is_long && !self.is_fine && self.looks_long(timestamp.value, first) {
            self.is_long = true;
            self.faults.count(FaultKind::LongTime, input.line, word);
        }
        if self.end.is_some_and(|end| timestamp.value < end) {
            self.faults.count(FaultKind::Disorder, input.line, word);
        } else {
            self.end = Some(timestamp.value);
        }
        Some(GlobalNanos(timestamp.value))
    }

    /// The timestamp that `pj_dump` reads at the start of a word.
    fn peer_timestamp(&mut self, input: &DefinedLine<'_>, word: &str) -> Option<ParsedNumber<i64>> {
        let (seconds, length) = pj_dump_compat::timestamp(word, self.missing_decimals)?;
        let comma = word[length..].starts_with(',');
        if length < word.len() && !comma {
            self.faults.count(FaultKind::Timestamp, input.line, word);
        }
        Some(ParsedNumber { value: pj_dump_compat::timestamp_of_double(seconds), comma })
    }

    fn find_type(
        &mut self,
        input: &DefinedLine<'_>,
        role: FieldRole,
        fits: fn(PajeTypeKind) -> bool,
    ) -> LineResult<TypeId> {
        let word = input.word(role);
        let Some(SymbolMatch { thing: ty, by_id }) = self.types.find(word) else {
            return self.fault(FaultKind::UnknownType, input, word);
        };
        if !fits(self.types.kind(ty)) {
            return self.fault(FaultKind::WrongKind, input, word);
        }
        if !by_id {
            self.faults.count(FaultKind::ByName, input.line, word);
        }
        Some(ty)
    }

    fn find_container(&mut self, input: &DefinedLine<'_>, role: FieldRole) -> LineResult<ContainerId> {
        let word = input.word(role);
        let Some(SymbolMatch { thing: container, by_id }) = self.containers.find(word) else {
            let is_ambiguous = self.containers.is_ambiguous(word);
            let kind = if is_ambiguous { FaultKind::AmbiguousContainer } else { FaultKind::UnknownContainer };
            return self.fault(kind, input, word);
        };
        if !by_id {
            self.faults.count(FaultKind::ByName, input.line, word);
        }
        Some(container)
    }

    fn define_type(
        &mut self,
        input: &DefinedLine<'_>,
        kind: PajeTypeKind,
        sink: &mut dyn PajeSink,
    ) -> LineResult<io::Result<()>> {
        let parent = self.find_type(input, FieldRole::Type, |kind| kind == PajeTypeKind::Container)?;
        let (id, name) = (input.identifier(), input.word(FieldRole::Name));
        let (color, style) = (self.color(input), self.read_style(input));
        let Some(ty) = self.types.add(id, name, kind) else { return self.fault(FaultKind::TypeTwice, input, id) };
        if id == ROOT || (name == ROOT && kind == PajeTypeKind::Container) {
            self.faults.count(FaultKind::ZeroTaken, input.line, name);
        }
        self.send(sink, &PajeEvent::DefineType { ty, kind, parent, name, color, style })
    }

    fn define_link_type(&mut self, input: &DefinedLine<'_>, sink: &mut dyn PajeSink) -> LineResult<io::Result<()>> {
        let start = self.find_type(input, FieldRole::StartType, |kind| kind == PajeTypeKind::Container)?;
        let end = self.find_type(input, FieldRole::EndType, |kind| kind == PajeTypeKind::Container)?;
        self.define_type(input, PajeTypeKind::Link { start, end }, sink)
    }

    fn define_value(&mut self, input: &DefinedLine<'_>, sink: &mut dyn PajeSink) -> LineResult<io::Result<()>> {
        let ty = self.find_type(input, FieldRole::Type, has_values)?;
        let (id, name) = (input.identifier(), input.word(FieldRole::Name));
        let (color, style, category) = (self.color(input), self.read_style(input), self.read_category(input));
        let value = match self.types.declare(ty, id, name) {
            ValueDeclaration::New(value) => value,
            ValueDeclaration::Late(value) => {
                self.faults.count(FaultKind::LateValue, input.line, id);
                value
            }
            ValueDeclaration::Again => return self.fault(FaultKind::DuplicateValue, input, id),
        };
        self.send(sink, &PajeEvent::DefineValue { value, ty, name, color, style, category })
    }

    fn create(&mut self, input: &DefinedLine<'_>, sink: &mut dyn PajeSink) -> LineResult<io::Result<()>> {
        if let Some(name) = input.part() {
            self.part_names.push(name.to_owned());
        }
        let time = self.time(input)?;
        let ty = self.find_type(input, FieldRole::Type, |kind| kind == PajeTypeKind::Container)?;
        let parent = self.find_container(input, FieldRole::Container)?;
        let (id, name) = (input.identifier(), input.word(FieldRole::Name));
        if ty == TypeId::ROOT {
            return self.fault(FaultKind::Root, input, id);
        }
        let Some((container, is_duplicate)) = self.containers.create(id, name, (ty, parent)) else {
            return self.fault(FaultKind::ContainerTwice, input, id);
        };
        if id == ROOT {
            self.faults.count(FaultKind::ZeroTaken, input.line, name);
        }
        if is_duplicate {
            self.faults.count(FaultKind::ReusedId, input.line, id);
        }
        let extras = self.extras(input);
        let result = self.send(sink, &PajeEvent::CreateContainer { time, container, ty, parent, name, extra: &extras });
        self.extras = recycle_list(extras);
        result
    }

    fn destroy(&mut self, input: &DefinedLine<'_>, sink: &mut dyn PajeSink) -> LineResult<io::Result<()>> {
        let time = self.time(input)?;
        let container = self.find_container(input, FieldRole::Name)?;
        if container == ContainerId::ROOT {
            return self.fault(FaultKind::RootEnd, input, input.word(FieldRole::Name));
        }
        if let Some(word) = input.get(FieldRole::Type) {
            match self.types.find(word) {
                Some(SymbolMatch { thing, by_id: true }) if thing == self.containers.type_of(container) => {}
                Some(SymbolMatch { thing, .. }) if thing == self.containers.type_of(container) => {
                    self.faults.count(FaultKind::ByName, input.line, word);
                }
                _ => self.faults.count(FaultKind::OtherType, input.line, word),
            }
        }
        self.containers.destroy(container);
        self.send(sink, &PajeEvent::DestroyContainer { time, container })
    }

    fn variable(
        &mut self,
        input: &DefinedLine<'_>,
        op: VariableOp,
        sink: &mut dyn PajeSink,
    ) -> LineResult<io::Result<()>> {
        let time = self.time(input)?;
        let ty = self.find_type(input, FieldRole::Type, |kind| kind == PajeTypeKind::Variable)?;
        let container = self.find_container(input, FieldRole::Container)?;
        self.note_late(input, container);
        let word = input.word(FieldRole::Value);
        let value = number::float(word);
        match value {
            None => self.faults.count(FaultKind::Value, input.line, word),
            Some(value) if value.comma => self.faults.count(FaultKind::Comma, input.line, word),
            Some(_) => {}
        }
        let value = if self.as_pj_dump { pj_dump_compat::value(word) } else { value?.value };
        self.send(sink, &PajeEvent::Variable { time, container, ty, op, value })
    }

    fn end_state(&mut self, input: &DefinedLine<'_>, sink: &mut dyn PajeSink) -> LineResult<io::Result<()>> {
        let time = self.time(input)?;
        let ty = self.find_type(input, FieldRole::Type, |kind| kind == PajeTypeKind::State)?;
        let container = self.find_container(input, FieldRole::Container)?;
        self.note_late(input, container);
        let event = if input.definition.kind == PajeEventKind::PopState {
            PajeEvent::PopState { time, container, ty }
        } else {
            self.faults.count(FaultKind::Reset, input.line, input.word(FieldRole::Container));
            PajeEvent::ResetState { time, container, ty }
        };
        self.send(sink, &event)
    }

    /// The value of an entity. A value without a declaration is defined now.
    fn value(&mut self, input: &DefinedLine<'_>, ty: TypeId, sink: &mut dyn PajeSink) -> io::Result<ValueId> {
        let name = input.word(FieldRole::Value);
        let UsedValue { value, is_new } = self.types.value(ty, name);
        if is_new {
            self.sent_count += 1;
            sink.event(&PajeEvent::DefineValue {
                value,
                ty,
                name,
                color: None,
                style: DrawStyle::NONE,
                category: None,
            })?;
        }
        Ok(value)
    }

    fn entity(&mut self, input: &DefinedLine<'_>, sink: &mut dyn PajeSink) -> LineResult<io::Result<()>> {
        let kind = input.definition.kind;
        let time = self.time(input)?;
        let fits: fn(PajeTypeKind) -> bool = match kind {
            PajeEventKind::NewEvent => |kind| kind == PajeTypeKind::Event,
            PajeEventKind::StartLink | PajeEventKind::EndLink => |kind| matches!(kind, PajeTypeKind::Link { .. }),
            _ => |kind| kind == PajeTypeKind::State,
        };
        let ty = self.find_type(input, FieldRole::Type, fits)?;
        let container = self.find_container(input, FieldRole::Container)?;
        self.note_late(input, container);
        let other = match kind {
            PajeEventKind::StartLink => self.find_container(input, FieldRole::StartContainer)?,
            PajeEventKind::EndLink => self.find_container(input, FieldRole::EndContainer)?,
            _ => container,
        };
        let value = match self.value(input, ty, sink) {
            Ok(value) => value,
            Err(error) => return Some(Err(error)),
        };
        let extras = self.extras(input);
        let (extra, source) = (extras.as_slice(), input.source());
        let event = match kind {
            PajeEventKind::SetState => PajeEvent::SetState { time, container, ty, value, extra, source },
            PajeEventKind::PushState => PajeEvent::PushState { time, container, ty, value, extra, source },
            PajeEventKind::NewEvent => PajeEvent::NewEvent { time, container, ty, value, extra, source },
            _ => {
                let text = input.word(FieldRole::Key);
                let is_stillborn = [container, other].iter().any(|id| self.containers.is_stillborn(*id));
                let found = match is_stillborn {
                    true => Ok((self.keys.unpaired_key(), false)),
                    false => self.keys.find(container, ty, text, kind == PajeEventKind::StartLink),
                };
                let (key, new) = match found {
                    Ok(container) => container,
                    Err(error) => return Some(Err(error)),
                };
                if new && self.keys.is_again() {
                    self.faults.count(FaultKind::ReusedKey, input.line, text);
                }
                if new && let Err(error) = sink.name_key(key, text) {
                    return Some(Err(error));
                }
                if kind == PajeEventKind::StartLink {
                    PajeEvent::StartLink { time, container, ty, value, start: other, key, extra, source }
                } else {
                    PajeEvent::EndLink { time, container, ty, value, end: other, key, extra, source }
                }
            }
        };
        let result = self.send(sink, &event);
        self.extras = recycle_list(extras);
        result
    }

    /// The non-empty user fields. Return the list with [`recycle_list`].
    fn extras<'a>(&mut self, input: &DefinedLine<'a>) -> Vec<ExtraField<'a>> {
        let mut extras: Vec<ExtraField<'a>> = recycle_list(std::mem::take(&mut self.extras));
        for field in &input.definition.user {
            let Some(text) = input.words.get(input.text, field.word).filter(|text| !text.is_empty()) else { continue };
            let related = field.relation.as_deref().and_then(|name| Some((name, self.containers.find_id(text)?)));
            extras.push(match related {
                Some((name, container)) => ExtraField { name, value: ExtraValue::Container(container) },
                None => ExtraField { name: &field.name, value: ExtraValue::Text(text) },
            });
        }
        extras
    }
}

fn has_values(kind: PajeTypeKind) -> bool {
    matches!(kind, PajeTypeKind::State | PajeTypeKind::Event | PajeTypeKind::Link { .. })
}

/// An empty list with another lifetime, in the memory of `list`. A vector that is collected from
/// its own iterator keeps its allocation.
fn recycle_list<'b>(mut list: Vec<ExtraField<'_>>) -> Vec<ExtraField<'b>> {
    list.clear();
    list.into_iter().map_while(|_| None).collect()
}
