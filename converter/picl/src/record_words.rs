//! [`RecordWords`]: the words of a line, and numbers in them.

/// The words of a line, separated by blanks. A word in double quotes can contain blanks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordWords<'a> {
    rest: &'a [u8],
}

impl<'a> RecordWords<'a> {
    pub(crate) fn of(line: &'a [u8]) -> Self {
        Self { rest: line.trim_ascii() }
    }

    /// The text after the words that were taken, without blanks around it.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next word as an integer. `None` if there is no word or if it is no integer.
    pub(crate) fn integer(&mut self) -> Option<i64> {
        integer(self.next()?)
    }
}

impl<'a> Iterator for RecordWords<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let quoted = if self.rest[0] == b'"' { self.rest[1..].iter().position(|&byte| byte == b'"') } else { None };
        let end = match quoted {
            Some(length) => length + 2,
            None => self.rest.iter().position(u8::is_ascii_whitespace).unwrap_or(self.rest.len()),
        };
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_ascii_start();
        Some(if quoted.is_some() { &word[1..word.len() - 1] } else { word })
    }
}

/// An integer in decimal, with or without a sign.
pub(crate) fn integer(word: &[u8]) -> Option<i64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// Maximum number of significant digits of a time. Further digits are below a nanosecond.
const MAX_DIGITS: u32 = 30;
/// The largest absolute value of a time, 146 years. The difference of two times fits into 64 bits.
const FURTHEST: i128 = (1 << 62) - 1;

/// Nanoseconds of a decimal number of seconds. Digits below a nanosecond are cut off. `None` if the
/// word is no number, or if the time is 146 years or more from 0.
pub(crate) fn nanos(word: &[u8]) -> Option<i64> {
    decimal(word, 9)
}

/// Nanoseconds of seconds and microseconds. The signs of both numbers count.
pub(crate) fn nanos_of(seconds: i64, micros: i64) -> Option<i64> {
    in_range(i128::from(seconds) * 1_000_000_000 + i128::from(micros) * 1_000)
}

fn in_range(nanos: i128) -> Option<i64> {
    if nanos.abs() <= FURTHEST { i64::try_from(nanos).ok() } else { None }
}

/// A decimal number times a power of ten, rounded towards 0.
pub(crate) fn decimal(word: &[u8], power: i32) -> Option<i64> {
    let (is_negative, digits) = match word {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let (digits, exponent) = match digits.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        Some(at) => (&digits[..at], i32::try_from(integer(&digits[at + 1..])?).ok()?),
        None => (digits, 0),
    };
    let mut power = power.saturating_add(exponent);
    let (mut number, mut count, mut is_fraction, mut has_digit) = (0_i128, 0, false, false);
    for &byte in digits {
        match byte {
            b'0'..=b'9' => {
                has_digit = true;
                if count < MAX_DIGITS {
                    number = number * 10 + i128::from(byte - b'0');
                    count += u32::from(number > 0);
                    power = power.saturating_sub(i32::from(is_fraction));
                } else {
                    power = power.saturating_add(i32::from(!is_fraction));
                }
            }
            b'.' if !is_fraction => is_fraction = true,
            _ => return None,
        }
    }
    if !has_digit {
        return None;
    }
    let scale = 10_i128.checked_pow(power.unsigned_abs());
    let scaled = match scale {
        Some(scale) if power >= 0 => number.checked_mul(scale)?,
        Some(scale) => number / scale,
        None if power < 0 || number == 0 => 0,
        None => return None,
    };
    in_range(if is_negative { -scaled } else { scaled })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_separated_by_blanks_outside_of_quotes() {
        let words: Vec<_> = RecordWords::of(b"  3 \"%d %s\"  hello \t end\r\n").collect();
        assert_eq!(words, [&b"3"[..], b"%d %s", b"hello", b"end"]);
        // A quote without an end is part of a word.
        let words: Vec<_> = RecordWords::of(b"\"a b").collect();
        assert_eq!(words, [&b"\"a"[..], b"b"]);
    }

    #[test]
    fn times_are_read_exactly() {
        for (word, expected) in [
            ("0.00001", Some(10_000)),
            ("-0.000015", Some(-15_000)),
            ("1e-05", Some(10_000)),
            ("1.5e+3", Some(1_500_000_000_000)),
            ("12", Some(12_000_000_000)),
            (".5", Some(500_000_000)),
            ("0.1234567899", Some(123_456_789)),
            ("1e99", None),
            ("0e99", Some(0)),
            ("1e-99", Some(0)),
            ("nan", None),
            (".", None),
            ("1.2.3", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(nanos(word.as_bytes()), expected, "{word}");
        }
        assert_eq!(nanos_of(0, -15), Some(-15_000));
        assert_eq!(nanos_of(i64::MAX, 0), None);
    }
}
