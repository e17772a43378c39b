//! Keywords of some language. Rust appends `_` to its keywords.

tracer_rt::events!("cases/keywords/spec.tumit");

pub fn main() {
    all::type_(-1, 2, 3, 4);
    all::int(1, 2, 3, 4, true, false);
    all::class(1, 2, 3, 4, 5);
    all::end(1, -2, 3, 4, 5, 6, 7.5);
    all::default(1, 2, 3, 4, 5, 6);
    all::for_(1, 2, 3, 4, 5, 6, 7, 8);
    all::event(1, 2, 3, 4, 5, 6);
    all::stderr(-1, 2, 3, 4, 5, 6);
    let _loop = all::loop_(1, 2, 3, 4, 5, 6);
    all::call(1, 2, 3, 4, 5, 6, 7);
}
