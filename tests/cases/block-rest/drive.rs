//! Records that are larger than the rest of a block begin the next one.

tracer_rt::events!("cases/block-rest/spec.tumit");

pub fn main() {
    let text: String = (0..64_000u32).map(|n| char::from(b'a' + (n % 26) as u8)).collect();
    for n in 0..20usize {
        all::large(&text[..(n * 3331) % 64_000]);
        all::small(n as u8);
    }
    for n in 0..3 {
        all::large(&text[..40_000]);
        all::small(n);
    }
}
