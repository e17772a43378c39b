//! Elements of lists, and the functions of the language.

use tracer_format::Value;
use tracer_format::record::array_elements;
use tumit::spec::ExprFunction;

use super::operators::{compare, from_wide};
use super::record_scope::RecordScope;
use crate::rules::program::{ExprCode, FieldRead};
use crate::rules::rule_value::{RuleValue, Symbols};

impl RecordScope<'_> {
    /// An element of a list, counted from 0. No value after its end.
    pub(crate) fn element(
        &self,
        list: &FieldRead,
        position: &ExprCode,
        scratch: &mut String,
        symbols: &Symbols,
    ) -> RuleValue {
        let element = self.raw_element(list, position, scratch, symbols);
        element.map_or(RuleValue::None, |element| self.convert(element, scratch, symbols))
    }

    fn raw_element(
        &self,
        list: &FieldRead,
        position: &ExprCode,
        scratch: &mut String,
        symbols: &Symbols,
    ) -> Option<Value<'_>> {
        let position = usize::try_from(self.eval(position, scratch, symbols).integer()?).ok()?;
        match self.raw_field(list)? {
            Value::Array(scalar, bytes) => {
                let element_bytes = scalar.bytes()?;
                let start = position.checked_mul(element_bytes)?;
                array_elements(scalar, bytes.get(start..start.checked_add(element_bytes)?)?).next()
            }
            Value::Bytes(bytes) => bytes.get(position).map(|byte| Value::Unsigned((*byte).into())),
            _ => None,
        }
    }

    pub(crate) fn call(
        &self,
        function: ExprFunction,
        arguments: &[ExprCode],
        scratch: &mut String,
        symbols: &Symbols,
    ) -> RuleValue {
        let Some(first) = arguments.first() else { return RuleValue::None };
        match function {
            ExprFunction::Len => self.length(first, scratch, symbols),
            ExprFunction::Number => self.number(first, scratch, symbols),
            ExprFunction::Lookup(_) => RuleValue::None,
            ExprFunction::Min | ExprFunction::Max => {
                let left = self.eval(first, scratch, symbols);
                let Some(second) = arguments.get(1) else { return RuleValue::None };
                let right = self.eval(second, scratch, symbols);
                match compare(left, right, scratch, symbols) {
                    Some(order) if order.is_le() == (function == ExprFunction::Min) => left,
                    Some(_) => right,
                    None => RuleValue::None,
                }
            }
            ExprFunction::Abs => match self.eval(first, scratch, symbols) {
                RuleValue::Float(value) => RuleValue::Float(value.abs()),
                RuleValue::Single(value) => RuleValue::Single(value.abs()),
                other => other.integer().map_or(RuleValue::None, |value| from_wide(value.abs())),
            },
            ExprFunction::Floor => self.round_to_integer(first, f64::floor, scratch, symbols),
            ExprFunction::Ceil => self.round_to_integer(first, f64::ceil, scratch, symbols),
            ExprFunction::Round => self.round_to_integer(first, f64::round, scratch, symbols),
        }
    }

    fn length(&self, argument: &ExprCode, scratch: &mut String, symbols: &Symbols) -> RuleValue {
        if let ExprCode::Field(read) = argument {
            match self.raw_field(read) {
                Some(Value::Array(scalar, bytes)) => {
                    let element_bytes = scalar.bytes().unwrap_or(1).max(1);
                    return RuleValue::from_unsigned((bytes.len() / element_bytes) as u64);
                }
                Some(Value::Bytes(bytes)) => return RuleValue::from_unsigned(bytes.len() as u64),
                _ => {}
            }
        }
        let val = self.eval(argument, scratch, symbols);
        val.text(scratch, symbols).map_or(RuleValue::None, |text| RuleValue::from_unsigned(text.chars().count() as u64))
    }

    /// The number of an enum value, pointer or bool.
    fn number(&self, argument: &ExprCode, scratch: &mut String, symbols: &Symbols) -> RuleValue {
        let raw = match argument {
            ExprCode::Field(read) => self.raw_field(read),
            ExprCode::Element(list, position) => self.raw_element(list, position, scratch, symbols),
            ExprCode::Lookup(_, number) => return self.eval(number, scratch, symbols),
            _ => None,
        };
        match raw {
            Some(Value::Enum { value, .. }) => RuleValue::Int(value.into()),
            Some(Value::Pointer(value)) => RuleValue::from_unsigned(value),
            Some(Value::Bool(value)) => RuleValue::Int(value.into()),
            _ => self.eval(argument, scratch, symbols).integer().map_or(RuleValue::None, from_wide),
        }
    }

    /// A rounded number as an integer.
    fn round_to_integer(
        &self,
        argument: &ExprCode,
        rounded: impl FnOnce(f64) -> f64,
        scratch: &mut String,
        symbols: &Symbols,
    ) -> RuleValue {
        const LIMIT: f64 = 9_223_372_036_854_775_808.0;
        match self.eval(argument, scratch, symbols) {
            val @ (RuleValue::Float(_) | RuleValue::Single(_)) => {
                let value = rounded(val.number().unwrap_or(f64::NAN));
                if !(-LIMIT..LIMIT).contains(&value) {
                    return RuleValue::None;
                }
                #[expect(clippy::cast_possible_truncation, reason = "the value is within 64 bits and has no fraction")]
                let value = value as i64;
                RuleValue::Int(value)
            }
            other => other,
        }
    }
}
