//! Levels that are switched while the program runs.

tracer_rt::events!("cases/levels-switched/spec.tumit");

fn all(n: u32) {
    on_level::a(n);
    off_level::b(n);
    let _s = on_level::s(n);
    let _t = off_level::t(n);
}

pub fn main() {
    all(1);
    tracer_rt::set_level("OFF_LEVEL", true);
    all(2);
    tracer_rt::set_level("ON_LEVEL", false);
    all(3);
    tracer_rt::set_level("off_level", false);
    all(4);
    tracer_rt::set_level("all", true);
    all(5);
    tracer_rt::set_level("switched.ON_LEVEL", false);
    all(6);
    tracer_rt::set_level("other.OFF_LEVEL", false);
    tracer_rt::set_level("NO_SUCH_LEVEL", true);
    all(7);
    tracer_rt::set_level("ALL", false);
    all(8);
}
