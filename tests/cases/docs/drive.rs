//! Documentation with odd signs in every place where it can stand.

tracer_rt::events!("cases/docs/spec.tumit");

pub fn main() {
    all::tick(1, Color::Green);
    all::here(2);
    let _step = all::step([3, 4]);
    all::tick(5, Color::Red);
}
