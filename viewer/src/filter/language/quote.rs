//! Names in expressions, quoted where they need it.

use std::fmt;

use super::keywords::{CONDITION_WORDS, INVOLVES, RESERVED, is_parenthesis, is_special};

/// A name, quoted if it is not valid without quotes.
pub(crate) struct FilterName<'a>(pub(super) &'a str);

impl fmt::Display for FilterName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_plain = |word: &str| !word.is_empty() && !word.contains(is_special) && !RESERVED.contains(&word);
        // The parser joins words with single spaces.
        if self.0.split(' ').all(is_plain) {
            return f.write_str(self.0);
        }
        write!(f, "{}", QuotedName(self.0))
    }
}

pub(crate) struct QuotedName<'a>(pub(super) &'a str);

impl fmt::Display for QuotedName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

/// A name in an expression with `where`, quoted if it is not valid there without quotes.
pub(crate) struct ConditionName<'a>(pub(super) &'a str);

impl fmt::Display for ConditionName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_token = |word: &str| CONDITION_WORDS.contains(&word) || word == INVOLVES;
        if self.0.contains(is_parenthesis) || self.0.split(' ').any(is_token) {
            return QuotedName(self.0).fmt(f);
        }
        FilterName(self.0).fmt(f)
    }
}
