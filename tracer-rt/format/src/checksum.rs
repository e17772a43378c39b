//! CRC32C (Castagnoli), eight bytes a step; the C runtime computes the same from the same tables.

const POLYNOMIAL: u32 = 0x82F6_3B78;

/// Tables of the slicing-by-8 method: `TABLES[k][b]` advances byte `b` over `k` zero bytes.
/// Not a `const`: without optimisation, each use of one copies all of it.
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
            let before = tables[k - 1][n];
            tables[k][n] = tables[0][(before & 0xFF) as usize] ^ (before >> 8);
            n += 1;
        }
        k += 1;
    }
    tables
}

/// Continues a CRC32C over more bytes; start from 0.
#[must_use]
pub fn crc32c(crc: u32, bytes: &[u8]) -> u32 {
    let mut crc = !crc;
    let (chunks, rest) = bytes.as_chunks::<8>();
    for chunk in chunks {
        let low = u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]) ^ crc;
        let l = low.to_le_bytes();
        crc = TABLES[7][usize::from(l[0])]
            ^ TABLES[6][usize::from(l[1])]
            ^ TABLES[5][usize::from(l[2])]
            ^ TABLES[4][usize::from(l[3])]
            ^ TABLES[3][usize::from(chunk[4])]
            ^ TABLES[2][usize::from(chunk[5])]
            ^ TABLES[1][usize::from(chunk[6])]
            ^ TABLES[0][usize::from(chunk[7])];
    }
    for &byte in rest {
        crc = TABLES[0][usize::from(crc.to_le_bytes()[0] ^ byte)] ^ (crc >> 8);
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::crc32c;

    #[test]
    fn known_values() {
        assert_eq!(crc32c(0, b"123456789"), 0xE306_9283);
        assert_eq!(crc32c(0, &[0; 32]), 0x8A91_36AA);
        assert_eq!(crc32c(crc32c(0, b"1234"), b"56789"), 0xE306_9283);
    }
}
