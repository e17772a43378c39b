//! A spec with a version.

tracer_rt::events!("cases/version/spec.tumit");

pub fn main() {
    all::tick(1);
}
