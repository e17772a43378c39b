//! Pajé operations on their way from one thread to another: copied into batches by who makes them, sent to a sink by who
//! takes them, so that rules and text (or simulation) are worked on at once. What the sink sees is the same with and without.

#[cfg(test)]
mod tests;

use std::io;
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use smallvec::SmallVec;

use super::{
    Color, ContainerId, Extra, ExtraValue, FieldKind, KeyId, Operation, PajeEvent, Shape, Sink, Source, TypeId,
    TypeKind, ValueId, VariableOp,
};
use crate::time::GlobalNanos;

/// How many operations go together, at most.
const BATCH_EVENTS: usize = 2048;
/// How many bytes of text with them: few operations with long texts fill a batch, too.
const BATCH_BYTES: usize = 1 << 17;
/// How many batches are under way.
const BATCHES: usize = 4;

/// The side that makes operations.
#[derive(Debug)]
pub(crate) struct Sender {
    batch: Batch,
    full: SyncSender<Batch>,
    emptied: Receiver<Batch>,
}

/// The side that sends them to a sink.
#[derive(Debug)]
pub(crate) struct Taker {
    filled: Receiver<Batch>,
    empty: SyncSender<Batch>,
}

/// Both sides.
pub(crate) fn relay() -> (Sender, Taker) {
    let (full, filled) = sync_channel(BATCHES);
    let (empty, emptied) = sync_channel(BATCHES + 1);
    (Sender { batch: Batch::default(), full, emptied }, Taker { filled, empty })
}

impl Taker {
    /// Sends all operations to `sink`, until there are no more or it fails; then the other side learns it when it sends.
    ///
    /// # Errors
    /// The sink's.
    pub(crate) fn run(self, sink: &mut dyn Sink) -> io::Result<()> {
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
    fn pass_on(&mut self) -> io::Result<()> {
        let next = self.emptied.try_recv().unwrap_or_default();
        let full = std::mem::replace(&mut self.batch, next);
        // The sink has failed: its own error is what counts.
        self.full.send(full).map_err(|_unsent| io::ErrorKind::BrokenPipe.into())
    }

    fn take(&mut self, event: Packed) -> io::Result<()> {
        self.batch.events.push(event);
        let is_full = self.batch.events.len() >= BATCH_EVENTS || self.batch.text.len() >= BATCH_BYTES;
        if is_full { self.pass_on() } else { Ok(()) }
    }
}

impl Sink for Sender {
    fn event(&mut self, event: &PajeEvent<'_>) -> io::Result<()> {
        let packed = self.batch.pack(event);
        self.take(packed)
    }

    fn name_key(&mut self, key: KeyId, text: &str) -> io::Result<()> {
        let text = self.batch.text(text);
        self.take(Packed::NameKey { key, text })
    }

    fn announce(&mut self, shape: &Shape<'_>) -> io::Result<()> {
        let fields = shape.fields.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect();
        let (operation, source) = (shape.operation, shape.source);
        self.take(Packed::Announce(Box::new(Announced { operation, fields, source })))
    }

    fn finish(&mut self, end: GlobalNanos) -> io::Result<()> {
        self.batch.events.push(Packed::Finish(end));
        self.pass_on()
    }
}

/// Operations, and the texts and fields that they refer to.
#[derive(Debug, Default)]
struct Batch {
    events: Vec<Packed>,
    text: String,
    fields: Vec<Field>,
    /// Where in `text` the last file name is: it is that of most.
    file: Text,
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

/// A [`PajeEvent`], or another call of a sink, with ranges for what is borrowed.
#[derive(Debug)]
enum Packed {
    DefineType {
        ty: TypeId,
        kind: TypeKind,
        parent: TypeId,
        name: Text,
        color: Option<Color>,
    },
    DefineValue {
        value: ValueId,
        ty: TypeId,
        name: Text,
        color: Option<Color>,
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
    Valued {
        what: Valued,
        main: Main,
        extra: Fields,
        source: Position,
    },
    PopState {
        time: GlobalNanos,
        container: ContainerId,
        ty: TypeId,
    },
    ResetState {
        time: GlobalNanos,
        container: ContainerId,
        ty: TypeId,
    },
    Variable {
        time: GlobalNanos,
        container: ContainerId,
        ty: TypeId,
        op: VariableOp,
        value: f64,
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
    Announce(Box<Announced>),
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
        self.text.clear();
        self.fields.clear();
        self.file = Text::default();
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
            let name = self.text(field.name);
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

    #[inline]
    fn valued(&mut self, what: Valued, main: Main, extra: &[Extra<'_>], source: Option<Source<'_>>) -> Packed {
        Packed::Valued { what, main, extra: self.fields(extra), source: self.position(source) }
    }

    #[inline]
    fn pack(&mut self, event: &PajeEvent<'_>) -> Packed {
        match *event {
            PajeEvent::DefineType { ty, kind, parent, name, color } => {
                Packed::DefineType { ty, kind, parent, name: self.text(name), color }
            }
            PajeEvent::DefineValue { value, ty, name, color } => {
                Packed::DefineValue { value, ty, name: self.text(name), color }
            }
            PajeEvent::CreateContainer { time, container, ty, parent, name, extra } => {
                let (name, extra) = (self.text(name), self.fields(extra));
                Packed::CreateContainer { time, container, ty, parent, name, extra }
            }
            PajeEvent::DestroyContainer { time, container } => Packed::DestroyContainer { time, container },
            PajeEvent::SetState { time, container, ty, value, extra, source } => {
                self.valued(Valued::Set, Main { time, container, ty, value }, extra, source)
            }
            PajeEvent::PushState { time, container, ty, value, extra, source } => {
                self.valued(Valued::Push, Main { time, container, ty, value }, extra, source)
            }
            PajeEvent::NewEvent { time, container, ty, value, extra, source } => {
                self.valued(Valued::Event, Main { time, container, ty, value }, extra, source)
            }
            PajeEvent::PopState { time, container, ty } => Packed::PopState { time, container, ty },
            PajeEvent::ResetState { time, container, ty } => Packed::ResetState { time, container, ty },
            PajeEvent::Variable { time, container, ty, op, value } => {
                Packed::Variable { time, container, ty, op, value }
            }
            PajeEvent::StartLink { time, container, ty, value, start: end, key, extra, source } => {
                let main = Main { time, container, ty, value };
                let (extra, source) = (self.fields(extra), self.position(source));
                Packed::Link { is_start: true, main, end, key, extra, source }
            }
            PajeEvent::EndLink { time, container, ty, value, end, key, extra, source } => {
                let main = Main { time, container, ty, value };
                let (extra, source) = (self.fields(extra), self.position(source));
                Packed::Link { is_start: false, main, end, key, extra, source }
            }
        }
    }

    /// Sends everything to a sink.
    fn send(&self, sink: &mut dyn Sink) -> io::Result<()> {
        for event in &self.events {
            match event {
                Packed::NameKey { key, text } => sink.name_key(*key, self.at(*text))?,
                Packed::Announce(shape) => announce(shape, sink)?,
                Packed::Finish(end) => sink.finish(*end)?,
                event => {
                    let mut fields = Extras::new();
                    if let Some(event) = self.unpack(event, &mut fields) {
                        sink.event(&event)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The operation again; `None` for other calls of a sink. `room` is empty.
    #[inline]
    fn unpack<'r, 'a: 'r>(&'a self, packed: &Packed, room: &'r mut Extras<'a>) -> Option<PajeEvent<'r>> {
        Some(match *packed {
            Packed::DefineType { ty, kind, parent, name, color } => {
                PajeEvent::DefineType { ty, kind, parent, name: self.at(name), color }
            }
            Packed::DefineValue { value, ty, name, color } => {
                PajeEvent::DefineValue { value, ty, name: self.at(name), color }
            }
            Packed::CreateContainer { time, container, ty, parent, name, extra } => {
                let (name, extra) = (self.at(name), self.extra(extra, room));
                PajeEvent::CreateContainer { time, container, ty, parent, name, extra }
            }
            Packed::DestroyContainer { time, container } => PajeEvent::DestroyContainer { time, container },
            Packed::Valued { what, main: Main { time, container, ty, value }, extra, source } => {
                let (extra, source) = (self.extra(extra, room), self.source(source));
                match what {
                    Valued::Set => PajeEvent::SetState { time, container, ty, value, extra, source },
                    Valued::Push => PajeEvent::PushState { time, container, ty, value, extra, source },
                    Valued::Event => PajeEvent::NewEvent { time, container, ty, value, extra, source },
                }
            }
            Packed::PopState { time, container, ty } => PajeEvent::PopState { time, container, ty },
            Packed::ResetState { time, container, ty } => PajeEvent::ResetState { time, container, ty },
            Packed::Variable { time, container, ty, op, value } => {
                PajeEvent::Variable { time, container, ty, op, value }
            }
            Packed::Link { is_start, main: Main { time, container, ty, value }, end, key, extra, source } => {
                let (extra, source) = (self.extra(extra, room), self.source(source));
                match is_start {
                    true => PajeEvent::StartLink { time, container, ty, value, start: end, key, extra, source },
                    false => PajeEvent::EndLink { time, container, ty, value, end, key, extra, source },
                }
            }
            Packed::NameKey { .. } | Packed::Announce(_) | Packed::Finish(_) => return None,
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
        room.extend(fields.iter().map(|field| {
            let value = match field.value {
                Value::Text(text) => ExtraValue::Text(self.at(text)),
                Value::Integer(value) => ExtraValue::Integer(value),
                Value::Float(value) => ExtraValue::Float(value),
                Value::Container(container) => ExtraValue::Container(container),
            };
            Extra { name: self.at(field.name), value }
        }));
        room
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
