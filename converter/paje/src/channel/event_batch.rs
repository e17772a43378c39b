//! A batch of operations: packed ones, and the others with ranges of the batch's texts and fields.

use std::io;
use std::ops::Range;

use smallvec::SmallVec;

use super::packed_event::{PackedEvent, UnpackedEvent};
use crate::category::ActivityCategory;
use crate::time::GlobalNanos;
use crate::{
    ContainerId, DrawStyle, EventOperation, ExtraField, ExtraFieldKind, ExtraValue, FieldSet, KeyId, PajeEvent,
    PajeSink, PajeTypeKind, PlainEvent, PlainKind, RgbColor, SourcePosition, TypeId, ValueId, VariableOp,
};

/// Operations with the texts and fields that they refer to.
#[derive(Debug, Default)]
pub(super) struct EventBatch {
    pub(super) events: Vec<PackedEvent>,
    /// The base of the timestamps of plain operations, in ns.
    pub(super) base_time: i64,
    variables: Vec<PackedVariable>,
    rare_events: Vec<RareEvent>,
    pub(super) text: String,
    fields: Vec<PackedField>,
    /// The last file name and the last field name, as ranges in `text`. Most operations repeat
    /// them.
    file: TextRange,
    name: TextRange,
}

/// The fields of one operation.
type BatchExtras<'a> = SmallVec<[ExtraField<'a>; 8]>;

/// A range of a batch's text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TextRange {
    start: u32,
    end: u32,
}

/// A range of a batch's fields.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldRange {
    start: u32,
    end: u32,
}

#[derive(Clone, Copy, Debug)]
struct PackedField {
    name: TextRange,
    value: PackedValue,
}

#[derive(Clone, Copy, Debug)]
enum PackedValue {
    Text(TextRange),
    Integer(i64),
    Float(f64),
    Container(ContainerId),
}

/// A source position, if known.
#[derive(Clone, Copy, Debug)]
pub(super) struct PackedPosition {
    file: TextRange,
    line: u32,
    is_known: bool,
}

/// A field set that owns its names. There are few of them.
#[derive(Debug)]
pub(super) struct OwnedFieldSet {
    pub(super) operation: EventOperation,
    pub(super) fields: Vec<(String, ExtraFieldKind)>,
    pub(super) source: bool,
}

/// A new value of a variable.
#[derive(Clone, Copy, Debug)]
struct PackedVariable {
    op: VariableOp,
    container: ContainerId,
    time: GlobalNanos,
    ty: TypeId,
    value: f64,
}

/// Any other [`PajeEvent`] or other call of a sink, with ranges instead of references.
#[derive(Debug)]
pub(super) enum RareEvent {
    DefineType {
        ty: TypeId,
        kind: PajeTypeKind,
        parent: TypeId,
        name: TextRange,
        color: Option<RgbColor>,
        style: DrawStyle,
    },
    DefineValue {
        value: ValueId,
        ty: TypeId,
        name: TextRange,
        color: Option<RgbColor>,
        style: DrawStyle,
        category: Option<ActivityCategory>,
    },
    CreateContainer {
        time: GlobalNanos,
        container: ContainerId,
        ty: TypeId,
        parent: ContainerId,
        name: TextRange,
        extra: FieldRange,
    },
    DestroyContainer {
        time: GlobalNanos,
        container: ContainerId,
    },
    /// Sets the base of the timestamps of the following plain operations.
    Since(i64),
    /// A plain operation that cannot be packed.
    Plain(PlainEvent),
    Valued {
        operation: ValuedEvent,
        main: PackedHead,
        extra: FieldRange,
        source: PackedPosition,
    },
    Link {
        is_start: bool,
        main: PackedHead,
        end: ContainerId,
        key: KeyId,
        extra: FieldRange,
        source: PackedPosition,
    },
    NameKey {
        key: KeyId,
        text: TextRange,
    },
    OwnContainer {
        container: ContainerId,
        process: u32,
        label: TextRange,
    },
    Announce(Box<OwnedFieldSet>),
    SettleUnpairedEndpoints,
    Finish(GlobalNanos),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum ValuedEvent {
    Set,
    Push,
    Event,
}

/// The common fields of most operations.
#[derive(Clone, Copy, Debug)]
pub(super) struct PackedHead {
    time: GlobalNanos,
    container: ContainerId,
    ty: TypeId,
    value: ValueId,
}

impl EventBatch {
    pub(super) fn clear(&mut self) {
        self.events.clear();
        self.variables.clear();
        self.rare_events.clear();
        self.text.clear();
        self.fields.clear();
        (self.file, self.name) = (TextRange::default(), TextRange::default());
        self.base_time = 0;
    }

    pub(super) fn text(&mut self, text: &str) -> TextRange {
        let start = to_u32(self.text.len());
        self.text.push_str(text);
        TextRange { start, end: to_u32(self.text.len()) }
    }

    #[inline]
    fn fields(&mut self, extra: &[ExtraField<'_>]) -> FieldRange {
        if extra.is_empty() { FieldRange { start: 0, end: 0 } } else { self.some_fields(extra) }
    }

    fn some_fields(&mut self, extra: &[ExtraField<'_>]) -> FieldRange {
        let start = to_u32(self.fields.len());
        for field in extra {
            if self.text.get(self.name.range()) != Some(field.name) {
                self.name = self.text(field.name);
            }
            let name = self.name;
            let value = match field.value {
                ExtraValue::Text(text) => PackedValue::Text(self.text(text)),
                ExtraValue::Integer(value) => PackedValue::Integer(value),
                ExtraValue::Float(value) => PackedValue::Float(value),
                ExtraValue::Container(container) => PackedValue::Container(container),
            };
            self.fields.push(PackedField { name, value });
        }
        FieldRange { start, end: to_u32(self.fields.len()) }
    }

    fn position(&mut self, source: Option<SourcePosition<'_>>) -> PackedPosition {
        let Some(SourcePosition { file, line }) = source else {
            return PackedPosition { file: TextRange::default(), line: 0, is_known: false };
        };
        if self.text.get(self.file.range()) != Some(file) {
            self.file = self.text(file);
        }
        PackedPosition { file: self.file, line, is_known: true }
    }

    fn put_valued(
        &mut self,
        operation: ValuedEvent,
        main: PackedHead,
        extra: &[ExtraField<'_>],
        source: Option<SourcePosition<'_>>,
    ) {
        if extra.is_empty() && source.is_none() {
            let PackedHead { time, container, ty, value } = main;
            return self.put_plain(PlainEvent { kind: operation.kind(), time, container, ty, value });
        }
        let rest = RareEvent::Valued { operation, main, extra: self.fields(extra), source: self.position(source) };
        self.put_rest(rest);
    }

    pub(super) fn put_plain(&mut self, event: PlainEvent) {
        if PackedEvent::pack_plain(event, self.base_time).is_none() {
            self.base_time = event.time.0;
            self.put_rest(RareEvent::Since(self.base_time));
        }
        match PackedEvent::pack_plain(event, self.base_time) {
            Some(packed) => self.events.push(packed),
            None => self.put_rest(RareEvent::Plain(event)),
        }
    }

    pub(super) fn put_rest(&mut self, event: RareEvent) {
        self.events.push(PackedEvent::rare_event(self.rare_events.len()));
        self.rare_events.push(event);
    }

    pub(super) fn put(&mut self, event: &PajeEvent<'_>) {
        const NONE: ValueId = ValueId(0);
        match *event {
            PajeEvent::PushState { time, container, ty, value, extra, source } => {
                self.put_valued(ValuedEvent::Push, PackedHead { time, container, ty, value }, extra, source);
            }
            PajeEvent::PopState { time, container, ty } => {
                self.put_plain(PlainEvent { kind: PlainKind::PopState, time, container, ty, value: NONE });
            }
            PajeEvent::SetState { time, container, ty, value, extra, source } => {
                self.put_valued(ValuedEvent::Set, PackedHead { time, container, ty, value }, extra, source);
            }
            PajeEvent::ResetState { time, container, ty } => {
                self.put_plain(PlainEvent { kind: PlainKind::ResetState, time, container, ty, value: NONE });
            }
            PajeEvent::Variable { time, container, ty, op, value } => {
                self.events.push(PackedEvent::variable(self.variables.len()));
                self.variables.push(PackedVariable { op, container, time, ty, value });
            }
            PajeEvent::NewEvent { time, container, ty, value, extra, source } => {
                self.put_valued(ValuedEvent::Event, PackedHead { time, container, ty, value }, extra, source);
            }
            PajeEvent::DefineType { ty, kind, parent, name, color, style } => {
                let name = self.text(name);
                self.put_rest(RareEvent::DefineType { ty, kind, parent, name, color, style });
            }
            PajeEvent::DefineValue { value, ty, name, color, style, category } => {
                let name = self.text(name);
                self.put_rest(RareEvent::DefineValue { value, ty, name, color, style, category });
            }
            PajeEvent::CreateContainer { time, container, ty, parent, name, extra } => {
                let (name, extra) = (self.text(name), self.fields(extra));
                self.put_rest(RareEvent::CreateContainer { time, container, ty, parent, name, extra });
            }
            PajeEvent::DestroyContainer { time, container } => {
                self.put_rest(RareEvent::DestroyContainer { time, container });
            }
            PajeEvent::StartLink { time, container, ty, value, start: end, key, extra, source } => {
                let main = PackedHead { time, container, ty, value };
                let (extra, source) = (self.fields(extra), self.position(source));
                self.put_rest(RareEvent::Link { is_start: true, main, end, key, extra, source });
            }
            PajeEvent::EndLink { time, container, ty, value, end, key, extra, source } => {
                let main = PackedHead { time, container, ty, value };
                let (extra, source) = (self.fields(extra), self.position(source));
                self.put_rest(RareEvent::Link { is_start: false, main, end, key, extra, source });
            }
        }
    }

    /// Sends the whole batch to a sink.
    pub(super) fn send(&self, sink: &mut dyn PajeSink) -> io::Result<()> {
        let mut base_time = 0;
        for packed in &self.events {
            match packed.unpack(base_time) {
                UnpackedEvent::Plain(event) => sink.plain_event(event)?,
                UnpackedEvent::Variable(index) => {
                    let PackedVariable { op, container, time, ty, value } = self.variables[index];
                    sink.event(&PajeEvent::Variable { time, container, ty, op, value })?;
                }
                UnpackedEvent::Rest(index) => self.send_rest(&self.rare_events[index], &mut base_time, sink)?,
            }
        }
        Ok(())
    }

    fn send_rest(&self, rest: &RareEvent, base_time: &mut i64, sink: &mut dyn PajeSink) -> io::Result<()> {
        match rest {
            RareEvent::Since(timestamp) => *base_time = *timestamp,
            RareEvent::Plain(event) => sink.plain_event(*event)?,
            RareEvent::NameKey { key, text } => sink.name_key(*key, self.at(*text))?,
            RareEvent::OwnContainer { container, process, label } => {
                sink.own_container(*container, *process, self.at(*label))?;
            }
            RareEvent::Announce(shape) => announce(shape, sink)?,
            RareEvent::SettleUnpairedEndpoints => sink.settle_unpaired_endpoints()?,
            RareEvent::Finish(end) => sink.finish(*end)?,
            rest => {
                let mut fields = BatchExtras::new();
                if let Some(event) = self.unpack(rest, &mut fields) {
                    sink.event(&event)?;
                }
            }
        }
        Ok(())
    }

    /// The original operation. `None` for other calls of a sink. `room` must be empty.
    fn unpack<'r, 'a: 'r>(&'a self, event: &RareEvent, room: &'r mut BatchExtras<'a>) -> Option<PajeEvent<'r>> {
        Some(match *event {
            RareEvent::DefineType { ty, kind, parent, name, color, style } => {
                PajeEvent::DefineType { ty, kind, parent, name: self.at(name), color, style }
            }
            RareEvent::DefineValue { value, ty, name, color, style, category } => {
                PajeEvent::DefineValue { value, ty, name: self.at(name), color, style, category }
            }
            RareEvent::CreateContainer { time, container, ty, parent, name, extra } => {
                let (name, extra) = (self.at(name), self.extra_fields(extra, room));
                PajeEvent::CreateContainer { time, container, ty, parent, name, extra }
            }
            RareEvent::DestroyContainer { time, container } => PajeEvent::DestroyContainer { time, container },
            RareEvent::Valued { operation, main, extra, source } => {
                operation.event(main, self.extra_fields(extra, room), self.source(source))
            }
            RareEvent::Link { is_start, main: PackedHead { time, container, ty, value }, end, key, extra, source } => {
                let (extra, source) = (self.extra_fields(extra, room), self.source(source));
                match is_start {
                    true => PajeEvent::StartLink { time, container, ty, value, start: end, key, extra, source },
                    false => PajeEvent::EndLink { time, container, ty, value, end, key, extra, source },
                }
            }
            RareEvent::Since(_) | RareEvent::Plain(_) => return None,
            RareEvent::NameKey { .. }
            | RareEvent::OwnContainer { .. }
            | RareEvent::Announce(_)
            | RareEvent::SettleUnpairedEndpoints
            | RareEvent::Finish(_) => return None,
        })
    }

    fn at(&self, text: TextRange) -> &str {
        self.text.get(text.range()).unwrap_or("")
    }

    fn source(&self, position: PackedPosition) -> Option<SourcePosition<'_>> {
        position.is_known.then(|| SourcePosition { file: self.at(position.file), line: position.line })
    }

    fn extra_fields<'r, 'a: 'r>(&'a self, fields: FieldRange, room: &'r mut BatchExtras<'a>) -> &'r [ExtraField<'a>] {
        if fields.start == fields.end {
            return &[];
        }
        let fields = &self.fields[fields.start as usize..fields.end as usize];
        for field in fields {
            let value = match field.value {
                PackedValue::Text(text) => ExtraValue::Text(self.at(text)),
                PackedValue::Integer(value) => ExtraValue::Integer(value),
                PackedValue::Float(value) => ExtraValue::Float(value),
                PackedValue::Container(container) => ExtraValue::Container(container),
            };
            room.push(ExtraField { name: self.at(field.name), value });
        }
        room
    }
}

impl ValuedEvent {
    const fn kind(self) -> PlainKind {
        match self {
            Self::Set => PlainKind::SetState,
            Self::Push => PlainKind::PushState,
            Self::Event => PlainKind::NewEvent,
        }
    }

    #[inline]
    fn event<'a>(
        self,
        main: PackedHead,
        extra: &'a [ExtraField<'a>],
        source: Option<SourcePosition<'a>>,
    ) -> PajeEvent<'a> {
        let PackedHead { time, container, ty, value } = main;
        match self {
            Self::Set => PajeEvent::SetState { time, container, ty, value, extra, source },
            Self::Push => PajeEvent::PushState { time, container, ty, value, extra, source },
            Self::Event => PajeEvent::NewEvent { time, container, ty, value, extra, source },
        }
    }
}

impl TextRange {
    fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

fn announce(shape: &OwnedFieldSet, sink: &mut dyn PajeSink) -> io::Result<()> {
    let fields: Vec<(&str, ExtraFieldKind)> = shape.fields.iter().map(|(name, kind)| (name.as_str(), *kind)).collect();
    sink.announce(&FieldSet { operation: shape.operation, fields: &fields, source: shape.source })
}

fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
