//! The description of a spec in generated code.

use crate::schema::FieldType;

/// The description of a spec in generated code.
#[derive(Debug)]
pub struct Spec {
    /// Name of the trace.
    pub name: &'static str,
    /// Record types. The index is the kind of the event.
    pub types: &'static [Type],
    /// Names and numbers of the values of each enum.
    pub enums: &'static [&'static [(&'static str, u16)]],
    /// The encoded schema for files.
    pub schema: &'static [u8],
}

/// A record type of a [`Spec`].
#[derive(Debug)]
pub struct Type {
    /// Name: `post`, or `iteration.begin`.
    pub name: &'static str,
    /// The record contains its source position.
    pub located: bool,
    /// Names and types of its fields.
    pub fields: &'static [(&'static str, FieldType)],
}
