//! Events with their source position.

tracer_rt::events!("cases/located/spec.tumit");

#[track_caller]
fn again(n: u32) {
    all::here(n);
}

pub fn main() {
    for n in 0..3 {
        all::here(n);
    }
    all::here(10);
    all::bare();
    all::plain(1);
    all::full("name", "text", &[1, 2], b"\0\x01", true);
    for _ in 0..2 {
        all::bare();
    }
    again(20);
}
