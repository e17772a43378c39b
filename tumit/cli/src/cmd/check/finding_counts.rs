//! Numbers with their nouns, in the messages of `tumit check`.

pub(super) fn finding_count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
