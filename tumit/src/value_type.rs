//! Types for checking rule expressions and constants, in `resolve`, `expr` and `check`.

use tracer_format::schema::{FieldType, Scalar};

/// The type of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueType {
    Integer,
    Float,
    Bool,
    Text,
    Enum(u32),
    Date,
    Pointer,
    /// An array or bytes. It can be shown, but not be an operand.
    List,
    /// The type is unknown because of an error that is already reported. Compatible with every
    /// type.
    Any,
}

impl ValueType {
    /// The name with an article, for messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Integer => "an integer",
            Self::Float => "a float",
            Self::Bool => "a bool",
            Self::Text => "text",
            Self::Enum(_) => "an enum value",
            Self::Date => "a date",
            Self::Pointer => "a pointer",
            Self::List => "an array",
            Self::Any => "unknown",
        }
    }

    pub(crate) fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::Float | Self::Any)
    }

    /// The type of a field's value in an expression.
    pub(crate) fn of_field(ty: FieldType) -> Self {
        let FieldType::One(scalar) = ty else { return Self::List };
        match scalar {
            Scalar::F32 | Scalar::F64 => Self::Float,
            Scalar::Bool => Self::Bool,
            Scalar::Date => Self::Date,
            Scalar::Pointer => Self::Pointer,
            Scalar::Enum { index, .. } => Self::Enum(index),
            Scalar::Interned | Scalar::String => Self::Text,
            Scalar::Bytes => Self::List,
            _ => Self::Integer,
        }
    }
}
