//! The condition after `where`: comparisons with `not`, `and`, `or` and parentheses, in this order
//! of precedence.

use super::filter_reader::{ExpectedToken, FilterReader};
use super::filter_token::{FilterToken, PlacedToken};
use crate::filter::language::comparison::Comparison;
use crate::filter::language::condition::{Condition, FieldTest};
use crate::filter::language::error::FilterError;
use crate::filter::language::keywords::INVOLVES;
use crate::filter::language::pattern::NamePatterns;

/// Maximum nesting of parentheses and `not`. A typical expression nests less than ten deep.
const MAX_NESTING: usize = 64;

impl FilterReader<'_> {
    /// The condition after `where`, up to `of`.
    pub(super) fn condition(&mut self) -> Result<Condition, FilterError> {
        self.any_of(0)
    }

    /// Conditions separated by `or`.
    fn any_of(&mut self, depth: usize) -> Result<Condition, FilterError> {
        let mut conditions = vec![self.parse_conjunction(depth)?];
        while self.accept_keyword("or") {
            conditions.push(self.parse_conjunction(depth)?);
        }
        Ok(Condition::or(conditions))
    }

    /// Conditions separated by `and`.
    fn parse_conjunction(&mut self, depth: usize) -> Result<Condition, FilterError> {
        let mut conditions = vec![self.parse_single(depth)?];
        while self.accept_keyword("and") {
            conditions.push(self.parse_single(depth)?);
        }
        Ok(Condition::and(conditions))
    }

    fn parse_single(&mut self, depth: usize) -> Result<Condition, FilterError> {
        if depth >= MAX_NESTING {
            return Err(self.expected_error(format!("at most {MAX_NESTING} nested parentheses or `not`")));
        }
        if self.accept_keyword("not") {
            return Ok(Condition::Not(Box::new(self.parse_single(depth + 1)?)));
        }
        self.could_be([ExpectedToken::Word("(")]);
        if self.token() == Some(&FilterToken::Open) {
            self.token_index += 1;
            let inner = self.any_of(depth + 1)?;
            self.could_be([ExpectedToken::Word(")")]);
            if self.token() != Some(&FilterToken::Close) {
                return Err(self.expected_error("`)`"));
            }
            self.token_index += 1;
            return Ok(inner);
        }
        self.could_be([ExpectedToken::Word(INVOLVES)]);
        let is_field =
            matches!(self.tokens.get(self.token_index + 1), Some(PlacedToken { token: FilterToken::Compare(_), .. }));
        if self.word() == Some(INVOLVES) && !is_field {
            self.token_index += 1;
            return Ok(Condition::Involves(self.patterns("the name of a container")?));
        }
        self.comparison_of_field().map(Condition::Field)
    }

    /// A field, an operator and its operands.
    pub(super) fn comparison_of_field(&mut self) -> Result<FieldTest, FilterError> {
        let field = self.name("the name of a field")?;
        let comparison = self.compare()?;
        let operand = match field.to_ascii_lowercase().as_str() {
            "from" | "to" | "container" => "the name of a container",
            "value" => "the name of a value",
            _ => "a text or number",
        };
        let operands = if self.in_condition() && comparison.takes_list() {
            self.patterns(operand)?
        } else {
            NamePatterns::new(vec![self.pattern(operand)?])
        };
        if self.in_condition() && self.token() == Some(&FilterToken::Comma) {
            return Err(self.expected_error("a single operand, because only =, !=, ~ and !~ accept a list"));
        }
        Ok(FieldTest { field, comparison, operands })
    }
}

impl Comparison {
    /// Whether several operands may follow.
    const fn takes_list(self) -> bool {
        matches!(self, Self::Equal | Self::Unequal | Self::Like | Self::Unlike)
    }
}
