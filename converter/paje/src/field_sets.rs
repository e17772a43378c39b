//! Field sets: the extra fields of the operations in a stream. Text formats define them before
//! their first operation.

/// A Pajé operation that can have extra fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names of the Pajé format")]
pub enum EventOperation {
    CreateContainer,
    SetState,
    PushState,
    ResetState,
    StartLink,
    EndLink,
    NewEvent,
}

/// The type of an extra field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names explain the variants")]
pub enum ExtraFieldKind {
    Text,
    Integer,
    Float,
    /// A reference to a container.
    Container,
}

/// The extra fields of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FieldSet<'a> {
    /// The operation whose events have the fields.
    pub operation: EventOperation,
    /// Names and kinds of the fields, in order.
    pub fields: &'a [(&'a str, ExtraFieldKind)],
    /// Whether it has a source position.
    pub source: bool,
}
