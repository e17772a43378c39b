//! [`PajeWriter`]: the state of the writer, and the parts of lines.

use std::io::{self, Write};

use foldhash::HashMap;

use super::event_definitions::{ExtraDefinitions, HeaderStyle, StyleFields, UsedDefinition};
use super::texts::plain_text;
use super::timestamp_format::{ExactSeconds, TimestampPosition, TimestampWriter};
use crate::category::ActivityCategory;
use crate::number_text::{self, NumberWords};
use crate::time::GlobalNanos;
use crate::{ContainerId, DrawStyle, EventOperation, ExtraField, ExtraValue, RgbColor, SourcePosition, TypeId};

/// Size of the output buffer in bytes.
const BUFFER_BYTES: usize = 1 << 16;
/// Maximum length of the value of an extra field in bytes.
const MAX_FIELD_BYTES: usize = 180;

#[derive(Debug)]
pub(super) struct LinkKeyText {
    pub(super) text: Box<str>,
    /// Whether one endpoint was written.
    pub(super) is_started: bool,
}

/// Writes Pajé text.
#[derive(Debug)]
pub struct PajeWriter<W: Write, T: TimestampWriter = ExactSeconds> {
    pub(super) out: W,
    pub(super) timestamps: T,
    pub(super) line: Vec<u8>,
    pub(super) layouts: ExtraDefinitions,
    pub(super) container_types: Vec<TypeId>,
    /// The keys of links. Removed after the second endpoint.
    pub(super) keys: HashMap<u64, LinkKeyText>,
    /// Whether the definitions of the header are written.
    pub(super) has_header: bool,
    /// The maximum timestamp so far.
    pub(super) last: GlobalNanos,
    pub(super) backward_events: u64,
    /// Number of texts that were changed.
    pub(super) changed_texts: u64,
}

impl<W: Write> PajeWriter<W> {
    /// Creates a writer. `out` needs no buffer.
    pub fn new(out: W) -> Self {
        Self::with_timestamps(out, ExactSeconds, HeaderStyle::default())
    }
}

impl<W: Write, T: TimestampWriter> PajeWriter<W, T> {
    pub(super) fn with_timestamps(out: W, timestamps: T, header: HeaderStyle) -> Self {
        Self {
            out,
            timestamps,
            line: Vec::with_capacity(BUFFER_BYTES + 8192),
            layouts: ExtraDefinitions::new(header),
            container_types: vec![TypeId::ROOT],
            keys: HashMap::default(),
            has_header: false,
            last: GlobalNanos(0),
            backward_events: 0,
            changed_texts: 0,
        }
    }

    /// Returns the output.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// Number of events with a timestamp before that of their predecessor. Some readers reject
    /// these.
    #[must_use]
    pub const fn backward_events(&self) -> u64 {
        self.backward_events
    }

    pub(super) fn flush_line(&mut self) -> io::Result<()> {
        if self.line.len() >= BUFFER_BYTES {
            self.out.write_all(&self.line)?;
            self.line.clear();
        }
        Ok(())
    }

    /// Writes the definitions of the header, unless they are written.
    #[inline]
    pub(super) fn ensure_header(&mut self) {
        if !self.has_header {
            self.write_header();
        }
    }

    #[cold]
    pub(super) fn write_header(&mut self) {
        self.has_header = true;
        let header = self.layouts.header.text();
        self.text(&header);
    }

    /// The definition for a type or value with this style and category. Writes it if it is new.
    pub(super) fn styled_definition(
        &mut self,
        plain_id: u32,
        style: DrawStyle,
        category: Option<ActivityCategory>,
    ) -> u32 {
        let fields = StyleFields {
            has_shape: style.shape.is_some(),
            has_size: style.size.is_some(),
            has_category: category.is_some(),
        };
        let UsedDefinition { id, text } = self.layouts.styled_definition(plain_id, fields);
        if let Some(text) = text {
            self.text(&text);
        }
        id
    }

    pub(super) fn write_style(&mut self, style: DrawStyle) {
        if let Some(shape) = style.shape {
            self.text(" ");
            self.text(shape.name());
        }
        if let Some(size) = style.size {
            self.text(" ");
            let _ = write!(self.line, "{size}");
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        self.line.extend_from_slice(text.as_bytes());
    }

    pub(super) fn type_id(&mut self, ty: TypeId) {
        self.head(|head| head.type_id(ty));
    }

    pub(super) fn container_id(&mut self, container: ContainerId) {
        self.head(|head| head.container_id(container));
    }

    pub(super) fn head(&mut self, write: impl FnOnce(&mut NumberWords)) {
        let mut head = NumberWords::new();
        write(&mut head);
        self.line.extend_from_slice(head.as_bytes());
    }

    /// The timestamp in nanoseconds, at least 0. Counts timestamps before the last one.
    pub(super) fn timestamp(&mut self, time: GlobalNanos) -> u64 {
        self.backward_events += u64::from(time < self.last);
        self.last = self.last.max(time);
        u64::try_from(time.0).unwrap_or(0)
    }

    /// Writes a text in quotes.
    pub(super) fn name(&mut self, name: &str, limit: usize) {
        self.line.push(b'"');
        self.changed_texts += u64::from(plain_text(name, limit, &mut self.line));
        self.line.push(b'"');
    }

    pub(super) fn color(&mut self, color: RgbColor) {
        let part = |byte: u8| f64::from(byte) / 255.0;
        let _ = write!(self.line, "\"{:.6} {:.6} {:.6}\"", part(color.red), part(color.green), part(color.blue));
    }

    /// Writes the id of the event's definition and its timestamp, then the output of `add_fields`.
    pub(super) fn begin(&mut self, id: u32, time: GlobalNanos, add_fields: impl FnOnce(&mut NumberWords)) {
        let nanos = self.timestamp(time);
        let mut head = NumberWords::new();
        head.number(id.into());
        head.byte(b' ');
        self.timestamps.write(nanos, &mut TimestampPosition(&mut head));
        head.byte(b' ');
        add_fields(&mut head);
        self.line.extend_from_slice(head.as_bytes());
    }

    /// As [`Self::begin`], with the container and the type before the output of `add_fields`.
    pub(super) fn begin_in(
        &mut self,
        id: u32,
        time: GlobalNanos,
        container: ContainerId,
        ty: TypeId,
        add_fields: impl FnOnce(&mut NumberWords),
    ) {
        self.begin(id, time, |head| {
            head.container_id(container);
            head.byte(b' ');
            head.type_id(ty);
            add_fields(head);
        });
    }

    /// The definition for an event with these extra fields. Writes it if it is new.
    pub(super) fn definition(&mut self, operation: EventOperation, extra: &[ExtraField<'_>], source: bool) -> u32 {
        if extra.is_empty() && !source {
            return operation.plain_id();
        }
        let UsedDefinition { id, text } = self.layouts.id(operation, extra, source);
        if let Some(text) = text {
            self.text(&text);
        }
        id
    }

    /// Writes the shortest text that is read back as the same number.
    pub(super) fn float(&mut self, value: f64) {
        // Counters are whole numbers, which need no search for the shortest digits.
        match number_text::integer_value(value).filter(|integer| *integer != 0 || value.is_sign_positive()) {
            Some(integer) => number_text::push_signed(integer, &mut self.line),
            None => number_text::plain_float(value, &mut self.line),
        }
    }

    pub(super) fn extras(
        &mut self,
        operation: EventOperation,
        extra: &[ExtraField<'_>],
        source: Option<SourcePosition<'_>>,
    ) {
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
