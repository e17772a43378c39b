//! Reads numbers and colours of Pajé files.

use crate::RgbColor;
use crate::time::{GlobalNanos, TimeUnit};

/// A valid number. `comma` is whether its decimal sign is a comma.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ParsedNumber<T> {
    pub(super) value: T,
    pub(super) comma: bool,
}

/// Maximum number of significant digits, which fit into 128 bits. Further digits are below a
/// nanosecond for all timestamps in range.
const MAX_DIGITS: u32 = 36;

/// Converts a timestamp to nanoseconds, exactly and without binary fractions. Halves of a
/// nanosecond are rounded away from zero. `missing_digits` is the number of decimals by which the
/// unit is finer than seconds.
///
/// `None` if the text is not a decimal number, or if the timestamp is beyond
/// [`GlobalNanos::FURTHEST`].
#[inline]
pub(super) fn nanos(text: &str, missing_digits: u8) -> Option<ParsedNumber<i64>> {
    let timestamp = match short_nanos(text.as_bytes(), missing_digits) {
        Some(value) => ParsedNumber { value, comma: false },
        None => any_nanos(text, missing_digits)?,
    };
    (timestamp.value.unsigned_abs() <= GlobalNanos::FURTHEST.0.cast_unsigned()).then_some(timestamp)
}

/// Converts a timestamp with a decimal point to nanoseconds, exactly and without binary fractions.
/// Halves of a nanosecond are rounded away from zero.
///
/// `None` if the text is not a decimal number, or if the timestamp is beyond
/// [`GlobalNanos::FURTHEST`].
pub fn timestamp_nanos(text: &str, unit: TimeUnit) -> Option<i64> {
    let timestamp = nanos(text, TimeUnit::Seconds.exact_decimals() - unit.exact_decimals())?;
    (!timestamp.comma).then_some(timestamp.value)
}

/// Powers of ten, by the number of decimals.
const SCALES: [i64; 10] = [1_000_000_000, 100_000_000, 10_000_000, 1_000_000, 100_000, 10_000, 1_000, 100, 10, 1];

/// Reads the usual form of a timestamp: a few digits, optionally a point and at most nine decimals.
/// `None` for all other forms.
fn short_nanos(text: &[u8], missing_digits: u8) -> Option<i64> {
    if text.len() > 18 {
        return None;
    }
    let (mut digits, mut decimals, mut point) = (0_i64, usize::from(missing_digits), false);
    for &byte in text {
        match byte {
            b'0'..=b'9' => {
                digits = digits * 10 + i64::from(byte - b'0');
                decimals += usize::from(point);
            }
            b'.' if !point => point = true,
            _ => return None,
        }
    }
    if text.len() == usize::from(point) {
        return None;
    }
    digits.checked_mul(*SCALES.get(decimals)?)
}

/// Reads any form of a timestamp.
#[cold]
fn any_nanos(text: &str, missing_digits: u8) -> Option<ParsedNumber<i64>> {
    let (negative, rest) = match text.as_bytes() {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let (mut mantissa, mut digits, mut exponent) = (0_u128, 0_u32, 0_i32);
    let (mut any, mut comma, mut fraction) = (false, false, false);
    let mut position = 0;
    while let Some(&byte) = rest.get(position) {
        match byte {
            b'0'..=b'9' => {
                any = true;
                if digits < MAX_DIGITS {
                    mantissa = mantissa * 10 + u128::from(byte - b'0');
                    digits += u32::from(mantissa > 0);
                    exponent = exponent.saturating_sub(i32::from(fraction));
                } else {
                    exponent = exponent.saturating_add(i32::from(!fraction));
                }
            }
            b'.' | b',' if !fraction => {
                fraction = true;
                comma |= byte == b',';
            }
            b'e' | b'E' if any => {
                let written: i32 = std::str::from_utf8(&rest[position + 1..]).ok()?.parse().ok()?;
                exponent = exponent.saturating_add(written);
                position = rest.len();
                continue;
            }
            _ => return None,
        }
        position += 1;
    }
    if !any {
        return None;
    }
    let magnitude = scale_decimal(mantissa, exponent.saturating_add(9 - i32::from(missing_digits)))?;
    let value = i64::try_from(magnitude).ok()?;
    Some(ParsedNumber { value: if negative { -value } else { value }, comma })
}

/// `mantissa` × 10^`exponent`, rounded.
fn scale_decimal(mantissa: u128, exponent: i32) -> Option<u128> {
    if mantissa == 0 {
        return Some(0);
    }
    let Some(factor) = 10_u128.checked_pow(exponent.unsigned_abs()) else {
        return if exponent > 0 { None } else { Some(0) };
    };
    if exponent >= 0 {
        return mantissa.checked_mul(factor);
    }
    let (quotient, remainder) = (mantissa / factor, mantissa % factor);
    Some(quotient + u128::from(remainder >= factor - remainder))
}

/// A finite floating-point number, or an integer in hexadecimal.
pub(super) fn float(text: &str) -> Option<ParsedNumber<f64>> {
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let value = u64::from_str_radix(digits, 16).ok()?;
        return Some(ParsedNumber { value: value as f64, comma: false });
    }
    let plain = text.parse().ok().map(|value| ParsedNumber { value, comma: false });
    let number: ParsedNumber<f64> = plain.or_else(|| {
        let value = text.replacen(',', ".", 1).parse().ok()?;
        Some(ParsedNumber { value, comma: true })
    })?;
    number.value.is_finite().then_some(number)
}

/// A colour that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ParsedColor {
    pub(super) color: RgbColor,
    /// Whether its numbers are from 0 to 255, as some producers write them.
    pub(super) is_wide: bool,
}

/// Reads a colour: three or four numbers from 0 to 1 or from 0 to 255, or six hexadecimal digits.
/// `Ok(None)` for an empty text.
pub(super) fn color(text: &str) -> Result<Option<ParsedColor>, ()> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let hex = text.strip_prefix('#').unwrap_or(text);
    if hex.len() == 6
        && let Ok(packed) = u32::from_str_radix(hex, 16)
    {
        let [_, red, green, blue] = packed.to_be_bytes();
        return Ok(Some(ParsedColor { color: RgbColor { red, green, blue }, is_wide: false }));
    }
    let mut channels = [0.0_f64; 4];
    let mut count = 0;
    for word in text.split([' ', '\t', ',']).filter(|word| !word.is_empty()) {
        let channel = channels.get_mut(count).ok_or(())?;
        *channel = word.parse().map_err(|_not_a_number| ())?;
        if !(0.0..=255.0).contains(channel) {
            return Err(());
        }
        count += 1;
    }
    if count < 3 {
        return Err(());
    }
    let is_wide = channels[..3].iter().any(|&channel| channel > 1.0);
    let scale = if is_wide { 1.0 } else { 255.0 };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounded, and from 0 to 255")]
    let [red, green, blue] = [0, 1, 2].map(|index| (channels[index] * scale).round() as u8);
    Ok(Some(ParsedColor { color: RgbColor { red, green, blue }, is_wide }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{ParsedColor, color, float, nanos};
    use crate::RgbColor;
    use crate::time::GlobalNanos;

    fn timestamp(text: &str) -> Option<i64> {
        nanos(text, 0).map(|number| number.value)
    }

    #[test]
    fn timestamps_in_all_forms() {
        let cases = [
            ("12", 12_000_000_000),
            ("12.5", 12_500_000_000),
            ("+2", 2_000_000_000),
            ("1.", 1_000_000_000),
            (".6", 600_000_000),
            ("0.000000001", 1),
            ("0.0000000005", 1),
            ("0.00000000049999999999999999999999999999999999999999999", 0),
            ("-1.5", -1_500_000_000),
            ("1.5e-3", 1_500_000),
            ("15E2", 1_500_000_000_000),
            ("1e-400", 0),
            ("0e999999", 0),
            ("9007199.254740993", 9_007_199_254_740_993),
            ("4611686018.427387903", (1 << 62) - 1),
            ("-4611686018.427387903", 1 - (1 << 62)),
            ("00000000000000000000000000000000000000000000000001", 1_000_000_000),
        ];
        for (text, expected) in cases {
            assert_eq!(timestamp(text), Some(expected), "{text}");
        }
        assert!(nanos("1,5", 0).is_some_and(|number| number.value == 1_500_000_000 && number.comma));
        for text in [
            "",
            ".",
            "-",
            "abc",
            "0x4",
            "inf",
            "nan",
            "5..5",
            "1e",
            "1e5x",
            "4611686018.427387904",
            "-5e9",
            "9223372036.854775808",
            "1e99999999999",
        ] {
            assert_eq!(timestamp(text), None, "{text}");
        }
        let millis = |text: &str| nanos(text, 3).map(|number| number.value);
        assert_eq!(
            ["1", "0.000001", "2.0000005", "1e3"].map(millis),
            [1_000_000, 1, 2_000_001, 1_000_000_000].map(Some)
        );
    }

    #[test]
    fn values_may_have_a_comma_or_be_hexadecimal_but_not_infinite() {
        assert_eq!(float("0x10").map(|number| number.value), Some(16.0));
        assert_eq!(float("1,5").map(|number| (number.value, number.comma)), Some((1.5, true)));
        assert_eq!(float("nan"), None);
        assert_eq!(float("1e999"), None);
    }

    #[test]
    fn colours_are_three_shares_or_six_hexadecimal_digits() {
        let expected = RgbColor { red: 255, green: 0, blue: 51 };
        for text in ["1 0 0.2", "1,0,0.2", "1.0 0.0 0.2 0.5", "ff0033", "#FF0033"] {
            assert_eq!(color(text), Ok(Some(ParsedColor { color: expected, is_wide: false })), "{text}");
        }
        assert_eq!(color(" 255 0 51 "), Ok(Some(ParsedColor { color: expected, is_wide: true })));
        assert_eq!(color(""), Ok(None));
        for text in ["red", "1 0", "1 0 0 0 0", "-1 0 0", "nan 0 0", "300 0 0"] {
            assert_eq!(color(text), Err(()), "{text}");
        }
    }

    proptest! {
        #[test]
        fn short_timestamps_are_read_like_all_others(text in "[0-9]{0,12}[.]?[0-9]{0,10}", missing in 0u8..10) {
            if let Some(value) = super::short_nanos(text.as_bytes(), missing) {
                prop_assert_eq!(super::any_nanos(&text, missing).map(|number| number.value), Some(value));
            }
        }

        #[test]
        fn timestamps_with_nine_decimals_round_trip(value in -GlobalNanos::FURTHEST.0..=GlobalNanos::FURTHEST.0) {
            let sign = if value < 0 { "-" } else { "" };
            let (seconds, rest) = (value.unsigned_abs() / 1_000_000_000, value.unsigned_abs() % 1_000_000_000);
            prop_assert_eq!(timestamp(&format!("{sign}{seconds}.{rest:09}")), Some(value));
        }

        #[test]
        fn any_text_is_rejected_or_read(text in "[-+0-9.,eE]{0,40}") {
            let _ = (nanos(&text, 3), float(&text), color(&text));
        }
    }
}
