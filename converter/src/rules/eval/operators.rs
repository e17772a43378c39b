//! Operators on values.

use std::cmp::Ordering;

use tumit::spec::{BinaryOp, UnaryOp};

use crate::rules::rule_value::{RuleValue, Symbols};

pub(super) fn unary(op: UnaryOp, operand: RuleValue) -> RuleValue {
    match (op, operand) {
        (UnaryOp::Not, RuleValue::Bool(value)) => RuleValue::Bool(!value),
        (UnaryOp::Minus, RuleValue::Float(value)) => RuleValue::Float(-value),
        (UnaryOp::Minus, RuleValue::Single(value)) => RuleValue::Single(-value),
        (UnaryOp::Minus, other) => other.integer().map_or(RuleValue::None, |value| from_wide(-value)),
        (UnaryOp::Not, _) => RuleValue::None,
    }
}

/// Integers stay integers if the result has 64 bits. With one float, the result is a float.
pub(super) fn arithmetic(op: BinaryOp, left: RuleValue, right: RuleValue) -> RuleValue {
    let is_date = matches!(left, RuleValue::Date(_)) || matches!(right, RuleValue::Date(_));
    if let (Some(a), Some(b)) = (left.integer(), right.integer()) {
        let result = match op {
            BinaryOp::Add => a.checked_add(b),
            BinaryOp::Subtract => a.checked_sub(b),
            BinaryOp::Multiply => a.checked_mul(b),
            BinaryOp::Divide => a.checked_div(b),
            _ => a.checked_rem(b),
        };
        let val = result.map_or(RuleValue::None, from_wide);
        let are_dates = matches!(left, RuleValue::Date(_)) && matches!(right, RuleValue::Date(_));
        return match val {
            RuleValue::Int(nanos) if is_date && !(are_dates && op == BinaryOp::Subtract) => RuleValue::Date(nanos),
            val => val,
        };
    }
    let (Some(a), Some(b)) = (left.number(), right.number()) else { return RuleValue::None };
    RuleValue::Float(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Subtract => a - b,
        BinaryOp::Multiply => a * b,
        BinaryOp::Divide => a / b,
        _ => a % b,
    })
}

pub(super) fn from_wide(value: i128) -> RuleValue {
    i64::try_from(value)
        .map(RuleValue::Int)
        .or_else(|_| u64::try_from(value).map(RuleValue::Unsigned))
        .unwrap_or(RuleValue::None)
}

pub(super) fn compare(left: RuleValue, right: RuleValue, scratch: &str, symbols: &Symbols) -> Option<Ordering> {
    if let (Some(a), Some(b)) = (left.integer(), right.integer()) {
        return Some(a.cmp(&b));
    }
    if let (RuleValue::Sym(a), RuleValue::Sym(b)) = (left, right)
        && a == b
    {
        return Some(Ordering::Equal);
    }
    if let (Some(a), Some(b)) = (left.text(scratch, symbols), right.text(scratch, symbols)) {
        return Some(a.cmp(b));
    }
    left.number()?.partial_cmp(&right.number()?)
}
