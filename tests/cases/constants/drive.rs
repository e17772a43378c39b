//! Constants as lengths of arrays.

tracer_rt::events!("cases/constants/spec.tumit");

pub fn main() {
    let ten = std::array::from_fn(|n| n as u16 * 100);
    let sixteen = std::array::from_fn(|n| -(n as i8));
    all::arrays([1, 2], ten, sixteen, [true, false, true, false, true]);
}
