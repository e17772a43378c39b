//! Arrays of enums, narrow and wide, fixed and variable.

tracer_rt::events!("cases/arrays-of-enums/spec.tumit");

pub fn main() {
    let colors = [Color::Blue, Color::Red, Color::Green, Color::Green];
    let sizes = [Wide::High, Wide::Low];
    all::fixed(colors, sizes);
    all::counted(&colors, &sizes);
    all::counted(&colors[..1], &[]);
    all::counted(&[], &[Wide::High; 3]);
}
