//! Writes Pajé text, in the subset that every known reader accepts.
//!
//! Definitions of events are first, then types and values, then one stream in order of time.
//! Identifiers are serial numbers with a letter. Timestamps are seconds with nine decimals,
//! converted from integers. A [`PajeStyle`] selects other timestamps and definitions for readers that
//! need them.

pub(crate) mod definitions;
pub(crate) mod line_start;
pub(crate) mod standard_fields;
#[cfg(test)]
mod tests;
pub(crate) mod timestamps;

use std::io::{self, Write};

use foldhash::HashMap;

use super::number_text::{self, NumberWords};
use super::time::{GlobalNanos, TimeUnit};
use super::{
    ContainerId, DrawStyle, EventOperation, ExtraField, ExtraFieldKind, ExtraValue, FieldSet, PajeEvent, PajeSink,
    PajeTypeKind, RgbColor, SourcePosition, TypeId, VariableOp,
};
use definitions::ExtraDefinitions;
pub use definitions::HeaderStyle;
use standard_fields::StandardFieldSink;
use timestamps::TruncatedUnits;
pub use timestamps::{ExactSeconds, TimestampPosition, TimestampWriter};

/// Size of the output buffer in bytes.
const BUFFER_BYTES: usize = 1 << 16;
/// Maximum length of a name in bytes. A line must stay below 4000 bytes.
const MAX_NAME_BYTES: usize = 1000;
/// Maximum length of the value of an extra field in bytes.
const MAX_FIELD_BYTES: usize = 180;

/// The options of the text format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PajeStyle {
    /// The unit of timestamps.
    pub unit: TimeUnit,
    /// Number of decimals of a timestamp, at most nine. Further decimals are cut off. `None` for as
    /// many as represent a nanosecond.
    pub decimals: Option<u8>,
    /// The form of the definitions of events.
    pub header: HeaderStyle,
}

/// Creates a writer of Pajé text in a style. `out` needs no buffer.
pub fn in_style<'w>(out: impl Write + 'w, style: PajeStyle) -> Box<dyn PajeSink + 'w> {
    let PajeStyle { unit, decimals, header } = style;
    let exact = unit.exact_decimals();
    let decimals = decimals.unwrap_or(exact).min(9);
    if (unit, decimals) == (TimeUnit::Seconds, exact) {
        with_header(PajeWriter::with_dates(out, ExactSeconds, header))
    } else {
        with_header(PajeWriter::with_dates(out, TruncatedUnits::new(unit, decimals), header))
    }
}

fn with_header<'w, W: Write + 'w, D: TimestampWriter + 'w>(writer: PajeWriter<W, D>) -> Box<dyn PajeSink + 'w> {
    if writer.layouts.header == HeaderStyle::Basic { Box::new(StandardFieldSink(writer)) } else { Box::new(writer) }
}

/// Writes Pajé text.
#[derive(Debug)]
pub struct PajeWriter<W: Write, D: TimestampWriter = ExactSeconds> {
    out: W,
    dates: D,
    line: Vec<u8>,
    layouts: ExtraDefinitions,
    /// Type of each container, by its id.
    container_types: Vec<TypeId>,
    /// Texts of link keys, and whether one endpoint was written. Removed after the second endpoint.
    keys: HashMap<u64, (Box<str>, bool)>,
    begun: bool,
    last: GlobalNanos,
    backward: u64,
    /// Number of texts that were changed.
    changed: u64,
}

impl<W: Write> PajeWriter<W> {
    /// Creates a writer. `out` needs no buffer.
    pub fn new(out: W) -> Self {
        Self::with_dates(out, ExactSeconds, HeaderStyle::default())
    }
}

impl<W: Write, D: TimestampWriter> PajeWriter<W, D> {
    fn with_dates(out: W, dates: D, header: HeaderStyle) -> Self {
        Self {
            out,
            dates,
            line: Vec::with_capacity(BUFFER_BYTES + 8192),
            layouts: ExtraDefinitions::new(header),
            container_types: vec![TypeId::ROOT],
            keys: HashMap::default(),
            begun: false,
            last: GlobalNanos(0),
            backward: 0,
            changed: 0,
        }
    }

    /// Returns the output.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// Number of events with a timestamp before that of their predecessor. Some readers reject
    /// these.
    #[must_use]
    pub const fn backward(&self) -> u64 {
        self.backward
    }

    fn flush_line(&mut self) -> io::Result<()> {
        if self.line.len() >= BUFFER_BYTES {
            self.out.write_all(&self.line)?;
            self.line.clear();
        }
        Ok(())
    }

    #[cold]
    fn begin_text(&mut self) {
        let header = self.layouts.header.text();
        self.text(&header);
    }

    fn define_type(&mut self, event: &PajeEvent<'_>) {
        let PajeEvent::DefineType { ty, kind, parent, name, color, look } = *event else { return };
        let id = match kind {
            PajeTypeKind::Container => 0,
            PajeTypeKind::Variable => 1,
            PajeTypeKind::State => 2,
            PajeTypeKind::Event => 3,
            PajeTypeKind::Link { .. } => 4,
        };
        let id = self.styled_definition(id, look);
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
        self.write_style(look);
        self.text("\n");
    }

    /// The definition for a type or value with this style. Writes it if it is new.
    fn styled_definition(&mut self, plain: u32, look: DrawStyle) -> u32 {
        let (id, text) = self.layouts.styled_definition(plain, look);
        if let Some(text) = text {
            self.text(&text);
        }
        id
    }

    fn write_style(&mut self, look: DrawStyle) {
        if let Some(shape) = look.shape {
            self.text(" ");
            self.text(shape.name());
        }
        if let Some(size) = look.size {
            self.text(" ");
            let _ = write!(self.line, "{size}");
        }
    }

    fn text(&mut self, text: &str) {
        self.line.extend_from_slice(text.as_bytes());
    }

    fn type_id(&mut self, ty: TypeId) {
        self.head(|head| head.type_id(ty));
    }

    fn container_id(&mut self, container: ContainerId) {
        self.head(|head| head.container_id(container));
    }

    fn head(&mut self, write: impl FnOnce(&mut NumberWords)) {
        let mut head = NumberWords::new();
        write(&mut head);
        self.line.extend_from_slice(head.as_bytes());
    }

    /// The timestamp in nanoseconds, at least 0. Counts timestamps before the last one.
    fn date(&mut self, time: GlobalNanos) -> u64 {
        self.backward += u64::from(time < self.last);
        self.last = self.last.max(time);
        u64::try_from(time.0).unwrap_or(0)
    }

    /// Writes a text in quotes.
    fn name(&mut self, name: &str, limit: usize) {
        self.line.push(b'"');
        self.changed += u64::from(plain_text(name, limit, &mut self.line));
        self.line.push(b'"');
    }

    fn color(&mut self, color: RgbColor) {
        let part = |byte: u8| f64::from(byte) / 255.0;
        let _ = write!(self.line, "\"{:.6} {:.6} {:.6}\"", part(color.red), part(color.green), part(color.blue));
    }

    /// Writes the id of the event's definition and its timestamp, then the output of `rest`.
    fn begin(&mut self, id: u32, time: GlobalNanos, rest: impl FnOnce(&mut NumberWords)) {
        let nanos = self.date(time);
        let mut head = NumberWords::new();
        head.number(id.into());
        head.byte(b' ');
        self.dates.write(nanos, &mut TimestampPosition(&mut head));
        head.byte(b' ');
        rest(&mut head);
        self.line.extend_from_slice(head.as_bytes());
    }

    /// As [`Self::begin`], with the container and the type before the output of `rest`.
    fn begin_in(
        &mut self,
        id: u32,
        time: GlobalNanos,
        container: ContainerId,
        ty: TypeId,
        rest: impl FnOnce(&mut NumberWords),
    ) {
        self.begin(id, time, |head| {
            head.container_id(container);
            head.byte(b' ');
            head.type_id(ty);
            rest(head);
        });
    }

    /// The definition for an event with these extra fields. Writes it if it is new.
    fn definition(&mut self, operation: EventOperation, extra: &[ExtraField<'_>], source: bool) -> u32 {
        if extra.is_empty() && !source {
            return operation.plain_id();
        }
        let (id, text) = self.layouts.id(operation, extra, source);
        if let Some(text) = text {
            self.text(&text);
        }
        id
    }

    /// Writes the shortest text that is read back as the same number.
    fn float(&mut self, value: f64) {
        // Counters are whole numbers, which need no search for the shortest digits.
        match number_text::integer_value(value).filter(|whole| *whole != 0 || value.is_sign_positive()) {
            Some(whole) => number_text::push_signed(whole, &mut self.line),
            None => number_text::plain_float(value, &mut self.line),
        }
    }

    fn extras(&mut self, operation: EventOperation, extra: &[ExtraField<'_>], source: Option<SourcePosition<'_>>) {
        for field in &extra[..extra.len().min(operation.room(source.is_some()))] {
            self.text(" ");
            match field.value {
                ExtraValue::Integer(value) => number_text::push_signed(value, &mut self.line),
                ExtraValue::Float(value) => self.float(value),
                ExtraValue::Text(text) => self.name(text, MAX_FIELD_BYTES),
                ExtraValue::Container(container) => self.container_id(container),
            }
        }
        if let Some(source) = source {
            self.text(" ");
            self.name(source.file, MAX_FIELD_BYTES);
            self.head(|head| {
                head.byte(b' ');
                head.number(source.line.into());
            });
        }
        self.line.push(b'\n');
    }
}

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

/// Appends the name of a type, value or container as written between quotes. A Pajé file cannot
/// contain quotes and line ends in names. Commas are replaced because of lists.
pub fn text_of_name(name: &str, out: &mut Vec<u8>) {
    plain_text(name, MAX_NAME_BYTES, out);
}

/// Writes a text without characters that a Pajé file cannot contain. Returns whether characters
/// were replaced or cut off.
fn plain_text(text: &str, limit: usize, out: &mut Vec<u8>) -> bool {
    let (start, mut changed) = (out.len(), false);
    for character in text.chars() {
        let mut bytes = [0; 4];
        let written = match character {
            '"' => '\'',
            ',' => ';',
            character if character.is_control() => ' ',
            character => character,
        };
        changed |= written != character;
        let bytes = written.encode_utf8(&mut bytes).as_bytes();
        if out.len() - start + bytes.len() > limit {
            changed = true;
            break;
        }
        out.extend_from_slice(bytes);
    }
    // Not every reader accepts an empty text.
    if out.len() == start {
        out.push(b' ');
    }
    changed
}

impl<W: Write, D: TimestampWriter> PajeSink for PajeWriter<W, D> {
    fn changed_texts(&self) -> u64 {
        self.changed
    }

    fn name_key(&mut self, key: super::KeyId, text: &str) -> io::Result<()> {
        self.keys.entry(key.0).or_insert_with(|| (text.into(), false));
        Ok(())
    }

    fn event(&mut self, event: &PajeEvent<'_>) -> io::Result<()> {
        if !self.begun {
            self.begun = true;
            self.begin_text();
        }
        match *event {
            PajeEvent::DefineType { .. } => self.define_type(event),
            PajeEvent::DefineValue { value, ty, name, color, look } => {
                let id = self.styled_definition(5, look);
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
                self.write_style(look);
                self.text("\n");
            }
            PajeEvent::CreateContainer { time, container, ty, parent, name, extra } => {
                self.create(time, (container, ty, parent), name, extra);
            }
            PajeEvent::DestroyContainer { time, container } => {
                let ty = self.container_types.get(container.index()).copied().unwrap_or(TypeId::ROOT);
                self.begin(7, time, |head| {
                    head.type_id(ty);
                    head.byte(b' ');
                    head.container_id(container);
                    head.byte(b'\n');
                });
            }
            PajeEvent::SetState { time, container, ty, value, extra, source } => {
                self.write_valued(EventOperation::SetState, (time, container, ty, value), extra, source);
            }
            PajeEvent::PushState { time, container, ty, value, extra, source } => {
                self.write_valued(EventOperation::PushState, (time, container, ty, value), extra, source);
            }
            PajeEvent::NewEvent { time, container, ty, value, extra, source } => {
                self.write_valued(EventOperation::NewEvent, (time, container, ty, value), extra, source);
            }
            PajeEvent::PopState { time, container, ty } => {
                self.begin_in(13, time, container, ty, |head| head.byte(b'\n'));
            }
            PajeEvent::ResetState { time, container, ty } => {
                let id = self.definition(EventOperation::ResetState, &[], true);
                self.begin_in(id, time, container, ty, |head| head.byte(b'\n'));
            }
            PajeEvent::Variable { time, container, ty, op, value } => {
                let id = match op {
                    VariableOp::Set => 8,
                    VariableOp::Add => 9,
                    VariableOp::Subtract => 10,
                };
                self.begin_in(id, time, container, ty, |head| head.byte(b' '));
                self.float(if value.is_finite() { value } else { 0.0 });
                self.line.push(b'\n');
            }
            PajeEvent::StartLink { time, container, ty, value, start, key, extra, source } => {
                self.link(EventOperation::StartLink, (time, container, ty, value), (start, key), extra, source);
            }
            PajeEvent::EndLink { time, container, ty, value, end, key, extra, source } => {
                self.link(EventOperation::EndLink, (time, container, ty, value), (end, key), extra, source);
            }
        }
        self.flush_line()
    }

    fn announce(&mut self, shape: &FieldSet<'_>) -> io::Result<()> {
        if !self.begun {
            self.begun = true;
            self.begin_text();
        }
        let fields = shape.fields.iter().map(|(name, kind)| {
            let value = match kind {
                ExtraFieldKind::Text => ExtraValue::Text(""),
                ExtraFieldKind::Integer => ExtraValue::Integer(0),
                ExtraFieldKind::Float => ExtraValue::Float(0.0),
                ExtraFieldKind::Container => ExtraValue::Container(ContainerId::ROOT),
            };
            ExtraField { name, value }
        });
        let fields: Vec<ExtraField<'_>> = fields.collect();
        self.definition(shape.operation, &fields, shape.source);
        Ok(())
    }

    fn finish(&mut self, _end: GlobalNanos) -> io::Result<()> {
        if !self.begun {
            self.begun = true;
            self.begin_text();
        }
        self.out.write_all(&self.line)?;
        self.line.clear();
        self.out.flush()
    }
}

/// Timestamp, container, type and value: the fields of most events.
type EventHead = (GlobalNanos, ContainerId, TypeId, super::ValueId);

impl<W: Write, D: TimestampWriter> PajeWriter<W, D> {
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

    fn write_valued(
        &mut self,
        operation: EventOperation,
        (time, container, ty, value): EventHead,
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
        let (text, is_used) = self.keys.get_mut(&key)?;
        if *is_used {
            return self.keys.remove(&key).map(|(text, _)| text);
        }
        *is_used = true;
        Some(text.clone())
    }

    fn link(
        &mut self,
        operation: EventOperation,
        (time, container, ty, value): EventHead,
        (end, key): (ContainerId, super::KeyId),
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
