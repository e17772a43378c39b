//! The lines of text outputs: template rules.

use crate::rules::eval::{RecordScope, append_value};
use crate::rules::program::{ActionOp, ExprCode};
use crate::rules::rule_value::Symbols;

/// Appends the lines of a record that are due. These are the lines without a timestamp of their
/// own, or those of the action `single_action`. Returns their number.
pub(crate) fn write_lines(
    scope: &RecordScope<'_>,
    single_action: Option<u16>,
    symbols: &Symbols,
    out: &mut String,
) -> u64 {
    let mut lines = 0;
    let mut scratch = String::new();
    for (number, action) in scope.program.actions.iter().enumerate() {
        let ActionOp::Line { is_unique: false, text, arguments } = &action.op else { continue };
        if single_action.map_or(action.timestamp.is_some(), |only| usize::from(only) != number) {
            continue;
        }
        scratch.clear();
        if action.condition.as_ref().is_some_and(|when| !scope.is_true(when, &mut scratch, symbols)) {
            continue;
        }
        append_line(scope, text, arguments, &mut scratch, symbols, out);
        lines += 1;
    }
    lines
}

/// Appends one line with its line end.
pub(crate) fn append_line(
    scope: &RecordScope<'_>,
    text: &[String],
    arguments: &[ExprCode],
    scratch: &mut String,
    symbols: &Symbols,
    out: &mut String,
) {
    let scope = scope.with_corrected_time();
    for (number, piece) in text.iter().enumerate() {
        out.push_str(piece);
        if let Some(code) = arguments.get(number) {
            append_value(scope.eval(code, scratch, symbols), scratch, symbols, out);
        }
    }
    out.push('\n');
}
