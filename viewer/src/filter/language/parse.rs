//! Parses filter expressions: from text to a [`FilterExpr`]. `docs/filters.md` describes the
//! language; [`super::print`] is the inverse.

mod condition;
mod example;
mod order;
mod style;
mod token;

use std::ops::Range;
use std::str::FromStr;

use tumit_paje::time_range;
use tumit_paje::time_text::{self, TimeTextError};

use super::ast::{AssignedEndpoint, FilterExpr, ReduceOperation, Reduction, ReductionForm, SelectionEffect};
use super::ast::{MAX_CLASSES, is_duration};
use super::comparison::Comparison;
use super::condition::Condition;
use super::error::FilterError;
use super::pattern::{NamePattern, NamePatterns};
use super::words::{CONDITION_WORDS, RESERVED};
use crate::query::OpenTimeRange;

pub(crate) use self::token::{FilterToken, FilterVersion, has_condition, tokens};

/// The first words of expressions.
const VERBS: [&str; 20] = [
    "hide", "only", "cut", "group", "reuse", "count", "sum", "mean", "min", "max", "classify", "sort", "order", "best",
    "least", "keep", "color", "shape", "size", "bright",
];
const SELECTIONS: [&str; 5] = ["type", "value", "container", "where", "duration"];
/// Alternative words, and the words that they stand for.
const SYNONYMS: [(&str, &str); 3] = [("average", "mean"), ("minimum", "min"), ("maximum", "max")];
const COMPARISONS: [&str; 8] = ["=", "!=", "<", "<=", ">", ">=", "~", "!~"];

/// A possible token at the end of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExpectedToken {
    /// This word or sign.
    Word(&'static str),
    /// Something with this description: a name, a number, a time.
    Named(&'static str),
}

impl FromStr for FilterExpr {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        read(text, FilterVersion::Two)
    }
}

impl FilterExpr {
    /// Reads an expression of a file of version 1. There, `where` takes one comparison. The words
    /// `and`, `or`, `not`, `sent` and `received` and parentheses are parts of names.
    pub(crate) fn from_version_1(text: &str) -> Result<Self, FilterError> {
        read(text, FilterVersion::One)
    }

    /// Whether an expression has the same meaning in a file of version 1.
    pub fn is_version_1(&self) -> bool {
        Self::from_version_1(&self.to_string()).is_ok_and(|read| read == *self)
    }
}

fn read(text: &str, grammar: FilterVersion) -> Result<FilterExpr, FilterError> {
    let mut reader = FilterReader::new(text, grammar)?;
    let filter = reader.filter()?;
    if reader.at < reader.tokens.len() {
        return Err(reader.expected_error("nothing more"));
    }
    Ok(filter)
}

/// The possible continuations of an incomplete expression, or of a complete one that can be
/// extended.
pub(crate) fn next(text: &str) -> Vec<ExpectedToken> {
    let Ok(mut reader) = FilterReader::new(text, FilterVersion::Two) else { return Vec::new() };
    match reader.filter() {
        // An error before the end of the text leaves nothing to complete.
        Err(_) if reader.at < reader.tokens.len() => Vec::new(),
        _ => reader.next,
    }
}

struct FilterReader<'a> {
    text: &'a str,
    grammar: FilterVersion,
    tokens: Vec<(FilterToken, Range<usize>)>,
    at: usize,
    /// The possible tokens at the end.
    next: Vec<ExpectedToken>,
}

impl<'a> FilterReader<'a> {
    fn new(text: &'a str, grammar: FilterVersion) -> Result<Self, FilterError> {
        Ok(Self { text, grammar, tokens: tokens(text, grammar)?, at: 0, next: Vec::new() })
    }

    /// Whether `and`, `or`, `not` and parentheses are tokens.
    fn in_condition(&self) -> bool {
        self.grammar == FilterVersion::Two && has_condition(&self.tokens)
    }

    fn token(&self) -> Option<&FilterToken> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    /// Records possible tokens if this is the end of the expression.
    fn could_be(&mut self, next: impl IntoIterator<Item = ExpectedToken>) {
        if self.at == self.tokens.len() {
            self.next.extend(next);
        }
    }

    fn expected_error(&self, expected: impl Into<Box<str>>) -> FilterError {
        let found = match self.token() {
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
        let at = self.tokens.get(self.at).map_or(self.text.len()..self.text.len(), |(_, at)| at.clone());
        FilterError::syntax(self.text, expected, found, at)
    }

    fn word(&self) -> Option<&str> {
        match self.token() {
            Some(FilterToken::Word(word)) => Some(word),
            _ => None,
        }
    }

    /// Consumes a keyword if it is the next token.
    fn accept_keyword(&mut self, keyword: &'static str) -> bool {
        self.could_be([ExpectedToken::Word(keyword)]);
        let is_next = self.word() == Some(keyword);
        self.at += usize::from(is_next);
        is_next
    }

    fn need(&mut self, keyword: &'static str) -> Result<(), FilterError> {
        if self.accept_keyword(keyword) { Ok(()) } else { Err(self.expected_error(format!("`{keyword}`"))) }
    }

    /// Reads a name: the words up to a comma, a comparison or a keyword.
    fn name_if(&mut self, description: &'static str) -> Option<String> {
        self.could_be([ExpectedToken::Named(description)]);
        let mut name: Option<String> = None;
        while let Some(token) = self.token() {
            let more = match token {
                FilterToken::Word(word) if !self.ends_name(word) => word,
                FilterToken::Quoted(word) => word,
                _ => break,
            };
            name = Some(name.map_or_else(|| more.clone(), |name| format!("{name} {more}")));
            self.at += 1;
        }
        name
    }

    /// Whether a word is a keyword at this position.
    fn ends_name(&self, word: &str) -> bool {
        RESERVED.contains(&word) || self.in_condition() && CONDITION_WORDS.contains(&word)
    }

    fn name(&mut self, description: &'static str) -> Result<String, FilterError> {
        self.name_if(description).ok_or_else(|| self.expected_error(description))
    }

    fn pattern(&mut self, description: &'static str) -> Result<NamePattern, FilterError> {
        self.name(description).map(NamePattern::new)
    }

    /// Reads names separated by commas; possibly none.
    fn patterns_if(&mut self, description: &'static str) -> Result<NamePatterns, FilterError> {
        let mut all: Vec<NamePattern> = self.name_if(description).map(NamePattern::new).into_iter().collect();
        while !all.is_empty() {
            self.could_be([ExpectedToken::Word(",")]);
            if self.token() != Some(&FilterToken::Comma) {
                break;
            }
            self.at += 1;
            all.push(self.pattern(description)?);
        }
        Ok(NamePatterns::new(all))
    }

    fn patterns(&mut self, description: &'static str) -> Result<NamePatterns, FilterError> {
        let before = self.at;
        let all = self.patterns_if(description)?;
        if self.at == before { Err(self.expected_error(description)) } else { Ok(all) }
    }

    fn of(&mut self) -> Result<Option<NamePattern>, FilterError> {
        if self.accept_keyword("of") { self.pattern("the name of a type").map(Some) } else { Ok(None) }
    }

    fn compare(&mut self) -> Result<Comparison, FilterError> {
        self.could_be(COMPARISONS.map(ExpectedToken::Word));
        let Some(&FilterToken::Compare(comparison)) = self.token() else {
            return Err(self.expected_error("one of =, !=, <, <=, >, >=, ~, !~"));
        };
        self.at += 1;
        Ok(comparison)
    }

    fn filter(&mut self) -> Result<FilterExpr, FilterError> {
        self.could_be(VERBS.map(ExpectedToken::Word));
        let verb = self.word().unwrap_or("").to_owned();
        self.at += usize::from(!verb.is_empty());
        let verb = SYNONYMS.iter().find(|one| one.0 == verb).map_or(verb.as_str(), |one| one.1);
        Ok(match verb {
            "hide" => self.selection(SelectionEffect::Hide)?,
            "only" => self.selection(SelectionEffect::Only)?,
            "cut" => FilterExpr::Cut(self.time_range()?),
            "group" => self.group()?,
            "reuse" => FilterExpr::Reuse { types: self.patterns("the name of a container type")? },
            "count" => self.reduction(ReduceOperation::Count)?,
            "sum" => self.reduction(ReduceOperation::Sum)?,
            "mean" => self.reduction(ReduceOperation::Mean)?,
            "min" => self.reduction(ReduceOperation::Min)?,
            "max" => self.reduction(ReduceOperation::Max)?,
            "classify" => self.classes()?,
            "sort" => self.sort()?,
            "order" => FilterExpr::Order { containers: self.patterns("the names of containers")? },
            "best" | "least" => self.best(verb == "least")?,
            "keep" => self.having()?,
            "color" | "colour" => self.color()?,
            "shape" => self.shape()?,
            "size" => self.size()?,
            "bright" => FilterExpr::Bright { values: self.patterns("the name of a value")?, of: self.of()? },
            _ => {
                self.at = 0;
                return Err(self.expected_error(alternatives(&VERBS)));
            }
        })
    }

    fn group(&mut self) -> Result<FilterExpr, FilterError> {
        let containers = self.patterns("the names of containers")?;
        self.need("into")?;
        Ok(FilterExpr::Group { containers, name: self.name("a name for the group")? })
    }

    fn selection(&mut self, keep: SelectionEffect) -> Result<FilterExpr, FilterError> {
        self.could_be(SELECTIONS.map(ExpectedToken::Word));
        let Some(criterion) = self.word().map(str::to_owned) else {
            return Err(self.expected_error(alternatives(&SELECTIONS)));
        };
        self.at += 1;
        Ok(match criterion.as_str() {
            "type" | "types" => FilterExpr::Types { keep, types: self.patterns("the name of a type")? },
            "value" | "values" => {
                FilterExpr::Values { keep, values: self.patterns("the name of a value")?, of: self.of()? }
            }
            "container" | "containers" => {
                FilterExpr::Containers { keep, containers: self.patterns("the name of a container")? }
            }
            "where" => {
                let condition = match self.grammar {
                    FilterVersion::One => Condition::Field(self.comparison_of_field()?),
                    FilterVersion::Two => self.condition()?,
                };
                FilterExpr::Attribute { keep, condition, of: self.of()? }
            }
            "duration" => {
                let comparison = self.compare()?;
                if matches!(comparison, Comparison::Like | Comparison::Unlike) {
                    self.at -= 1;
                    return Err(self.expected_error("one of =, !=, <, <=, >, >="));
                }
                let nanos = self.nanos()?;
                FilterExpr::Duration { keep, comparison, nanos, of: self.of()? }
            }
            _ => {
                self.at -= 1;
                return Err(self.expected_error(alternatives(&SELECTIONS)));
            }
        })
    }

    fn reduction(&mut self, operation: ReduceOperation) -> Result<FilterExpr, FilterError> {
        let mut end = None;
        for (word, endpoint) in AssignedEndpoint::ALL {
            if self.grammar == FilterVersion::Two && end.is_none() && self.accept_keyword(word) {
                end = Some(endpoint);
            }
        }
        let description =
            if operation == ReduceOperation::Count { "the name of a value" } else { "the name of a field" };
        let values = self.patterns_if(description)?;
        self.need("of")?;
        let of = self.pattern("the name of a type")?;
        self.need("per")?;
        let per = self.pattern("the name of a container type")?;
        let (mut form, mut name) = (ReductionForm::Variable, None);
        if self.accept_keyword("into") {
            let has_form = if self.accept_keyword("state") {
                form = ReductionForm::State;
                true
            } else {
                self.accept_keyword("variable")
            };
            name = match self.grammar {
                FilterVersion::Two if !has_form => Some(self.name("a name for the result")?),
                _ => self.name_if("a name for the result"),
            };
        }
        Ok(FilterExpr::Reduce(Reduction { operation, end, values, of, per, form, name }))
    }

    fn classes(&mut self) -> Result<FilterExpr, FilterError> {
        let of = self.pattern("the name of a type")?;
        self.need("by")?;
        let field = self.name("the name of a field")?;
        let (mut edges, is_time): (Vec<f64>, bool) = (Vec::new(), is_duration(&field));
        self.could_be([ExpectedToken::Word("<")]);
        if self.token() == Some(&FilterToken::Compare(Comparison::Less)) {
            self.at += 1;
            loop {
                let edge = self.number(is_time)?;
                if edges.last().is_some_and(|last| *last >= edge) || edges.len() >= MAX_CLASSES {
                    self.at -= 1;
                    return Err(self.expected_error(format!("at most {MAX_CLASSES} numbers in increasing order")));
                }
                edges.push(edge);
                self.could_be([ExpectedToken::Word(",")]);
                if self.token() != Some(&FilterToken::Comma) {
                    break;
                }
                self.at += 1;
            }
        }
        Ok(FilterExpr::Classify { of, field, edges })
    }

    fn time_range_if(&mut self) -> Result<Option<OpenTimeRange>, FilterError> {
        if self.accept_keyword("in") { self.time_range().map(Some) } else { Ok(None) }
    }

    fn time_range(&mut self) -> Result<OpenTimeRange, FilterError> {
        let (text, at) = self.time_text(time_range::FORMS)?;
        text.parse().map_err(|error| self.wrong_time(&error, at))
    }

    fn nanos(&mut self) -> Result<i64, FilterError> {
        let (text, at) = self.time_text("a time in seconds, or with units")?;
        time_text::parse(&text).map_err(|error| self.wrong_time(&error, at))
    }

    /// Reads a time or time range, with its position. The kinds of spaces in it matter, so it is
    /// the text of the expression, unless it has quotes.
    fn time_text(&mut self, description: &'static str) -> Result<(String, Range<usize>), FilterError> {
        let first = self.at;
        let name = self.name(description)?;
        let tokens = &self.tokens[first..self.at];
        let at = tokens.first().map_or(0, |token| token.1.start)..tokens.last().map_or(0, |token| token.1.end);
        let has_quotes = tokens.iter().any(|(token, _)| matches!(token, FilterToken::Quoted(_)));
        Ok((if has_quotes { name } else { self.text[at.clone()].to_owned() }, at))
    }

    fn wrong_time(&self, error: &TimeTextError, at: Range<usize>) -> FilterError {
        FilterError::syntax(self.text, error.expected.clone(), format!("`{}`", error.text), at)
    }

    /// Reads a number; for times, in nanoseconds.
    #[expect(clippy::cast_precision_loss, reason = "2^53 nanoseconds are 104 days")]
    fn number(&mut self, is_time: bool) -> Result<f64, FilterError> {
        if is_time {
            return self.nanos().map(|nanos| nanos as f64);
        }
        let text = self.name("a number")?;
        text.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(|| {
            self.at -= 1;
            self.expected_error("a number")
        })
    }
}

/// Joins words for a sentence: `a, b or c`.
fn alternatives(words: &[&str]) -> String {
    match words {
        [all @ .., last] if !all.is_empty() => format!("{} or {last}", all.join(", ")),
        _ => words.concat(),
    }
}
