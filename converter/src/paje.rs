//! The Pajé model as a stream of typed operations: the waist through which everything passes.

mod event;
pub mod foreign;
mod look;
pub mod read;
pub(crate) mod relay;
mod shape;
pub mod write;

pub use event::{
    Color, ContainerId, Extra, ExtraValue, KeyId, PajeEvent, PlainEvent, PlainKind, Sink, Source, TypeId, TypeKind,
    ValueId, VariableOp,
};
pub use look::{Look, MarkShape};
pub use shape::{FieldKind, Operation, Shape};
