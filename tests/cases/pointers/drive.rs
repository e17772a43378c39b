//! Pointers: their addresses, alone and in arrays.

use tracer_rt::Pointer;

tracer_rt::events!("cases/pointers/spec.tumit");

pub fn main() {
    let place = std::ptr::without_provenance::<u8>;
    all::one(place(0));
    all::one(place(0x1234));
    all::one(Pointer(u64::MAX));
    all::several([Pointer(1), Pointer(2)], &[Pointer(3), Pointer(0), Pointer(1 << 47)]);
    all::several([place(0).into(), place(8).into()], &[]);
}
