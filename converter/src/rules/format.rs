//! How a value is written into a hole of a text: width, precision, notation.

use std::fmt::Write as _;

use tumit::spec::{Align, Format, Notation};

use super::value::{Symbols, Val, append_seconds};

/// Appends a value as its format says. `scratch` is where its own text is, if it is a range.
pub(crate) fn append(val: Val, format: Format, scratch: &str, symbols: &Symbols, out: &mut String) {
    let start = out.len();
    match val.text(scratch, symbols) {
        Some(text) => {
            let most = format.precision.map_or(usize::MAX, usize::from);
            out.extend(text.chars().take(most));
        }
        None => append_number(val, format, symbols, out),
    }
    fill(val, format, start, out);
}

fn append_number(val: Val, format: Format, symbols: &Symbols, out: &mut String) {
    let integer = match val {
        Val::Date(_) | Val::Bool(_) => None,
        other => other.integer(),
    };
    let precision = format.precision.map(usize::from);
    // Writing to a text cannot fail.
    let _ = match (format.notation, integer, val) {
        (Notation::Hexadecimal, Some(value), _) => signed(value, out, |out, value| write!(out, "{value:x}")),
        (Notation::UpperHexadecimal, Some(value), _) => signed(value, out, |out, value| write!(out, "{value:X}")),
        (Notation::Binary, Some(value), _) => signed(value, out, |out, value| write!(out, "{value:b}")),
        (Notation::Exponent, _, Val::Single(value)) => match precision {
            Some(digits) => write!(out, "{value:.digits$e}"),
            None => write!(out, "{value:e}"),
        },
        (Notation::Exponent, ..) => match (val.number(), precision) {
            (Some(value), Some(digits)) => write!(out, "{value:.digits$e}"),
            (Some(value), None) => write!(out, "{value:e}"),
            (None, _) => out.write_char('?'),
        },
        (_, _, Val::Date(nanos)) => {
            append_date(nanos, precision, out);
            Ok(())
        }
        (_, _, Val::Float(value)) if precision.is_some() => write!(out, "{value:.*}", precision.unwrap_or(0)),
        (_, _, Val::Single(value)) if precision.is_some() => write!(out, "{value:.*}", precision.unwrap_or(0)),
        _ => {
            val.append(out, symbols);
            Ok(())
        }
    };
}

/// Minus and the digits of the magnitude: people do not read two's complement.
fn signed(
    value: i128,
    out: &mut String,
    digits: impl FnOnce(&mut String, u128) -> std::fmt::Result,
) -> std::fmt::Result {
    if value < 0 {
        out.push('-');
    }
    digits(out, value.unsigned_abs())
}

/// Seconds with so many decimals, nine by default, rounded to the nearest.
fn append_date(nanos: i64, precision: Option<usize>, out: &mut String) {
    let Some(digits) = precision.filter(|digits| *digits < 9) else {
        append_seconds(out, nanos);
        let more = precision.unwrap_or(9) - 9;
        out.extend(std::iter::repeat_n('0', more));
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

fn fill(val: Val, format: Format, start: usize, out: &mut String) {
    let missing = usize::from(format.width).saturating_sub(out[start..].chars().count());
    if missing == 0 {
        return;
    }
    let is_number = !matches!(val, Val::None | Val::Bool(_) | Val::Sym(_) | Val::Scratch { .. });
    if format.zeros && is_number {
        let sign = usize::from(out[start..].starts_with('-'));
        let prefix = if out[start + sign..].starts_with("0x") { 2 } else { 0 };
        out.insert_str(start + sign + prefix, &"0".repeat(missing));
        return;
    }
    let default = if is_number { Align::Right } else { Align::Left };
    let left = match format.align.unwrap_or(default) {
        Align::Left => 0,
        Align::Right => missing,
        Align::Center => missing / 2,
    };
    out.insert_str(start, &" ".repeat(left));
    out.extend(std::iter::repeat_n(' ', missing - left));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(val: Val, format: Format) -> String {
        let mut symbols = Symbols::default();
        let val = if val == Val::None { Val::Sym(symbols.intern("héllo")) } else { val };
        let mut out = String::from("|");
        append(val, format, "", &symbols, &mut out);
        out
    }

    #[test]
    fn values_are_written_as_formats_say() {
        let width = |width| Format { width, ..Format::default() };
        let precision = |digits| Format { precision: Some(digits), ..Format::default() };
        let notation = |notation| Format { notation, ..Format::default() };
        for (val, format, text) in [
            (Val::Int(-7), Format { zeros: true, ..width(5) }, "|-0007"),
            (Val::Int(7), width(4), "|   7"),
            (Val::Int(7), Format { align: Some(Align::Left), ..width(4) }, "|7   "),
            (Val::Int(7), Format { align: Some(Align::Center), ..width(4) }, "| 7  "),
            (Val::None, width(7), "|héllo  "),
            (Val::None, precision(2), "|hé"),
            (Val::Float(2.0 / 3.0), precision(2), "|0.67"),
            (Val::Single(0.1), precision(1), "|0.1"),
            (Val::Int(-255), notation(Notation::Hexadecimal), "|-ff"),
            (Val::Pointer(0xAB), Format { notation: Notation::UpperHexadecimal, zeros: true, ..width(4) }, "|00AB"),
            (Val::Pointer(0xAB), Format { zeros: true, ..width(6) }, "|0x00ab"),
            (Val::Unsigned(u64::MAX), notation(Notation::Hexadecimal), "|ffffffffffffffff"),
            (Val::Int(5), notation(Notation::Binary), "|101"),
            (Val::Int(1500), notation(Notation::Exponent), "|1.5e3"),
            (Val::Date(1_500_000_000), precision(3), "|1.500"),
            (Val::Date(-1_999_999_999), precision(2), "|-2.00"),
            (Val::Date(600_000_000), precision(0), "|1"),
            (Val::Date(1), precision(11), "|0.00000000100"),
        ] {
            assert_eq!(written(val, format), text, "{val:?} {format:?}");
        }
    }
}
