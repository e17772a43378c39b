//! Numbers with their nouns, in the messages of `tumit check`.

use std::fmt::Display;

pub(super) fn finding_count<N: Copy + Display + PartialEq + From<u8>>(number: N, noun: &str) -> String {
    format!("{number} {noun}{}", if number == N::from(1) { "" } else { "s" })
}
