//! Rank, size and id of a job, from the environment variables of launchers.

tracer_rt::events!("cases/ranks/spec.tumit");

pub fn main() {
    all::tick(1);
}
