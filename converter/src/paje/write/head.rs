//! The first part of a line, put together on the stack: what nearly all lines consist of is numbers of a few digits.

use crate::paje::{ContainerId, TypeId};

/// No number has more digits.
const MAX_DIGITS: usize = 20;
/// Room for eight numbers and their letters.
const BYTES: usize = 8 * (MAX_DIGITS + 2);

/// Some words of a line.
pub(super) struct Head {
    bytes: [u8; BYTES],
    length: usize,
}

impl Head {
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

    /// A number in decimal.
    #[inline]
    pub(super) fn number(&mut self, number: u64) {
        // Identifiers and seconds are mostly small.
        match number {
            0..10 => self.byte(digit_of(number)),
            10..100 => self.pair(number),
            100..1000 => {
                self.byte(digit_of(number / 100));
                self.pair(number);
            }
            1000..10_000 => {
                self.pair(number / 100);
                self.pair(number);
            }
            _ => self.long_number(number),
        }
    }

    /// The last two digits of a number.
    #[inline]
    fn pair(&mut self, number: u64) {
        if let Some(place) = self.bytes.get_mut(self.length..).and_then(<[u8]>::first_chunk_mut) {
            *place = PAIRS[(number % 100) as usize];
        }
        self.length += 2;
    }

    fn long_number(&mut self, mut number: u64) {
        let digits = number.checked_ilog10().unwrap_or(0) as usize + 1;
        let end = self.length + digits;
        let bytes = &mut self.bytes[self.length..end];
        for pair in bytes.rchunks_exact_mut(2) {
            pair.copy_from_slice(&PAIRS[(number % 100) as usize]);
            number /= 100;
        }
        if digits % 2 == 1 {
            bytes[0] = digit_of(number);
        }
        self.length = end;
    }

    #[inline]
    pub(super) fn serial(&mut self, letter: u8, number: u64) {
        self.byte(letter);
        self.number(number);
    }

    #[inline]
    pub(super) fn type_id(&mut self, ty: TypeId) {
        if ty == TypeId::ROOT { self.byte(b'0') } else { self.serial(b't', ty.0.into()) }
    }

    #[inline]
    pub(super) fn container_id(&mut self, container: ContainerId) {
        if container == ContainerId::ROOT { self.byte(b'0') } else { self.serial(b'c', container.0.into()) }
    }

    /// Nanoseconds as seconds with nine decimals.
    #[inline]
    pub(super) fn seconds(&mut self, nanos: u64) {
        self.number(nanos / 1_000_000_000);
        // Below 10^9: 32 bits divide faster.
        let rest = u32::try_from(nanos % 1_000_000_000).unwrap_or(0);
        let start = self.length;
        self.length += 10;
        let Some(place) = self.bytes[start..].first_chunk_mut::<10>() else { return };
        let (high, low) = (rest / 10_000, rest % 10_000);
        let pair = |number: u32| PAIRS[(number % 100) as usize];
        place[0] = b'.';
        place[1] = digit_of((high / 10_000).into());
        place[2..4].copy_from_slice(&pair(high / 100));
        place[4..6].copy_from_slice(&pair(high));
        place[6..8].copy_from_slice(&pair(low / 100));
        place[8..10].copy_from_slice(&pair(low));
    }
}

/// The numbers below 100 in two digits.
static PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[b'0'; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [digit_of(number as u64 / 10), digit_of(number as u64 % 10)];
        number += 1;
    }
    pairs
};

#[inline]
const fn digit_of(digit: u64) -> u8 {
    b'0' + digit.to_le_bytes()[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_and_dates_are_written_as_others_do(numbers in prop::collection::vec(any::<u64>(), 0..4), shift in 0u32..64) {
            let (mut head, mut expected) = (Head::new(), String::new());
            for number in numbers {
                let number = number >> shift;
                head.number(number);
                head.byte(b' ');
                head.seconds(number);
                head.byte(b' ');
                expected += &format!("{number} {}.{:09} ", number / 1_000_000_000, number % 1_000_000_000);
            }
            prop_assert_eq!(head.as_bytes(), expected.as_bytes());
        }
    }

    #[test]
    fn the_longest_head_has_room() {
        let mut head = Head::new();
        for _ in 0..7 {
            head.serial(b'k', u64::MAX);
            head.byte(b' ');
        }
        assert_eq!(head.as_bytes().len(), 7 * 22);
    }
}
