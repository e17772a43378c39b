//! Numbers as text. Most bytes of Pajé text and of tables are digits.
//!
//! [`integer`], [`push_signed`] and [`seconds`] append to a text. `NumberWords` assembles several
//! words on the stack. It is used at the start of a line, which has many short words.
//!
//! ```
//! use tumit_paje::number_text::{float, seconds};
//!
//! let mut text = Vec::new();
//! seconds(-1_500_000_000, &mut text);
//! text.push(b' ');
//! float(0.1, &mut text);
//! assert_eq!(text, b"-1.500000000 0.1");
//! ```

/// The two digits of each number below 100. One division then yields two digits.
static PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[b'0'; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [digit(number as u64 / 10), digit(number as u64 % 10)];
        number += 1;
    }
    pairs
};

/// The last two digits of a number.
#[inline]
fn pair(number: u32) -> [u8; 2] {
    PAIRS[(number % 100) as usize]
}

/// A point and nine decimals. `nanos` must be less than a second.
#[inline]
fn decimals(nanos: u32) -> [u8; 10] {
    let (high, low) = (nanos / 10_000, nanos % 10_000);
    let mut text = [b'.', digit((high / 10_000).into()), 0, 0, 0, 0, 0, 0, 0, 0];
    text[2..4].copy_from_slice(&pair(high / 100));
    text[4..6].copy_from_slice(&pair(high));
    text[6..8].copy_from_slice(&pair(low / 100));
    text[8..].copy_from_slice(&pair(low));
    text
}

#[inline]
const fn digit(digit: u64) -> u8 {
    b'0' + digit.to_le_bytes()[0]
}

/// Splits nanoseconds into seconds and remaining nanoseconds.
#[inline]
fn parts(nanos: u64) -> (u64, u32) {
    (nanos / 1_000_000_000, u32::try_from(nanos % 1_000_000_000).unwrap_or(0))
}

/// Appends an integer.
#[inline]
pub fn integer(number: u64, out: &mut Vec<u8>) {
    match u32::try_from(number) {
        Ok(number @ 0..10) => out.push(digit(number.into())),
        Ok(number @ 10..100) => out.extend_from_slice(&pair(number)),
        _ => out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes()),
    }
}

/// Appends an integer with its sign.
pub fn push_signed(number: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends nanoseconds as seconds with nine decimals.
#[inline]
pub fn seconds(nanos: i64, out: &mut Vec<u8>) {
    if nanos < 0 {
        out.push(b'-');
    }
    let (seconds, fraction) = parts(nanos.unsigned_abs());
    if seconds >= 10 {
        integer(seconds, out);
        return out.extend_from_slice(&decimals(fraction));
    }
    // One piece, because each append checks the capacity.
    let mut text = [digit(seconds); 11];
    text[1..].copy_from_slice(&decimals(fraction));
    out.extend_from_slice(&text);
}

/// The value of a float as an integer, if it is an integer with a magnitude below 10^15.
#[must_use]
pub fn integer_value(number: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "the bounds are checked")]
    (number.abs() < 1e15 && number.fract() == 0.0).then_some(number as i64)
}

/// Appends the shortest text that is read back as the same float: `0.1`, `5e-324`. Very large and
/// very small numbers have an exponent, as in JSON. All readers of tables accept this form.
pub fn float(number: f64, out: &mut Vec<u8>) {
    match integer_value(number).filter(|integer| *integer != 0 || number.is_sign_positive()) {
        Some(integer) => push_signed(integer, out),
        None => out.extend_from_slice(shortest_float(number).as_bytes()),
    }
}

/// Writes the shortest decimal text without an exponent that is read back as the same number.
pub(crate) fn plain_float(number: f64, out: &mut Vec<u8>) {
    if number.is_finite() {
        let mut buffer = zmij::Buffer::new();
        let text = buffer.format_finite(number);
        // An exponent has at most five letters.
        if !text.bytes().rev().take(5).any(|byte| byte == b'e') {
            out.extend_from_slice(text.strip_suffix(".0").unwrap_or(text).as_bytes());
            return;
        }
    }
    out.extend_from_slice(number.to_string().as_bytes());
}

/// A float with an exponent if that is shorter.
fn shortest_float(number: f64) -> String {
    let (plain, scientific) = (format!("{number}"), format!("{number:e}"));
    if scientific.len() < plain.len() { scientific } else { plain }
}

/// Maximum number of digits of a number.
const MAX_DIGITS: usize = 20;
/// Room for eight numbers with their letters and separators.
const BYTES: usize = 8 * (MAX_DIGITS + 2);

/// Some words of a line: up to eight numbers, each with a letter before or after it.
#[derive(Debug)]
pub(crate) struct NumberWords {
    bytes: [u8; BYTES],
    length: usize,
}

impl NumberWords {
    pub(crate) const fn new() -> Self {
        Self { bytes: [0; BYTES], length: 0 }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    #[inline]
    pub(crate) fn byte(&mut self, byte: u8) {
        self.bytes[self.length] = byte;
        self.length += 1;
    }

    /// Appends a number in decimal.
    #[inline]
    pub(crate) fn number(&mut self, number: u64) {
        // Identifiers and seconds are mostly small.
        match u32::try_from(number) {
            Ok(number @ 0..10) => self.byte(digit(number.into())),
            Ok(number @ 10..100) => self.put(pair(number)),
            Ok(number @ 100..1000) => {
                self.byte(digit((number / 100).into()));
                self.put(pair(number));
            }
            Ok(number @ 1000..10_000) => {
                self.put(pair(number / 100));
                self.put(pair(number));
            }
            _ => self.long_number(number),
        }
    }

    /// Appends bytes.
    #[inline]
    fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        if let Some(target) = self.bytes.get_mut(self.length..).and_then(<[u8]>::first_chunk_mut) {
            *target = bytes;
        }
        self.length += N;
    }

    fn long_number(&mut self, number: u64) {
        let mut buffer = itoa::Buffer::new();
        let digits = buffer.format(number).as_bytes();
        let end = self.length + digits.len();
        self.bytes[self.length..end].copy_from_slice(digits);
        self.length = end;
    }

    /// Appends nanoseconds as seconds with nine decimals.
    #[inline]
    pub(crate) fn seconds(&mut self, nanos: u64) {
        let (seconds, rest) = parts(nanos);
        self.number(seconds);
        self.put(decimals(rest));
    }

    /// Appends a point and the first `count` of nine decimals. `billionths` must be below 10^9.
    /// Appends nothing if `count` is 0.
    pub(crate) fn decimals(&mut self, billionths: u64, count: u8) {
        if count > 0 {
            let all = decimals(u32::try_from(billionths).unwrap_or(0));
            all.iter().take(usize::from(count) + 1).for_each(|byte| self.byte(*byte));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_and_timestamps_have_the_usual_form(numbers in prop::collection::vec(any::<u64>(), 0..4), shift in 0u32..64) {
            let (mut words, mut expected) = (NumberWords::new(), String::new());
            for number in numbers {
                let number = number >> shift;
                words.number(number);
                words.byte(b' ');
                words.seconds(number);
                words.byte(b' ');
                expected += &format!("{number} {}.{:09} ", number / 1_000_000_000, number % 1_000_000_000);
            }
            prop_assert_eq!(words.as_bytes(), expected.as_bytes());
        }

        #[test]
        fn plain_floats_are_as_short_as_the_standard_library_writes_them(
            bits in prop_oneof![any::<u64>(), Just(4_828_876_570_699_176_698)],
            part in any::<i32>(),
            places in 0i32..12,
        ) {
            for number in [f64::from_bits(bits), f64::from(part), f64::from(part) / 10f64.powi(places)] {
                let mut out = Vec::new();
                plain_float(number, &mut out);
                let (text, expected) = (String::from_utf8(out).unwrap(), number.to_string());
                // Two shortest texts can be equally near to a number. The last digit may then
                // differ.
                prop_assert_eq!(text.len(), expected.len());
                prop_assert!(text == expected || text.parse() == Ok(number), "{text} {expected}");
            }
        }

        #[test]
        fn appended_numbers_are_the_same(number in any::<i64>(), shift in 0u32..64) {
            let number = number >> shift;
            let (sign, magnitude) = (if number < 0 { "-" } else { "" }, number.unsigned_abs());
            let mut out = Vec::new();
            seconds(number, &mut out);
            out.push(b' ');
            integer(magnitude, &mut out);
            out.push(b' ');
            push_signed(number, &mut out);
            let (high, low) = (magnitude / 1_000_000_000, magnitude % 1_000_000_000);
            prop_assert_eq!(String::from_utf8(out), Ok(format!("{sign}{high}.{low:09} {magnitude} {number}")));
        }
    }

    #[test]
    fn the_longest_numbers_fit() {
        let mut words = NumberWords::new();
        for _ in 0..7 {
            words.byte(b'k');
            words.number(u64::MAX);
            words.byte(b' ');
        }
        assert_eq!(words.as_bytes().len(), 7 * 22);
    }

    #[test]
    fn floats_are_short_and_round_trip() {
        let text = |number: f64| {
            let mut out = Vec::new();
            float(number, &mut out);
            String::from_utf8(out).unwrap()
        };
        let cases = [
            (0.0, "0"),
            (-0.0, "-0"),
            (0.1, "0.1"),
            (-2.5, "-2.5"),
            (123_456.0, "123456"),
            (5e-324, "5e-324"),
            (1e-7, "1e-7"),
            (1e300, "1e300"),
            (f64::MAX, "1.7976931348623157e308"),
        ];
        for (number, expected) in cases {
            assert_eq!(text(number), expected);
        }
        for bits in (0..2000u64).map(|step| step.wrapping_mul(0x9E37_79B9_7F4A_7C15)) {
            let number = f64::from_bits(bits);
            if number.is_finite() {
                let text = text(number);
                assert_eq!(text.parse().map(f64::to_bits), Ok(bits), "{text}");
                assert!(text.len() <= 24, "{text}");
            }
        }
    }

    #[test]
    fn only_exact_integers_of_limited_size_have_an_integer_value() {
        assert_eq!([2.0, -3.0, 0.5, 1e15, f64::INFINITY].map(integer_value), [Some(2), Some(-3), None, None, None]);
    }
}
