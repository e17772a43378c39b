//! [`CardFault`]: a mistake in a card file.

use tumit::diagnostics::did_you_mean;

/// A mistake in a card file, with its place and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {problem}")]
#[non_exhaustive]
pub struct CardFault {
    /// The name of the file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The mistake and the remedy.
    pub problem: String,
}

/// `a, b or c`.
pub(super) fn alternatives(names: &[&str]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// `; did you mean `x`?` if a known name is similar.
pub(super) fn suggestion(name: &str, known_names: &[&str]) -> String {
    did_you_mean(name, known_names.iter().copied()).map_or_else(String::new, |help| format!("; {help}"))
}
