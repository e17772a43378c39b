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

/// Nanoseconds as seconds with nine decimals.
pub(super) fn seconds(nanos: i64, out: &mut Vec<u8>) {
    let magnitude = nanos.unsigned_abs();
    if nanos < 0 {
        out.push(b'-');
    }
    integer(magnitude / 1_000_000_000, out);
    // Below 10^9: 32 bits divide faster.
    let rest = (magnitude % 1_000_000_000) as u32;
    let (first, pairs) = (rest / 100_000_000, rest % 100_000_000);
    let (high, low) = (pairs / 10_000, pairs % 10_000);
    let [a, b] = PAIRS[(high / 100) as usize];
    let [c, d] = PAIRS[(high % 100) as usize];
    let [e, f] = PAIRS[(low / 100) as usize];
    let [g, h] = PAIRS[(low % 100) as usize];
    out.extend_from_slice(&[b'.', b'0' + first as u8, a, b, c, d, e, f, g, h]);
}

/// An integer.
pub(super) fn integer(number: u64, out: &mut Vec<u8>) {
    if number < 10 {
        out.push(b'0' + number as u8);
    } else {
        out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    }
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
    use super::{integer, seconds, whole};
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
    fn whole_numbers() {
        assert_eq!([2.0, -3.0, 0.5, 1e15, f64::INFINITY].map(whole), [Some(2), Some(-3), None, None, None]);
    }
}
