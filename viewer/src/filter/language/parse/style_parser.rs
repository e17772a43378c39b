//! Parses the expressions that change colours, shapes, sizes and categories.

use tumit_paje::category::ActivityCategory;

use super::filter_reader::{ExpectedToken, FilterReader, alternatives};
use crate::filter::language::ast::FilterExpr;
use crate::filter::language::error::FilterError;
use crate::filter::language::pattern::{NamePattern, NamePatterns};
use crate::query::{DrawStyle, MarkShape, RgbColor};

impl FilterReader<'_> {
    /// Reads the rest of `color`.
    pub(super) fn color(&mut self) -> Result<FilterExpr, FilterError> {
        self.could_be([ExpectedToken::Named("a colour such as #d62728")]);
        let color = self.word().and_then(color).ok_or_else(|| self.expected_error("a colour such as #d62728"))?;
        self.token_index += 1;
        let (values, types) = self.values_or_type("the name of a value", "the name of a type")?;
        Ok(FilterExpr::Color { values, types, color })
    }

    /// Reads the rest of `shape`.
    pub(super) fn shape(&mut self) -> Result<FilterExpr, FilterError> {
        self.could_be(MarkShape::ALL.map(|shape| ExpectedToken::Word(shape.name())));
        let shape = self.word().and_then(|word| word.parse().ok());
        let shape = shape.ok_or_else(|| self.expected_error(alternatives(&MarkShape::ALL.map(MarkShape::name))))?;
        self.token_index += 1;
        let (values, types) = self.values_or_type("the name of a value of events", "the name of a type of events")?;
        Ok(FilterExpr::Shape { values, types, shape })
    }

    /// Reads the rest of `size`.
    pub(super) fn size(&mut self) -> Result<FilterExpr, FilterError> {
        self.could_be([ExpectedToken::Named("a size such as 1.5")]);
        let size = self.word().and_then(|word| word.parse().ok()).and_then(DrawStyle::checked_size);
        let size = size.ok_or_else(|| self.expected_error("a size such as 1.5, above 0"))?;
        self.token_index += 1;
        let (values, types) = self.values_or_type("the name of a value", "the name of a type")?;
        Ok(FilterExpr::Size { values, types, size })
    }

    /// Reads the rest of `category`.
    pub(super) fn category(&mut self) -> Result<FilterExpr, FilterError> {
        let words = ActivityCategory::WORDS.map(|(word, _)| word);
        self.could_be(words.map(ExpectedToken::Word));
        let category = self.word().and_then(|word| word.parse().ok());
        let category = category.ok_or_else(|| self.expected_error(alternatives(&words)))?;
        self.token_index += 1;
        let (values, types) = self.values_or_type("the name of a value of states", "the name of a type of states")?;
        Ok(FilterExpr::Category { values, types, category })
    }

    /// Reads values, or a whole type, for a style setting. `values` and `types` describe them in
    /// error messages.
    fn values_or_type(
        &mut self,
        values: &'static str,
        types: &'static str,
    ) -> Result<(NamePatterns, Option<NamePattern>), FilterError> {
        let before = self.token_index;
        let values = self.patterns_if(values)?;
        let of = if self.accept_keyword("of") { Some(self.pattern(types)?) } else { None };
        if self.token_index == before {
            return Err(self.expected_error("the name of a value, or `of` and the name of a type"));
        }
        Ok((values, of))
    }
}

/// Parses `#rrggbb`.
fn color(text: &str) -> Option<RgbColor> {
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii())?;
    u32::from_str_radix(digits, 16).ok().map(crate::style::theme::rgb)
}
