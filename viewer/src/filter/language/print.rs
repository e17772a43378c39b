//! Filters as text: the shortest expression that [`super::parse`] reads as the same filter.

use std::fmt;

use tumit_paje::time_text::TimeText;

use super::ast::is_duration;
use super::ast::{
    AssignedEndpoint, FilterExpr, Measure, OrderKey, ReduceOperation, Reduction, ReductionForm, SelectionEffect,
};
use super::comparison::Comparison;
use super::condition::{Condition, FieldTest};
use super::keywords::INVOLVES;
use super::pattern::{NamePattern, NamePatterns};
use super::quote::{ConditionName, FilterName, QuotedName};
use super::series::SeriesExpr;

/// Names separated by commas.
struct ConditionNames<'a>(&'a NamePatterns);

impl fmt::Display for ConditionNames<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, pattern) in self.0.iter().enumerate() {
            write!(f, "{}{}", if index > 0 { ", " } else { "" }, ConditionName(pattern.as_str()))?;
        }
        Ok(())
    }
}

impl fmt::Display for FieldTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operands = ConditionNames(&self.operands);
        write!(f, "{} {} {operands}", ConditionName(&self.field), self.comparison.sign())
    }
}

/// An operand of another condition: in parentheses if it binds less tightly.
struct Operand<'a>(&'a Condition, u8);

impl Condition {
    /// Binding strength: `or` 0, `and` 1, all others 2.
    const fn binding(&self) -> u8 {
        match self {
            Self::Or(_) => 0,
            Self::And(_) => 1,
            Self::Field(_) | Self::Involves(_) | Self::Not(_) => 2,
        }
    }
}

impl fmt::Display for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.binding() < self.1 { write!(f, "({})", self.0) } else { self.0.fmt(f) }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let join = |f: &mut fmt::Formatter<'_>, all: &[Self], word: &str| {
            for (index, condition) in all.iter().enumerate() {
                write!(f, "{}{}", if index > 0 { word } else { "" }, Operand(condition, self.binding() + 1))?;
            }
            Ok(())
        };
        match self {
            Self::Field(test) => test.fmt(f),
            Self::Involves(containers) => write!(f, "{INVOLVES} {}", ConditionNames(containers)),
            Self::Not(condition) => write!(f, "not {}", Operand(condition, self.binding())),
            Self::And(all) => join(f, all, " and "),
            Self::Or(all) => join(f, all, " or "),
        }
    }
}

struct TypeNames<'a>(&'a NamePatterns);

impl fmt::Display for TypeNames<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, pattern) in self.0.iter().enumerate() {
            write!(f, "{}{}", if index > 0 { ", " } else { "" }, FilterName(pattern.as_str()))?;
        }
        Ok(())
    }
}

/// ` of TYPE`, or nothing.
struct TypeSuffix<'a>(Option<&'a NamePattern>);

impl fmt::Display for TypeSuffix<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |of| write!(f, " of {}", FilterName(of.as_str())))
    }
}

impl Comparison {
    /// The operator in an expression.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::Unequal => "!=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::More => ">",
            Self::AtLeast => ">=",
            Self::Like => "~",
            Self::Unlike => "!~",
        }
    }
}

impl ReduceOperation {
    /// The word in an expression.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Sum => "sum",
            Self::Mean => "mean",
            Self::Min => "min",
            Self::Max => "max",
        }
    }
}

impl fmt::Display for SelectionEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Hide { "hide" } else { "only" })
    }
}

impl fmt::Display for OrderKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let measure = |f: &mut fmt::Formatter<'_>,
                       word: &str,
                       values: &NamePatterns,
                       type_pattern: Option<&NamePattern>| match type_pattern {
            Some(_) if values.is_any() => write!(f, "{word}{}", TypeSuffix(type_pattern)),
            _ => write!(f, "{word} {}{}", TypeNames(values), TypeSuffix(type_pattern)),
        };
        match &self.measure {
            Measure::Name => f.write_str("name"),
            Measure::Start => f.write_str("start"),
            Measure::Time { values, types } => measure(f, "time", values, types.as_ref()),
            Measure::SelfTime { values, types: type_pattern } => measure(f, "self time", values, type_pattern.as_ref()),
            Measure::SelfShare { values, types: type_pattern } => {
                measure(f, "self share", values, type_pattern.as_ref())
            }
            Measure::Number { values, types: type_pattern } => measure(f, "number", values, type_pattern.as_ref()),
            Measure::Mean { types: type_pattern } => write!(f, "mean{}", TypeSuffix(Some(type_pattern))),
            Measure::Min { types: type_pattern } => write!(f, "min{}", TypeSuffix(Some(type_pattern))),
            Measure::Max { types: type_pattern } => write!(f, "max{}", TypeSuffix(Some(type_pattern))),
            Measure::Integral { types: type_pattern } => write!(f, "integral{}", TypeSuffix(Some(type_pattern))),
            Measure::End => f.write_str("end"),
            Measure::Share { values, types: type_pattern } => measure(f, "share", values, type_pattern.as_ref()),
            Measure::Duration { statistic, values, types: type_pattern } => {
                measure(f, statistic.word(), values, type_pattern.as_ref())
            }
            Measure::Field { operation, field, types: type_pattern } => {
                write!(f, "{} {}{}", operation.word(), FilterName(field), TypeSuffix(Some(type_pattern)))
            }
            Measure::Sent { field, types: type_pattern } | Measure::Received { field, types: type_pattern } => {
                f.write_str(if matches!(self.measure, Measure::Sent { .. }) { "sent" } else { "received" })?;
                field.as_ref().map_or(Ok(()), |field| write!(f, " {}", FilterName(field)))?;
                write!(f, "{}", TypeSuffix(type_pattern.as_ref()))
            }
        }?;
        self.time_range.map_or(Ok(()), |part| write!(f, " in {part}"))
    }
}

impl fmt::Display for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.operation.word())?;
        self.end.map_or(Ok(()), |end| write!(f, " {}", end.word()))?;
        if !self.values.is_any() {
            // Without quotes, the first word would be an endpoint. With quotes, it is a value or a
            // field.
            let first = self.values.iter().next().map_or("", NamePattern::as_str);
            let is_end = |word: &str| AssignedEndpoint::ALL.iter().any(|end| end.0 == word);
            match self.values.iter().count() {
                _ if !first.split(' ').next().is_some_and(is_end) => write!(f, " {}", TypeNames(&self.values))?,
                1 => write!(f, " {}", QuotedName(first))?,
                _ => {
                    let other_values = NamePatterns::new(self.values.iter().skip(1).cloned().collect());
                    write!(f, " {}, {}", QuotedName(first), TypeNames(&other_values))?;
                }
            }
        }
        write!(f, " of {} per {}", FilterName(self.types.as_str()), FilterName(self.group_type.as_str()))?;
        match (self.form, &self.name) {
            (ReductionForm::Variable, None) => Ok(()),
            (ReductionForm::Variable, Some(name)) => write!(f, " into {}", FilterName(name)),
            (ReductionForm::State, None) => f.write_str(" into state"),
            (ReductionForm::State, Some(name)) => write!(f, " into state {}", FilterName(name)),
        }
    }
}

impl fmt::Display for SeriesExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("series ")?;
        for (index, series) in self.series.iter().enumerate() {
            write!(f, "{}{}", if index > 0 { ", " } else { "" }, series.word())?;
        }
        f.write_str(if self.per_unit { " per unit" } else { "" })?;
        for (index, (option, value)) in self.options.iter().enumerate() {
            write!(f, "{}{option} = {}", if index > 0 { ", " } else { " with " }, FilterName(value))?;
        }
        self.name.as_ref().map_or(Ok(()), |name| write!(f, " into {}", FilterName(name)))
    }
}

/// Writes a style setting and the values or the type that get it.
fn print_style(
    f: &mut fmt::Formatter<'_>,
    verb: &str,
    style: &dyn fmt::Display,
    values: &NamePatterns,
    types: Option<&NamePattern>,
) -> fmt::Result {
    match types {
        Some(_) if values.is_any() => write!(f, "{verb} {style}{}", TypeSuffix(types)),
        _ => write!(f, "{verb} {style} {}{}", TypeNames(values), TypeSuffix(types)),
    }
}

impl fmt::Display for FilterExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Types { effect, types } => write!(f, "{effect} type {}", TypeNames(types)),
            Self::Values { effect, values, types } => {
                write!(f, "{effect} value {}{}", TypeNames(values), TypeSuffix(types.as_ref()))
            }
            Self::Containers { effect, containers } => write!(f, "{effect} container {}", TypeNames(containers)),
            Self::Attribute { effect, condition, types } => {
                write!(f, "{effect} where {condition}")?;
                types.as_ref().map_or(Ok(()), |types| write!(f, " of {}", ConditionName(types.as_str())))
            }
            Self::Duration { effect, comparison, nanos, types } => {
                write!(f, "{effect} duration {} {}{}", comparison.sign(), TimeText(*nanos), TypeSuffix(types.as_ref()))
            }
            Self::Cut(part) => write!(f, "cut {part}"),
            Self::Group { containers, name } => write!(f, "group {} into {}", TypeNames(containers), FilterName(name)),
            Self::Reuse { types } => write!(f, "reuse {}", TypeNames(types)),
            Self::Reduce(reduction) => reduction.fmt(f),
            Self::Series(series) => series.fmt(f),
            Self::Classify { types, field, edges } => {
                write!(f, "classify {} by {}", FilterName(types.as_str()), FilterName(field))?;
                for (index, &edge) in edges.iter().enumerate() {
                    f.write_str(if index == 0 { " < " } else { ", " })?;
                    #[expect(clippy::cast_possible_truncation, reason = "a whole number of nanoseconds")]
                    if is_duration(field) { TimeText(edge as i64).fmt(f) } else { write!(f, "{edge}") }?;
                }
                Ok(())
            }
            Self::Sort { ty, key, descending } => {
                let down = if *descending { " descending" } else { "" };
                write!(f, "sort {} by {key}{down}", FilterName(ty.as_str()))
            }
            Self::Order { containers } => write!(f, "order {}", TypeNames(containers)),
            Self::Best { number, ty, key, is_lowest } => {
                let verb = if *is_lowest { "least" } else { "best" };
                write!(f, "{verb} {number} {} by {key}", FilterName(ty.as_str()))
            }
            Self::Having { ty, key, comparison, number } => {
                write!(f, "keep {} with {key} {} ", FilterName(ty.as_str()), comparison.sign())?;
                #[expect(clippy::cast_possible_truncation, reason = "a whole number of nanoseconds")]
                if key.measure.is_time() { TimeText(*number as i64).fmt(f) } else { write!(f, "{number}") }
            }
            Self::Color { values, types, color } => print_style(f, "color", color, values, types.as_ref()),
            Self::Shape { values, types, shape } => print_style(f, "shape", shape, values, types.as_ref()),
            Self::Size { values, types, size } => print_style(f, "size", size, values, types.as_ref()),
            Self::Category { values, types, category } => {
                print_style(f, "category", &category.word(), values, types.as_ref())
            }
            Self::Bright { values, types } => {
                write!(f, "bright {}{}", TypeNames(values), TypeSuffix(types.as_ref()))
            }
        }
    }
}
