//! Evaluates expressions for a record.

mod call;
mod operators;
mod record_scope;

use super::rule_value::{RuleValue, Symbols, append_seconds};
pub(crate) use record_scope::RecordScope;

/// Appends a value as text for users. Text ranges refer to `scratch`.
pub(crate) fn append_value(val: RuleValue, scratch: &str, symbols: &Symbols, out: &mut String) {
    match val {
        RuleValue::Scratch { start, end } => out.push_str(&scratch[start as usize..end as usize]),
        RuleValue::Date(nanos) => append_seconds(out, nanos),
        val => val.append(out, symbols),
    }
}
