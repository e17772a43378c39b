//! The interface of values: encoding, printing and reading.

use crate::record::Value;
use crate::record_values::context::{Context, Sink};
use crate::schema::FieldType;

/// A value that can be encoded and printed.
pub trait Encode {
    /// Appends the value in the type `ty` of a file.
    /// Returns `false` if the type cannot represent it.
    fn encode(&self, ty: FieldType, sink: &mut Sink<'_>) -> bool;

    /// Appends the text of the value as in `tumit dump`. Returns whether it needs quotes there.
    fn show(&self, out: &mut String) -> bool;
}

/// The type of a field.
pub trait Field<'a>: Encode + Sized {
    /// The value of a field that the file does not have.
    fn zero() -> Self;

    /// Reads the value. `None` if it has another type.
    fn from_value(value: Value<'a>, context: Context<'a>) -> Option<Self>;
}
