//! Other files, two of which use a third one.

tracer_rt::events!("cases/use/spec.tumit");

pub fn main() {
    app::step(1, Mood::Hasty);
    left::left(2);
    right::right(3, Mood::Calm);
    common::common([4, 5]);
    tracer_rt::set_level("RIGHT", true);
    let _both = right::both();
    right::right(6, Mood::Hasty);
}
