//! Long strings: what is larger than a block is dropped and counted.

tracer_rt::events!("cases/strings-long/spec.tumit");

pub fn main() {
    for length in [1000, 30_000, 60_000, 65_000, 65_535, 65_536] {
        all::say(&"x".repeat(length));
    }
    all::done();
}
