//! [`CardFault`]: a mistake in a card file.

/// A mistake in a card file, with its place and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {problem}")]
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
pub(super) fn suggestion(name: &str, known: &[&str]) -> String {
    similar(name, known.iter().copied()).map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

/// The most similar name, if it differs in at most a third of its letters.
pub(super) fn similar<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Similarity of long texts takes long.
    let known = known.filter(|known| known.len() <= 64 && name.len() <= 64);
    let distance = |known: &str| strsim::damerau_levenshtein(&name.to_lowercase(), &known.to_lowercase());
    let near = known.map(|known| (distance(known), known)).min()?;
    (near.0 <= near.1.chars().count().div_ceil(3)).then_some(near.1)
}
