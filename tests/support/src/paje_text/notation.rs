//! Timestamps and words as text of Pajé files.

use std::fmt::Write as _;

/// A timestamp in seconds, with all necessary decimals, in one of several notations.
pub(super) fn seconds(nanos: u64, form: u16) -> String {
    let mut text = format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000);
    match form % 4 {
        0 => {}
        1 => text.truncate(text.trim_end_matches('0').len()),
        2 => text = text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        _ => text.insert(0, '+'),
    }
    text
}

/// Converts a timestamp to nanoseconds.
pub(super) fn nanos(timestamp: &str) -> u64 {
    let (integer, part) =
        timestamp.trim_start_matches('+').split_once('.').unwrap_or((timestamp.trim_start_matches('+'), ""));
    let number = |text: &str| text.parse::<u64>().unwrap_or(0);
    number(integer) * 1_000_000_000 + number(&format!("{part:0<9}"))
}

/// The words of a line of type definitions.
pub(super) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in line.split('"').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// A value as a word of a line.
pub(super) fn quoted(text: &str) -> String {
    let mut word = String::new();
    let is_bare = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.:+-".contains(&byte));
    // Writing to a string cannot fail.
    let _ = if is_bare { write!(word, "{text}") } else { write!(word, "\"{text}\"") };
    word
}
