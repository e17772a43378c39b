//! The declarations before the functions: enums, constants, and the names of types.

use std::fmt::Write as _;

use tracer_format::schema::Scalar;

use super::CNames;
use super::c_text::{comment, doc};
use crate::Spec;
use crate::spec::{Expr, PatternPiece};

/// Enums and constants. The recording and the reading header both contain them, under one guard,
/// because a program can include both headers.
pub(in crate::codegen) fn write(out: &mut String, spec: &Spec, names: &CNames) {
    let trace = &names.trace;
    let _ = write!(out, "\n#ifndef TUMIT_TYPES_{trace}\n#define TUMIT_TYPES_{trace}\n");
    let _ = writeln!(out, "#define TUMIT_NAME_{trace} {}", string(&spec.name));
    let _ = writeln!(out, "#define TUMIT_VERSION_{trace} {}", spec.version);
    for (constant, name) in spec.constants.iter().zip(&names.constants) {
        if let Some(value) = literal(&constant.value) {
            doc(out, &constant.doc);
            let _ = writeln!(out, "#define {name} {value}");
        }
    }
    for ((item, name), values) in spec.enums.iter().zip(&names.enums).zip(&names.values) {
        out.push('\n');
        doc(out, &item.doc);
        let _ = writeln!(out, "enum {name} {{");
        for (index, (value, name)) in item.values.iter().zip(values).enumerate() {
            let comma = if index + 1 < item.values.len() { "," } else { "" };
            let _ = writeln!(out, "    {name} = {}{comma}{}", value.number, line_end_comment(&value.doc));
        }
        out.push_str("};\n");
    }
    let _ = writeln!(out, "#endif /* TUMIT_TYPES_{trace} */");
}

/// A short comment at the end of a line.
fn line_end_comment(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    if words.is_empty() { String::new() } else { format!(" /* {} */", comment(&words.join(" "))) }
}

/// A constant as a literal of C. The preprocessor can also read it if it is an integer.
fn literal(value: &Expr) -> Option<String> {
    Some(match value {
        Expr::Integer(i64::MIN) => "(-INT64_C(9223372036854775807) - 1)".into(),
        Expr::Integer(number) if i32::try_from(*number).is_ok_and(|small| small > i32::MIN) => {
            parenthesize_negative(number.to_string())
        }
        Expr::Integer(number) => {
            parenthesize_negative(format!("{}INT64_C({})", if *number < 0 { "-" } else { "" }, number.unsigned_abs()))
        }
        Expr::Float(number) if number.is_finite() => parenthesize_negative(format!("{number:?}")),
        // `HUGE_VAL` and `NAN` need `<math.h>`.
        Expr::Float(number) if number.is_nan() => "__builtin_nan(\"\")".into(),
        Expr::Float(number) => {
            parenthesize_negative(format!("{}__builtin_inf()", if *number < 0.0 { "-" } else { "" }))
        }
        Expr::Bool(yes) => yes.to_string(),
        Expr::Text(pattern) => {
            let mut text = String::new();
            for piece in &pattern.0 {
                let PatternPiece::Text(piece) = piece else { return None };
                text.push_str(piece);
            }
            string(&text)
        }
        _ => return None,
    })
}

/// Adds parentheses to a negative number, because a macro can be anywhere in an expression.
fn parenthesize_negative(number: String) -> String {
    if number.starts_with('-') { format!("({number})") } else { number }
}

/// A string literal. Its escapes are octal, because a following digit cannot extend them.
pub(super) fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            b'?' => out.push_str("\\?"), // no trigraphs
            b' '..=b'~' => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "\\{byte:03o}");
            }
        }
    }
    out + "\""
}

/// The representation of a scalar in C, and the conversion of its values to bytes.
pub(super) struct CElement {
    /// The type of a parameter.
    pub(super) c: String,
    /// The function that writes the value: `tumit1_put_…`.
    pub(super) put_function: &'static str,
    /// Code before and after the value, if it must be converted.
    pub(super) convert: (&'static str, &'static str),
}

impl CElement {
    pub(super) fn new(scalar: Scalar, names: &CNames) -> Self {
        let plain = |c: &str, put_function| Self { c: c.into(), put_function, convert: ("", "") };
        let cast = |c: &str, put_function, before, after| Self { c: c.into(), put_function, convert: (before, after) };
        match scalar {
            Scalar::U8 => plain("uint8_t", "u8"),
            Scalar::U16 => plain("uint16_t", "u16"),
            Scalar::U32 => plain("uint32_t", "u32"),
            Scalar::U64 => plain("uint64_t", "u64"),
            Scalar::I8 => cast("int8_t", "u8", "(uint8_t)", ""),
            Scalar::I16 => cast("int16_t", "u16", "(uint16_t)", ""),
            Scalar::I32 => cast("int32_t", "u32", "(uint32_t)", ""),
            Scalar::I64 => cast("int64_t", "u64", "(uint64_t)", ""),
            Scalar::F32 => plain("float", "f32"),
            Scalar::F64 => plain("double", "f64"),
            Scalar::Bool => cast("bool", "u8", "(uint8_t)(", " ? 1 : 0)"),
            Scalar::Date => plain("tumit1_date", "u64"),
            Scalar::Pointer => cast("const void *", "u64", "(uint64_t)(uintptr_t)", ""),
            Scalar::Enum { index, is_wide } => {
                let ty = names.enums.get(index as usize).map_or("int".into(), |name| format!("enum {name}"));
                if is_wide { cast(&ty, "u16", "(uint16_t)", "") } else { cast(&ty, "u8", "(uint8_t)", "") }
            }
            Scalar::Interned => cast("const char *", "u32", "tumit1_intern(", ")"),
            Scalar::String => plain("const char *", "bytes"),
            Scalar::Bytes => plain("const void *", "bytes"),
        }
    }

    /// Whether an array of it has the same bytes in memory and in a record.
    pub(super) fn is_flat(scalar: Scalar) -> bool {
        !matches!(scalar, Scalar::Enum { .. } | Scalar::Interned | Scalar::Pointer | Scalar::Bool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::TextPattern;

    #[test]
    fn constants_are_literals() {
        let text = |text: &str| Expr::Text(TextPattern(vec![PatternPiece::Text(text.into())]));
        for (value, c) in [
            (Expr::Integer(16), "16"),
            (Expr::Integer(-1), "(-1)"),
            (Expr::Integer(i64::from(i32::MIN)), "(-INT64_C(2147483648))"),
            (Expr::Integer(i64::MAX), "INT64_C(9223372036854775807)"),
            (Expr::Integer(i64::MIN), "(-INT64_C(9223372036854775807) - 1)"),
            (Expr::Float(1.0), "1.0"),
            (Expr::Float(-2.5e-300), "(-2.5e-300)"),
            (Expr::Bool(true), "true"),
            (text("a\"b\\c?\u{e9}1"), "\"a\\\"b\\\\c\\?\\303\\2511\""),
        ] {
            assert_eq!(literal(&value).as_deref(), Some(c));
        }
        assert_eq!(literal(&Expr::Field(0)), None);
    }
}
