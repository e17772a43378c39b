//! Unsigned integers of all widths, at their limits.

tracer_rt::events!("cases/unsigned/spec.tumit");

pub fn main() {
    for n in [0, 1, u8::MAX] {
        all::bytes1(n);
    }
    for n in [0, 256, u16::MAX] {
        all::bytes2(n);
    }
    for n in [0, 65_536, u32::MAX] {
        all::bytes4(n);
    }
    for n in [0, 1 << 32, u64::MAX] {
        all::bytes8(n);
    }
    all::mixed(1, 2, 3, 4, 5);
}
