//! Levels selected by `TUMIT_LEVELS`.

tracer_rt::events!("cases/levels-environment/spec.tumit");

pub fn main() {
    for n in 0..2 {
        first::one(n);
        second::two(n);
        third::three(n);
    }
    // The choice of the program wins.
    tracer_rt::set_level("THIRD", true);
    third::three(100);
}
