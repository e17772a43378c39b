//! Long variable arrays: records that are larger than a slot are truncated.

tracer_rt::events!("cases/counted-long/spec.tumit");

pub fn main() {
    for length in [255, 256, 65_000, 65_535, 65_536, 70_000] {
        all::small(&vec![length as u8; length]);
    }
    for length in [8000, 8192, 70_000] {
        all::wide(&vec![0.5; length]);
    }
    all::done();
}
