//! Reads Pajé text: all variants that producers write, from all versions of the format.
//!
//! Definitions are keyed by id, so an event may have several. Fields may be in any order, and have
//! current or older names. Identifiers are aliases, or names if there is no alias.
//!
//! Unknown fields become [`super::ExtraField`]s. An unknown field with a name that ends in
//! `Container` and the identifier of a container as its text becomes a reference
//! (`WaitsForContainer` is `waits for`).
//!
//! Values may be used without a declaration, or before it. In the latter case `DefineValue` is sent
//! again for the same value. The identifier of a destroyed container may be reused. Timestamps are
//! converted to nanoseconds exactly, without floats.
//!
//! A faulty line is counted and skipped. Lines keep the order of the file, because this reader does
//! not sort. Once tables and buffers have grown, memory is allocated only for new containers,
//! values and keys in use.
//!
//! ```
//! use std::io;
//!
//! use tumit_paje::time::GlobalNanos;
//! use tumit_paje::{PajeEvent, PajeSink, diagnostic_texts};
//!
//! /// Counts operations.
//! struct Counter(u32);
//!
//! impl PajeSink for Counter {
//!     fn event(&mut self, _: &PajeEvent<'_>) -> io::Result<()> {
//!         self.0 += 1;
//!         Ok(())
//!     }
//!
//!     fn finish(&mut self, _: GlobalNanos) -> io::Result<()> {
//!         Ok(())
//!     }
//! }
//!
//! let text = "\
//! %EventDef PajeDefineContainerType 0
//! % Alias string
//! % Type string
//! % Name string
//! %EndEventDef
//! 0 P 0 Process
//! 0 T Q Thread
//! ";
//! let mut counter = Counter(0);
//! let report = tumit_paje::read::read(text.as_bytes(), &mut counter)?;
//! assert_eq!(counter.0, 1);
//! let errors = diagnostic_texts(&report.errors());
//! assert!(errors[0].starts_with("line 7: "));
//! # Ok::<(), tumit_paje::read::PajeReadError>(())
//! ```

mod error;
pub(crate) mod event_definitions;
pub(crate) mod faults;
mod line_processor;
mod number;
pub(crate) mod operations;
mod paje_reader;
pub(crate) mod pj_dump_compat;
pub(crate) mod split_files;
pub(crate) mod split_trace;
pub(crate) mod symbols;
#[cfg(test)]
mod tests;
pub(crate) mod tokenizer;
mod trace_line;
mod value_properties;

use std::io::Read;

use super::PajeSink;
pub use error::{PajeReadError, not_paje};
pub use faults::{FaultKind, FaultSummary};
pub use number::timestamp_nanos;
pub use paje_reader::{PajeReader, ReadReport};
pub use pj_dump_compat::double_of_timestamp;
pub use split_files::{names_parts, note_copy};
pub use split_trace::{NamedPart, parts_of};
pub use trace_line::TraceLine;

/// Reads Pajé text, sends its operations to a sink, and finishes the sink with the maximum
/// timestamp.
///
/// # Errors
/// If the input or the sink fails. Also if there is no event definition in the first 1000 lines
/// that are not comments (or the first mebibyte of them). The sink is then not finished.
pub fn read(input: impl Read, sink: &mut dyn PajeSink) -> Result<ReadReport, PajeReadError> {
    PajeReader::new(input).read(sink)
}

/// Announces the extra fields of all event definitions in the text. Formats with a header need them
/// in advance.
///
/// # Errors
/// If the input or the sink fails.
pub fn announce(input: impl Read, sink: &mut dyn PajeSink) -> Result<(), PajeReadError> {
    PajeReader::new(input).announce(sink)
}
