//! A long interned string is kept up to its limit, and cut between characters beyond it.

tracer_rt::events!("cases/interned-long/spec.tumit");

pub fn main() {
    let long = "x".repeat(4096);
    all::one(&long);
    all::one(&(long.clone() + "more"));
    // A character of two bytes lies across the limit.
    all::one(&("y".repeat(4095) + "\u{e9}"));
}
