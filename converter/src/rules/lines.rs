//! The lines of text outputs: template rules.

use super::compile::Op;
use super::eval::{Scope, append_value};
use super::value::Symbols;

/// Appends the lines of a record that have this date: those without a date of their own, or the one given. Returns how
/// many there were.
pub(crate) fn write_lines(scope: &Scope<'_>, only: Option<u16>, symbols: &Symbols, out: &mut String) -> u64 {
    let mut lines = 0;
    let mut scratch = String::new();
    for (number, arrow) in scope.program.arrows.iter().enumerate() {
        let Op::Line { text, arguments } = &arrow.op else { continue };
        if only.map_or(arrow.at.is_some(), |only| usize::from(only) != number) {
            continue;
        }
        scratch.clear();
        for (number, piece) in text.iter().enumerate() {
            out.push_str(piece);
            if let Some(code) = arguments.get(number) {
                append_value(scope.eval(code, &mut scratch, symbols), &scratch, symbols, out);
            }
        }
        out.push('\n');
        lines += 1;
    }
    lines
}
