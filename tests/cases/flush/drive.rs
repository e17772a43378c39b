//! A flush in the middle of the program.

tracer_rt::events!("cases/flush/spec.tumit");

pub fn main() {
    tracer_rt::flush();
    all::tick(1, "before");
    tracer_rt::flush();
    tracer_rt::flush();
    let _step = all::step();
    all::tick(2, "after");
    tracer_rt::flush();
    all::tick(3, "before");
}
