//! Numbers as text, appended: nearly all of a row are digits.

/// All pairs of digits, so that a division gives two.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut at = 0;
    while at < 100 {
        pairs[at] = [b'0' + (at / 10) as u8, b'0' + (at % 10) as u8];
        at += 1;
    }
    pairs
};

/// Words of a row, put together on the stack: what most of a row consists of is numbers of a few digits.
pub(super) struct Digits {
    bytes: [u8; BYTES],
    length: usize,
}

/// Room for five numbers of any size, and what is between them.
const BYTES: usize = 128;

impl Digits {
    pub(super) const fn new() -> Self {
        Self { bytes: [0; BYTES], length: 0 }
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    #[inline]
    pub(super) fn byte(&mut self, byte: u8) {
        self.bytes[self.length] = byte;
        self.length += 1;
    }

    /// The last two digits of a number.
    #[inline]
    fn pair(&mut self, number: u64) {
        let [tens, ones] = PAIRS[(number % 100) as usize];
        self.byte(tens);
        self.byte(ones);
    }

    /// An integer.
    #[inline]
    pub(super) fn integer(&mut self, number: u64) {
        match number {
            0..10 => self.byte(b'0' + number as u8),
            10..100 => self.pair(number),
            100..1000 => {
                self.byte(b'0' + (number / 100) as u8);
                self.pair(number);
            }
            1000..10_000 => {
                self.pair(number / 100);
                self.pair(number);
            }
            _ => itoa::Buffer::new().format(number).bytes().for_each(|byte| self.byte(byte)),
        }
    }

    /// Nanoseconds as seconds with nine decimals.
    #[inline]
    pub(super) fn seconds(&mut self, nanos: i64) {
        let magnitude = nanos.unsigned_abs();
        if nanos < 0 {
            self.byte(b'-');
        }
        self.integer(magnitude / 1_000_000_000);
        // Below 10^9: 32 bits divide faster.
        let rest = (magnitude % 1_000_000_000) as u32;
        let (first, pairs) = (rest / 100_000_000, rest % 100_000_000);
        let (high, low) = (pairs / 10_000, pairs % 10_000);
        let [a, b] = PAIRS[(high / 100) as usize];
        let [c, d] = PAIRS[(high % 100) as usize];
        let [e, f] = PAIRS[(low / 100) as usize];
        let [g, h] = PAIRS[(low % 100) as usize];
        let start = self.length;
        self.length += 10;
        if let Some(place) = self.bytes[start..].first_chunk_mut() {
            *place = [b'.', b'0' + first as u8, a, b, c, d, e, f, g, h];
        }
    }
}

/// Nanoseconds as seconds with nine decimals.
pub(super) fn seconds(nanos: i64, out: &mut Vec<u8>) {
    let mut digits = Digits::new();
    digits.seconds(nanos);
    out.extend_from_slice(digits.as_bytes());
}

/// An integer.
pub(super) fn integer(number: u64, out: &mut Vec<u8>) {
    let mut digits = Digits::new();
    digits.integer(number);
    out.extend_from_slice(digits.as_bytes());
}

/// An integer with its sign.
pub(super) fn signed(number: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// The integer that a float is, if it is one of a size at which all are.
pub(super) fn whole(number: f64) -> Option<i64> {
    (number.abs() < 1e15 && number.fract() == 0.0).then_some(number as i64)
}

#[cfg(test)]
mod tests {
    use super::{Digits, integer, seconds, whole};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_are_written_as_others_do(number in any::<i64>(), shift in 0u32..64) {
            let number = number >> shift;
            let (sign, magnitude) = (if number < 0 { "-" } else { "" }, number.unsigned_abs());
            let mut out = Vec::new();
            seconds(number, &mut out);
            out.push(b' ');
            integer(magnitude, &mut out);
            let expected = format!("{sign}{}.{:09} {magnitude}", magnitude / 1_000_000_000, magnitude % 1_000_000_000);
            prop_assert_eq!(String::from_utf8(out), Ok(expected));
        }
    }

    #[test]
    fn the_longest_words_have_room() {
        let mut digits = Digits::new();
        (0..5).for_each(|_| {
            digits.seconds(i64::MIN);
            digits.byte(b',');
        });
        assert_eq!(digits.as_bytes().len(), 5 * 22);
    }

    #[test]
    fn whole_numbers() {
        assert_eq!([2.0, -3.0, 0.5, 1e15, f64::INFINITY].map(whole), [Some(2), Some(-3), None, None, None]);
    }
}
