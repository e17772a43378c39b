//! An enum of few values takes one byte; it may have a single value.

tracer_rt::events!("cases/enum-narrow/spec.tumit");

pub fn main() {
    for color in [Color::Red, Color::Green, Color::Blue, Color::Red] {
        all::paint(color, Only::One);
    }
}
