//! The values of enums.

use std::fmt::Write as _;

use super::field::{Encode, Field};
use crate::record::Value;
use crate::record_values::{Context, Sink};
use crate::schema::{FieldType, Scalar};

/// A generated enum.
pub trait SpecEnum: Copy + PartialEq + 'static {
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
    pub fn known_value(&self) -> Option<E> {
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

impl<E: SpecEnum> Choice<'_, E> {
    fn name(&self) -> Option<&str> {
        match self {
            Self::Known(value) => E::VALUES.iter().find(|(candidate, ..)| candidate == value).map(|(_, name, _)| *name),
            Self::Unknown { name, .. } => *name,
        }
    }

    fn number(&self) -> u16 {
        match self {
            Self::Known(value) => {
                E::VALUES.iter().find(|(candidate, ..)| candidate == value).map_or(0, |(_, _, number)| *number)
            }
            Self::Unknown { number, .. } => *number,
        }
    }
}

impl<E: SpecEnum> Encode for Choice<'_, E> {
    fn encode(&self, ty: FieldType, sink: &mut Sink<'_>) -> bool {
        let FieldType::One(Scalar::Enum { index, is_wide }) = ty else { return false };
        let number = match (sink.enums, self.name()) {
            (Some(enums), Some(name)) => {
                let values = enums.get(index as usize).map_or(&[][..], |item| &item.values);
                values.iter().find(|value| value.name == name).map(|value| value.number)
            }
            _ => Some(self.number()),
        };
        match (number, is_wide) {
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

impl<'a, E: SpecEnum> Field<'a> for Choice<'a, E> {
    fn zero() -> Self {
        Self::Unknown { number: 0, name: None }
    }

    fn from_value(value: Value<'a>, context: Context<'a>) -> Option<Self> {
        let Value::Enum { index, value: number } = value else { return None };
        let name = context.enums.get(index as usize).and_then(|item| item.name_of(number));
        // In most cases the number in the file is the position in `VALUES`.
        let guess = E::VALUES.get(usize::from(number)).filter(|(_, spec_name, _)| Some(*spec_name) == name);
        let value = guess.or_else(|| E::VALUES.iter().find(|(_, spec_name, _)| Some(*spec_name) == name));
        Some(value.map_or(Self::Unknown { number, name }, |(value, ..)| Self::Known(*value)))
    }
}
