//! A level without events next to one with events.

tracer_rt::events!("cases/bare-level/spec.tumit");

pub fn main() {
    tracer_rt::set_level("NOTHING", false);
    some::tick(1);
    tracer_rt::set_level("NOTHING_OFF", true);
    some::tick(2);
}
