//! Writes each operation as a line.

use std::io::{self, Write};

use super::paje_writer::{LinkKeyText, PajeWriter};
use super::texts::MAX_NAME_BYTES;
use super::timestamp_format::TimestampWriter;
use crate::time::GlobalNanos;
use crate::{
    ContainerId, EventOperation, ExtraField, ExtraFieldKind, ExtraValue, FieldSet, KeyId, PajeEvent, PajeSink,
    PajeTypeKind, RgbColor, SourcePosition, TypeId, ValueId, VariableOp,
};

const fn rgb(red: u8, green: u8, blue: u8) -> RgbColor {
    RgbColor { red, green, blue }
}

/// Colours for values without a colour. They differ strongly, also between neighbours.
const PALETTE: [RgbColor; 12] = [
    rgb(0x3b, 0x75, 0xaf),
    rgb(0xef, 0x86, 0x36),
    rgb(0x51, 0x9e, 0x3e),
    rgb(0xc5, 0x3a, 0x32),
    rgb(0x8d, 0x69, 0xb8),
    rgb(0x84, 0x58, 0x4e),
    rgb(0xd5, 0x7e, 0xbe),
    rgb(0x6f, 0x6f, 0x6f),
    rgb(0xb9, 0xb9, 0x3a),
    rgb(0x56, 0xb9, 0xc9),
    rgb(0x1f, 0x4e, 0x5f),
    rgb(0xe0, 0xb8, 0x70),
];

/// The colour of types without a colour.
const NEUTRAL: RgbColor = RgbColor { red: 128, green: 128, blue: 128 };

impl<W: Write, T: TimestampWriter> PajeSink for PajeWriter<W, T> {
    fn changed_texts(&self) -> u64 {
        self.changed_texts
    }

    fn name_key(&mut self, key: KeyId, text: &str) -> io::Result<()> {
        self.keys.entry(key.0).or_insert_with(|| LinkKeyText { text: text.into(), is_started: false });
        Ok(())
    }

    fn event(&mut self, event: &PajeEvent<'_>) -> io::Result<()> {
        self.ensure_header();
        match *event {
            PajeEvent::DefineType { .. } => self.define_type(event),
            PajeEvent::DefineValue { .. } => self.define_value(event),
            PajeEvent::CreateContainer { time, container, ty, parent, name, extra } => {
                self.create(time, (container, ty, parent), name, extra);
            }
            PajeEvent::DestroyContainer { time, container } => self.destroy(time, container),
            PajeEvent::SetState { time, container, ty, value, extra, source } => {
                self.write_valued(EventOperation::SetState, EventHead { time, container, ty, value }, extra, source);
            }
            PajeEvent::PushState { time, container, ty, value, extra, source } => {
                self.write_valued(EventOperation::PushState, EventHead { time, container, ty, value }, extra, source);
            }
            PajeEvent::NewEvent { time, container, ty, value, extra, source } => {
                self.write_valued(EventOperation::NewEvent, EventHead { time, container, ty, value }, extra, source);
            }
            PajeEvent::PopState { time, container, ty } => {
                self.begin_in(13, time, container, ty, |head| head.byte(b'\n'));
            }
            PajeEvent::ResetState { time, container, ty } => {
                let id = self.definition(EventOperation::ResetState, &[], true);
                self.begin_in(id, time, container, ty, |head| head.byte(b'\n'));
            }
            PajeEvent::Variable { time, container, ty, op, value } => {
                self.write_variable(time, (container, ty), op, value);
            }
            PajeEvent::StartLink { time, container, ty, value, start, key, extra, source } => {
                self.link(
                    EventOperation::StartLink,
                    EventHead { time, container, ty, value },
                    (start, key),
                    extra,
                    source,
                );
            }
            PajeEvent::EndLink { time, container, ty, value, end, key, extra, source } => {
                self.link(EventOperation::EndLink, EventHead { time, container, ty, value }, (end, key), extra, source);
            }
        }
        self.flush_line()
    }

    fn announce(&mut self, set: &FieldSet<'_>) -> io::Result<()> {
        self.ensure_header();
        let fields = set.fields.iter().map(|(name, kind)| {
            let value = match kind {
                ExtraFieldKind::Text => ExtraValue::Text(""),
                ExtraFieldKind::Integer => ExtraValue::Integer(0),
                ExtraFieldKind::Float => ExtraValue::Float(0.0),
                ExtraFieldKind::Container => ExtraValue::Container(ContainerId::ROOT),
            };
            ExtraField { name, value }
        });
        let fields: Vec<ExtraField<'_>> = fields.collect();
        self.definition(set.operation, &fields, set.source);
        Ok(())
    }

    fn finish(&mut self, _end: GlobalNanos) -> io::Result<()> {
        self.ensure_header();
        self.out.write_all(&self.line)?;
        self.line.clear();
        self.out.flush()
    }
}

/// The fields of most events.
#[derive(Clone, Copy)]
struct EventHead {
    time: GlobalNanos,
    container: ContainerId,
    ty: TypeId,
    value: ValueId,
}

impl<W: Write, T: TimestampWriter> PajeWriter<W, T> {
    fn define_type(&mut self, event: &PajeEvent<'_>) {
        let PajeEvent::DefineType { ty, kind, parent, name, color, style } = *event else { return };
        let id = match kind {
            PajeTypeKind::Container => 0,
            PajeTypeKind::Variable => 1,
            PajeTypeKind::State => 2,
            PajeTypeKind::Event => 3,
            PajeTypeKind::Link { .. } => 4,
        };
        let id = self.styled_definition(id, style, None);
        self.head(|head| {
            head.number(id.into());
            head.byte(b' ');
            head.type_id(ty);
        });
        self.text(" ");
        self.type_id(parent);
        if let PajeTypeKind::Link { start, end } = kind {
            self.text(" ");
            self.type_id(start);
            self.text(" ");
            self.type_id(end);
        }
        self.text(" ");
        self.name(name, MAX_NAME_BYTES);
        if matches!(kind, PajeTypeKind::Variable | PajeTypeKind::Event) {
            self.text(" ");
            self.color(color.unwrap_or(NEUTRAL));
        }
        self.write_style(style);
        self.text("\n");
    }

    fn define_value(&mut self, event: &PajeEvent<'_>) {
        let PajeEvent::DefineValue { value, ty, name, color, style, category } = *event else { return };
        let id = self.styled_definition(5, style, category);
        self.head(|head| {
            head.number(id.into());
            head.byte(b' ');
            head.serial(b'v', value.0.into());
            head.byte(b' ');
            head.type_id(ty);
            head.byte(b' ');
        });
        self.name(name, MAX_NAME_BYTES);
        self.text(" ");
        self.color(color.unwrap_or_else(|| PALETTE[value.index() % PALETTE.len()]));
        self.write_style(style);
        if let Some(category) = category {
            self.text(" ");
            self.text(category.word());
        }
        self.text("\n");
    }

    fn create(
        &mut self,
        time: GlobalNanos,
        (container, ty, parent): (ContainerId, TypeId, ContainerId),
        name: &str,
        extra: &[ExtraField<'_>],
    ) {
        let index = container.index();
        self.container_types.resize(self.container_types.len().max(index + 1), TypeId::ROOT);
        self.container_types[index] = ty;
        let id = self.definition(EventOperation::CreateContainer, extra, false);
        self.begin(id, time, |head| {
            head.container_id(container);
            head.byte(b' ');
            head.container_id(parent);
            head.byte(b' ');
            head.type_id(ty);
            head.byte(b' ');
        });
        self.name(name, MAX_NAME_BYTES);
        self.extras(EventOperation::CreateContainer, extra, None);
    }

    #[inline]
    fn destroy(&mut self, time: GlobalNanos, container: ContainerId) {
        let ty = self.container_types.get(container.index()).copied().unwrap_or(TypeId::ROOT);
        self.begin(7, time, |head| {
            head.type_id(ty);
            head.byte(b' ');
            head.container_id(container);
            head.byte(b'\n');
        });
    }

    #[inline]
    fn write_variable(
        &mut self,
        time: GlobalNanos,
        (container, ty): (ContainerId, TypeId),
        op: VariableOp,
        value: f64,
    ) {
        let id = match op {
            VariableOp::Set => 8,
            VariableOp::Add => 9,
            VariableOp::Subtract => 10,
        };
        self.begin_in(id, time, container, ty, |head| head.byte(b' '));
        self.float(if value.is_finite() { value } else { 0.0 });
        self.line.push(b'\n');
    }

    fn write_valued(
        &mut self,
        operation: EventOperation,
        EventHead { time, container, ty, value }: EventHead,
        extra: &[ExtraField<'_>],
        source: Option<SourcePosition<'_>>,
    ) {
        let id = self.definition(operation, extra, source.is_some());
        self.begin_in(id, time, container, ty, |head| {
            head.byte(b' ');
            head.serial(b'v', value.0.into());
        });
        self.extras(operation, extra, source);
    }

    /// The text of a key. It is needed for both endpoints.
    fn take_key(&mut self, key: u64) -> Option<Box<str>> {
        if self.keys.is_empty() {
            return None;
        }
        let entry = self.keys.get_mut(&key)?;
        if entry.is_started {
            return self.keys.remove(&key).map(|entry| entry.text);
        }
        entry.is_started = true;
        Some(entry.text.clone())
    }

    fn link(
        &mut self,
        operation: EventOperation,
        EventHead { time, container, ty, value }: EventHead,
        (end, key): (ContainerId, KeyId),
        extra: &[ExtraField<'_>],
        source: Option<SourcePosition<'_>>,
    ) {
        let id = self.definition(operation, extra, source.is_some());
        let named = self.take_key(key.0);
        self.begin_in(id, time, container, ty, |head| {
            head.byte(b' ');
            head.container_id(end);
            head.byte(b' ');
            head.serial(b'v', value.0.into());
            head.byte(b' ');
            if named.is_none() {
                head.serial(b'k', key.0);
            }
        });
        if let Some(named) = named {
            self.name(&named, MAX_NAME_BYTES);
        }
        self.extras(operation, extra, source);
    }
}
