//! Events and spans without parameters.

tracer_rt::events!("cases/empty/spec.tumit");

pub fn main() {
    all::semicolon();
    all::braces();
    let _nothing = all::nothing();
    all::described();
    drop(all::nothing_else());
}
