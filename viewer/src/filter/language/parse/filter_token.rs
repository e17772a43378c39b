//! Tokens of filter expressions.

use std::ops::Range;

use crate::filter::language::comparison::Comparison;
use crate::filter::language::error::FilterError;
use crate::filter::language::keywords::{is_comparison, is_parenthesis, is_special};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FilterToken {
    Word(String),
    /// A name in quotes. It is never a keyword.
    Quoted(String),
    Comma,
    Compare(Comparison),
    /// An opening parenthesis; only in an expression with `where`.
    Open,
    /// A closing parenthesis; only in an expression with `where`.
    Close,
}

/// A token, and its position in bytes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlacedToken {
    pub(crate) token: FilterToken,
    pub(crate) byte_range: Range<usize>,
}

/// Version of the language, stored in filter files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FilterVersion {
    /// The first version: `where` takes one comparison, and parentheses are parts of names.
    One,
    /// The language of `docs/filters.md`.
    Two,
}

/// The tokens of an expression.
pub(crate) fn tokens(text: &str, grammar: FilterVersion) -> Result<Vec<PlacedToken>, FilterError> {
    let mut tokens: Vec<PlacedToken> = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((from, c)) = chars.next() {
        let in_condition = grammar == FilterVersion::Two && tokens.len() >= 2 && has_condition(&tokens);
        let token = if c.is_whitespace() {
            continue;
        } else if c == ',' {
            FilterToken::Comma
        } else if c == '"' {
            FilterToken::Quoted(quoted_token(text, from, &mut chars)?)
        } else if in_condition && is_parenthesis(c) {
            if c == '(' { FilterToken::Open } else { FilterToken::Close }
        } else if is_comparison(c) {
            let mut sign = c.to_string();
            while let Some((_, c)) = chars.next_if(|&(_, c)| is_comparison(c)) {
                sign.push(c);
            }
            let comparison = comparison(&sign).ok_or_else(|| {
                let token_text = format!("`{sign}`");
                FilterError::syntax(text, "=, !=, <, <=, >, >=, ~ or !~", token_text, from..from + sign.len())
            })?;
            FilterToken::Compare(comparison)
        } else {
            let mut word = c.to_string();
            let is_end = |c: char| is_special(c) || in_condition && is_parenthesis(c);
            while let Some((_, c)) = chars.next_if(|&(_, c)| !is_end(c)) {
                word.push(c);
            }
            FilterToken::Word(word)
        };
        let to = chars.peek().map_or(text.len(), |next| next.0);
        tokens.push(PlacedToken { token, byte_range: from..to });
    }
    Ok(tokens)
}

/// Whether an expression begins with `hide where` or `only where`.
pub(crate) fn has_condition(tokens: &[PlacedToken]) -> bool {
    let is = |index: usize, words: &[&str]| matches!(tokens.get(index), Some(PlacedToken { token: FilterToken::Word(word), .. }) if words.contains(&word.as_str()));
    is(0, &["hide", "only"]) && is(1, &["where"])
}

fn comparison(sign: &str) -> Option<Comparison> {
    Some(match sign {
        "=" | "==" => Comparison::Equal,
        "!=" => Comparison::Unequal,
        "<" => Comparison::Less,
        "<=" => Comparison::AtMost,
        ">" => Comparison::More,
        ">=" => Comparison::AtLeast,
        "~" => Comparison::Like,
        "!~" => Comparison::Unlike,
        _ => return None,
    })
}

fn quoted_token(
    text: &str,
    from: usize,
    chars: &mut impl Iterator<Item = (usize, char)>,
) -> Result<String, FilterError> {
    let mut name = String::new();
    while let Some((_, c)) = chars.next() {
        match c {
            '"' => return Ok(name),
            '\\' => name.extend(chars.next().map(|(_, c)| c)),
            c => name.push(c),
        }
    }
    Err(FilterError::syntax(text, "a quotation mark at the end of the name", "the end", from..text.len()))
}
