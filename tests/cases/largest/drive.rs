//! The largest record of a fixed size: 32 KiB with id and delta.

tracer_rt::events!("cases/largest/spec.tumit");

pub fn main() {
    for round in 0..4u8 {
        all::huge(std::array::from_fn(|n| (n % 251) as u8 ^ round));
        all::tick(round.into());
        all::wide(std::array::from_fn(|n| n as u64 * u64::from(round)));
    }
}
