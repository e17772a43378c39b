//! Two specs in one program, in separate modules.

mod first {
    tracer_rt::events!("cases/two-specs/spec.tumit");
}
mod second {
    tracer_rt::events!("cases/two-specs/second.tumit");
}

pub fn main() {
    first::common::tick(1);
    second::common::tick(1.5);
    first::common::paint(first::Color::Red, "wall");
    second::common::paint(second::Color::Red, "door");
    second::common::paint(second::Color::Blue, "wall");
    let _first = first::common::work(2);
    let _second = second::common::work("two");
    first::app::step(3);
    second::app::step(-3);
    tracer_rt::set_level("first.APP", true);
    tracer_rt::set_level("second.app", false);
    first::app::step(4);
    second::app::step(-4);
    tracer_rt::set_level("APP", true);
    second::app::step(-5);
}
