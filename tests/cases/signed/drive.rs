//! Signed integers of all widths, at their limits.

tracer_rt::events!("cases/signed/spec.tumit");

pub fn main() {
    all::all(i8::MIN, i16::MIN, i32::MIN, i64::MIN);
    all::all(-1, -1, -1, -1);
    all::all(0, 0, 0, 0);
    all::all(i8::MAX, i16::MAX, i32::MAX, i64::MAX);
}
