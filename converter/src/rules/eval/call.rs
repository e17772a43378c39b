//! Elements of lists, and the functions of the language.

use tracer_format::Value;
use tracer_format::record::array_elements;
use tumit::spec::Function;

use super::{Code, FieldRead, Scope, compare, from_wide};
use crate::rules::value::{Symbols, Val};

impl Scope<'_> {
    /// An element of a list, counted from 0; no value beyond its end.
    pub(crate) fn element(&self, list: &FieldRead, place: &Code, scratch: &mut String, symbols: &Symbols) -> Val {
        let found = self.raw_element(list, place, scratch, symbols);
        found.map_or(Val::None, |found| self.convert(found, scratch, symbols))
    }

    fn raw_element(
        &self,
        list: &FieldRead,
        place: &Code,
        scratch: &mut String,
        symbols: &Symbols,
    ) -> Option<Value<'_>> {
        let place = usize::try_from(self.eval(place, scratch, symbols).integer()?).ok()?;
        match self.raw(list)? {
            Value::Array(scalar, bytes) => {
                let each = scalar.bytes()?;
                let start = place.checked_mul(each)?;
                array_elements(scalar, bytes.get(start..start.checked_add(each)?)?).next()
            }
            Value::Bytes(bytes) => bytes.get(place).map(|byte| Value::Unsigned((*byte).into())),
            _ => None,
        }
    }

    pub(crate) fn call(&self, function: Function, arguments: &[Code], scratch: &mut String, symbols: &Symbols) -> Val {
        let Some(first) = arguments.first() else { return Val::None };
        match function {
            Function::Len => self.length(first, scratch, symbols),
            Function::Number => self.number(first, scratch, symbols),
            Function::Lookup(_) => Val::None,
            Function::Min | Function::Max => {
                let left = self.eval(first, scratch, symbols);
                let Some(second) = arguments.get(1) else { return Val::None };
                let right = self.eval(second, scratch, symbols);
                match compare(left, right, scratch, symbols) {
                    Some(order) if order.is_le() == (function == Function::Min) => left,
                    Some(_) => right,
                    None => Val::None,
                }
            }
            Function::Abs => match self.eval(first, scratch, symbols) {
                Val::Float(value) => Val::Float(value.abs()),
                Val::Single(value) => Val::Single(value.abs()),
                other => other.integer().map_or(Val::None, |value| from_wide(value.abs())),
            },
            Function::Floor => self.whole(first, f64::floor, scratch, symbols),
            Function::Ceil => self.whole(first, f64::ceil, scratch, symbols),
            Function::Round => self.whole(first, f64::round, scratch, symbols),
        }
    }

    fn length(&self, of: &Code, scratch: &mut String, symbols: &Symbols) -> Val {
        if let Code::Field(read) = of {
            match self.raw(read) {
                Some(Value::Array(scalar, bytes)) => {
                    let each = scalar.bytes().unwrap_or(1).max(1);
                    return Val::from_unsigned((bytes.len() / each) as u64);
                }
                Some(Value::Bytes(bytes)) => return Val::from_unsigned(bytes.len() as u64),
                _ => {}
            }
        }
        let val = self.eval(of, scratch, symbols);
        val.text(scratch, symbols).map_or(Val::None, |text| Val::from_unsigned(text.chars().count() as u64))
    }

    /// The number behind an enum value, pointer or bool.
    fn number(&self, of: &Code, scratch: &mut String, symbols: &Symbols) -> Val {
        let raw = match of {
            Code::Field(read) => self.raw(read),
            Code::Element(list, place) => self.raw_element(list, place, scratch, symbols),
            Code::Lookup(_, number) => return self.eval(number, scratch, symbols),
            _ => None,
        };
        match raw {
            Some(Value::Enum { value, .. }) => Val::Int(value.into()),
            Some(Value::Pointer(value)) => Val::from_unsigned(value),
            Some(Value::Bool(value)) => Val::Int(value.into()),
            _ => self.eval(of, scratch, symbols).integer().map_or(Val::None, from_wide),
        }
    }

    /// A number without a fraction, as an integer.
    fn whole(&self, of: &Code, rounded: impl FnOnce(f64) -> f64, scratch: &mut String, symbols: &Symbols) -> Val {
        const LIMIT: f64 = 9_223_372_036_854_775_808.0;
        match self.eval(of, scratch, symbols) {
            val @ (Val::Float(_) | Val::Single(_)) => {
                let value = rounded(val.number().unwrap_or(f64::NAN));
                if !(-LIMIT..LIMIT).contains(&value) {
                    return Val::None;
                }
                #[expect(clippy::cast_possible_truncation, reason = "it is within 64 bits and has no fraction")]
                let value = value as i64;
                Val::Int(value)
            }
            other => other,
        }
    }
}
