//! The Pajé model as a stream of typed operations: the interface between all producers and
//! consumers.

pub mod channel;
pub mod compression;
mod diagnostic;
mod event;
pub mod field_sets;
pub mod number_text;
pub mod other_formats;
pub mod read;
pub mod recycling_channel;
pub mod style;
pub mod time;
pub mod time_range;
pub mod time_text;
pub mod write;

pub use diagnostic::{DiagnosticKind, DiagnosticLocation, DiagnosticSeverity, TraceDiagnostic, diagnostic_texts};
pub use event::{
    ContainerId, ExtraField, ExtraValue, KeyId, PajeEvent, PajeSink, PajeTypeKind, PlainEvent, PlainKind, RgbColor,
    SourcePosition, TypeId, ValueId, VariableOp,
};
pub use field_sets::{EventOperation, ExtraFieldKind, FieldSet};
pub use style::{DrawStyle, MarkShape};
