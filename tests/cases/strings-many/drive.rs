//! Ten thousand interned strings, each recorded twice.

tracer_rt::events!("cases/strings-many/spec.tumit");

pub fn main() {
    for round in 0..2 {
        for n in 0..10_000u32 {
            let name = format!("name {}", n.wrapping_mul(2_654_435_761) % 10_000);
            all::use_(&name, round);
        }
    }
}
