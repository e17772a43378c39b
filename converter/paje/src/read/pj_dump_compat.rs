//! Reads numbers like `pj_dump`, to reproduce its output digit by digit.
//!
//! `pj_dump` keeps timestamps as doubles. It reads them with Boost.Spirit: up to 64 bits of digits,
//! the rest of the fraction is ignored, then one multiplication or division by a power of ten. It
//! reads values with C's `strtod`. Neither requires that the number ends with the word.
//!
//! The simulation has integer timestamps and only compares them. A double is therefore mapped to an
//! integer with the same order, and mapped back on output.

/// Maps doubles to integers in the same order: 0 to 0, negative numbers to negative ones.
pub(super) fn timestamp_of_double(timestamp: f64) -> i64 {
    let bits = timestamp.abs().to_bits().cast_signed();
    if timestamp < 0.0 { -bits } else { bits }
}

/// The time of a timestamp that [`PajeReader`](super::PajeReader) reads as `pj_dump` does, in
/// seconds: the inverse of `timestamp_of_double`.
#[must_use]
pub fn double_of_timestamp(timestamp: i64) -> f64 {
    let size = f64::from_bits(timestamp.unsigned_abs());
    if timestamp < 0 { -size } else { size }
}

/// The timestamp at the start of a word, in seconds, and its length in bytes. `None` if there is no
/// number. `missing_digits` is the number of decimals by which the unit is finer than seconds.
pub(super) fn timestamp(text: &str, missing_digits: u8) -> Option<(f64, usize)> {
    let bytes = text.as_bytes();
    let sign = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
    let negate = |value: f64| if bytes.first() == Some(&b'-') { -value } else { value };
    let mut position = sign;
    if let Some(length) = infinity_length(&text[sign..]) {
        return Some((negate(f64::INFINITY), sign + length));
    }
    let (mut mantissa, mut exponent, mut any) = (0_u64, -i32::from(missing_digits), false);
    let (mut full, mut fraction) = (false, false);
    while let Some(byte) = bytes.get(position) {
        match byte {
            b'0'..=b'9' => {
                any = true;
                let next = mantissa.checked_mul(10).and_then(|m| m.checked_add(u64::from(byte - b'0')));
                match next.filter(|_| !full) {
                    Some(next) => {
                        mantissa = next;
                        exponent -= i32::from(fraction);
                    }
                    None => {
                        full = true;
                        exponent += i32::from(!fraction);
                    }
                }
            }
            b'.' if !fraction => fraction = true,
            _ => break,
        }
        position += 1;
    }
    if !any {
        return None;
    }
    if let Some(written) = exponent_of(&text[position..]) {
        exponent = exponent.saturating_add(written.value);
        position += written.length;
    }
    // `pj_dump` fails here, and uses an arbitrary value from memory as the timestamp.
    if exponent > 308 {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "as `pj_dump` does")]
    let value = mantissa as f64;
    let scaled = match exponent {
        0.. => value * power(exponent),
        -308..0 => value / power(-exponent),
        _ => value / 1e308 / power((-308_i32).saturating_sub(exponent)),
    };
    Some((negate(scaled), position))
}

/// The value at the start of a word, as read by `strtod`. 0 if there is no number.
pub(super) fn value(text: &str) -> f64 {
    let text = text.trim_start();
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    if infinity_length(unsigned).is_some() {
        return sign * f64::INFINITY;
    }
    if unsigned.get(..3).is_some_and(|word| word.eq_ignore_ascii_case("nan")) {
        return f64::NAN.copysign(sign);
    }
    if let Some(digits) = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X")) {
        return sign * hexadecimal(digits);
    }
    let is_number = |length: &usize| unsigned.is_char_boundary(*length) && is_decimal(&unsigned[..*length]);
    let length = (1..=unsigned.len()).rev().find(is_number);
    length.and_then(|length| unsigned[..length].parse::<f64>().ok()).map_or(0.0, |value| sign * value)
}

/// Whether the text is a decimal number: digits, optionally with a point and an exponent.
fn is_decimal(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'))
        && text.parse::<f64>().is_ok()
}

/// Reads hexadecimal digits, optionally with a point and a power of two.
fn hexadecimal(text: &str) -> f64 {
    let (mut value, mut power, mut fraction, mut position) = (0.0, 0_i32, false, 0);
    for byte in text.bytes() {
        match char::from(byte).to_digit(16) {
            Some(digit) => {
                value = value * 16.0 + f64::from(digit);
                power -= 4 * i32::from(fraction);
            }
            None if byte == b'.' && !fraction => fraction = true,
            None => break,
        }
        position += 1;
    }
    let exponent = text[position..].strip_prefix(['p', 'P']).map(|rest| {
        let digits = rest.strip_prefix(['+', '-']).unwrap_or(rest);
        let length = rest.len() - digits.len() + digits.bytes().take_while(u8::is_ascii_digit).count();
        rest[..length].parse().unwrap_or(0)
    });
    value * 2_f64.powi(power.saturating_add(exponent.unwrap_or(0)))
}

/// The length of the word for infinity at the start of the text.
fn infinity_length(text: &str) -> Option<usize> {
    ["infinity", "inf"].iter().map(|word| word.len()).find(|length| {
        text.get(..*length).is_some_and(|word| ["infinity", "inf"].iter().any(|inf| word.eq_ignore_ascii_case(inf)))
    })
}

/// An exponent in a text.
struct WrittenExponent {
    value: i32,
    /// Its length in bytes, with the letter before it.
    length: usize,
}

/// The exponent at the start of the text.
fn exponent_of(text: &str) -> Option<WrittenExponent> {
    let rest = text.strip_prefix(['e', 'E'])?;
    let digits = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    let length = rest.len() - digits.len() + count;
    let size: i32 = digits[..count].parse().unwrap_or(i32::MAX);
    let value = if rest.starts_with('-') { -size } else { size };
    (count > 0).then_some(WrittenExponent { value, length: 1 + length })
}

/// The double nearest to a power of ten.
fn power(exponent: i32) -> f64 {
    const EXACT: [f64; 23] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ];
    let exact = usize::try_from(exponent).ok().and_then(|index| EXACT.get(index).copied());
    exact.unwrap_or_else(|| format!("1e{exponent}").parse().unwrap_or(f64::INFINITY))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn timestamps_as_pj_dump_reads_them() {
        let cases = [
            ("1x", Some(1.0)),
            ("1,5", Some(1.0)),
            ("-.5", Some(-0.5)),
            ("1.", Some(1.0)),
            ("1e", Some(1.0)),
            ("15E-1z", Some(1.5)),
            ("1e400", None),
            ("17e307", Some(1.7e308)),
            ("1e-400", Some(0.0)),
            ("-inf", Some(f64::NEG_INFINITY)),
            // One digit more than fits into 53 bits, and more than fit into 64: not the nearest
            // double.
            ("9131231.820725461", Some(9_131_231.820_725_46)),
            ("99999999999999999999", Some(1e20)),
            ("abc", None),
            ("", None),
            (".", None),
            ("-", None),
        ];
        for (text, expected) in cases {
            assert_eq!(timestamp(text, 0).map(|(timestamp, _)| timestamp), expected, "{text}");
        }
        assert_eq!(
            [timestamp("15E-1z", 0), timestamp("1e+", 3)].map(|read| read.map(|(_, length)| length)),
            [Some(5), Some(1)]
        );
    }

    #[test]
    fn values_as_pj_dump_reads_them() {
        let cases = [
            ("abc", 0.0),
            ("1,5", 1.0),
            ("2x", 2.0),
            ("1e", 1.0),
            (".", 0.0),
            ("-", 0.0),
            ("", 0.0),
            ("0x10", 16.0),
            ("-0x1.8p3q", -12.0),
            ("0x", 0.0),
            (" +1.5e2é", 150.0),
            ("1e400", f64::INFINITY),
            ("-infinite", f64::NEG_INFINITY),
        ];
        for (text, expected) in cases {
            assert_eq!(value(text), expected, "{text}");
        }
        assert!(value("-").is_sign_positive() && value("-0").is_sign_negative());
        assert!(value("nan").is_nan() && value("-NaNx").is_sign_negative());
    }

    proptest! {
        #[test]
        fn doubles_keep_their_order_and_round_trip(a in any::<f64>(), b in any::<f64>()) {
            prop_assume!(!a.is_nan() && !b.is_nan());
            let (first, second) = (timestamp_of_double(a), timestamp_of_double(b));
            prop_assert_eq!(a.partial_cmp(&b), Some(first.cmp(&second)));
            prop_assert_eq!(double_of_timestamp(first), a);
        }

        #[test]
        fn no_text_causes_a_panic(text in "\\PC{0,12}", number in "[-+0-9.,eExXpPinfa]{0,30}") {
            let _ = (timestamp(&text, 0), value(&text), timestamp(&number, 9), value(&number));
        }
    }
}
