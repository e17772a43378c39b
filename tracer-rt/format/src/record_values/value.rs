//! The types of fields: reading, encoding and printing.

mod choice;
mod field;
mod text;

pub use field::{Encode, Field};

use std::fmt::Write as _;

use super::context::{Context, Sink};
use super::notation;
use crate::record::Value;
use crate::schema::{FieldType, Scalar};

pub use choice::{Choice, SpecEnum};
pub use text::{Name, Text};

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
            Some(nanos) => notation::seconds(nanos, out),
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
