//! Many records, over several blocks.

tracer_rt::events!("cases/blocks/spec.tumit");

pub fn main() {
    for n in 0..20_000 {
        all::tick(n * n);
        let _step = all::step(n as u32, if n % 3 == 0 { "third" } else { "" });
    }
}
