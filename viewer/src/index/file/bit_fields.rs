//! Numbers as bit fields of equal width, and timestamps as unsigned numbers in the same order.

/// The sign bit. Flipping it converts a signed timestamp to an unsigned number in the same order,
/// and back.
const SIGN: u64 = 1 << 63;

/// Bytes that must be readable after the last number, because each number is read as eight bytes.
pub(crate) const SLACK: usize = 8;

/// A timestamp as an unsigned number in the same order.
#[inline]
pub(crate) fn sortable_timestamp(timestamp: i64) -> u64 {
    timestamp.cast_unsigned() ^ SIGN
}

/// The timestamp that [`sortable_timestamp`] encoded.
#[inline]
pub(crate) fn timestamp(sortable_time: u64) -> i64 {
    (sortable_time ^ SIGN).cast_signed()
}

/// Number of bits for all numbers up to `max`. A number of more than 57 bits could span nine bytes,
/// so such numbers get 64 bits.
pub(crate) fn width(max: u64) -> u8 {
    match 64 - max.leading_zeros() {
        58.. => 64,
        bits => bits as u8,
    }
}

/// Bytes of `count` packed numbers; a multiple of 8.
pub(crate) fn packed_bytes(count: usize, width: u8) -> usize {
    (count * usize::from(width)).div_ceil(64) * 8
}

/// Appends numbers that fit in `width` bits.
pub(crate) fn pack(out: &mut Vec<u8>, values: impl Iterator<Item = u64>, width: u8) {
    if width == 0 {
        return;
    }
    let (mut word, mut bit_count) = (0_u64, 0_u32);
    let width = u32::from(width);
    for value in values {
        word |= value << bit_count;
        if bit_count + width >= 64 {
            out.extend_from_slice(&word.to_le_bytes());
            let fitting_bits = 64 - bit_count;
            word = if fitting_bits < width { value >> fitting_bits } else { 0 };
            bit_count = bit_count + width - 64;
        } else {
            bit_count += width;
        }
    }
    if bit_count > 0 {
        out.extend_from_slice(&word.to_le_bytes());
    }
}

/// Number `index` of those packed in `bytes`; 0 if `bytes` is too short.
#[inline]
pub(crate) fn get(bytes: &[u8], index: usize, width: u8) -> u64 {
    word(bytes, index * usize::from(width)) & mask(width)
}

/// At least 57 bits, starting at bit `bit`; 0 if `bytes` is too short.
#[inline]
pub(crate) fn word(bytes: &[u8], bit: usize) -> u64 {
    // The compiler sees that the end is not less than the start, so only one comparison remains.
    let word = bytes.get(bit / 8..bit / 8 + 8).and_then(<[u8]>::first_chunk);
    word.map_or(0, |word| u64::from_le_bytes(*word)) >> (bit % 8)
}

/// A number with the lowest `width` bits set.
#[inline]
pub(crate) fn mask(width: u8) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn unpacked_numbers_equal_the_packed_ones(values in prop::collection::vec(any::<u64>(), 0..130), bits in 0_u32..=64) {
            let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
            let values: Vec<u64> = values.iter().map(|value| value & mask).collect();
            let width = width(values.iter().copied().max().unwrap_or(0));
            let mut bytes = Vec::new();
            pack(&mut bytes, values.iter().copied(), width);
            prop_assert_eq!(bytes.len(), packed_bytes(values.len(), width));
            bytes.extend([0xFF; SLACK]);
            let back: Vec<u64> = (0..values.len()).map(|index| get(&bytes, index, width)).collect();
            prop_assert_eq!(&back, &values);
        }

        #[test]
        fn timestamps_keep_their_order(a in any::<i64>(), b in any::<i64>()) {
            prop_assert_eq!(a.cmp(&b), sortable_timestamp(a).cmp(&sortable_timestamp(b)));
            prop_assert_eq!(timestamp(sortable_timestamp(a)), a);
        }
    }
}
