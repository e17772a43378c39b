//! Fixed arrays of every kind of number.

tracer_rt::events!("cases/fixed-numbers/spec.tumit");

pub fn main() {
    all::unsigned4([1, 2, u8::MAX], [3, u16::MAX], [4, u32::MAX], [5, u64::MAX]);
    all::signed4([1, i8::MIN, i8::MAX], [i16::MIN, i16::MAX], [i32::MIN, i32::MAX], [i64::MIN, i64::MAX]);
    all::floating([0.5, -0.0], [-1e300, f64::INFINITY]);
    all::odd([7], std::array::from_fn(|n| -(n as i32)));
}
