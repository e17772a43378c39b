//! The notation of lists and of seconds in the text of records.

use std::fmt::Write as _;

/// Appends `[1, 2]` or `["one", "two"]`.
/// `show` appends an element and returns whether it needs quotes.
pub(super) fn list<T>(elements: impl Iterator<Item = T>, show: impl Fn(T, &mut String) -> bool, out: &mut String) {
    let mut text = String::new();
    out.push('[');
    for (number, element) in elements.enumerate() {
        out.push_str(if number > 0 { ", " } else { "" });
        text.clear();
        if show(element, &mut text) {
            // Writing to a text cannot fail.
            let _ = write!(out, "{text:?}");
        } else {
            out.push_str(&text);
        }
    }
    out.push(']');
}

/// Appends nanoseconds as seconds with nine decimals.
pub(super) fn seconds(nanos: i64, out: &mut String) {
    let sign = if nanos < 0 { "-" } else { "" };
    let size = nanos.unsigned_abs();
    let _ = write!(out, "{sign}{}.{:09}", size / 1_000_000_000, size % 1_000_000_000);
}
