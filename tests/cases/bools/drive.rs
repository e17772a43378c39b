//! Bools are one byte, 0 or 1, alone and in arrays.

tracer_rt::events!("cases/bools/spec.tumit");

pub fn main() {
    all::one(true);
    all::one(false);
    all::several([true, false, true], &[false, true]);
    all::several([false; 3], &[]);
}
