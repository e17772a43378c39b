//! The Pajé model as a stream of typed operations: the waist through which everything passes.

pub mod channel;
pub mod compression;
mod event;
pub mod field_sets;
pub mod number_text;
pub mod other_formats;
pub mod read;
pub mod style;
pub mod time;
pub mod write;

pub use event::{
    Color, ContainerId, Extra, ExtraValue, KeyId, PajeEvent, PlainEvent, PlainKind, Sink, Source, TypeId, TypeKind,
    ValueId, VariableOp,
};
pub use field_sets::{FieldKind, Operation, Shape};
pub use style::{Look, MarkShape};
