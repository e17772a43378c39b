//! Constants of the spec and values of its enums, as named constants of Fortran.

use super::names::FortranNames;
use crate::Spec;
use crate::codegen::fortran::code_writer::CodeWriter;
use crate::spec::{Expr, PatternPiece, TextPattern};

/// Appends all constants and enum values.
pub(super) fn write(out: &mut CodeWriter, spec: &Spec, names: &FortranNames) {
    if !spec.constants.is_empty() {
        out.line("");
    }
    for (constant, name) in spec.constants.iter().zip(&names.constants) {
        if let Some((ty, value)) = literal(&constant.value) {
            out.doc(&constant.doc);
            out.joined_items(&format!("{ty}, parameter, public :: {name} = "), &value, " // ");
        }
    }
    for (item, values) in spec.enums.iter().zip(&names.values) {
        out.line("");
        out.comment("!", "!", item.doc.trim());
        for (value, name) in item.values.iter().zip(values) {
            out.doc(&value.doc);
            out.line(&format!("integer(c_int), parameter, public :: {name} = {}", value.number));
        }
    }
}

/// Type and value of a constant. The value is a list of pieces to concatenate.
fn literal(value: &Expr) -> Option<(&'static str, Vec<String>)> {
    const LONG: &str = "integer(c_int64_t)";
    const REAL: &str = "real(c_double)";
    Some(match value {
        // Fortran has no literal for the lowest integer, because its model of integers is
        // symmetric.
        Expr::Integer(i64::MIN) => (LONG, vec!["ibset(0_c_int64_t, 63)".into()]),
        Expr::Integer(number) if i32::try_from(*number).is_ok_and(|small| small > i32::MIN) => {
            ("integer(c_int)", vec![number.to_string()])
        }
        Expr::Integer(number) => (LONG, vec![format!("{number}_c_int64_t")]),
        Expr::Float(number) if number.is_finite() => (REAL, vec![format!("{number:?}_c_double")]),
        Expr::Float(number) => {
            let bits = number.to_bits().cast_signed();
            (REAL, vec![format!("transfer({bits}_c_int64_t, 0.0_c_double)")])
        }
        Expr::Bool(yes) => ("logical", vec![if *yes { ".true." } else { ".false." }.into()]),
        Expr::Text(pattern) => ("character(len=*)", text(pattern)?),
        _ => return None,
    })
}

/// Maximum number of pieces of a constant text. They must fit the 255 continuation lines of a
/// statement.
const MAX_PIECES: usize = 250;
/// Maximum number of characters of a piece.
const PIECE: usize = 60;

/// The text as literals without escapes, which Fortran does not have. `None` if the text has holes
/// or is too long.
fn text(pattern: &TextPattern) -> Option<Vec<String>> {
    let mut pieces = Vec::new();
    let mut run = String::new();
    let finish = |run: &mut String, pieces: &mut Vec<String>| {
        if !run.is_empty() {
            pieces.push(format!("\"{}\"", run.replace('"', "\"\"")));
            run.clear();
        }
    };
    for piece in &pattern.0 {
        let PatternPiece::Text(text) = piece else { return None };
        for letter in text.chars() {
            if letter.is_ascii_control() {
                finish(&mut run, &mut pieces);
                pieces.push(format!("achar({})", u32::from(letter)));
            } else {
                run.push(letter);
            }
            if run.chars().count() == PIECE {
                finish(&mut run, &mut pieces);
            }
        }
    }
    finish(&mut run, &mut pieces);
    if pieces.is_empty() {
        pieces.push("\"\"".into());
    }
    (pieces.len() <= MAX_PIECES).then_some(pieces)
}
