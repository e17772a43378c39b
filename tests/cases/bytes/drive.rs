//! Bytes: any values, zeros among them, none at all.

tracer_rt::events!("cases/bytes/spec.tumit");

pub fn main() {
    let all_values: Vec<u8> = (0..=255).collect();
    all::one(&[]);
    all::one(&[0]);
    all::one(&all_values);
    all::one(&[0xFF; 20_000]);
    all::two(b"left\0", 300, b"\0right");
    all::two(&[], 0, &all_values[..3]);
}
