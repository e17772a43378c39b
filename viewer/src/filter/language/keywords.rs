//! Words and characters with a meaning in expressions.

/// Words that end a name. A name that contains one of them is quoted.
pub(crate) const RESERVED: [&str; 9] = ["of", "per", "into", "by", "in", "with", "descending", "variable", "state"];

/// Words that are tokens in an expression with `where`. A name that contains one of them is quoted.
pub(crate) const CONDITION_WORDS: [&str; 3] = ["and", "or", "not"];
/// The word before the containers of a condition on both endpoints of links.
pub(crate) const INVOLVES: &str = "involves";

/// Alternative words, and the words that they stand for.
pub(crate) const SYNONYMS: [(&str, &str); 3] = [("average", "mean"), ("minimum", "min"), ("maximum", "max")];

/// Whether a character cannot be part of a word.
pub(crate) fn is_special(c: char) -> bool {
    c.is_whitespace() || c == ',' || c == '"' || is_comparison(c)
}

/// Whether a character is a token in an expression with `where`.
pub(crate) fn is_parenthesis(c: char) -> bool {
    matches!(c, '(' | ')')
}

pub(crate) fn is_comparison(c: char) -> bool {
    matches!(c, '=' | '<' | '>' | '!' | '~')
}
