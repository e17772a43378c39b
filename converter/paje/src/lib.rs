//! The Pajé model as a stream of typed operations: the interface between all producers and
//! consumers.
//!
//! # Example
//!
//! Reads a trace, and writes it again as Pajé text:
//!
//! ```
//! use tumit_paje::read::read;
//! use tumit_paje::write::PajeWriter;
//!
//! let text = b"\
//! %EventDef PajeDefineContainerType 0
//! % Alias string
//! % Type string
//! % Name string
//! %EndEventDef
//! %EventDef PajeCreateContainer 1
//! % Time date
//! % Alias string
//! % Type string
//! % Container string
//! % Name string
//! %EndEventDef
//! 0 P 0 Process
//! 1 0.5 p0 P 0 first
//! ";
//! let mut writer = PajeWriter::new(Vec::new());
//! let report = read(&text[..], &mut writer)?;
//! assert_eq!((report.events, report.faults.len()), (2, 0));
//!
//! let copy = String::from_utf8(writer.into_inner())?;
//! assert!(copy.ends_with("0 t1 0 \"Process\"\n6 0.500000000 c1 0 t1 \"first\"\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod category;
pub mod channel;
pub mod collective;
pub mod compression;
mod diagnostic;
mod event;
mod excerpt;
mod field_sets;
pub mod number_text;
pub mod other_formats;
pub mod read;
pub mod recycling_channel;
mod style;
pub mod task_colors;
pub mod time;
pub mod time_range;
pub mod time_text;
pub mod write;

pub use diagnostic::{DiagnosticKind, DiagnosticLocation, DiagnosticSeverity, TraceDiagnostic, diagnostic_texts};
pub use event::{
    ContainerId, ExtraField, ExtraValue, KeyId, PajeEvent, PajeSink, PajeTypeKind, PlainEvent, PlainKind, RgbColor,
    SourcePosition, TypeId, ValueId, VariableOp,
};
pub use excerpt::{MAX_EXCERPT_CHARS, excerpt};
pub use field_sets::{EventOperation, ExtraFieldKind, FieldSet};
pub use style::{DrawStyle, MarkShape};
