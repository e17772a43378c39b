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
    pub(super) fn number(&mut self, mut number: u64) {
        let digits = number.checked_ilog10().unwrap_or(0) as usize + 1;
        let end = self.length + digits;
        for digit in self.bytes[self.length..end].iter_mut().rev() {
            *digit = digit_of(number % 10);
            number /= 10;
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
        let mut rest = u32::try_from(nanos % 1_000_000_000).unwrap_or(0);
        let start = self.length;
        self.length += 10;
        let Some(place) = self.bytes[start..].first_chunk_mut::<10>() else { return };
        place[0] = b'.';
        for digit in place[1..].iter_mut().rev() {
            *digit = digit_of(u64::from(rest % 10));
            rest /= 10;
        }
    }
}

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
