//! Names in backquotes are the same names.

tracer_rt::events!("cases/backquotes/spec.tumit");

pub fn main() {
    all::not(1, 2);
    all::event(true, false, Mode::True);
    let _rule = all::rule(3);
    all::event(false, true, Mode::Plain);
}
