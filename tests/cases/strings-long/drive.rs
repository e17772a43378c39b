//! Long strings: records that are larger than a slot are truncated.

tracer_rt::events!("cases/strings-long/spec.tumit");

pub fn main() {
    for length in [1000, 30_000, 60_000, 65_000, 65_535, 65_536] {
        all::say(&"x".repeat(length));
    }
    let (text, accents) = ("x".repeat(40_000), "é".repeat(32_000));
    all::three("short", &accents, "x", b"y");
    all::three("", &text, &accents, &text.as_bytes()[..300]);
    all::three("both", &text[1..], &accents, &text.as_bytes()[..30_000]);
    all::done();
}
