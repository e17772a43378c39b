//! Numbers as bit fields of equal width, varints, and dates as unsigned numbers in the same order.

/// Turns a signed date into an unsigned number that sorts the same, and back.
const SIGN: u64 = 1 << 63;

/// Bytes that must be readable behind the last number, as each is read with eight bytes at once.
pub(crate) const SLACK: usize = 8;

/// A date as an unsigned number that sorts the same.
#[inline]
pub(crate) fn ordered(date: i64) -> u64 {
    date.cast_unsigned() ^ SIGN
}

/// The date of [`ordered`].
#[inline]
pub(crate) fn date(ordered: u64) -> i64 {
    (ordered ^ SIGN).cast_signed()
}

/// Bits that hold all numbers up to `max`. Beyond 57 a number could touch nine bytes, so that whole words are taken.
pub(crate) fn width(max: u64) -> u8 {
    match 64 - max.leading_zeros() {
        58.. => 64,
        bits => bits as u8,
    }
}

/// Bytes that `count` numbers take; a multiple of 8.
pub(crate) fn packed_bytes(count: usize, width: u8) -> usize {
    (count * usize::from(width)).div_ceil(64) * 8
}

/// Appends numbers that fit in `width` bits.
pub(crate) fn pack(out: &mut Vec<u8>, values: impl Iterator<Item = u64>, width: u8) {
    if width == 0 {
        return;
    }
    let (mut word, mut filled) = (0_u64, 0_u32);
    let width = u32::from(width);
    for value in values {
        word |= value << filled;
        if filled + width >= 64 {
            out.extend_from_slice(&word.to_le_bytes());
            let used = 64 - filled;
            word = if used < width { value >> used } else { 0 };
            filled = filled + width - 64;
        } else {
            filled += width;
        }
    }
    if filled > 0 {
        out.extend_from_slice(&word.to_le_bytes());
    }
}

/// Number `index` of those packed in `bytes`; 0 where there are no bytes.
#[inline]
pub(crate) fn get(bytes: &[u8], index: usize, width: u8) -> u64 {
    word(bytes, index * usize::from(width)) & mask(width)
}

/// The bits from a place on, 57 of them or more; 0 where there are no bytes.
#[inline]
pub(crate) fn word(bytes: &[u8], bit: usize) -> u64 {
    // That the end is no less than the beginning is seen by the compiler: one comparison is left.
    let word = bytes.get(bit / 8..bit / 8 + 8).and_then(<[u8]>::first_chunk);
    word.map_or(0, |word| u64::from_le_bytes(*word)) >> (bit % 8)
}

/// As many ones as a number has bits.
#[inline]
pub(crate) fn mask(width: u8) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// Appends a number, seven bits a byte, lowest first.
#[inline]
pub(crate) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Takes a number off the front; `None` when the bytes end in it.
#[inline]
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for (at, &byte) in bytes.iter().enumerate().take(10) {
        value |= u64::from(byte & 0x7F) << (7 * at);
        if byte < 0x80 {
            *bytes = &bytes[at + 1..];
            return Some(value);
        }
    }
    None
}

/// Most bytes of a number that [`put`] writes.
pub(crate) const VARINT_BYTES: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(values in prop::collection::vec(any::<u64>(), 0..130), bits in 0_u32..=64) {
            let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
            let values: Vec<u64> = values.iter().map(|value| value & mask).collect();
            let width = width(values.iter().copied().max().unwrap_or(0));
            let mut bytes = Vec::new();
            pack(&mut bytes, values.iter().copied(), width);
            prop_assert_eq!(bytes.len(), packed_bytes(values.len(), width));
            bytes.extend([0xFF; SLACK]);
            let back: Vec<u64> = (0..values.len()).map(|at| get(&bytes, at, width)).collect();
            prop_assert_eq!(&back, &values);
            let mut varints = Vec::new();
            values.iter().for_each(|&value| put(&mut varints, value));
            let mut rest = varints.as_slice();
            let back: Option<Vec<u64>> = values.iter().map(|_| take(&mut rest)).collect();
            prop_assert_eq!(back, Some(values));
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn dates_keep_their_order(a in any::<i64>(), b in any::<i64>()) {
            prop_assert_eq!(a.cmp(&b), ordered(a).cmp(&ordered(b)));
            prop_assert_eq!(date(ordered(a)), a);
        }
    }
}
