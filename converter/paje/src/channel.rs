//! Pajé operations on their way from one thread to another: copied into batches by who makes them, sent to a sink by who
//! takes them, so that rules and text (or simulation) are worked on at once. What the sink sees is the same with and without.

pub(crate) mod packed_event;
#[cfg(test)]
mod tests;

use std::io;
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use smallvec::SmallVec;

use super::time::GlobalNanos;
use super::{
    Color, ContainerId, Extra, ExtraValue, FieldKind, KeyId, Look, Operation, PajeEvent, PlainEvent, PlainKind, Shape,
    Sink, Source, TypeId, TypeKind, ValueId, VariableOp,
};
use packed_event::{Packed, Unpacked};

/// How many operations go together, at most.
const BATCH_EVENTS: usize = 2048;
/// How many bytes of text with them: few operations with long texts fill a batch, too.
const BATCH_BYTES: usize = 1 << 17;
/// How many batches are under way.
const BATCHES: usize = 4;

/// The side that makes operations.
#[derive(Debug)]
pub struct Sender {
    batch: Batch,
    full: SyncSender<Batch>,
    emptied: Receiver<Batch>,
}

/// The side that sends them to a sink.
#[derive(Debug)]
pub struct Taker {
    filled: Receiver<Batch>,
    empty: SyncSender<Batch>,
}

/// Both sides.
pub fn relay() -> (Sender, Taker) {
    let (full, filled) = sync_channel(BATCHES);
    let (empty, emptied) = sync_channel(BATCHES + 1);
    (Sender { batch: Batch::default(), full, emptied }, Taker { filled, empty })
}

impl Taker {
    /// Sends all operations to `sink`, until there are no more or it fails; then the other side learns it when it sends.
    ///
    /// # Errors
    /// The sink's.
    pub fn run(self, sink: &mut dyn Sink) -> io::Result<()> {
        let Self { filled, empty } = self;
        for mut batch in filled {
            batch.send(sink)?;
            batch.clear();
            // The other side may be done.
            let _ = empty.try_send(batch);
        }
        Ok(())
    }
}

impl Sender {
    #[cold]
    fn pass_on(&mut self) -> io::Result<()> {
        let next = self.emptied.try_recv().unwrap_or_default();
        let full = std::mem::replace(&mut self.batch, next);
        // The sink has failed: its own error is what counts.
        self.full.send(full).map_err(|_unsent| io::ErrorKind::BrokenPipe.into())
    }

    fn pass_on_if_full(&mut self) -> io::Result<()> {
        let is_full = self.batch.events.len() >= BATCH_EVENTS || self.batch.text.len() >= BATCH_BYTES;
        if is_full { self.pass_on() } else { Ok(()) }
    }

    fn take_rest(&mut self, rest: Rest) -> io::Result<()> {
        self.batch.put_rest(rest);
        self.pass_on_if_full()
    }

    /// Takes a plain operation that needs more than a place among the others.
    #[cold]
    fn take_slowly(&mut self, event: PlainEvent) -> io::Result<()> {
        self.batch.put_plain(event);
        self.pass_on_if_full()
    }
}

impl Sink for Sender {
    fn event(&mut self, event: &PajeEvent<'_>) -> io::Result<()> {
        self.batch.put(event);
        self.pass_on_if_full()
    }

    #[inline]
    fn plain(&mut self, event: PlainEvent) -> io::Result<()> {
        let Batch { events, since, .. } = &mut self.batch;
        match Packed::plain(event, *since) {
            // The last one of a batch goes the other way, as do those for which there is no room yet.
            Some(packed) if events.len() < events.capacity() && events.len() < BATCH_EVENTS - 1 => {
                events.push(packed);
                Ok(())
            }
            _ => self.take_slowly(event),
        }
    }

    fn name_key(&mut self, key: KeyId, text: &str) -> io::Result<()> {
        let text = self.batch.text(text);
        self.take_rest(Rest::NameKey { key, text })
    }

    fn own_container(&mut self, container: ContainerId, process: u32, label: &str) -> io::Result<()> {
        let label = self.batch.text(label);
        self.take_rest(Rest::OwnContainer { container, process, label })
    }

    fn announce(&mut self, shape: &Shape<'_>) -> io::Result<()> {
        let fields = shape.fields.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect();
        let (operation, source) = (shape.operation, shape.source);
        self.take_rest(Rest::Announce(Box::new(Announced { operation, fields, source })))
    }

    fn drop_halves(&mut self) -> io::Result<()> {
        self.take_rest(Rest::DropHalves)
    }

    fn finish(&mut self, end: GlobalNanos) -> io::Result<()> {
        self.batch.put_rest(Rest::Finish(end));
        self.pass_on()
    }
}

/// Operations, and the texts and fields that they refer to.
#[derive(Debug, Default)]
struct Batch {
    events: Vec<Packed>,
    /// The date from which plain operations count theirs.
    since: i64,
    variables: Vec<Variable>,
    rest: Vec<Rest>,
    text: String,
    fields: Vec<Field>,
    /// Where in `text` the last file name is, and the last name of a field: they are those of most.
    file: Text,
    name: Text,
}

/// The fields of one operation.
type Extras<'a> = SmallVec<[Extra<'a>; 8]>;

/// A range of a batch's text.
#[derive(Clone, Copy, Debug, Default)]
struct Text {
    start: u32,
    end: u32,
}

/// A range of a batch's fields.
#[derive(Clone, Copy, Debug)]
struct Fields {
    start: u32,
    end: u32,
}

#[derive(Clone, Copy, Debug)]
struct Field {
    name: Text,
    value: Value,
}

#[derive(Clone, Copy, Debug)]
enum Value {
    Text(Text),
    Integer(i64),
    Float(f64),
    Container(ContainerId),
}

/// A source position, if it is known.
#[derive(Clone, Copy, Debug)]
struct Position {
    file: Text,
    line: u32,
    is_known: bool,
}

/// A shape that owns its names: there are few of them.
#[derive(Debug)]
struct Announced {
    operation: Operation,
    fields: Vec<(String, FieldKind)>,
    source: bool,
}

/// A variable's new value.
#[derive(Clone, Copy, Debug)]
struct Variable {
    op: VariableOp,
    container: ContainerId,
    time: GlobalNanos,
    ty: TypeId,
    value: f64,
}

/// Any other [`PajeEvent`], or another call of a sink, with ranges for what is borrowed.
#[derive(Debug)]
enum Rest {
    DefineType {
        ty: TypeId,
        kind: TypeKind,
        parent: TypeId,
        name: Text,
        color: Option<Color>,
        look: Look,
    },
    DefineValue {
        value: ValueId,
        ty: TypeId,
        name: Text,
        color: Option<Color>,
        look: Look,
    },
    CreateContainer {
        time: GlobalNanos,
        container: ContainerId,
        ty: TypeId,
        parent: ContainerId,
        name: Text,
        extra: Fields,
    },
    DestroyContainer {
        time: GlobalNanos,
        container: ContainerId,
    },
    /// Plain ones from here on count from this date.
    Since(i64),
    /// A plain one that cannot be packed.
    Plain(PlainEvent),
    Valued {
        what: Valued,
        main: Main,
        extra: Fields,
        source: Position,
    },
    Link {
        is_start: bool,
        main: Main,
        end: ContainerId,
        key: KeyId,
        extra: Fields,
        source: Position,
    },
    NameKey {
        key: KeyId,
        text: Text,
    },
    OwnContainer {
        container: ContainerId,
        process: u32,
        label: Text,
    },
    Announce(Box<Announced>),
    DropHalves,
    Finish(GlobalNanos),
}

#[derive(Clone, Copy, Debug)]
enum Valued {
    Set,
    Push,
    Event,
}

/// What most operations have.
#[derive(Clone, Copy, Debug)]
struct Main {
    time: GlobalNanos,
    container: ContainerId,
    ty: TypeId,
    value: ValueId,
}

impl Batch {
    fn clear(&mut self) {
        self.events.clear();
        self.variables.clear();
        self.rest.clear();
        self.text.clear();
        self.fields.clear();
        (self.file, self.name) = (Text::default(), Text::default());
        self.since = 0;
    }

    fn text(&mut self, text: &str) -> Text {
        let start = short(self.text.len());
        self.text.push_str(text);
        Text { start, end: short(self.text.len()) }
    }

    #[inline]
    fn fields(&mut self, extra: &[Extra<'_>]) -> Fields {
        if extra.is_empty() { Fields { start: 0, end: 0 } } else { self.some_fields(extra) }
    }

    fn some_fields(&mut self, extra: &[Extra<'_>]) -> Fields {
        let start = short(self.fields.len());
        for field in extra {
            if self.text.get(self.name.range()) != Some(field.name) {
                self.name = self.text(field.name);
            }
            let name = self.name;
            let value = match field.value {
                ExtraValue::Text(text) => Value::Text(self.text(text)),
                ExtraValue::Integer(value) => Value::Integer(value),
                ExtraValue::Float(value) => Value::Float(value),
                ExtraValue::Container(container) => Value::Container(container),
            };
            self.fields.push(Field { name, value });
        }
        Fields { start, end: short(self.fields.len()) }
    }

    fn position(&mut self, source: Option<Source<'_>>) -> Position {
        let Some(Source { file, line }) = source else {
            return Position { file: Text::default(), line: 0, is_known: false };
        };
        if self.text.get(self.file.range()) != Some(file) {
            self.file = self.text(file);
        }
        Position { file: self.file, line, is_known: true }
    }

    fn put_valued(&mut self, what: Valued, main: Main, extra: &[Extra<'_>], source: Option<Source<'_>>) {
        if extra.is_empty() && source.is_none() {
            let Main { time, container, ty, value } = main;
            return self.put_plain(PlainEvent { kind: what.kind(), time, container, ty, value });
        }
        let rest = Rest::Valued { what, main, extra: self.fields(extra), source: self.position(source) };
        self.put_rest(rest);
    }

    fn put_plain(&mut self, event: PlainEvent) {
        if Packed::plain(event, self.since).is_none() {
            self.since = event.time.0;
            self.put_rest(Rest::Since(self.since));
        }
        match Packed::plain(event, self.since) {
            Some(packed) => self.events.push(packed),
            None => self.put_rest(Rest::Plain(event)),
        }
    }

    fn put_rest(&mut self, rest: Rest) {
        self.events.push(Packed::rest(self.rest.len()));
        self.rest.push(rest);
    }

    fn put(&mut self, event: &PajeEvent<'_>) {
        const NONE: ValueId = ValueId(0);
        match *event {
            PajeEvent::PushState { time, container, ty, value, extra, source } => {
                self.put_valued(Valued::Push, Main { time, container, ty, value }, extra, source);
            }
            PajeEvent::PopState { time, container, ty } => {
                self.put_plain(PlainEvent { kind: PlainKind::PopState, time, container, ty, value: NONE });
            }
            PajeEvent::SetState { time, container, ty, value, extra, source } => {
                self.put_valued(Valued::Set, Main { time, container, ty, value }, extra, source);
            }
            PajeEvent::ResetState { time, container, ty } => {
                self.put_plain(PlainEvent { kind: PlainKind::ResetState, time, container, ty, value: NONE });
            }
            PajeEvent::Variable { time, container, ty, op, value } => {
                self.events.push(Packed::variable(self.variables.len()));
                self.variables.push(Variable { op, container, time, ty, value });
            }
            PajeEvent::NewEvent { time, container, ty, value, extra, source } => {
                self.put_valued(Valued::Event, Main { time, container, ty, value }, extra, source);
            }
            PajeEvent::DefineType { ty, kind, parent, name, color, look } => {
                let name = self.text(name);
                self.put_rest(Rest::DefineType { ty, kind, parent, name, color, look });
            }
            PajeEvent::DefineValue { value, ty, name, color, look } => {
                let name = self.text(name);
                self.put_rest(Rest::DefineValue { value, ty, name, color, look });
            }
            PajeEvent::CreateContainer { time, container, ty, parent, name, extra } => {
                let (name, extra) = (self.text(name), self.fields(extra));
                self.put_rest(Rest::CreateContainer { time, container, ty, parent, name, extra });
            }
            PajeEvent::DestroyContainer { time, container } => {
                self.put_rest(Rest::DestroyContainer { time, container });
            }
            PajeEvent::StartLink { time, container, ty, value, start: end, key, extra, source } => {
                let main = Main { time, container, ty, value };
                let (extra, source) = (self.fields(extra), self.position(source));
                self.put_rest(Rest::Link { is_start: true, main, end, key, extra, source });
            }
            PajeEvent::EndLink { time, container, ty, value, end, key, extra, source } => {
                let main = Main { time, container, ty, value };
                let (extra, source) = (self.fields(extra), self.position(source));
                self.put_rest(Rest::Link { is_start: false, main, end, key, extra, source });
            }
        }
    }

    /// Sends everything to a sink.
    fn send(&self, sink: &mut dyn Sink) -> io::Result<()> {
        let mut since = 0;
        for packed in &self.events {
            match packed.unpack(since) {
                Unpacked::Plain(event) => sink.plain(event)?,
                Unpacked::Variable(at) => {
                    let Variable { op, container, time, ty, value } = self.variables[at];
                    sink.event(&PajeEvent::Variable { time, container, ty, op, value })?;
                }
                Unpacked::Rest(at) => self.send_rest(&self.rest[at], &mut since, sink)?,
            }
        }
        Ok(())
    }

    fn send_rest(&self, rest: &Rest, since: &mut i64, sink: &mut dyn Sink) -> io::Result<()> {
        match rest {
            Rest::Since(date) => *since = *date,
            Rest::Plain(event) => sink.plain(*event)?,
            Rest::NameKey { key, text } => sink.name_key(*key, self.at(*text))?,
            Rest::OwnContainer { container, process, label } => {
                sink.own_container(*container, *process, self.at(*label))?;
            }
            Rest::Announce(shape) => announce(shape, sink)?,
            Rest::DropHalves => sink.drop_halves()?,
            Rest::Finish(end) => sink.finish(*end)?,
            rest => {
                let mut fields = Extras::new();
                if let Some(event) = self.unpack(rest, &mut fields) {
                    sink.event(&event)?;
                }
            }
        }
        Ok(())
    }

    /// The operation again; `None` for other calls of a sink. `room` is empty.
    fn unpack<'r, 'a: 'r>(&'a self, rest: &Rest, room: &'r mut Extras<'a>) -> Option<PajeEvent<'r>> {
        Some(match *rest {
            Rest::DefineType { ty, kind, parent, name, color, look } => {
                PajeEvent::DefineType { ty, kind, parent, name: self.at(name), color, look }
            }
            Rest::DefineValue { value, ty, name, color, look } => {
                PajeEvent::DefineValue { value, ty, name: self.at(name), color, look }
            }
            Rest::CreateContainer { time, container, ty, parent, name, extra } => {
                let (name, extra) = (self.at(name), self.extra(extra, room));
                PajeEvent::CreateContainer { time, container, ty, parent, name, extra }
            }
            Rest::DestroyContainer { time, container } => PajeEvent::DestroyContainer { time, container },
            Rest::Valued { what, main, extra, source } => {
                what.event(main, self.extra(extra, room), self.source(source))
            }
            Rest::Link { is_start, main: Main { time, container, ty, value }, end, key, extra, source } => {
                let (extra, source) = (self.extra(extra, room), self.source(source));
                match is_start {
                    true => PajeEvent::StartLink { time, container, ty, value, start: end, key, extra, source },
                    false => PajeEvent::EndLink { time, container, ty, value, end, key, extra, source },
                }
            }
            Rest::Since(_) | Rest::Plain(_) => return None,
            Rest::NameKey { .. }
            | Rest::OwnContainer { .. }
            | Rest::Announce(_)
            | Rest::DropHalves
            | Rest::Finish(_) => return None,
        })
    }

    fn at(&self, text: Text) -> &str {
        self.text.get(text.range()).unwrap_or("")
    }

    fn source(&self, position: Position) -> Option<Source<'_>> {
        position.is_known.then(|| Source { file: self.at(position.file), line: position.line })
    }

    fn extra<'r, 'a: 'r>(&'a self, fields: Fields, room: &'r mut Extras<'a>) -> &'r [Extra<'a>] {
        if fields.start == fields.end {
            return &[];
        }
        let fields = &self.fields[fields.start as usize..fields.end as usize];
        for field in fields {
            let value = match field.value {
                Value::Text(text) => ExtraValue::Text(self.at(text)),
                Value::Integer(value) => ExtraValue::Integer(value),
                Value::Float(value) => ExtraValue::Float(value),
                Value::Container(container) => ExtraValue::Container(container),
            };
            room.push(Extra { name: self.at(field.name), value });
        }
        room
    }
}

impl Valued {
    const fn kind(self) -> PlainKind {
        match self {
            Self::Set => PlainKind::SetState,
            Self::Push => PlainKind::PushState,
            Self::Event => PlainKind::NewEvent,
        }
    }

    #[inline]
    fn event<'a>(self, main: Main, extra: &'a [Extra<'a>], source: Option<Source<'a>>) -> PajeEvent<'a> {
        let Main { time, container, ty, value } = main;
        match self {
            Self::Set => PajeEvent::SetState { time, container, ty, value, extra, source },
            Self::Push => PajeEvent::PushState { time, container, ty, value, extra, source },
            Self::Event => PajeEvent::NewEvent { time, container, ty, value, extra, source },
        }
    }
}

impl Text {
    fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

fn announce(shape: &Announced, sink: &mut dyn Sink) -> io::Result<()> {
    let fields: Vec<(&str, FieldKind)> = shape.fields.iter().map(|(name, kind)| (name.as_str(), *kind)).collect();
    sink.announce(&Shape { operation: shape.operation, fields: &fields, source: shape.source })
}

fn short(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
