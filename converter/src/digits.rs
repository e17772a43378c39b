//! Numbers as text: nearly all of what is written, Pajé text and rows alike, are digits.
//!
//! [`integer`], [`signed`] and [`seconds`] append to a text; [`Words`] puts some words together on the stack first, where a line begins with
//! many short ones.

/// A number below 10^8 in eight digits: all at once in the parts of one word.
#[inline]
const fn eight(number: u32) -> [u8; 8] {
    // In each half four digits, the higher ones in the lower half: the text begins with the lowest byte.
    let fours = (number / 10_000) as u64 | ((number % 10_000) as u64) << 32;
    // x / 100 is x * 5243 / 2^19 below 10,000, and x / 10 is x * 103 / 2^10 below 100.
    let hundreds = (fours * 5243) >> 19 & 0x0000_007f_0000_007f;
    let twos = hundreds | (fours - hundreds * 100) << 16;
    let tens = (twos * 103) >> 10 & 0x000f_000f_000f_000f;
    let ones = tens | (twos - tens * 10) << 8;
    (ones | 0x3030_3030_3030_3030).to_le_bytes()
}

/// A point and the nine decimals of so many nanoseconds, which are less than a second.
#[inline]
const fn decimals(nanos: u32) -> [u8; 10] {
    let [a, b, c, d, e, f, g, h] = eight(nanos % 100_000_000);
    [b'.', digit((nanos / 100_000_000) as u64), a, b, c, d, e, f, g, h]
}

/// The digits of a number below 10,000, and how many they are.
#[inline]
const fn short(number: u32) -> ([u8; 4], usize) {
    let [_, _, _, _, a, b, c, d] = eight(number);
    match number {
        0..10 => ([d, 0, 0, 0], 1),
        10..100 => ([c, d, 0, 0], 2),
        100..1000 => ([b, c, d, 0], 3),
        _ => ([a, b, c, d], 4),
    }
}

#[inline]
const fn digit(digit: u64) -> u8 {
    b'0' + digit.to_le_bytes()[0]
}

/// Seconds, and nanoseconds beyond.
#[inline]
fn parts(nanos: u64) -> (u64, u32) {
    (nanos / 1_000_000_000, u32::try_from(nanos % 1_000_000_000).unwrap_or(0))
}

/// Appends an integer.
#[inline]
pub fn integer(number: u64, out: &mut Vec<u8>) {
    match u32::try_from(number) {
        Ok(number @ 0..10) => out.push(digit(number.into())),
        Ok(number @ 0..10_000) => {
            let (digits, count) = short(number);
            out.extend_from_slice(&digits[..count]);
        }
        _ => out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes()),
    }
}

/// Appends an integer with its sign.
pub fn signed(number: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends nanoseconds as seconds with nine decimals.
#[inline]
pub fn seconds(nanos: i64, out: &mut Vec<u8>) {
    if nanos < 0 {
        out.push(b'-');
    }
    let (seconds, rest) = parts(nanos.unsigned_abs());
    integer(seconds, out);
    out.extend_from_slice(&decimals(rest));
}

/// The integer that a float is, if it is one of a size at which all are.
#[must_use]
pub fn whole(number: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "the bounds are checked")]
    (number.abs() < 1e15 && number.fract() == 0.0).then_some(number as i64)
}

/// No number has more digits.
const MAX_DIGITS: usize = 20;
/// Room for eight numbers and what is between them.
const BYTES: usize = 8 * (MAX_DIGITS + 2);

/// Some words of a line: up to eight numbers, each with a letter before or behind it.
#[derive(Debug)]
pub(crate) struct Words {
    bytes: [u8; BYTES],
    length: usize,
}

impl Words {
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

    /// A number in decimal.
    #[inline]
    pub(crate) fn number(&mut self, number: u64) {
        // Identifiers and seconds are mostly small.
        match u32::try_from(number) {
            Ok(number @ 0..10) => self.byte(digit(number.into())),
            Ok(number @ 0..10_000) => {
                let (digits, count) = short(number);
                self.put(digits);
                self.length += count;
            }
            _ => self.long_number(number),
        }
    }

    /// Writes behind the last word.
    #[inline]
    fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        if let Some(place) = self.bytes.get_mut(self.length..).and_then(<[u8]>::first_chunk_mut) {
            *place = bytes;
        }
    }

    #[cold]
    fn long_number(&mut self, number: u64) {
        for byte in itoa::Buffer::new().format(number).bytes() {
            self.byte(byte);
        }
    }

    /// Nanoseconds as seconds with nine decimals.
    #[inline]
    pub(crate) fn seconds(&mut self, nanos: u64) {
        let (seconds, rest) = parts(nanos);
        self.number(seconds);
        self.put(decimals(rest));
        self.length += 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_and_dates_are_written_as_others_do(numbers in prop::collection::vec(any::<u64>(), 0..4), shift in 0u32..64) {
            let (mut words, mut expected) = (Words::new(), String::new());
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
        fn appended_ones_are_the_same(number in any::<i64>(), shift in 0u32..64) {
            let number = number >> shift;
            let (sign, magnitude) = (if number < 0 { "-" } else { "" }, number.unsigned_abs());
            let mut out = Vec::new();
            seconds(number, &mut out);
            out.push(b' ');
            integer(magnitude, &mut out);
            out.push(b' ');
            signed(number, &mut out);
            let (high, low) = (magnitude / 1_000_000_000, magnitude % 1_000_000_000);
            prop_assert_eq!(String::from_utf8(out), Ok(format!("{sign}{high}.{low:09} {magnitude} {number}")));
        }
    }

    #[test]
    fn eight_digits_are_those_of_the_number() {
        // All of four digits in both halves, and what is around powers of ten.
        let fours = (0..10_000).flat_map(|number| [number, number * 10_000, 99_990_000 + number]);
        for number in fours.chain((0..8).flat_map(|power| [10u32.pow(power) - 1, 10u32.pow(power)])) {
            assert_eq!(eight(number), *format!("{number:08}").as_bytes(), "{number}");
        }
    }

    #[test]
    fn the_longest_words_have_room() {
        let mut words = Words::new();
        for _ in 0..7 {
            words.byte(b'k');
            words.number(u64::MAX);
            words.byte(b' ');
        }
        assert_eq!(words.as_bytes().len(), 7 * 22);
    }

    #[test]
    fn whole_numbers() {
        assert_eq!([2.0, -3.0, 0.5, 1e15, f64::INFINITY].map(whole), [Some(2), Some(-3), None, None, None]);
    }
}
