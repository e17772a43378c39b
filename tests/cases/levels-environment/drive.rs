//! What `TUMIT_LEVELS` says about levels.

tracer_rt::events!("cases/levels-environment/spec.tumit");

pub fn main() {
    for n in 0..2 {
        first::one(n);
        second::two(n);
        third::three(n);
    }
    // What the program says wins.
    tracer_rt::set_level("THIRD", true);
    third::three(100);
}
