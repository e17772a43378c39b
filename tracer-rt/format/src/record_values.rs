//! Records as typed values that are generated from a spec: matching the file's layouts with those
//! of the spec, reading, encoding and printing.
//! Generated code (`tracer_rt::records!`) is a thin layer over this module.
//!
//! A run may have been recorded with another version of the spec. Records are matched by the names
//! of the trace and of the event, fields by name and by a type that includes all values, and values
//! of enums by name. Additional data of the file is kept when a record is written back.
//!
//! ```
//! use tracer_format::record_values::{Address, Encode, Text};
//!
//! let mut line = String::new();
//! Text::from("ready").show(&mut line);
//! line.push(' ');
//! Address(0x1000).show(&mut line);
//! assert_eq!(line, "ready 0x1000");
//! ```

mod array;
mod binding;
mod context;
mod display;
mod notation;
mod spec_description;
mod typed_record;
mod value;

pub use typed_record::{
    AnyRecord, Content, Event, Family, FieldMismatch, Fields, Head, Origin, RawRecordBytes, TypedRecord,
};

pub use context::{Context, Names, RecordedSite, Sink, SiteRef, Tables};

pub use spec_description::{Spec, Type};

pub use array::Array;
pub use binding::{BoundType, SchemaBinding};
pub use display::event as show_event;
pub use value::{Address, Choice, Date, Encode, Field, Name, SpecEnum, Text};

use crate::schema::Schema;

/// Matches the schemas of a file with the spec. One result per provider.
#[must_use]
pub fn bind<'s>(spec: &'static Spec, schemas: impl IntoIterator<Item = &'s Schema>) -> Vec<SchemaBinding> {
    schemas.into_iter().map(|schema| SchemaBinding::new(spec, schema)).collect()
}

#[cfg(test)]
mod tests;
