//! Variable arrays of every kind of number.

tracer_rt::events!("cases/counted-numbers/spec.tumit");

pub fn main() {
    all::unsigned4(&[1, 2, u8::MAX], &[u16::MAX], &[4, u32::MAX], &[u64::MAX]);
    all::unsigned4(&[], &[], &[], &[]);
    all::signed4(&[i8::MIN, -1], &[i16::MIN], &[i32::MIN, 0, i32::MAX], &[i64::MIN]);
    all::floating(&[0.5, -0.0, f32::INFINITY], &[f64::NEG_INFINITY]);
    all::between(1, &[10, 20, 30], 2);
    all::between(3, &[], 4);
    let many: Vec<u32> = (0..2000).map(|n| n * n).collect();
    all::between(5, &many, 6);
}
