//! The rank, the size and the id of a job, as launchers tell them.

tracer_rt::events!("cases/ranks/spec.tumit");

pub fn main() {
    all::tick(1);
}
