//! Numbers with their nouns, in the messages of `tumit check`.

pub(super) fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
