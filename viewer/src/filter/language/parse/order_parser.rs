//! Parses the expressions that sort or select containers by a measure.

use super::filter_reader::{ExpectedToken, FilterReader, alternatives};
use crate::filter::language::ast::{DurationStatistic, FilterExpr, Measure, OrderKey, ReduceOperation};
use crate::filter::language::error::FilterError;
use crate::filter::language::keywords::SYNONYMS;
use crate::filter::language::pattern::NamePattern;

const MEASURES: [&str; 21] = [
    "name", "start", "end", "time", "share", "self", "number", "duration", "shortest", "median", "p90", "p95", "p99",
    "longest", "sum", "mean", "min", "max", "integral", "sent", "received",
];

impl FilterReader<'_> {
    /// Reads the rest of `sort`.
    pub(super) fn sort(&mut self) -> Result<FilterExpr, FilterError> {
        let ty = self.pattern("the name of a container type")?;
        self.need("by")?;
        let measure = self.measure()?;
        let before = self.accept_keyword("descending");
        let key = OrderKey { measure, time_range: self.time_range_if()? };
        Ok(FilterExpr::Sort { ty, key, descending: before || self.accept_keyword("descending") })
    }

    /// Reads the rest of `best`, or of `least` if `is_lowest`.
    pub(super) fn parse_best(&mut self, is_lowest: bool) -> Result<FilterExpr, FilterError> {
        self.could_be([ExpectedToken::Named("a number of containers")]);
        let number = self.word().and_then(|word| word.parse().ok());
        let number = number.ok_or_else(|| self.expected_error("a number of containers"))?;
        self.token_index += 1;
        let ty = self.pattern("the name of a container type")?;
        self.need("by")?;
        let key = OrderKey { measure: self.measure()?, time_range: self.time_range_if()? };
        Ok(FilterExpr::Best { number, ty, key, is_lowest })
    }

    /// Reads the rest of `keep`.
    pub(super) fn keep_statement(&mut self) -> Result<FilterExpr, FilterError> {
        let ty = self.pattern("the name of a container type")?;
        self.need("with")?;
        let key = OrderKey { measure: self.measure()?, time_range: self.time_range_if()? };
        let comparison = self.compare()?;
        let number = self.number(key.measure.is_time())?;
        Ok(FilterExpr::Having { ty, key, comparison, number })
    }

    fn measure(&mut self) -> Result<Measure, FilterError> {
        self.could_be(MEASURES.map(ExpectedToken::Word));
        let word = self.word().unwrap_or("").to_owned();
        self.token_index += usize::from(!word.is_empty());
        let word = SYNONYMS.iter().find(|entry| entry.0 == word).map_or(word.as_str(), |entry| entry.1);
        if let Some(&(_, statistic)) = DurationStatistic::ALL.iter().find(|entry| entry.0 == word) {
            return Ok(Measure::Duration {
                statistic,
                values: self.patterns_if("the name of a value")?,
                types: self.of()?,
            });
        }
        Ok(match word {
            "name" => Measure::Name,
            "start" => Measure::Start,
            "end" => Measure::End,
            "time" => Measure::Time { values: self.patterns_if("the name of a value")?, types: self.of()? },
            "share" => Measure::Share { values: self.patterns_if("the name of a value")?, types: self.of()? },
            "self" => {
                self.could_be(["time", "share"].map(ExpectedToken::Word));
                let is_time = self.accept_keyword("time");
                if !is_time && !self.accept_keyword("share") {
                    return Err(self.expected_error("time or share, such as in: self time Wait of Activity"));
                }
                let (values, types) = (self.patterns_if("the name of a value")?, self.of()?);
                if is_time { Measure::SelfTime { values, types } } else { Measure::SelfShare { values, types } }
            }
            "number" => Measure::Number { values: self.patterns_if("the name of a value")?, types: self.of()? },
            "integral" => Measure::Integral { types: self.variable_pattern()? },
            "sent" => Measure::Sent { field: self.name_if("the name of a field"), types: self.of()? },
            "received" => Measure::Received { field: self.name_if("the name of a field"), types: self.of()? },
            "sum" => self.field_measure(ReduceOperation::Sum)?,
            "mean" => self.field_measure(ReduceOperation::Mean)?,
            "min" => self.field_measure(ReduceOperation::Min)?,
            "max" => self.field_measure(ReduceOperation::Max)?,
            _ => {
                self.token_index -= usize::from(!word.is_empty());
                return Err(self.expected_error(alternatives(&MEASURES)));
            }
        })
    }

    fn variable_pattern(&mut self) -> Result<NamePattern, FilterError> {
        self.need("of")?;
        self.pattern("the name of a variable")
    }

    /// Reads a measure of a field, or of a variable, which has only its value.
    fn field_measure(&mut self, operation: ReduceOperation) -> Result<Measure, FilterError> {
        let Some(field) = self.name_if("the name of a field") else {
            return Ok(match operation {
                ReduceOperation::Mean => Measure::Mean { types: self.variable_pattern()? },
                ReduceOperation::Min => Measure::Min { types: self.variable_pattern()? },
                ReduceOperation::Max => Measure::Max { types: self.variable_pattern()? },
                ReduceOperation::Sum | ReduceOperation::Count => return Err(self.expected_error("the name of a field")),
            });
        };
        self.need("of")?;
        Ok(Measure::Field { operation, field, types: self.pattern("the name of a type")? })
    }
}
