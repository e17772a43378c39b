//! [`FilterReader`]: reads the words, names, numbers and times of an expression one after another.

use std::ops::Range;

use tumit_paje::time_range;
use tumit_paje::time_text::{self, TimeTextError};

use super::filter_token::{FilterToken, FilterVersion, PlacedToken, has_condition, tokens};
use crate::filter::language::comparison::Comparison;
use crate::filter::language::error::FilterError;
use crate::filter::language::keywords::{CONDITION_WORDS, RESERVED};
use crate::filter::language::pattern::{NamePattern, NamePatterns};
use crate::query::OpenTimeRange;

const COMPARISONS: [&str; 8] = ["=", "!=", "<", "<=", ">", ">=", "~", "!~"];

/// A possible token at the end of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExpectedToken {
    /// This word or sign.
    Word(&'static str),
    /// Something with this description: a name, a number, a time.
    Named(&'static str),
}

/// The tokens of an expression, and the position of the reader.
pub(super) struct FilterReader<'a> {
    text: &'a str,
    pub(super) grammar: FilterVersion,
    pub(super) tokens: Vec<PlacedToken>,
    /// The index of the next token.
    pub(super) token_index: usize,
    /// The possible tokens at the end.
    pub(super) next: Vec<ExpectedToken>,
}

impl<'a> FilterReader<'a> {
    pub(super) fn new(text: &'a str, grammar: FilterVersion) -> Result<Self, FilterError> {
        Ok(Self { text, grammar, tokens: tokens(text, grammar)?, token_index: 0, next: Vec::new() })
    }

    /// Whether `and`, `or`, `not` and parentheses are tokens.
    pub(super) fn in_condition(&self) -> bool {
        self.grammar == FilterVersion::Two && has_condition(&self.tokens)
    }

    pub(super) fn token(&self) -> Option<&FilterToken> {
        self.tokens.get(self.token_index).map(|token| &token.token)
    }

    /// Records possible tokens if this is the end of the expression.
    pub(super) fn could_be(&mut self, next: impl IntoIterator<Item = ExpectedToken>) {
        if self.token_index == self.tokens.len() {
            self.next.extend(next);
        }
    }

    pub(super) fn expected_error(&self, expected: impl Into<Box<str>>) -> FilterError {
        let token_text = match self.token() {
            None => "the end".to_owned(),
            Some(FilterToken::Word(word)) if self.in_condition() && CONDITION_WORDS.contains(&word.as_str()) => {
                format!("`{word}`, which a name may contain only in quotes")
            }
            Some(FilterToken::Word(word)) => format!("`{word}`"),
            Some(FilterToken::Open) => "`(`, which a name may contain only in quotes".to_owned(),
            Some(FilterToken::Close) => "`)`, which a name may contain only in quotes".to_owned(),
            Some(FilterToken::Quoted(name)) => format!("`\"{name}\"`"),
            Some(FilterToken::Comma) => "a comma".to_owned(),
            Some(FilterToken::Compare(comparison)) => format!("`{}`", comparison.sign()),
        };
        let byte_range = self
            .tokens
            .get(self.token_index)
            .map_or(self.text.len()..self.text.len(), |token| token.byte_range.clone());
        FilterError::syntax(self.text, expected, token_text, byte_range)
    }

    pub(super) fn word(&self) -> Option<&str> {
        match self.token() {
            Some(FilterToken::Word(word)) => Some(word),
            _ => None,
        }
    }

    /// Consumes a keyword if it is the next token.
    pub(super) fn accept_keyword(&mut self, keyword: &'static str) -> bool {
        self.could_be([ExpectedToken::Word(keyword)]);
        let is_next = self.word() == Some(keyword);
        self.token_index += usize::from(is_next);
        is_next
    }

    pub(super) fn need(&mut self, keyword: &'static str) -> Result<(), FilterError> {
        if self.accept_keyword(keyword) { Ok(()) } else { Err(self.expected_error(format!("`{keyword}`"))) }
    }

    /// Reads a name: the words up to a comma, a comparison or a keyword.
    pub(super) fn name_if(&mut self, description: &'static str) -> Option<String> {
        self.could_be([ExpectedToken::Named(description)]);
        let mut name: Option<String> = None;
        while let Some(token) = self.token() {
            let more = match token {
                FilterToken::Word(word) if !self.ends_name(word) => word,
                FilterToken::Quoted(word) => word,
                _ => break,
            };
            name = Some(name.map_or_else(|| more.clone(), |name| format!("{name} {more}")));
            self.token_index += 1;
        }
        name
    }

    /// Whether a word is a keyword at this position.
    fn ends_name(&self, word: &str) -> bool {
        RESERVED.contains(&word) || self.in_condition() && CONDITION_WORDS.contains(&word)
    }

    pub(super) fn name(&mut self, description: &'static str) -> Result<String, FilterError> {
        self.name_if(description).ok_or_else(|| self.expected_error(description))
    }

    pub(super) fn pattern(&mut self, description: &'static str) -> Result<NamePattern, FilterError> {
        self.name(description).map(NamePattern::new)
    }

    /// Reads names separated by commas; possibly none.
    pub(super) fn patterns_if(&mut self, description: &'static str) -> Result<NamePatterns, FilterError> {
        let mut patterns: Vec<NamePattern> = self.name_if(description).map(NamePattern::new).into_iter().collect();
        while !patterns.is_empty() {
            self.could_be([ExpectedToken::Word(",")]);
            if self.token() != Some(&FilterToken::Comma) {
                break;
            }
            self.token_index += 1;
            patterns.push(self.pattern(description)?);
        }
        Ok(NamePatterns::new(patterns))
    }

    pub(super) fn patterns(&mut self, description: &'static str) -> Result<NamePatterns, FilterError> {
        let before = self.token_index;
        let all = self.patterns_if(description)?;
        if self.token_index == before { Err(self.expected_error(description)) } else { Ok(all) }
    }

    pub(super) fn of(&mut self) -> Result<Option<NamePattern>, FilterError> {
        if self.accept_keyword("of") { self.pattern("the name of a type").map(Some) } else { Ok(None) }
    }

    pub(super) fn compare(&mut self) -> Result<Comparison, FilterError> {
        self.could_be(COMPARISONS.map(ExpectedToken::Word));
        let Some(&FilterToken::Compare(comparison)) = self.token() else {
            return Err(self.expected_error("one of =, !=, <, <=, >, >=, ~, !~"));
        };
        self.token_index += 1;
        Ok(comparison)
    }

    pub(super) fn time_range_if(&mut self) -> Result<Option<OpenTimeRange>, FilterError> {
        if self.accept_keyword("in") { self.time_range().map(Some) } else { Ok(None) }
    }

    pub(super) fn time_range(&mut self) -> Result<OpenTimeRange, FilterError> {
        let (text, byte_range) = self.time_text(time_range::FORMS)?;
        text.parse().map_err(|error| self.wrong_time(&error, byte_range))
    }

    pub(super) fn nanos(&mut self) -> Result<i64, FilterError> {
        let (text, byte_range) = self.time_text("a time in seconds, or with units")?;
        time_text::parse(&text).map_err(|error| self.wrong_time(&error, byte_range))
    }

    /// Reads a time or time range, with its position. The kinds of spaces in it matter, so it is
    /// the text of the expression, unless it has quotes.
    fn time_text(&mut self, description: &'static str) -> Result<(String, Range<usize>), FilterError> {
        let first = self.token_index;
        let name = self.name(description)?;
        let tokens = &self.tokens[first..self.token_index];
        let byte_range = tokens.first().map_or(0, |first| first.byte_range.start)
            ..tokens.last().map_or(0, |last| last.byte_range.end);
        let has_quotes = tokens.iter().any(|token| matches!(token.token, FilterToken::Quoted(_)));
        Ok((if has_quotes { name } else { self.text[byte_range.clone()].to_owned() }, byte_range))
    }

    fn wrong_time(&self, error: &TimeTextError, byte_range: Range<usize>) -> FilterError {
        FilterError::syntax(self.text, error.expected.clone(), format!("`{}`", error.text), byte_range)
    }

    /// Reads a number; for times, in nanoseconds.
    #[expect(clippy::cast_precision_loss, reason = "2^53 nanoseconds are 104 days")]
    pub(super) fn number(&mut self, is_time: bool) -> Result<f64, FilterError> {
        if is_time {
            return self.nanos().map(|nanos| nanos as f64);
        }
        let text = self.name("a number")?;
        text.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(|| {
            self.token_index -= 1;
            self.expected_error("a number")
        })
    }
}

/// Joins words for a sentence: `a, b or c`.
pub(super) fn alternatives(words: &[&str]) -> String {
    match words {
        [all @ .., last] if !all.is_empty() => format!("{} or {last}", all.join(", ")),
        _ => words.concat(),
    }
}
