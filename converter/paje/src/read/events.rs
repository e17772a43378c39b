//! From the words of a line to a Pajé operation.

use std::io;

use super::definitions::{Definition, Kind, Role};
use super::faults::{FaultKind, Faults};
use super::number::{self, Number};
use super::pj_dump_compat;
use super::symbols::{Containers, Declared, Found, Keys, Types};
use super::tokenizer::Words;
use crate::time::GlobalNanos;
use crate::{
    Color, ContainerId, Extra, ExtraValue, Look, PajeEvent, Sink, Source, TypeId, TypeKind, ValueId, VariableOp,
};

/// The root's identifier.
const ROOT: &str = "0";
/// Nanoseconds. Few traces with decimal seconds are longer. Many traces with decimal milliseconds
/// appear longer if they are read as seconds.
const LONG_IF_DECIMAL: i64 = 3_600_000_000_000;
/// The same if all timestamps are whole numbers: 10⁶ s, which is more than eleven days. Schedules and
/// simulations often last some hours in whole seconds.
const LONG_IF_WHOLE: i64 = 1_000_000_000_000_000;
const SECOND: i64 = 1_000_000_000;
/// Nanoseconds of the sixth decimal of a second. A timestamp in milliseconds with more decimals would be finer than a
/// nanosecond, which no clock is: such timestamps are seconds.
const FINEST_OF_MILLIS: i64 = 1_000;

/// What is known of the file so far.
#[derive(Debug)]
pub(super) struct State {
    pub(super) types: Types,
    pub(super) containers: Containers,
    keys: Keys,
    pub(super) faults: Faults,
    /// The largest date.
    pub(super) end: Option<i64>,
    /// The first date, and whether another is so far behind it that it is told.
    first: Option<i64>,
    pub(super) is_long: bool,
    /// Whether a timestamp has more decimals than milliseconds have.
    is_fine: bool,
    /// Whether a timestamp is no whole number.
    has_decimals: bool,
    /// The last line of an event, and the last one with a date.
    pub(super) taken: u64,
    pub(super) dated: u64,
    /// Operations sent.
    pub(super) sent: u64,
    /// Decimals that the unit of dates has less than seconds have.
    pub(super) missing_decimals: u8,
    /// Whether numbers are read as `pj_dump` reads them,
    pub(super) as_pj_dump: bool,
    /// and then, the date of the last line as it has it.
    pub(super) last: i64,
    /// Files that the current line names as parts of the trace.
    pub(super) named: Vec<String>,
    /// Always empty between lines: lends its memory to each.
    extras: Vec<Extra<'static>>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            types: Types::default(),
            containers: Containers::default(),
            keys: Keys::default(),
            faults: Faults::default(),
            end: None,
            first: None,
            is_long: false,
            is_fine: false,
            has_decimals: false,
            taken: 0,
            dated: 0,
            sent: 0,
            missing_decimals: 0,
            as_pj_dump: false,
            // No date is known.
            last: pj_dump_compat::date_of_double(-1.0),
            named: Vec::new(),
            extras: Vec::new(),
        }
    }
}

/// A line of the file with its definition.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub(super) definition: &'a Definition,
    pub(super) words: &'a Words,
    pub(super) text: &'a str,
    pub(super) line: u64,
}

impl<'a> Input<'a> {
    #[inline]
    fn get(&self, role: Role) -> Option<&'a str> {
        self.words.get(self.text, self.definition.word(role)?)
    }

    /// For a role that the definition is known to have.
    fn word(&self, role: Role) -> &'a str {
        self.get(role).unwrap_or("")
    }

    /// Alias, else name.
    fn identifier(&self) -> &'a str {
        self.get(Role::Alias).filter(|alias| !alias.is_empty()).unwrap_or_else(|| self.word(Role::Name))
    }

    /// The file that the line names as a part of the trace.
    pub(super) fn part(&self) -> Option<&'a str> {
        self.get(Role::Part).map(str::trim).filter(|name| !matches!(*name, "" | "''" | "\""))
    }

    fn source(&self) -> Option<Source<'a>> {
        let file = self.get(Role::File).filter(|file| !file.is_empty())?;
        Some(Source { file, line: self.get(Role::Line).and_then(|line| line.parse().ok()).unwrap_or(0) })
    }
}

/// `None` when the line was at fault, which has been counted.
type Understood<T> = Option<T>;

impl State {
    pub(super) fn remember_keys(&mut self) {
        self.keys.remember();
    }

    /// Takes a line. What is wrong with it is counted; only the sink's errors come out.
    pub(super) fn line(&mut self, input: Input<'_>, sink: &mut dyn Sink) -> io::Result<()> {
        self.taken = input.line;
        sink.at_line(input.line);
        // A line without a date sets it to 0 there.
        self.last = 0;
        let result = match input.definition.kind {
            Kind::Idle => return Ok(()),
            Kind::DefineContainerType => self.define_type(&input, TypeKind::Container, sink),
            Kind::DefineStateType => self.define_type(&input, TypeKind::State, sink),
            Kind::DefineEventType => self.define_type(&input, TypeKind::Event, sink),
            Kind::DefineVariableType => self.define_type(&input, TypeKind::Variable, sink),
            Kind::DefineLinkType => self.define_link_type(&input, sink),
            Kind::DefineEntityValue => self.define_value(&input, sink),
            Kind::CreateContainer => self.create(&input, sink),
            Kind::DestroyContainer => self.destroy(&input, sink),
            Kind::SetVariable => self.variable(&input, VariableOp::Set, sink),
            Kind::AddVariable => self.variable(&input, VariableOp::Add, sink),
            Kind::SubVariable => self.variable(&input, VariableOp::Subtract, sink),
            Kind::PopState | Kind::ResetState => self.end_state(&input, sink),
            Kind::SetState | Kind::PushState | Kind::NewEvent | Kind::StartLink | Kind::EndLink => {
                self.entity(&input, sink)
            }
        };
        result.unwrap_or(Ok(()))
    }

    fn send(&mut self, sink: &mut dyn Sink, event: &PajeEvent<'_>) -> Understood<io::Result<()>> {
        self.sent += 1;
        Some(sink.event(event))
    }

    /// Warns of a line whose container an earlier line destroyed, because `pj_dump` ignores such
    /// lines.
    fn note_late(&mut self, input: &Input<'_>, container: ContainerId) {
        if !self.as_pj_dump && self.containers.is_destroyed(container) {
            self.faults.count(FaultKind::EarlyEnd, input.line, input.word(Role::Container));
        }
    }

    fn fault<T>(&mut self, kind: FaultKind, input: &Input<'_>, found: &str) -> Understood<T> {
        self.faults.count(kind, input.line, found);
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

    fn time(&mut self, input: &Input<'_>) -> Understood<GlobalNanos> {
        let word = input.word(Role::Time);
        let date =
            if self.as_pj_dump { self.peer_date(input, word) } else { number::nanos(word, self.missing_decimals) };
        let Some(date) = date else { return self.fault(FaultKind::Date, input, word) };
        if date.comma {
            self.faults.count(FaultKind::Comma, input.line, word);
        }
        if date.value < 0 {
            self.faults.count(FaultKind::Negative, input.line, word);
        }
        self.dated = input.line;
        self.last = date.value;
        let first = *self.first.get_or_insert(date.value);
        // As `pj_dump` has them, dates are no nanoseconds.
        let may_be_others = self.missing_decimals == 0 && !self.as_pj_dump;
        if may_be_others && !self.is_long && !self.is_fine && self.looks_long(date.value, first) {
            self.is_long = true;
            self.faults.count(FaultKind::LongTime, input.line, word);
        }
        if self.end.is_some_and(|end| date.value < end) {
            self.faults.count(FaultKind::Disorder, input.line, word);
        } else {
            self.end = Some(date.value);
        }
        Some(GlobalNanos(date.value))
    }

    /// The date that `pj_dump` finds at the beginning of a word.
    fn peer_date(&mut self, input: &Input<'_>, word: &str) -> Option<Number<i64>> {
        let (seconds, length) = pj_dump_compat::date(word, self.missing_decimals)?;
        let comma = word[length..].starts_with(',');
        if length < word.len() && !comma {
            self.faults.count(FaultKind::Date, input.line, word);
        }
        Some(Number { value: pj_dump_compat::date_of_double(seconds), comma })
    }

    fn find_type(&mut self, input: &Input<'_>, role: Role, fits: fn(TypeKind) -> bool) -> Understood<TypeId> {
        let word = input.word(role);
        let Some(Found { thing: ty, by_id }) = self.types.find(word) else {
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

    fn find_container(&mut self, input: &Input<'_>, role: Role) -> Understood<ContainerId> {
        let word = input.word(role);
        let Some(Found { thing: container, by_id }) = self.containers.find(word) else {
            let is_ambiguous = self.containers.is_ambiguous(word);
            let kind = if is_ambiguous { FaultKind::AmbiguousContainer } else { FaultKind::UnknownContainer };
            return self.fault(kind, input, word);
        };
        if !by_id {
            self.faults.count(FaultKind::ByName, input.line, word);
        }
        Some(container)
    }

    fn color(&mut self, input: &Input<'_>) -> Option<Color> {
        let word = input.get(Role::Color)?;
        let Ok(color) = number::color(word) else { return self.fault(FaultKind::Color, input, word) };
        let (color, is_wide) = color?;
        if is_wide {
            self.faults.count(FaultKind::WideColor, input.line, word);
        }
        Some(color)
    }

    fn look(&mut self, input: &Input<'_>) -> Look {
        // One definition may serve values with and without: what says nothing is blank.
        let word = |role| input.get(role).map(str::trim).filter(|word| !word.is_empty());
        let (shape, size) = (word(Role::Shape), word(Role::Size));
        let look = Look {
            shape: shape.and_then(|word| word.parse().ok()),
            size: size.and_then(number::float).and_then(|size| Look::checked_size(size.value)),
        };
        for word in [shape.filter(|_| look.shape.is_none()), size.filter(|_| look.size.is_none())].into_iter().flatten()
        {
            self.faults.count(FaultKind::Look, input.line, word);
        }
        look
    }

    fn define_type(&mut self, input: &Input<'_>, kind: TypeKind, sink: &mut dyn Sink) -> Understood<io::Result<()>> {
        let parent = self.find_type(input, Role::Type, |kind| kind == TypeKind::Container)?;
        let (id, name) = (input.identifier(), input.word(Role::Name));
        let (color, look) = (self.color(input), self.look(input));
        let Some(ty) = self.types.add(id, name, kind) else { return self.fault(FaultKind::TypeTwice, input, id) };
        if id == ROOT || (name == ROOT && kind == TypeKind::Container) {
            self.faults.count(FaultKind::ZeroTaken, input.line, name);
        }
        self.send(sink, &PajeEvent::DefineType { ty, kind, parent, name, color, look })
    }

    fn define_link_type(&mut self, input: &Input<'_>, sink: &mut dyn Sink) -> Understood<io::Result<()>> {
        let start = self.find_type(input, Role::StartType, |kind| kind == TypeKind::Container)?;
        let end = self.find_type(input, Role::EndType, |kind| kind == TypeKind::Container)?;
        self.define_type(input, TypeKind::Link { start, end }, sink)
    }

    fn define_value(&mut self, input: &Input<'_>, sink: &mut dyn Sink) -> Understood<io::Result<()>> {
        let ty = self.find_type(input, Role::Type, has_values)?;
        let (id, name) = (input.identifier(), input.word(Role::Name));
        let (color, look) = (self.color(input), self.look(input));
        let value = match self.types.declare(ty, id, name) {
            Declared::New(value) => value,
            Declared::Late(value) => {
                self.faults.count(FaultKind::LateValue, input.line, id);
                value
            }
            Declared::Again => return self.fault(FaultKind::ValueTwice, input, id),
        };
        self.send(sink, &PajeEvent::DefineValue { value, ty, name, color, look })
    }

    fn create(&mut self, input: &Input<'_>, sink: &mut dyn Sink) -> Understood<io::Result<()>> {
        if let Some(name) = input.part() {
            self.named.push(name.to_owned());
        }
        let time = self.time(input)?;
        let ty = self.find_type(input, Role::Type, |kind| kind == TypeKind::Container)?;
        let parent = self.find_container(input, Role::Container)?;
        let (id, name) = (input.identifier(), input.word(Role::Name));
        if ty == TypeId::ROOT {
            return self.fault(FaultKind::Root, input, id);
        }
        let Some((container, again)) = self.containers.create(id, name, (ty, parent)) else {
            return self.fault(FaultKind::ContainerTwice, input, id);
        };
        if id == ROOT {
            self.faults.count(FaultKind::ZeroTaken, input.line, name);
        }
        if again {
            self.faults.count(FaultKind::IdAgain, input.line, id);
        }
        let extras = self.extras(input);
        let result = self.send(sink, &PajeEvent::CreateContainer { time, container, ty, parent, name, extra: &extras });
        self.extras = recycled(extras);
        result
    }

    fn destroy(&mut self, input: &Input<'_>, sink: &mut dyn Sink) -> Understood<io::Result<()>> {
        let time = self.time(input)?;
        let container = self.find_container(input, Role::Name)?;
        if container == ContainerId::ROOT {
            return self.fault(FaultKind::RootEnd, input, input.word(Role::Name));
        }
        if let Some(word) = input.get(Role::Type) {
            match self.types.find(word) {
                Some(Found { thing, by_id: true }) if thing == self.containers.type_of(container) => {}
                Some(Found { thing, .. }) if thing == self.containers.type_of(container) => {
                    self.faults.count(FaultKind::ByName, input.line, word);
                }
                _ => self.faults.count(FaultKind::OtherType, input.line, word),
            }
        }
        self.containers.destroy(container);
        self.send(sink, &PajeEvent::DestroyContainer { time, container })
    }

    fn variable(&mut self, input: &Input<'_>, op: VariableOp, sink: &mut dyn Sink) -> Understood<io::Result<()>> {
        let time = self.time(input)?;
        let ty = self.find_type(input, Role::Type, |kind| kind == TypeKind::Variable)?;
        let container = self.find_container(input, Role::Container)?;
        self.note_late(input, container);
        let word = input.word(Role::Value);
        let value = number::float(word);
        match value {
            None => self.faults.count(FaultKind::Value, input.line, word),
            Some(value) if value.comma => self.faults.count(FaultKind::Comma, input.line, word),
            Some(_) => {}
        }
        let value = if self.as_pj_dump { pj_dump_compat::value(word) } else { value?.value };
        self.send(sink, &PajeEvent::Variable { time, container, ty, op, value })
    }

    fn end_state(&mut self, input: &Input<'_>, sink: &mut dyn Sink) -> Understood<io::Result<()>> {
        let time = self.time(input)?;
        let ty = self.find_type(input, Role::Type, |kind| kind == TypeKind::State)?;
        let container = self.find_container(input, Role::Container)?;
        self.note_late(input, container);
        let event = if input.definition.kind == Kind::PopState {
            PajeEvent::PopState { time, container, ty }
        } else {
            self.faults.count(FaultKind::Reset, input.line, input.word(Role::Container));
            PajeEvent::ResetState { time, container, ty }
        };
        self.send(sink, &event)
    }

    /// The value of an entity. One that was not declared is defined now.
    fn value(&mut self, input: &Input<'_>, ty: TypeId, sink: &mut dyn Sink) -> io::Result<ValueId> {
        let name = input.word(Role::Value);
        let (value, new) = self.types.value(ty, name);
        if new {
            self.sent += 1;
            sink.event(&PajeEvent::DefineValue { value, ty, name, color: None, look: Look::NONE })?;
        }
        Ok(value)
    }

    fn entity(&mut self, input: &Input<'_>, sink: &mut dyn Sink) -> Understood<io::Result<()>> {
        let kind = input.definition.kind;
        let time = self.time(input)?;
        let fits: fn(TypeKind) -> bool = match kind {
            Kind::NewEvent => |kind| kind == TypeKind::Event,
            Kind::StartLink | Kind::EndLink => |kind| matches!(kind, TypeKind::Link { .. }),
            _ => |kind| kind == TypeKind::State,
        };
        let ty = self.find_type(input, Role::Type, fits)?;
        let container = self.find_container(input, Role::Container)?;
        self.note_late(input, container);
        let other = match kind {
            Kind::StartLink => self.find_container(input, Role::StartContainer)?,
            Kind::EndLink => self.find_container(input, Role::EndContainer)?,
            _ => container,
        };
        let value = match self.value(input, ty, sink) {
            Ok(value) => value,
            Err(error) => return Some(Err(error)),
        };
        let extras = self.extras(input);
        let (extra, source) = (extras.as_slice(), input.source());
        let event = match kind {
            Kind::SetState => PajeEvent::SetState { time, container, ty, value, extra, source },
            Kind::PushState => PajeEvent::PushState { time, container, ty, value, extra, source },
            Kind::NewEvent => PajeEvent::NewEvent { time, container, ty, value, extra, source },
            _ => {
                let text = input.word(Role::Key);
                let is_lost = [container, other].iter().any(|one| self.containers.is_stillborn(*one));
                let found = match is_lost {
                    true => Ok((self.keys.alone(), false)),
                    false => self.keys.find(container, ty, text, kind == Kind::StartLink),
                };
                let (key, new) = match found {
                    Ok(found) => found,
                    Err(error) => return Some(Err(error)),
                };
                if new && self.keys.is_again() {
                    self.faults.count(FaultKind::KeyAgain, input.line, text);
                }
                if new && let Err(error) = sink.name_key(key, text) {
                    return Some(Err(error));
                }
                if kind == Kind::StartLink {
                    PajeEvent::StartLink { time, container, ty, value, start: other, key, extra, source }
                } else {
                    PajeEvent::EndLink { time, container, ty, value, end: other, key, extra, source }
                }
            }
        };
        let result = self.send(sink, &event);
        self.extras = recycled(extras);
        result
    }

    /// The user fields that have something in them. Give the list back with [`recycled`].
    fn extras<'a>(&mut self, input: &Input<'a>) -> Vec<Extra<'a>> {
        let mut extras: Vec<Extra<'a>> = recycled(std::mem::take(&mut self.extras));
        for field in &input.definition.user {
            let Some(text) = input.words.get(input.text, field.word).filter(|text| !text.is_empty()) else { continue };
            let related = field.relation.as_deref().and_then(|name| Some((name, self.containers.find_id(text)?)));
            extras.push(match related {
                Some((name, container)) => Extra { name, value: ExtraValue::Container(container) },
                None => Extra { name: &field.name, value: ExtraValue::Text(text) },
            });
        }
        extras
    }
}

fn has_values(kind: TypeKind) -> bool {
    matches!(kind, TypeKind::State | TypeKind::Event | TypeKind::Link { .. })
}

/// An empty list for another lifetime, in the memory of this one: collecting a vector's own iterator reuses its allocation.
fn recycled<'b>(mut list: Vec<Extra<'_>>) -> Vec<Extra<'b>> {
    list.clear();
    list.into_iter().map_while(|_| None).collect()
}
