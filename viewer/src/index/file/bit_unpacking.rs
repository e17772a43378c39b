//! Unpacks whole blocks of packed numbers. For each width, it is straight-line code with constant
//! shifts. This is several times as fast as reading one number after another.

use super::bit_fields::SLACK;
use super::file_layout::BLOCK;

/// Calls the function for a width. Widths of 58 to 63 bits do not occur.
macro_rules! by_width {
    ($function:ident, $width:expr, $bytes:expr, $out:expr) => {
        by_width!($function, $width, $bytes, $out;
            1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
            33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57)
    };
    ($function:ident, $width:expr, $bytes:expr, $out:expr; $($bits:literal)*) => {
        match $width {
            $($bits => $function::<$bits>($bytes, $out),)*
            _ => false,
        }
    };
}

/// Writes the numbers with these indexes.
macro_rules! numbers {
    ($bytes:ident, $out:ident, $bits:ident; $($index:literal)*) => {
        $($out[$index] = number::<$bits>($bytes, $index);)*
    };
}

/// Unpacks [`BLOCK`] numbers of a width. It returns `false`, and may write some numbers, if there
/// are not enough bytes or the width is not supported.
pub(crate) fn block(bytes: &[u8], width: u8, out: &mut [u64; BLOCK]) -> bool {
    by_width!(copy_words, width, bytes, out)
}

fn copy_words<const BITS: usize>(bytes: &[u8], out: &mut [u64; BLOCK]) -> bool {
    let Some(bytes) = bytes.get(..BITS * BLOCK / 8 + SLACK) else { return false };
    numbers!(bytes, out, BITS;
        0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
        32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63);
    true
}

#[inline(always)]
fn number<const BITS: usize>(bytes: &[u8], index: usize) -> u64 {
    let bit = index * BITS;
    let word = bytes[bit / 8..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
    word >> (bit % 8) & ((1 << BITS) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::file::bit_fields;

    #[test]
    fn an_unpacked_block_equals_its_single_numbers() {
        let bytes: Vec<u8> = (0..BLOCK * 8 + SLACK).map(|index| (index * index * 31 + index * 7 + 5) as u8).collect();
        for width in 1..=57 {
            let mut out = [0; BLOCK];
            let enough = bit_fields::packed_bytes(BLOCK, width) + SLACK;
            assert!(block(&bytes[..enough], width, &mut out));
            assert!(
                out.iter().enumerate().all(|(index, &number)| number == bit_fields::get(&bytes, index, width)),
                "{width}"
            );
            assert!(!block(&bytes[..enough - 1], width, &mut out));
        }
        assert!([0, 58, 64, 255].iter().all(|&width| !block(&bytes, width, &mut [0; BLOCK])));
    }
}
