//! Floats: signed zeros, infinities, not a number, the smallest and the largest.

tracer_rt::events!("cases/floats/spec.tumit");

pub fn main() {
    all::pair(0.0, 0.0);
    all::pair(-0.0, -0.0);
    all::pair(0.1, 0.1);
    all::pair(f32::INFINITY, f64::INFINITY);
    all::pair(f32::NEG_INFINITY, f64::NEG_INFINITY);
    all::pair(f32::MAX, f64::MAX);
    all::pair(f32::MIN_POSITIVE, f64::MIN_POSITIVE);
    // NaN, and NaN with other bits: the bits are kept.
    all::pair(f32::from_bits(0x7FC0_0000), f64::from_bits(0x7FF8_0000_0000_0000));
    all::pair(f32::from_bits(0xFFC0_1234), f64::from_bits(0xFFF8_0000_0000_1234));
    // The smallest of all.
    all::pair(f32::from_bits(1), f64::from_bits(1));
}
