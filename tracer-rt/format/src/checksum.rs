//! CRC32C (Castagnoli), eight bytes per step.
//! Long inputs use three lanes. The C runtime uses the same tables.
//!
//! ```
//! use tracer_format::checksum::crc32c;
//!
//! assert_eq!(crc32c(0, b"123456789"), 0xE306_9283);
//! assert_eq!(crc32c(crc32c(0, b"1234"), b"56789"), 0xE306_9283);
//! ```

const POLYNOMIAL: u32 = 0x82F6_3B78;

/// Tables of the slicing-by-8 method: `TABLES[k][b]` advances byte `b` over `k` zero bytes.
/// Not a `const`, because without optimisation each use of a `const` copies all of it.
static TABLES: [[u32; 256]; 8] = tables();

#[expect(clippy::cast_possible_truncation, reason = "n < 256")]
const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0u32; 256]; 8];
    let mut n = 0;
    while n < 256 {
        let mut crc = n as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        tables[0][n] = crc;
        n += 1;
    }
    let mut k = 1;
    while k < 8 {
        let mut n = 0;
        while n < 256 {
            let previous = tables[k - 1][n];
            tables[k][n] = tables[0][(previous & 0xFF) as usize] ^ (previous >> 8);
            n += 1;
        }
        k += 1;
    }
    tables
}

/// Bytes of a lane.
/// Three lanes of a long input are read in parallel, because each step of a lane depends on the
/// previous step.
const LANE_BYTES: usize = 512;

/// `OVER_LANE[k][b]` advances byte `b` of the state, at place `k`, over a lane of zero bytes.
static OVER_LANE: [[u32; 256]; 4] = over_lane();

#[expect(clippy::cast_possible_truncation, reason = "n < 256")]
const fn over_lane() -> [[u32; 256]; 4] {
    let tables = tables();
    // The states with one bit set. All other states are sums (exclusive or) of these.
    let mut bits = [0u32; 32];
    let mut bit = 0;
    while bit < 32 {
        let mut state = 1u32 << bit;
        let mut step = 0;
        while step < LANE_BYTES / 4 {
            let bytes = state.to_le_bytes();
            state = tables[3][bytes[0] as usize]
                ^ tables[2][bytes[1] as usize]
                ^ tables[1][bytes[2] as usize]
                ^ tables[0][bytes[3] as usize];
            step += 1;
        }
        bits[bit] = state;
        bit += 1;
    }
    let mut all = [[0u32; 256]; 4];
    let mut position = 0;
    while position < 4 * 256 {
        let (k, n) = (position / 256, position % 256);
        let mut bit = 0;
        while bit < 8 {
            if n as u32 >> bit & 1 == 1 {
                all[k][n] ^= bits[8 * k + bit];
            }
            bit += 1;
        }
        position += 1;
    }
    all
}

/// Returns the state after eight more bytes.
#[inline]
fn step(state: u32, chunk: [u8; 8]) -> u32 {
    let low = u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]) ^ state;
    let l = low.to_le_bytes();
    TABLES[7][usize::from(l[0])]
        ^ TABLES[6][usize::from(l[1])]
        ^ TABLES[5][usize::from(l[2])]
        ^ TABLES[4][usize::from(l[3])]
        ^ TABLES[3][usize::from(chunk[4])]
        ^ TABLES[2][usize::from(chunk[5])]
        ^ TABLES[1][usize::from(chunk[6])]
        ^ TABLES[0][usize::from(chunk[7])]
}

/// Returns the state after a lane of zero bytes.
fn over_zeros(state: u32) -> u32 {
    let s = state.to_le_bytes();
    OVER_LANE[0][usize::from(s[0])]
        ^ OVER_LANE[1][usize::from(s[1])]
        ^ OVER_LANE[2][usize::from(s[2])]
        ^ OVER_LANE[3][usize::from(s[3])]
}

/// Continues a CRC32C over more bytes. The first call has `crc` 0.
#[must_use]
pub fn crc32c(crc: u32, bytes: &[u8]) -> u32 {
    let mut crc = !crc;
    let (threes, remainder) = bytes.as_chunks::<{ 3 * LANE_BYTES }>();
    for three in threes {
        let (first, later_lanes) = three.split_at(LANE_BYTES);
        let (second, third) = later_lanes.split_at(LANE_BYTES);
        let (first, second, third) = (first.as_chunks().0, second.as_chunks().0, third.as_chunks().0);
        let (mut a, mut b, mut c) = (crc, 0, 0);
        for ((first, second), third) in first.iter().zip(second).zip(third) {
            (a, b, c) = (step(a, *first), step(b, *second), step(c, *third));
        }
        crc = over_zeros(over_zeros(a) ^ b) ^ c;
    }
    let (chunks, remainder) = remainder.as_chunks::<8>();
    for chunk in chunks {
        crc = step(crc, *chunk);
    }
    for &byte in remainder {
        crc = TABLES[0][usize::from(crc.to_le_bytes()[0] ^ byte)] ^ (crc >> 8);
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::crc32c;
    use proptest::prelude::*;

    #[test]
    fn checksums_equal_the_published_values_and_can_be_continued() {
        assert_eq!(crc32c(0, b"123456789"), 0xE306_9283);
        assert_eq!(crc32c(0, &[0; 32]), 0x8A91_36AA);
        assert_eq!(crc32c(crc32c(0, b"1234"), b"56789"), 0xE306_9283);
    }

    /// Computes the checksum bit by bit, as in the standard.
    fn slow(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(!0, |crc, byte| {
            (0..8).fold(
                crc ^ u32::from(*byte),
                |crc, _| if crc & 1 == 1 { crc >> 1 ^ super::POLYNOMIAL } else { crc >> 1 },
            )
        })
    }

    proptest! {
        #[test]
        fn long_texts_have_the_sum_of_their_bits(bytes in prop::collection::vec(any::<u8>(), 0..5000), at in any::<prop::sample::Index>()) {
            prop_assert_eq!(crc32c(0, &bytes), slow(&bytes));
            let (before, after) = bytes.split_at(at.index(bytes.len() + 1));
            prop_assert_eq!(crc32c(crc32c(0, before), after), slow(&bytes));
        }
    }
}
