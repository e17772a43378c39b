//! Spans with their source position.

tracer_rt::events!("cases/spans-located/spec.tumit");

pub fn main() {
    for n in 0..2 {
        let _step = all::step(n);
        all::inside(n);
    }
    let _bare = all::bare();
    let _step = all::step(7);
}
