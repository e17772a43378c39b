//! All levels are off: nothing is recorded.

tracer_rt::events!("cases/levels-all-off/spec.tumit");

pub fn main() {
    a::a(1);
    b::b("name");
    let _s = b::s();
}
