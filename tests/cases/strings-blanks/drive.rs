//! Blanks at the end of texts are kept.

tracer_rt::events!("cases/strings-blanks/spec.tumit");

pub fn main() {
    all::say("one ", "two  ");
    all::say(" ", "two");
    all::say("", " ");
}
