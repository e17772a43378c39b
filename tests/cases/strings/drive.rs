//! Strings: empty, of one byte, with characters of several bytes and of control.

tracer_rt::events!("cases/strings/spec.tumit");

pub fn main() {
    all::say("");
    all::say("x");
    all::say("h\u{e9}llo \u{4e16}\u{754c} \u{1f600}");
    all::say("a line\n\tand \"another\" \\ \u{7f}");
    all::say(&"abcdefghij".repeat(100));
    all::both("left", 7, "right");
    all::both("", 0, "");
    all::both("blank inside", 1, " blank before");
}
