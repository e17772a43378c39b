//! Parses filter expressions: from text to a [`FilterExpr`]. `docs/filters.md` describes the
//! language; [`super::print`] is the inverse.

mod condition_parser;
mod example;
mod filter_reader;
mod filter_token;
mod order_parser;
mod series_parser;
mod style_parser;

use std::str::FromStr;

use self::filter_reader::{FilterReader, alternatives};
use super::ast::{AssignedEndpoint, FilterExpr, ReduceOperation, Reduction, ReductionForm, SelectionEffect};
use super::ast::{MAX_CLASSES, is_duration};
use super::comparison::Comparison;
use super::condition::Condition;
use super::error::FilterError;
use super::keywords::SYNONYMS;
use super::pattern::NamePatterns;

pub(crate) use self::filter_reader::ExpectedToken;
pub(crate) use self::filter_token::{FilterToken, FilterVersion, PlacedToken, has_condition, tokens};

/// The first words of expressions.
const VERBS: [&str; 22] = [
    "hide", "only", "cut", "group", "reuse", "count", "sum", "mean", "min", "max", "classify", "sort", "order", "best",
    "least", "keep", "color", "shape", "size", "bright", "category", "series",
];
const SELECTIONS: [&str; 5] = ["type", "value", "container", "where", "duration"];

impl FromStr for FilterExpr {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        read(text, FilterVersion::Two)
    }
}

impl FromStr for NamePatterns {
    type Err = FilterError;

    /// Reads names separated by commas, as after `only container`.
    fn from_str(text: &str) -> Result<Self, FilterError> {
        let mut reader = FilterReader::new(text, FilterVersion::Two)?;
        let names = reader.patterns("a name")?;
        if reader.token_index < reader.tokens.len() {
            return Err(reader.expected_error("a comma"));
        }
        Ok(names)
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
    if reader.token_index < reader.tokens.len() {
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
        Err(_) if reader.token_index < reader.tokens.len() => Vec::new(),
        _ => reader.next,
    }
}

impl FilterReader<'_> {
    fn filter(&mut self) -> Result<FilterExpr, FilterError> {
        self.could_be(VERBS.map(ExpectedToken::Word));
        let verb = self.word().unwrap_or("").to_owned();
        self.token_index += usize::from(!verb.is_empty());
        let verb = SYNONYMS.iter().find(|entry| entry.0 == verb).map_or(verb.as_str(), |entry| entry.1);
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
            "best" | "least" => self.parse_best(verb == "least")?,
            "keep" => self.keep_statement()?,
            "color" | "colour" => self.color()?,
            "shape" => self.shape()?,
            "size" => self.size()?,
            "category" => self.category()?,
            "series" => self.series()?,
            "bright" => FilterExpr::Bright { values: self.patterns("the name of a value")?, types: self.of()? },
            _ => {
                self.token_index = 0;
                return Err(self.expected_error(alternatives(&VERBS)));
            }
        })
    }

    fn group(&mut self) -> Result<FilterExpr, FilterError> {
        let containers = self.patterns("the names of containers")?;
        self.need("into")?;
        Ok(FilterExpr::Group { containers, name: self.name("a name for the group")? })
    }

    fn selection(&mut self, effect: SelectionEffect) -> Result<FilterExpr, FilterError> {
        self.could_be(SELECTIONS.map(ExpectedToken::Word));
        let Some(criterion) = self.word().map(str::to_owned) else {
            return Err(self.expected_error(alternatives(&SELECTIONS)));
        };
        self.token_index += 1;
        Ok(match criterion.as_str() {
            "type" | "types" => FilterExpr::Types { effect, types: self.patterns("the name of a type")? },
            "value" | "values" => {
                FilterExpr::Values { effect, values: self.patterns("the name of a value")?, types: self.of()? }
            }
            "container" | "containers" => {
                FilterExpr::Containers { effect, containers: self.patterns("the name of a container")? }
            }
            "where" => {
                let condition = match self.grammar {
                    FilterVersion::One => Condition::Field(self.comparison_of_field()?),
                    FilterVersion::Two => self.condition()?,
                };
                FilterExpr::Attribute { effect, condition, types: self.of()? }
            }
            "duration" => {
                let comparison = self.compare()?;
                if matches!(comparison, Comparison::Like | Comparison::Unlike) {
                    self.token_index -= 1;
                    return Err(self.expected_error("one of =, !=, <, <=, >, >="));
                }
                let nanos = self.nanos()?;
                FilterExpr::Duration { effect, comparison, nanos, types: self.of()? }
            }
            _ => {
                self.token_index -= 1;
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
        let types = self.pattern("the name of a type")?;
        self.need("per")?;
        let group_type = self.pattern("the name of a container type")?;
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
        Ok(FilterExpr::Reduce(Reduction { operation, end, values, types, group_type, form, name }))
    }

    fn classes(&mut self) -> Result<FilterExpr, FilterError> {
        let types = self.pattern("the name of a type")?;
        self.need("by")?;
        let field = self.name("the name of a field")?;
        let (mut edges, is_time): (Vec<f64>, bool) = (Vec::new(), is_duration(&field));
        self.could_be([ExpectedToken::Word("<")]);
        if self.token() == Some(&FilterToken::Compare(Comparison::Less)) {
            self.token_index += 1;
            loop {
                let edge = self.number(is_time)?;
                if edges.last().is_some_and(|last| *last >= edge) || edges.len() >= MAX_CLASSES {
                    self.token_index -= 1;
                    return Err(self.expected_error(format!("at most {MAX_CLASSES} numbers in increasing order")));
                }
                edges.push(edge);
                self.could_be([ExpectedToken::Word(",")]);
                if self.token() != Some(&FilterToken::Comma) {
                    break;
                }
                self.token_index += 1;
            }
        }
        Ok(FilterExpr::Classify { types, field, edges })
    }
}
