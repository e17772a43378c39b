//! Interned strings: the same text has the same number, wherever it lies.

use tracer_rt::InternedText;

tracer_rt::events!("cases/interned/spec.tumit");

pub fn main() {
    let copy = String::from("north");
    all::one("north");
    all::one("south");
    all::one(&copy);
    all::one("");
    all::one("n\u{e9}on \u{1f600}");
    all::one("North");
    all::two("east", "west");
    all::two("west", "north");
    let names = ["north", "", "up", "up"].map(InternedText::new);
    all::several([names[0], names[1]], &[names[2], names[3], names[0]]);
    all::several([names[2], names[2]], &[]);
    all::one("a\tb\nc\"\\");
}
