//! [`RecordWords`]: the words of a line, and numbers in them.

use tumit_paje::read::timestamp_nanos;
use tumit_paje::time::{GlobalNanos, TimeUnit};

/// The words of a line, separated by blanks. A word in double quotes can contain blanks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordWords<'a> {
    remainder: &'a [u8],
}

impl<'a> RecordWords<'a> {
    pub(crate) fn of(line: &'a [u8]) -> Self {
        Self { remainder: line.trim_ascii() }
    }

    /// The text after the words that were taken, without blanks around it.
    pub(crate) fn remainder(&self) -> &'a [u8] {
        self.remainder
    }

    /// The next word as an integer. `None` if there is no word or if it is no integer.
    pub(crate) fn integer(&mut self) -> Option<i64> {
        integer(self.next()?)
    }
}

impl<'a> Iterator for RecordWords<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.remainder.is_empty() {
            return None;
        }
        let quoted =
            if self.remainder[0] == b'"' { self.remainder[1..].iter().position(|&byte| byte == b'"') } else { None };
        let end = match quoted {
            Some(length) => length + 2,
            None => self.remainder.iter().position(u8::is_ascii_whitespace).unwrap_or(self.remainder.len()),
        };
        let (word, rest) = self.remainder.split_at(end);
        self.remainder = rest.trim_ascii_start();
        Some(if quoted.is_some() { &word[1..word.len() - 1] } else { word })
    }
}

/// An integer in decimal, with or without a sign.
pub(crate) fn integer(word: &[u8]) -> Option<i64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// Nanoseconds of a decimal number of seconds. `None` if the word is no number, or if the time is
/// more than [`GlobalNanos::FURTHEST`] from 0.
pub(crate) fn nanos(word: &[u8]) -> Option<i64> {
    timestamp_nanos(std::str::from_utf8(word).ok()?, TimeUnit::Seconds)
}

/// Nanoseconds of a decimal number of microseconds.
pub(crate) fn nanos_of_micros(word: &[u8]) -> Option<i64> {
    timestamp_nanos(std::str::from_utf8(word).ok()?, TimeUnit::Micros)
}

/// Nanoseconds of seconds and microseconds. Both numbers have a sign.
pub(crate) fn nanos_of(seconds: i64, micros: i64) -> Option<i64> {
    in_range(i128::from(seconds) * 1_000_000_000 + i128::from(micros) * 1_000)
}

/// A time. `None` if it is more than [`GlobalNanos::FURTHEST`] from 0.
pub(crate) fn in_range(nanos: i128) -> Option<i64> {
    i64::try_from(nanos).ok().filter(|nanos| nanos.unsigned_abs() <= GlobalNanos::FURTHEST.0.cast_unsigned())
}

/// A text with blanks instead of control characters, such as ends of lines.
pub(crate) fn without_controls(text: &str) -> String {
    text.replace(char::is_control, " ")
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
    fn times_are_rounded_to_nanoseconds() {
        for (word, expected) in [
            ("0.00001", Some(10_000)),
            ("-0.000015", Some(-15_000)),
            ("1e-05", Some(10_000)),
            ("1.5e+3", Some(1_500_000_000_000)),
            ("12", Some(12_000_000_000)),
            (".5", Some(500_000_000)),
            ("0.1234567899", Some(123_456_790)),
            ("1e99", None),
            ("0e99", Some(0)),
            ("1e-99", Some(0)),
            ("1,5", None),
            ("nan", None),
            (".", None),
            ("1.2.3", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(nanos(word.as_bytes()), expected, "{word}");
        }
        assert_eq!(nanos_of_micros(b"1.5"), Some(1_500));
        assert_eq!(nanos_of(0, -15), Some(-15_000));
        assert_eq!(nanos_of(i64::MAX, 0), None);
    }
}
