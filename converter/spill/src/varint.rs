//! Integers as varints: seven bits per byte, lowest first. Small numbers take one byte.
//!
//! ```
//! use tumit_spill::varint;
//!
//! let mut bytes = Vec::new();
//! varint::push(&mut bytes, 300);
//! varint::push(&mut bytes, varint::zigzag(-2));
//! assert_eq!(bytes, [0xAC, 0x02, 3]);
//! let mut rest = &bytes[..];
//! assert_eq!(varint::take(&mut rest), Some(300));
//! assert_eq!(varint::take(&mut rest).map(varint::unzigzag), Some(-2));
//! assert_eq!(varint::take(&mut rest), None);
//! ```

/// Maximum number of bytes of a varint.
pub const MAX_BYTES: usize = 10;

/// Appends a number.
#[inline]
pub fn push(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Removes a number from the front of `bytes`. `None` if it is incomplete.
#[inline]
pub fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for (index, &byte) in bytes.iter().enumerate().take(MAX_BYTES) {
        value |= u64::from(byte & 0x7F) << (7 * index);
        if byte < 0x80 {
            *bytes = &bytes[index + 1..];
            return Some(value);
        }
    }
    None
}

/// Maps a signed number to an unsigned one, such that numbers near 0 become small: 0, -1, 1, -2 to
/// 0, 1, 2, 3.
#[inline]
#[must_use]
pub const fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)).cast_unsigned()
}

/// Inverts [`zigzag`].
#[inline]
#[must_use]
pub const fn unzigzag(code: u64) -> i64 {
    (code >> 1).cast_signed() ^ -(code & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_are_read_back(numbers in prop::collection::vec(any::<u64>(), 0..100)) {
            let mut bytes = Vec::new();
            numbers.iter().for_each(|number| push(&mut bytes, *number));
            let mut rest = &bytes[..];
            for number in numbers {
                prop_assert_eq!(take(&mut rest), Some(number));
                prop_assert_eq!(zigzag(unzigzag(number)), number);
            }
            prop_assert!(rest.is_empty());
        }
    }

    #[test]
    fn an_incomplete_number_is_not_taken() {
        let mut rest = &[0x80, 0x80][..];
        assert_eq!((take(&mut rest), rest.len()), (None, 2));
    }
}
