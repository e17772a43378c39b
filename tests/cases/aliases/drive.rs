//! Named types: of numbers, enums, arrays, and of other named types.

use tracer_rt::InternedText;

tracer_rt::events!("cases/aliases/spec.tumit");

pub fn main() {
    all::moved(1, 2, [0.5, -1.0, 2.25]);
    let names = ["a", "b"].map(InternedText::new);
    all::visited(&[3, 2, 1], [Color::Green, Color::Red], "a", &names, Color::Green);
    all::visited(&[], [Color::Red; 2], "c", &[], Color::Red);
}
