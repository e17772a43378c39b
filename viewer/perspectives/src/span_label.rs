//! [`span_label`]: the name of several adjacent units or tasks.

/// The names of the first and the last of several units or tasks, such as `rank 0 … 3`. The last
/// one lacks a start that both have before their numbers.
pub(crate) fn span_label(first: &str, last: &str) -> String {
    let start = first.find(|letter: char| letter.is_ascii_digit()).unwrap_or(0);
    let rest = last.strip_prefix(&first[..start]).filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    format!("{first} … {}", rest.unwrap_or(last))
}
