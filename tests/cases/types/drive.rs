//! The same calls as `drive.c`.

use tracer_rt::InternedText;

tracer_rt::events!("cases/types/spec.tumit");

pub fn main() {
    let colors = [Color::Blue, Color::Red];
    let names = ["north", "", "south"];
    let before = tracer_rt::now();
    let place = std::ptr::without_provenance::<u8>;

    all::numbers(255, 65535, 4_294_967_295, u64::MAX, -128, -32768, i32::MIN, i64::MIN);
    all::numbers(1, 2, 3, 4, -1, -2, -3, -4);
    all::floats(1.5, -2.25);
    all::others(true, place(0), Color::Green);
    all::others(false, place(0x1234), Color::Blue);
    all::texts("north", "h\u{e9}llo", b"\0\x01\x02");
    all::texts("south", "", &[]);
    all::texts("north", "again", b"x");
    all::texts("", "nobody", &[]);
    all::fixed([1, 2, 255], [-0.5, 1e300], colors, [true, false]);
    all::counted(&[1, 2, 3, 65535], &[i64::MIN, -1], &colors, &names.map(InternedText::new));
    all::counted(&[], &[], &[], &[]);
    all::dated(before);
    all::bare();
    all::placed(7);
    all::placed_bare();
    {
        let _outer = all::outer();
        for n in 0..3 {
            let _step = all::step(n);
            quiet::silent(n);
            loud::loud(n);
        }
    }
    tracer_rt::set_level("QUIET", true);
    tracer_rt::set_level("LOUD", false);
    quiet::silent(100);
    loud::loud(100);
}
