//! The types of fields: reading, encoding and printing.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use super::{Context, Sink, shown};
use crate::record::Value;
use crate::schema::{FieldType, Scalar};

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

/// Appends an integer in this type. Returns whether it fits.
fn put_integer(value: i128, ty: FieldType, out: &mut Vec<u8>) -> bool {
    macro_rules! put {
        ($($scalar:ident $ty:ty),*) => {
            match ty {
                $(FieldType::One(Scalar::$scalar) => match <$ty>::try_from(value) {
                    Ok(fits) => out.extend_from_slice(&fits.to_le_bytes()),
                    Err(_) => return false,
                },)*
                _ => return false,
            }
        };
    }
    put!(U8 u8, U16 u16, U32 u32, U64 u64, I8 i8, I16 i16, I32 i32, I64 i64, Date u64, Pointer u64);
    true
}

macro_rules! integers {
    ($($ty:ty),*) => {$(
        impl Encode for $ty {
            fn encode(&self, ty: FieldType, sink: &mut Sink<'_>) -> bool {
                put_integer(i128::from(*self), ty, sink.out)
            }

            fn show(&self, out: &mut String) -> bool {
                let _ = write!(out, "{self}");
                false
            }
        }

        impl<'a> Field<'a> for $ty {
            fn zero() -> Self {
                0
            }

            fn from_value(value: Value<'a>, _: Context<'a>) -> Option<Self> {
                match value {
                    Value::Unsigned(value) => value.try_into().ok(),
                    Value::Signed(value) => value.try_into().ok(),
                    _ => None,
                }
            }
        }
    )*};
}

integers!(u8, u16, u32, u64, i8, i16, i32, i64);

impl Encode for f32 {
    fn encode(&self, ty: FieldType, sink: &mut Sink<'_>) -> bool {
        match ty {
            FieldType::One(Scalar::F32) => sink.out.extend_from_slice(&self.to_le_bytes()),
            FieldType::One(Scalar::F64) => sink.out.extend_from_slice(&f64::from(*self).to_le_bytes()),
            _ => return false,
        }
        true
    }

    fn show(&self, out: &mut String) -> bool {
        let _ = write!(out, "{self}");
        false
    }
}

impl<'a> Field<'a> for f32 {
    fn zero() -> Self {
        0.0
    }

    fn from_value(value: Value<'a>, _: Context<'a>) -> Option<Self> {
        if let Value::Single(value) = value { Some(value) } else { None }
    }
}

impl Encode for f64 {
    #[expect(clippy::cast_possible_truncation, reason = "the result is compared with the value")]
    fn encode(&self, ty: FieldType, sink: &mut Sink<'_>) -> bool {
        match ty {
            FieldType::One(Scalar::F64) => sink.out.extend_from_slice(&self.to_le_bytes()),
            FieldType::One(Scalar::F32) if self.is_nan() || f64::from(*self as f32).to_bits() == self.to_bits() => {
                sink.out.extend_from_slice(&(*self as f32).to_le_bytes());
            }
            _ => return false,
        }
        true
    }

    fn show(&self, out: &mut String) -> bool {
        let _ = write!(out, "{self}");
        false
    }
}

impl<'a> Field<'a> for f64 {
    fn zero() -> Self {
        0.0
    }

    fn from_value(value: Value<'a>, _: Context<'a>) -> Option<Self> {
        match value {
            Value::Double(value) => Some(value),
            Value::Single(value) => Some(value.into()),
            _ => None,
        }
    }
}

impl Encode for bool {
    fn encode(&self, ty: FieldType, sink: &mut Sink<'_>) -> bool {
        sink.out.push(u8::from(*self));
        ty == FieldType::One(Scalar::Bool)
    }

    fn show(&self, out: &mut String) -> bool {
        let _ = write!(out, "{self}");
        false
    }
}

impl<'a> Field<'a> for bool {
    fn zero() -> Self {
        false
    }

    fn from_value(value: Value<'a>, _: Context<'a>) -> Option<Self> {
        if let Value::Bool(value) = value { Some(value) } else { None }
    }
}

/// A timestamp, as a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Date {
    /// Ticks of the process's own clock.
    pub ticks: u64,
    /// Nanoseconds from the start of the run, if the value comes from a run.
    pub nanos: Option<i64>,
}

impl From<u64> for Date {
    fn from(ticks: u64) -> Self {
        Self { ticks, nanos: None }
    }
}

impl Encode for Date {
    fn encode(&self, ty: FieldType, sink: &mut Sink<'_>) -> bool {
        put_integer(self.ticks.into(), ty, sink.out)
    }

    fn show(&self, out: &mut String) -> bool {
        match self.nanos {
            Some(nanos) => shown::seconds(nanos, out),
            None => {
                let _ = write!(out, "{} ticks", self.ticks);
            }
        }
        false
    }
}

impl<'a> Field<'a> for Date {
    fn zero() -> Self {
        Self::default()
    }

    fn from_value(value: Value<'a>, context: Context<'a>) -> Option<Self> {
        let Value::Date(ticks) = value else { return None };
        Some(Self { ticks, nanos: context.tables.nanos.map(|nanos| nanos(ticks)) })
    }
}

/// An address of the traced program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(pub u64);

impl Encode for Address {
    fn encode(&self, ty: FieldType, sink: &mut Sink<'_>) -> bool {
        put_integer(self.0.into(), ty, sink.out)
    }

    fn show(&self, out: &mut String) -> bool {
        let _ = write!(out, "{:#x}", self.0);
        true
    }
}

impl<'a> Field<'a> for Address {
    fn zero() -> Self {
        Self(0)
    }

    fn from_value(value: Value<'a>, _: Context<'a>) -> Option<Self> {
        if let Value::Pointer(address) = value { Some(Self(address)) } else { None }
    }
}

/// A generated enum.
pub trait Enumerated: Copy + PartialEq + 'static {
    /// The values with their names and numbers in the spec.
    const VALUES: &'static [(Self, &'static str, u16)];
}

/// A value of an enum, which the spec may not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice<'a, E> {
    /// A value of the spec.
    Known(E),
    /// A value that the spec does not have.
    Unknown {
        /// Number in the file.
        number: u16,
        /// Name in the file, if it has one.
        name: Option<&'a str>,
    },
}

impl<E: Copy> Choice<'_, E> {
    /// The value, if the spec has it.
    pub fn known(&self) -> Option<E> {
        if let Self::Known(value) = self { Some(*value) } else { None }
    }
}

impl<E> From<E> for Choice<'_, E> {
    fn from(value: E) -> Self {
        Self::Known(value)
    }
}

impl<E: PartialEq> PartialEq<E> for Choice<'_, E> {
    fn eq(&self, other: &E) -> bool {
        matches!(self, Self::Known(value) if value == other)
    }
}

impl<E: Enumerated> Choice<'_, E> {
    fn name(&self) -> Option<&str> {
        match self {
            Self::Known(value) => E::VALUES.iter().find(|(known, ..)| known == value).map(|(_, name, _)| *name),
            Self::Unknown { name, .. } => *name,
        }
    }

    fn number(&self) -> u16 {
        match self {
            Self::Known(value) => {
                E::VALUES.iter().find(|(known, ..)| known == value).map_or(0, |(_, _, number)| *number)
            }
            Self::Unknown { number, .. } => *number,
        }
    }
}

impl<E: Enumerated> Encode for Choice<'_, E> {
    fn encode(&self, ty: FieldType, sink: &mut Sink<'_>) -> bool {
        let FieldType::One(Scalar::Enum { index, wide }) = ty else { return false };
        let number = match (sink.enums, self.name()) {
            (Some(enums), Some(name)) => {
                let values = enums.get(index as usize).map_or(&[][..], |item| &item.values);
                values.iter().find(|value| value.name == name).map(|value| value.number)
            }
            _ => Some(self.number()),
        };
        match (number, wide) {
            (Some(number), true) => sink.out.extend_from_slice(&number.to_le_bytes()),
            (Some(number), false) => match u8::try_from(number) {
                Ok(number) => sink.out.push(number),
                Err(_) => return false,
            },
            (None, _) => return false,
        }
        true
    }

    fn show(&self, out: &mut String) -> bool {
        match self.name() {
            Some(name) => out.push_str(name),
            None => {
                let _ = write!(out, "{}", self.number());
            }
        }
        self.name().is_some()
    }
}

impl<'a, E: Enumerated> Field<'a> for Choice<'a, E> {
    fn zero() -> Self {
        Self::Unknown { number: 0, name: None }
    }

    fn from_value(value: Value<'a>, context: Context<'a>) -> Option<Self> {
        let Value::Enum { index, value: number } = value else { return None };
        let name = context.enums.get(index as usize).and_then(|item| item.name_of(number));
        // In most cases the numbers are those of the spec.
        let guess = E::VALUES.get(usize::from(number)).filter(|(_, own, _)| Some(*own) == name);
        let known = guess.or_else(|| E::VALUES.iter().find(|(_, own, _)| Some(*own) == name));
        Some(known.map_or(Self::Unknown { number, name }, |(value, ..)| Self::Known(*value)))
    }
}

/// An interned string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Name<'a> {
    /// The text.
    Known(&'a str),
    /// The number in the file, if the table of the file does not contain the text.
    Lost(u32),
}

impl<'a> Name<'a> {
    /// The text, if the file contains it.
    #[must_use]
    pub const fn text(&self) -> Option<&'a str> {
        if let Self::Known(text) = self { Some(*text) } else { None }
    }
}

impl Default for Name<'_> {
    fn default() -> Self {
        Self::Known("")
    }
}

impl<'a> From<&'a str> for Name<'a> {
    fn from(text: &'a str) -> Self {
        Self::Known(text)
    }
}

impl PartialEq<str> for Name<'_> {
    fn eq(&self, other: &str) -> bool {
        self.text() == Some(other)
    }
}

impl PartialEq<&str> for Name<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.text() == Some(*other)
    }
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(text) => f.write_str(text),
            Self::Lost(number) => write!(f, "string {number} (lost)"),
        }
    }
}

impl Encode for Name<'_> {
    fn encode(&self, ty: FieldType, sink: &mut Sink<'_>) -> bool {
        match (ty, self) {
            (FieldType::One(Scalar::String), _) => Text(self.to_string().as_bytes()).encode(ty, sink),
            (FieldType::One(Scalar::Interned), Self::Known(text)) => {
                let number = sink.names.string(text);
                sink.out.extend_from_slice(&number.to_le_bytes());
                true
            }
            (FieldType::One(Scalar::Interned), Self::Lost(number)) => {
                sink.out.extend_from_slice(&number.to_le_bytes());
                true
            }
            _ => false,
        }
    }

    fn show(&self, out: &mut String) -> bool {
        let _ = write!(out, "{self}");
        true
    }
}

impl<'a> Field<'a> for Name<'a> {
    fn zero() -> Self {
        Self::default()
    }

    fn from_value(value: Value<'a>, context: Context<'a>) -> Option<Self> {
        Some(match value {
            Value::Interned(id) => {
                let text = context.tables.strings.get(id as usize).and_then(Option::as_deref);
                match text {
                    Some(text) => Self::Known(text),
                    None if id == 0 => Self::Known(""),
                    None => Self::Lost(id),
                }
            }
            Value::Text(bytes) => Self::Known(std::str::from_utf8(bytes).unwrap_or("\u{fffd}")),
            _ => return None,
        })
    }
}

/// Text of a record. It may be invalid UTF-8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Text<'a>(pub &'a [u8]);

impl<'a> Text<'a> {
    /// Returns the text. Invalid UTF-8 is replaced.
    #[must_use]
    pub fn to_str(&self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.0)
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self(text.as_bytes())
    }
}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl PartialEq<&str> for Text<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_str())
    }
}

impl Encode for Text<'_> {
    fn encode(&self, ty: FieldType, sink: &mut Sink<'_>) -> bool {
        match ty {
            FieldType::One(Scalar::String) => put_counted(self.0, sink.out),
            FieldType::One(Scalar::Interned) => {
                let number = sink.names.string(&self.to_str());
                sink.out.extend_from_slice(&number.to_le_bytes());
                true
            }
            _ => false,
        }
    }

    fn show(&self, out: &mut String) -> bool {
        out.push_str(&self.to_str());
        true
    }
}

impl<'a> Field<'a> for Text<'a> {
    fn zero() -> Self {
        Self::default()
    }

    fn from_value(value: Value<'a>, context: Context<'a>) -> Option<Self> {
        match value {
            Value::Text(bytes) => Some(Self(bytes)),
            _ => Name::from_value(value, context).and_then(|name| name.text()).map(Self::from),
        }
    }
}

impl Encode for &[u8] {
    fn encode(&self, ty: FieldType, sink: &mut Sink<'_>) -> bool {
        ty == FieldType::One(Scalar::Bytes) && put_counted(self, sink.out)
    }

    fn show(&self, out: &mut String) -> bool {
        for byte in *self {
            let _ = write!(out, "{byte:02x}");
        }
        true
    }
}

impl<'a> Field<'a> for &'a [u8] {
    fn zero() -> Self {
        &[]
    }

    fn from_value(value: Value<'a>, _: Context<'a>) -> Option<Self> {
        if let Value::Bytes(bytes) = value { Some(bytes) } else { None }
    }
}

fn put_counted(bytes: &[u8], out: &mut Vec<u8>) -> bool {
    let Ok(count) = u16::try_from(bytes.len()) else { return false };
    out.extend_from_slice(&count.to_le_bytes());
    out.extend_from_slice(bytes);
    true
}
