//! Writes Pajé text, in the subset that every known reader accepts.
//!
//! Definitions of events are first, then types and values, then one stream in order of time.
//! Identifiers are serial numbers with a letter. Timestamps are seconds with nine decimals,
//! converted from integers. A [`PajeStyle`] selects other timestamps and definitions for readers
//! that need them.

pub(crate) mod definitions;
pub(crate) mod line_start;
mod operations;
pub(crate) mod standard_fields;
#[cfg(test)]
mod tests;
mod texts;
pub(crate) mod timestamps;

use std::io::{self, Write};

use foldhash::HashMap;

use super::number_text::{self, NumberWords};
use super::time::{GlobalNanos, TimeUnit};
use super::{
    ContainerId, DrawStyle, EventOperation, ExtraField, ExtraValue, PajeSink, RgbColor, SourcePosition, TypeId,
};
use definitions::ExtraDefinitions;
pub use definitions::HeaderStyle;
use standard_fields::StandardFieldSink;
use texts::plain_text;
pub use texts::text_of_name;
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
///
/// ```
/// use tumit_paje::time::{GlobalNanos, TimeUnit};
/// use tumit_paje::write::{PajeStyle, in_style};
/// use tumit_paje::{ContainerId, PajeEvent, TypeId};
///
/// let mut style = PajeStyle::default();
/// (style.unit, style.decimals) = (TimeUnit::Millis, Some(1));
/// let mut text = Vec::new();
/// let mut writer = in_style(&mut text, style);
/// writer.event(&PajeEvent::CreateContainer {
///     time: GlobalNanos(1_250_000),
///     container: ContainerId(1),
///     ty: TypeId(1),
///     parent: ContainerId::ROOT,
///     name: "first",
///     extra: &[],
/// })?;
/// writer.finish(GlobalNanos(1_250_000))?;
/// drop(writer);
/// assert!(text.ends_with(b"6 1.2 c1 0 t1 \"first\"\n"));
/// # Ok::<(), std::io::Error>(())
/// ```
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
    /// Whether the definitions of the header are written.
    has_header: bool,
    /// The maximum timestamp so far.
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
            has_header: false,
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

    /// Writes the definitions of the header, unless they are written.
    #[inline]
    fn ensure_header(&mut self) {
        if !self.has_header {
            self.write_header();
        }
    }

    #[cold]
    fn write_header(&mut self) {
        self.has_header = true;
        let header = self.layouts.header.text();
        self.text(&header);
    }

    /// The definition for a type or value with this style. Writes it if it is new.
    fn styled_definition(&mut self, plain: u32, style: DrawStyle) -> u32 {
        let (id, text) = self.layouts.styled_definition(plain, style);
        if let Some(text) = text {
            self.text(&text);
        }
        id
    }

    fn write_style(&mut self, style: DrawStyle) {
        if let Some(shape) = style.shape {
            self.text(" ");
            self.text(shape.name());
        }
        if let Some(size) = style.size {
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
