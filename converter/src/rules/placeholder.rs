//! Writes a value into a placeholder of a text: width, precision, notation.

use std::fmt::Write as _;

use tumit::spec::{NumberNotation, TextAlign, ValueFormat};

use super::rule_value::{RuleValue, Symbols, append_seconds};

/// Appends a value in its format. If the value is a text range, it refers to `scratch`.
pub(crate) fn append(val: RuleValue, format: ValueFormat, scratch: &str, symbols: &Symbols, out: &mut String) {
    let start = out.len();
    match val.text(scratch, symbols) {
        Some(text) => {
            let max_chars = format.precision.map_or(usize::MAX, usize::from);
            out.extend(text.chars().take(max_chars));
        }
        None => append_number(val, format, symbols, out),
    }
    fill(val, format, start, out);
}

fn append_number(val: RuleValue, format: ValueFormat, symbols: &Symbols, out: &mut String) {
    let integer = match val {
        RuleValue::Date(_) | RuleValue::Bool(_) => None,
        other => other.integer(),
    };
    let precision = format.precision.map(usize::from);
    // Writing to a text cannot fail.
    let _ = match (format.notation, integer, val) {
        (NumberNotation::Hexadecimal, Some(value), _) => {
            write_signed(value, out, |out, value| write!(out, "{value:x}"))
        }
        (NumberNotation::UpperHexadecimal, Some(value), _) => {
            write_signed(value, out, |out, value| write!(out, "{value:X}"))
        }
        (NumberNotation::Binary, Some(value), _) => write_signed(value, out, |out, value| write!(out, "{value:b}")),
        (NumberNotation::Exponent, _, RuleValue::Single(value)) => match precision {
            Some(digits) => write!(out, "{value:.digits$e}"),
            None => write!(out, "{value:e}"),
        },
        (NumberNotation::Exponent, ..) => match (val.number(), precision) {
            (Some(value), Some(digits)) => write!(out, "{value:.digits$e}"),
            (Some(value), None) => write!(out, "{value:e}"),
            (None, _) => out.write_char('?'),
        },
        (_, _, RuleValue::Date(nanos)) => {
            append_timestamp(nanos, precision, out);
            Ok(())
        }
        (_, _, RuleValue::Float(value)) if precision.is_some() => write!(out, "{value:.*}", precision.unwrap_or(0)),
        (_, _, RuleValue::Single(value)) if precision.is_some() => write!(out, "{value:.*}", precision.unwrap_or(0)),
        _ => {
            val.append(out, symbols);
            Ok(())
        }
    };
}

/// Writes a minus sign and the digits of the magnitude, because two's complement is hard to read.
fn write_signed(
    value: i128,
    out: &mut String,
    digits: impl FnOnce(&mut String, u128) -> std::fmt::Result,
) -> std::fmt::Result {
    if value < 0 {
        out.push('-');
    }
    digits(out, value.unsigned_abs())
}

/// Writes seconds with a number of decimals, by default nine, rounded to nearest.
fn append_timestamp(nanos: i64, precision: Option<usize>, out: &mut String) {
    let Some(digits) = precision.filter(|digits| *digits < 9) else {
        append_seconds(out, nanos);
        let zeros = precision.unwrap_or(9) - 9;
        out.extend(std::iter::repeat_n('0', zeros));
        return;
    };
    let unit = 10i128.pow(u32::try_from(9 - digits).unwrap_or(0));
    let magnitude = (i128::from(nanos).abs() + unit / 2) / unit;
    let scale = 10i128.pow(u32::try_from(digits).unwrap_or(0));
    if nanos < 0 && magnitude > 0 {
        out.push('-');
    }
    let _ = write!(out, "{}", magnitude / scale);
    if digits > 0 {
        let _ = write!(out, ".{:0digits$}", magnitude % scale);
    }
}

fn fill(val: RuleValue, format: ValueFormat, start: usize, out: &mut String) {
    let fill_width = usize::from(format.width).saturating_sub(out[start..].chars().count());
    if fill_width == 0 {
        return;
    }
    let is_number =
        !matches!(val, RuleValue::None | RuleValue::Bool(_) | RuleValue::Sym(_) | RuleValue::Scratch { .. });
    if format.zeros && is_number {
        let sign = usize::from(out[start..].starts_with('-'));
        let prefix = if out[start + sign..].starts_with("0x") { 2 } else { 0 };
        out.insert_str(start + sign + prefix, &"0".repeat(fill_width));
        return;
    }
    let default = if is_number { TextAlign::Right } else { TextAlign::Left };
    let left = match format.align.unwrap_or(default) {
        TextAlign::Left => 0,
        TextAlign::Right => fill_width,
        TextAlign::Center => fill_width / 2,
    };
    out.insert_str(start, &" ".repeat(left));
    out.extend(std::iter::repeat_n(' ', fill_width - left));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placeholder_text(val: RuleValue, format: ValueFormat) -> String {
        let mut symbols = Symbols::default();
        let val = if val == RuleValue::None { RuleValue::Sym(symbols.intern("héllo")) } else { val };
        let mut out = String::from("|");
        append(val, format, "", &symbols, &mut out);
        out
    }

    #[test]
    fn values_are_written_as_formats_say() {
        let width = |width| ValueFormat { width, ..ValueFormat::default() };
        let precision = |digits| ValueFormat { precision: Some(digits), ..ValueFormat::default() };
        let notation = |notation| ValueFormat { notation, ..ValueFormat::default() };
        for (val, format, text) in [
            (RuleValue::Int(-7), ValueFormat { zeros: true, ..width(5) }, "|-0007"),
            (RuleValue::Int(7), width(4), "|   7"),
            (RuleValue::Int(7), ValueFormat { align: Some(TextAlign::Left), ..width(4) }, "|7   "),
            (RuleValue::Int(7), ValueFormat { align: Some(TextAlign::Center), ..width(4) }, "| 7  "),
            (RuleValue::None, width(7), "|héllo  "),
            (RuleValue::None, precision(2), "|hé"),
            (RuleValue::Float(2.0 / 3.0), precision(2), "|0.67"),
            (RuleValue::Single(0.1), precision(1), "|0.1"),
            (RuleValue::Int(-255), notation(NumberNotation::Hexadecimal), "|-ff"),
            (
                RuleValue::Pointer(0xAB),
                ValueFormat { notation: NumberNotation::UpperHexadecimal, zeros: true, ..width(4) },
                "|00AB",
            ),
            (RuleValue::Pointer(0xAB), ValueFormat { zeros: true, ..width(6) }, "|0x00ab"),
            (RuleValue::Unsigned(u64::MAX), notation(NumberNotation::Hexadecimal), "|ffffffffffffffff"),
            (RuleValue::Int(5), notation(NumberNotation::Binary), "|101"),
            (RuleValue::Int(1500), notation(NumberNotation::Exponent), "|1.5e3"),
            (RuleValue::Date(1_500_000_000), precision(3), "|1.500"),
            (RuleValue::Date(-1_999_999_999), precision(2), "|-2.00"),
            (RuleValue::Date(600_000_000), precision(0), "|1"),
            (RuleValue::Date(1), precision(11), "|0.00000000100"),
        ] {
            assert_eq!(placeholder_text(val, format), text, "{val:?} {format:?}");
        }
    }
}
