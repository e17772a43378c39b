//! Examples for the error messages of the filter language.

use std::ops::Range;

use crate::filter::language::error::FilterError;
use crate::filter::language::keywords::SYNONYMS;

/// By the first words of an expression: a correct expression of the same form.
const EXAMPLES: [(&str, &str); 28] = [
    ("hide type", "hide type Thread"),
    ("hide value", "hide value Wait* of Activity"),
    ("hide container", "hide container Node 1"),
    ("hide where", "hide where involves Node 1, Node 2 and not (Bytes < 1000 or from ~ Node 1/*) of Message"),
    ("hide duration", "hide duration < 10us of Activity"),
    ("hide", "hide value Wait* of Activity"),
    ("only type", "only type Thread"),
    ("only value", "only value Wait* of Activity"),
    ("only container", "only container Node 1"),
    ("only where", "only where involves Node 1, Node 2 and not (Bytes < 1000 or from ~ Node 1/*) of Message"),
    ("only duration", "only duration >= 10us of Activity"),
    ("only", "only value Wait* of Activity"),
    ("cut", "cut 0.2..0.4"),
    ("group", "group Node 1, Node 2 into Front"),
    ("reuse", "reuse Thread"),
    ("count", "count Wait* of Activity per Node into Waiting"),
    ("sum", "sum Bytes of Message per Node into Traffic"),
    ("mean", "mean of Load per Node into Mean load"),
    ("min", "min of Load per Node into Least load"),
    ("max", "max of Load per Node into Highest load"),
    ("classify", "classify Message by Bytes < 1000, 100000"),
    ("sort", "sort Thread by time Wait* of Activity descending"),
    ("order", "order Node 3, Node 1"),
    ("best", "best 5 Node by mean of Load"),
    ("least", "least 5 Node by mean of Load"),
    ("keep", "keep Node with max of Load > 8"),
    ("color", "color #d62728 Wait* of Activity"),
    ("shape", "shape diamond Step of Milestone"),
];

/// A correct expression of the form that a text appears to have.
pub(crate) fn example(text: &str) -> &'static str {
    let mut words = text.split_whitespace();
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let first = SYNONYMS.iter().find(|entry| entry.0 == first).map_or(first, |entry| entry.1);
    let two_words = format!("{first} {}", second.strip_suffix('s').unwrap_or(second));
    let example_of = |form: &str| EXAMPLES.iter().find(|entry| entry.0 == form).map(|entry| entry.1);
    match first {
        "size" => "size 1.5 Wait* of Activity",
        "bright" => "bright Wait* of Activity",
        "category" => "category idle Wait* of Activity",
        "series" => "series busy, max-pending-messages per unit with level = Thread",
        "colour" => "color #d62728 Wait* of Activity",
        _ => example_of(&two_words).or_else(|| example_of(first)).unwrap_or("hide value Wait* of Activity"),
    }
}

impl FilterError {
    /// A syntax error.
    pub(crate) fn syntax(
        text: &str,
        expected: impl Into<Box<str>>,
        token: impl Into<Box<str>>,
        byte_range: Range<usize>,
    ) -> Self {
        Self::Syntax {
            text: text.into(),
            expected: expected.into(),
            token: token.into(),
            byte_range,
            example: example(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::language::ast::FilterExpr;

    #[test]
    fn each_example_is_correct() {
        for (form, text) in EXAMPLES {
            assert!(text.starts_with(form), "{form}");
            assert!(text.parse::<FilterExpr>().is_ok(), "{text}");
        }
        for text in ["", "size", "bright", "category", "series", "colour", "hide values", "average of", "\u{e9}"] {
            assert!(example(text).parse::<FilterExpr>().is_ok(), "{text}");
        }
    }
}
