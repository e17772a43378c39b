//! Parses `series`.

use super::filter_reader::{ExpectedToken, FilterReader, alternatives};
use super::filter_token::FilterToken;
use crate::filter::language::ast::FilterExpr;
use crate::filter::language::comparison::Comparison;
use crate::filter::language::error::FilterError;
use crate::filter::language::series::{ExecutionSeries, SERIES_OPTIONS, SeriesExpr};

impl FilterReader<'_> {
    /// Reads the rest of `series`.
    pub(super) fn series(&mut self) -> Result<FilterExpr, FilterError> {
        let mut series = vec![self.one_series()?];
        while self.accept_comma() {
            series.push(self.one_series()?);
        }
        let per_unit = self.accept_keyword("per") && self.unit_or_trace()?;
        let mut options = Vec::new();
        if self.accept_keyword("with") {
            options.push(self.series_option()?);
            while self.accept_comma() {
                options.push(self.series_option()?);
            }
        }
        let mut name = None;
        if series.len() == 1 && self.accept_keyword("into") {
            name = Some(self.name("a name for the result")?);
        } else if self.word() == Some("into") {
            return Err(self.expected_error("a name only for a single series"));
        }
        Ok(FilterExpr::Series(SeriesExpr { series, per_unit, options, name }))
    }

    fn one_series(&mut self) -> Result<ExecutionSeries, FilterError> {
        let words = ExecutionSeries::words();
        self.could_be(words.map(ExpectedToken::Word));
        let series = self.word().and_then(ExecutionSeries::of_word);
        let series = series.ok_or_else(|| self.expected_error(alternatives(&words)))?;
        self.token_index += 1;
        Ok(series)
    }

    /// Whether the word is `unit`.
    fn unit_or_trace(&mut self) -> Result<bool, FilterError> {
        let is_unit = self.accept_keyword("unit");
        if is_unit || self.accept_keyword("trace") {
            Ok(is_unit)
        } else {
            Err(self.expected_error("`unit` or `trace`"))
        }
    }

    fn accept_comma(&mut self) -> bool {
        self.could_be([ExpectedToken::Word(",")]);
        let is_next = self.token() == Some(&FilterToken::Comma);
        self.token_index += usize::from(is_next);
        is_next
    }

    /// Reads `NAME = VALUE`.
    fn series_option(&mut self) -> Result<(&'static str, String), FilterError> {
        self.could_be(SERIES_OPTIONS.map(ExpectedToken::Word));
        let option = self.word().and_then(|word| SERIES_OPTIONS.into_iter().find(|option| *option == word));
        let option = option.ok_or_else(|| self.expected_error(alternatives(&SERIES_OPTIONS)))?;
        self.token_index += 1;
        self.could_be([ExpectedToken::Word("=")]);
        if self.token() != Some(&FilterToken::Compare(Comparison::Equal)) {
            return Err(self.expected_error("`=`"));
        }
        self.token_index += 1;
        let description = match option {
            "level" => "the name of a container type",
            "states" | "tasks" => "the name of a type of states",
            "several" => "any-busy or fractional",
            _ => "idle, busy or overhead",
        };
        Ok((option, self.name(description)?))
    }
}
