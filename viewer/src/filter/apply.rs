//! Wraps sources in filters.

use std::sync::Arc;

use super::language::ast::FilterExpr;
use super::language::error::FilterError;
use super::language::series::ExecutionSeries;
use super::series_provider;
use super::sources::{
    attribute_selection, classify, duration_selection, grouping, ordering, reduce, row_reuse, style_rules, time_cut,
    type_selection, value_selection,
};
use crate::query::{DrawStyle, TimelineSource};

impl FilterExpr {
    /// Wraps a source in the filter.
    ///
    /// # Errors
    /// If the trace contains nothing that the filter names; see [`FilterError`].
    pub fn apply(&self, inner: &Arc<dyn TimelineSource>) -> Result<Arc<dyn TimelineSource>, FilterError> {
        match self {
            Self::Types { effect, types } => type_selection::types(inner, *effect, types),
            Self::Values { effect, values: patterns, types: type_pattern } => {
                value_selection::apply(inner, *effect, patterns, type_pattern.as_ref())
            }
            Self::Containers { effect, containers } => type_selection::containers(inner, *effect, containers),
            Self::Attribute { effect, condition, types: type_pattern } => {
                attribute_selection::apply(inner, *effect, condition, type_pattern.as_ref())
            }
            Self::Duration { effect, comparison, nanos, types: type_pattern } => {
                duration_selection::apply(inner, *effect, *comparison, *nanos, type_pattern.as_ref())
            }
            Self::Cut(part) => time_cut::apply(inner, *part),
            Self::Group { containers, name } => grouping::apply(inner, containers, name),
            Self::Reuse { types } => row_reuse::reuse(inner, types),
            Self::Reduce(reduction) => reduce::apply(inner, reduction),
            Self::Series(series) => {
                let variables = series_provider::provide(inner, series).map_err(FilterError::Series)?;
                let name = |series_kind: &ExecutionSeries| {
                    series.name.clone().unwrap_or_else(|| series_kind.name(series.per_unit))
                };
                let variables = series.series.iter().map(name).zip(variables).collect();
                reduce::add_variables(inner, variables, &self.to_string())
            }
            Self::Classify { types: type_pattern, field, edges } => classify::apply(inner, type_pattern, field, edges),
            Self::Sort { ty, key, descending } => ordering::sort(inner, ty, key, *descending),
            Self::Order { containers } => ordering::move_to_front(inner, containers),
            Self::Best { number, ty, key: order_key, is_lowest } => {
                ordering::keep_best(inner, *number, ty, order_key, *is_lowest)
            }
            Self::Having { ty, key: order_key, comparison, number } => {
                ordering::keep_matching(inner, ty, order_key, *comparison, *number)
            }
            Self::Color { values, types: type_pattern, color } => {
                style_rules::paint(inner, values, type_pattern.as_ref(), *color)
            }
            Self::Shape { values, types: type_pattern, shape } => style_rules::set_styles(
                inner,
                values,
                type_pattern.as_ref(),
                DrawStyle { shape: Some(*shape), size: None },
            ),
            Self::Size { values, types: type_pattern, size } => style_rules::set_styles(
                inner,
                values,
                type_pattern.as_ref(),
                DrawStyle { shape: None, size: Some(*size) },
            ),
            Self::Category { values, types: type_pattern, category } => {
                style_rules::set_categories(inner, values, type_pattern.as_ref(), *category)
            }
            Self::Bright { values, types: type_pattern } => {
                style_rules::highlight_values(inner, values, type_pattern.as_ref())
            }
        }
    }
}
