//! Writes Pajé text, in the subset that every known reader accepts.
//!
//! Definitions of events are first, then types and values, then one stream in order of time.
//! Identifiers are serial numbers with a letter. Timestamps are seconds with nine decimals,
//! converted from integers. A [`PajeStyle`] selects other timestamps and definitions for readers
//! that need them.

pub(crate) mod event_definitions;
pub(crate) mod line_start;
mod operations;
mod paje_writer;
pub(crate) mod standard_fields;
#[cfg(test)]
mod tests;
mod texts;
pub(crate) mod timestamp_format;

use std::io::Write;

use super::PajeSink;
use super::time::TimeUnit;
pub use event_definitions::HeaderStyle;
pub use paje_writer::PajeWriter;
use standard_fields::StandardFieldSink;
pub use texts::text_of_name;
use timestamp_format::TruncatedUnits;
pub use timestamp_format::{ExactSeconds, TimestampPosition, TimestampWriter};

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
        with_header(PajeWriter::with_timestamps(out, ExactSeconds, header))
    } else {
        with_header(PajeWriter::with_timestamps(out, TruncatedUnits::new(unit, decimals), header))
    }
}

fn with_header<'w, W: Write + 'w, T: TimestampWriter + 'w>(writer: PajeWriter<W, T>) -> Box<dyn PajeSink + 'w> {
    if writer.layouts.header == HeaderStyle::Basic { Box::new(StandardFieldSink(writer)) } else { Box::new(writer) }
}
