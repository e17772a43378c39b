//! Shapes: which extra fields the events of a stream will have. Text formats define them before their first event.

/// A Pajé operation that can have extra fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names of the Pajé format")]
pub enum Operation {
    CreateContainer,
    SetState,
    PushState,
    ResetState,
    StartLink,
    EndLink,
    NewEvent,
}

/// What an extra field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FieldKind {
    /// Text.
    Text,
    /// An integer.
    Integer,
    /// A float.
    Float,
    /// A reference to a container.
    Container,
}

/// The extra fields of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape<'a> {
    /// The operation.
    pub operation: Operation,
    /// Names and kinds of the fields, in order.
    pub fields: &'a [(&'a str, FieldKind)],
    /// It has a source position.
    pub source: bool,
}
